//===- Vendor.cpp - The vendor's functional model -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Vendor.h"
#include "test/conformance/bm168x/Vendor.h"

#include <algorithm>

namespace tpuc::bm1684::conformance {

Expected<Vendor> Vendor::load(const std::string &path, int64_t size) {
  const auto library = tpuc::conformance::VendorLibrary::open(path);
  if (!library)
    return tl::unexpected(library.error());
  Vendor vendor;
  void *(*l2Of)(int);
  if (!library->find("get_l2_sram", l2Of) ||
      !library->find("get_atomic_function", vendor.functionFor))
    return library->lacksFunctions();
  const auto memories = bm168x::conformance::VendorMemories::start(*library, size);
  if (!memories)
    return tl::unexpected(memories.error());
  vendor.localBytes = memories->local;
  vendor.globalBytes = memories->global;
  vendor.l2Bytes = static_cast<uint8_t *>(l2Of(0));
  return vendor;
}

int Vendor::execute(const Command &command) {
  alignas(16) std::array<uint8_t, Command::kMaxBytes> bytes{};
  std::ranges::copy(command.encoded(), bytes.begin());
  const unsigned engine = command.engine() == mc::EngineId(Engine::Tiu) ? 0 : 1;
  return functionFor(bytes.data(), engine)(0, bytes.data());
}

} // namespace tpuc::bm1684::conformance
