//===- Vendor.h - The vendor's functional model -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_CV18XX_VENDOR_H
#define TEST_CONFORMANCE_CV18XX_VENDOR_H

#include "tpuc/Target/CV18xx/Machine/Commands.h"

#include <cfenv>

namespace tpuc::cv18xx::conformance {

/// libcvicmodel.so of the PyPI package tpu-mlir, loaded at run time. An illegal command ends the
/// process, so it belongs into a child. One chip for each process.
class Vendor {
public:
  static Expected<Vendor> load(const std::string &library, const Chip &chip,
                               uint64_t globalBytes = kLeastBytes);

  void writeLocal(std::span<const uint8_t> bytes);
  void readLocal(std::span<uint8_t> bytes);
  /// Global memory that is free for the caller, which base registers point to.
  std::span<uint8_t> global(uint64_t size) { return {memory + kUserAt, size}; }
  /// Where a base register points to in that memory; at first to its beginning.
  void setBase(unsigned number, uint64_t offset) { place(model, number, kUserAt + offset); }
  /// One command alone, as the vendor's runtime hands it over.
  void execute(const Command &command);

private:
  void executeThere(const Command &command);

  static constexpr uint64_t kTiuAt = 0, kDmaAt = 0x40'0000, kUserAt = 0x90'0000;
  static constexpr uint64_t kLeastBytes = 7 << 20;

  void *model = nullptr;
  uint8_t *memory = nullptr;
  void (*write)(void *, uint64_t, const void *, uint64_t) = nullptr;
  void (*read)(void *, uint64_t, void *, uint64_t) = nullptr;
  /// Its rounding and its treatment of small numbers, which are not ours.
  std::fenv_t environment;
  void (*place)(void *, uint32_t, uint64_t) = nullptr;
  void (*run)(void *, uint64_t, uint64_t, uint64_t, uint64_t) = nullptr;
};

} // namespace tpuc::cv18xx::conformance

#endif // TEST_CONFORMANCE_CV18XX_VENDOR_H
