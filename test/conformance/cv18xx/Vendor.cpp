//===- Vendor.cpp - The vendor's functional model -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Vendor.h"
#include "test/conformance/VendorLibrary.h"

#include <algorithm>
#include <bit>

namespace tpuc::cv18xx::conformance {

namespace {

/// What the library wants to know of a chip.
struct ChipInfo {
  uint32_t version, nodes, nodeShift, lanes, laneShift, euBytes, euShift, laneBytes, laneByteShift;
  uint32_t banks, bankBytes;
  uint64_t localStart, globalStart, globalSize, features;
};

/// The runtime's last change: the 16-byte groups are numbered, the first and the last exchanged.
std::array<uint8_t, 112> reordered(std::span<const uint8_t> command) {
  std::array<uint8_t, 112> bytes;
  std::ranges::copy(command, bytes.begin());
  for (unsigned i = 0; i < 7; ++i)
    bytes[16 * i + 15] = static_cast<uint8_t>(bytes[16 * i + 15] | i << 4);
  std::swap_ranges(bytes.begin(), bytes.begin() + 16, bytes.begin() + 96);
  return bytes;
}

} // namespace

Expected<Vendor> Vendor::load(const std::string &path, const Chip &chip, uint64_t globalBytes) {
  std::fenv_t ours;
  std::fegetenv(&ours);
  const auto library = tpuc::conformance::VendorLibrary::open(path);
  if (!library)
    return tl::unexpected(library.error());
  Vendor vendor;
  void (*init)(void **, ChipInfo *);
  uint8_t *(*globalOf)(void *);
  if (!library->find("bm_cmodel_init", init) ||
      !library->find("bm_cmodel_get_chipGmem", globalOf) ||
      !library->find("bm_cmodel_set_base_reg", vendor.place) ||
      !library->find("bm_cmodel_write_lmem", vendor.write) ||
      !library->find("bm_cmodel_read_lmem", vendor.read) ||
      !library->find("bm_cmodel_run_gmem_cmdbuf", vendor.run))
    return library->lacksFunctions();
  ChipInfo info = {chip.version,
                   1,
                   0,
                   chip.lanes,
                   static_cast<uint32_t>(std::countr_zero(chip.lanes)),
                   kEuBytes,
                   4,
                   kLaneBytes,
                   15,
                   8,
                   4096,
                   chip.is183x ? 0u : 0x0C00'0000u,
                   chip.globalBase,
                   kUserAt + std::max(globalBytes, kLeastBytes),
                   0};
  init(&vendor.model, &info);
  if (!vendor.model)
    return makeError(path, "no model from bm_cmodel_init", "one");
  std::fegetenv(&vendor.environment);
  std::fesetenv(&ours);
  vendor.memory = globalOf(vendor.model);
  for (uint32_t i = 0; i < kNumBases; ++i)
    vendor.setBase(i, 0);
  return vendor;
}

void Vendor::writeLocal(std::span<const uint8_t> bytes) {
  write(model, 0, bytes.data(), bytes.size());
}

void Vendor::readLocal(std::span<uint8_t> bytes) { read(model, 0, bytes.data(), bytes.size()); }

void Vendor::execute(const Command &command) {
  std::fenv_t ours;
  std::fegetenv(&ours);
  std::fesetenv(&environment);
  executeThere(command);
  std::fegetenv(&environment);
  std::fesetenv(&ours);
}

void Vendor::executeThere(const Command &command) {
  Command last = command;
  if (command.engine() == Engine::Tiu) {
    last.set(Field::End, 1).set(Field::Interrupt, 1).set(Field::IdEn, 1);
    const std::array<uint8_t, 112> bytes = reordered(last.encoded());
    std::ranges::copy(bytes, memory + kTiuAt);
    run(model, kTiuAt, bytes.size(), kDmaAt, 0);
    return;
  }
  last.set(Field::Last, 1).set(Field::Interrupt, 1).set(Field::Barrier, 1);
  std::ranges::copy(last.encoded(), memory + kDmaAt);
  run(model, kTiuAt, 0, kDmaAt, last.encoded().size());
}

} // namespace tpuc::cv18xx::conformance
