//===- Sizes.cpp - Arithmetic of sizes that does not overflow -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Sizes.h"
#include "tpuc/Support/Tensor.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

using namespace tpuc;

Count tpuc::elementsOf(std::span<const int64_t> dims) {
  if (std::ranges::find(dims, 0) != dims.end())
    return 0;
  Count elements = 1;
  for (int64_t extent : dims)
    elements *= extent;
  return elements;
}

Count tpuc::tensorBytes(std::span<const int64_t> dims, DataType type) {
  const Count bits = elementsOf(dims) * bitWidth(type);
  return bits.isSaturated() ? bits : Count((bits + 7) / 8);
}

Expected<void> tpuc::checkTensorSize(std::span<const int64_t> dims, DataType type) {
  if (dims.size() > Shape::kMaxRank)
    return makeError("", fmt::format("has {} dimensions", dims.size()),
                     fmt::format("at most {}", Shape::kMaxRank));
  bool isKnown = true;
  for (int64_t extent : dims) {
    isKnown = isKnown && extent >= 0;
    if (extent > kMostExtent)
      return makeError("",
                       Count(extent).isSaturated() ? std::string("has an extent of 2^63 or more")
                                                   : fmt::format("has an extent of {}", extent),
                       fmt::format("at most {}", kMostExtent));
  }
  if (!isKnown)
    return {};
  if (const Count bytes = tensorBytes(dims, type); bytes > kMostTensorBytes)
    return makeError("", "takes " + sizeText(bytes) + " of memory",
                     "at most " + sizeText(kMostTensorBytes));
  return {};
}

std::string tpuc::sizeText(Count bytes) {
  if (bytes.isSaturated())
    return "at least 8 EiB";
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    number /= 1024;
  return unit == 0 ? fmt::format("{} B", int64_t(bytes))
                   : fmt::format("{:.4g} {}", number, kUnits[unit]);
}

int64_t tpuc::hostMemory() {
  int64_t bytes = Count::kMost;
  if (struct sysinfo info{}; sysinfo(&info) == 0)
    bytes = (Count(static_cast<int64_t>(info.totalram)) + info.totalswap) * info.mem_unit;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  return bytes;
}
