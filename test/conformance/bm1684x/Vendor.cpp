//===- Vendor.cpp - The vendor's functional model -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/Vendor.h"
#include "test/conformance/bm168x/Vendor.h"

#include <algorithm>

namespace tpuc::bm1684x::conformance {

Expected<Vendor> Vendor::load(const std::string &path, int64_t size) {
  const auto library = tpuc::conformance::VendorLibrary::open(path);
  if (!library)
    return tl::unexpected(library.error());
  Vendor vendor;
  char *(*staticOf)(int);
  if (!library->find("get_static_memaddr_by_node", staticOf) ||
      !library->find("execute_command", vendor.run))
    return library->lacksFunctions();
  const auto memories = bm168x::conformance::VendorMemories::start(*library, size);
  if (!memories)
    return tl::unexpected(memories.error());
  vendor.localBytes = memories->local;
  vendor.globalBytes = memories->global;
  vendor.staticBytes = reinterpret_cast<uint8_t *>(staticOf(0));
  return vendor;
}

int Vendor::execute(const Command &command) {
  // It reads 128 bytes whatever the command's size.
  alignas(16) std::array<uint8_t, Command::kMaxBytes> bytes{};
  std::ranges::copy(command.encoded(), bytes.begin());
  return run(0, bytes.data(), command.engine() == Engine::Tiu ? 0 : 1);
}

} // namespace tpuc::bm1684x::conformance
