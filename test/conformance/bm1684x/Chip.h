//===- Chip.h - The two machines of the BM1684X --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684X_CHIP_H
#define TEST_CONFORMANCE_BM1684X_CHIP_H

#include "test/conformance/bm1684x/Vendor.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"
#include "tpuc/Target/BM1684X/Machine/Streams.h"

namespace tpuc::bm1684x::conformance {

/// For bm168x::conformance::BothMachines.
struct Chip {
  using Memory = bm1684x::Memory;
  using PreparedCommand = bm1684x::PreparedCommand;
  using Program = bm1684x::Program;
  using Vendor = conformance::Vendor;
  /// As the chip's driver names it, and the vendor's functional model.
  static constexpr std::string_view kName = "BM1684X", kLibrary = "libcmodel_bm1684x.so";
  static constexpr std::string_view kTiuStream = bm1684x::kTiuStream,
                                    kDmaStream = bm1684x::kDmaStream;
  static constexpr uint64_t kGlobalBase = bm1684x::kGlobalBase;
  static constexpr const char *kOtherName = "static memory";

  static auto parseStream(mc::EngineId engine, std::span<const uint8_t> bytes,
                          const std::string &where) {
    return bm1684x::parseStream(engine, bytes, where);
  }
  static std::span<uint8_t> other(Memory &memory) { return memory.staticMemory(); }
  static uint8_t *other(Vendor &vendor) { return vendor.staticMemory(); }
};

} // namespace tpuc::bm1684x::conformance

#endif // TEST_CONFORMANCE_BM1684X_CHIP_H
