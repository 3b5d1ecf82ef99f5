//===- Vendor.h - What the functional models of the family share -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM168X_VENDOR_H
#define TEST_CONFORMANCE_BM168X_VENDOR_H

#include "test/conformance/VendorLibrary.h"

#include <cstdint>

namespace tpuc::bm168x::conformance {

/// The memories that each of them has.
struct VendorMemories {
  uint8_t *local = nullptr;
  uint8_t *global = nullptr;

  /// Starts the model with so many bytes of global memory, which switches the process to flushing
  /// denormals.
  static Expected<VendorMemories> start(const tpuc::conformance::VendorLibrary &library,
                                        int64_t globalBytes) {
    // What get_local_mem returns.
    struct LocalMemory {
      char *bytes;
      uint32_t **lanes;
      int count, size, align, isOwned;
    };
    int (*init)(int, int64_t);
    LocalMemory *(*localOf)(int);
    void *(*globalOf)(int);
    if (!library.find("cmodel_init", init) || !library.find("get_local_mem", localOf) ||
        !library.find("get_global_memaddr", globalOf))
      return library.lacksFunctions();
    init(0, globalBytes);
    return VendorMemories{reinterpret_cast<uint8_t *>(localOf(0)->bytes),
                          static_cast<uint8_t *>(globalOf(0))};
  }
};

} // namespace tpuc::bm168x::conformance

#endif // TEST_CONFORMANCE_BM168X_VENDOR_H
