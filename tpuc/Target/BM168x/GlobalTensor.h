//===- GlobalTensor.h - Tensors in global memory ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_GLOBALTENSOR_H
#define TPUC_TARGET_BM168X_GLOBALTENSOR_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Target/BM168x/Views.h"

namespace tpuc::bm168x {

/// A tensor [n,c,h,w] at an absolute 40-bit address of global memory (or of L2). Strides count
/// elements and may be 0 for a source that is repeated.
struct GlobalTensor {
  DataType type = DataType::F32;
  uint64_t address = 0;
  Extents shape{1, 1, 1, 1};
  Extents stride{1, 1, 1, 1};

  /// Elements [first, first + count) of an axis.
  GlobalTensor slice(unsigned axis, int64_t first, int64_t count) const;
  /// Dimension i of the result is dimension axes[i] of this tensor.
  GlobalTensor permuted(const std::array<unsigned, 4> &axes) const;
};

/// A dense, row-major tensor.
GlobalTensor globalTensor(DataType type, const Extents &shape, uint64_t address);

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_GLOBALTENSOR_H
