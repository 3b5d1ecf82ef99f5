//===- Memory.cpp - The memories of a simulated chip ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Memory.h"

#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

namespace tpuc::bm168x {

namespace {
/// A large page of the processor, which saves thousands of faults when local memory is filled.
constexpr size_t kPageBytes = 2 << 20;
constexpr std::align_val_t kPage{kPageBytes};
} // namespace

void Memory::Free::operator()(uint8_t *bytes) const { ::operator delete(bytes, kPage); }

Memory::Memory(const LocalMemory &lanes, std::span<const ChipMemory> others, uint64_t globalBase)
    : lanes(lanes), others(others.begin(), others.end()), globalBase(globalBase),
      localBytes(static_cast<uint8_t *>(::operator new(lanes.bytes(), kPage))) {
  constexpr uint8_t kPattern[] = {0xef, 0xbe, 0xad, 0xde};
  // In variables of their own, so that the loop is one of vectors.
  uint8_t *const begin = localBytes.get();
  const size_t size = lanes.bytes();
  // Where the system has no large pages, small ones do.
  ::madvise(begin, size, MADV_HUGEPAGE);
  for (size_t i = 0; i < size; i += sizeof kPattern)
    std::memcpy(begin + i, kPattern, sizeof kPattern);
  for (const ChipMemory &memory : others)
    otherBytes.emplace_back(memory.bytes);
}

Expected<void> Memory::map(Region region) {
  auto text = [](const Region &r) {
    return fmt::format("{:#x} to {:#x}", r.address, r.address + r.size);
  };
  if (region.address < globalBase || region.address + region.size < region.address)
    return makeError("global memory", text(region),
                     fmt::format("addresses from {:#x}", globalBase));
  for (const Region &other : regions)
    if (region.address < other.address + other.size && other.address < region.address + region.size)
      return makeError("global memory", fmt::format("{}, mapped to {}", text(region), text(other)),
                       "regions that do not overlap");
  regions.push_back(region);
  return {};
}

Expected<void> Memory::mapGlobal(uint64_t address, std::span<uint8_t> bytes) {
  return map({address, bytes.size(), bytes.data(), true});
}

Expected<void> Memory::mapGlobalReadOnly(uint64_t address, std::span<const uint8_t> bytes) {
  // `resolve` hands it out for reading only.
  return map({address, bytes.size(), const_cast<uint8_t *>(bytes.data()), false});
}

uint8_t *Memory::resolve(uint64_t address, uint64_t size, bool forWriting) {
  auto within = [&](uint64_t base, uint64_t length) {
    return address >= base && size <= length && address - base <= length - size;
  };
  for (const Region &region : regions)
    if (within(region.address, region.size))
      return forWriting && !region.isWritable ? nullptr : region.bytes + (address - region.address);
  if (within(lanes.base, lanes.bytes()))
    return localBytes.get() + (address - lanes.base);
  for (size_t i = 0; i < others.size(); ++i)
    if (within(others[i].base, others[i].bytes))
      return otherBytes[i].data() + (address - others[i].base);
  return nullptr;
}

} // namespace tpuc::bm168x
