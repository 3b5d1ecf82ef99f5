//===- Inflater.cpp - Deflated bytes in memory ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Inflater.h"
#include "tpuc/Support/Crc32.h"

#include <algorithm>
#include <limits>
#include <new>
#include <zlib.h>

namespace tpuc {

struct Inflater::Stream {
  z_stream zlib = {};
};

Inflater::Inflater(std::span<const std::byte> input)
    : stream(std::make_unique<Stream>()), pending(input) {
  constexpr int kRawDeflate = -MAX_WBITS;
  if (inflateInit2(&stream->zlib, kRawDeflate) != Z_OK)
    throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&stream->zlib); }

size_t Inflater::read(std::span<std::byte> output) {
  constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();
  z_stream &zlib = stream->zlib;
  size_t done = 0;
  while (done < output.size() && !ended) {
    size_t room = std::min(output.size() - done, kMostAtOnce);
    size_t given = std::min(pending.size(), kMostAtOnce);
    // zlib only reads from there; its interface is older than const.
    zlib.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(pending.data()));
    zlib.avail_in = static_cast<uInt>(given);
    zlib.next_out = reinterpret_cast<Bytef *>(output.data() + done);
    zlib.avail_out = static_cast<uInt>(room);
    int status = inflate(&zlib, Z_NO_FLUSH);
    pending = pending.subspan(given - zlib.avail_in);
    done += room - zlib.avail_out;
    ended = status == Z_STREAM_END;
    if (status != Z_OK)
      break;
  }
  checksum = crc32(output.first(done), checksum);
  return done;
}

bool Inflater::isWhole() {
  // The end may be marked by bits behind the last byte that came out.
  std::byte extra = {};
  uint32_t before = checksum;
  bool none = ended || read({&extra, 1}) == 0;
  checksum = before;
  return none && ended && pending.empty();
}

} // namespace tpuc
