//===- Chip.h - The two machines of the BM1684 ---------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684_CHIP_H
#define TEST_CONFORMANCE_BM1684_CHIP_H

#include "test/conformance/bm1684/Vendor.h"
#include "tpuc/Target/BM1684/Machine/Simulator.h"
#include "tpuc/Target/BM1684/Machine/Streams.h"

namespace tpuc::bm1684::conformance {

/// For bm168x::conformance::BothMachines.
struct Chip {
  using Memory = bm1684::Memory;
  using PreparedCommand = bm1684::PreparedCommand;
  using Program = bm1684::Program;
  using Vendor = conformance::Vendor;
  /// As the chip's driver names it, and the vendor's functional model.
  static constexpr std::string_view kName = "BM1684", kLibrary = "libcmodel_bm1684.so";
  static constexpr std::string_view kTiuStream = bm1684::kTiuStream,
                                    kDmaStream = bm1684::kDmaStream;
  static constexpr uint64_t kGlobalBase = bm1684::kGlobalBase;
  static constexpr const char *kOtherName = "L2";

  static auto parseStream(mc::EngineId engine, std::span<const uint8_t> bytes,
                          const std::string &where) {
    return bm1684::parseStream(engine, bytes, where);
  }
  static std::span<uint8_t> other(Memory &memory) { return memory.l2(); }
  static uint8_t *other(Vendor &vendor) { return vendor.l2(); }
};

} // namespace tpuc::bm1684::conformance

#endif // TEST_CONFORMANCE_BM1684_CHIP_H
