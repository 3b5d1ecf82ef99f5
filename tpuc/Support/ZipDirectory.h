//===- ZipDirectory.h - What is in a zip archive --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TPUC_SUPPORT_ZIPDIRECTORY_H
#define TPUC_SUPPORT_ZIPDIRECTORY_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The frame of zip archives, zip64 included, read and written. Source of the format: PKWARE's
// APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3.
//
// Not minizip's: its version 1.1, tried first, does not find the true sizes of entries beyond 4 GiB
// when it reads, writes a count of 65535 for more entries than that, takes what a directory says on
// trust, and copies stored data through a buffer of its own.

namespace tpuc {

/// The compression methods that archives of arrays use.
inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;

struct ZipEntry {
  /// As in the archive, any bytes.
  std::string name;
  uint64_t headerOffset = 0;
  uint64_t dataOffset = 0;
  uint64_t compressedSize = 0;
  uint64_t uncompressedSize = 0;
  uint32_t crc = 0;
  unsigned method = kZipStored;
  bool encrypted = false;
};

/// Reads the directory of the zip archive `bytes`, zip64 included, in its order. The data of every
/// entry lies inside the archive and before the directory, no two entries share bytes, and each
/// entry bears the same name in both places where the format keeps it. `place` names the archive in
/// errors. Throws std::bad_alloc.
///
Expected<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> bytes,
                                                 const std::string &place);

/// The local header of a stored entry with a name in UTF-8, followed by as much padding (in an
/// extra field) as brings the data to a multiple of 64 in the file: `entry.headerOffset` says where
/// the header is. Sets `entry.dataOffset`. Names have at most kLongestZipName bytes. The date is
/// the first that the format knows, 1980-01-01.
std::string zipLocalHeader(ZipEntry &entry);

/// Where in a local header the CRC stands, 4 bytes, for entries whose CRC is known only later.
inline constexpr uint64_t kZipCrcOffset = 14;

inline constexpr size_t kLongestZipName = 65000;

/// What stands behind the data of all entries: the directory and its end, for an archive in which
/// the directory begins at `begin`.
std::string zipDirectory(std::span<const ZipEntry> entries, uint64_t begin);

} // namespace tpuc

#endif // TPUC_SUPPORT_ZIPDIRECTORY_H
