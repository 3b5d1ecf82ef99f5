//===- Vendor.h - The vendor's functional model --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM1684_VENDOR_H
#define TEST_CONFORMANCE_BM1684_VENDOR_H

#include "tpuc/Target/BM1684/Machine/Command.h"

namespace tpuc::bm1684::conformance {

/// libcmodel_bm1684.so of the PyPI package tpu-mlir, loaded at run time. An illegal command ends
/// the process, so it belongs into a child.
class Vendor {
public:
  /// `globalBytes` of global memory. Loading switches the process to flushing denormals.
  static Expected<Vendor> load(const std::string &library, int64_t globalBytes);

  uint8_t *local() { return localBytes; }
  uint8_t *global() { return globalBytes; }
  uint8_t *l2() { return l2Bytes; }
  /// Returns the library's status, 0 for success.
  int execute(const Command &command);

private:
  using Function = int (*)(int, void *);

  uint8_t *localBytes = nullptr;
  uint8_t *globalBytes = nullptr;
  uint8_t *l2Bytes = nullptr;
  Function (*functionFor)(const void *, unsigned) = nullptr;
};

} // namespace tpuc::bm1684::conformance

#endif // TEST_CONFORMANCE_BM1684_VENDOR_H
