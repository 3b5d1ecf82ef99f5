//===- Extremes.h - Extremes of rows and where they are ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_EXTREMES_H
#define TPUC_CODEGEN_DECOMPOSE_EXTREMES_H

#include "tpuc/Codegen/Decompose/OpMaker.h"

namespace tpuc::codegen {

/// Which elements of the rows along `axis` are looked for.
struct ExtremeKind {
  size_t axis = 0;
  /// Floats that hold every place.
  mlir::Type placeType;
  bool isLargest = true;
  /// Of equal ones the last one, else the first.
  bool isLast = false;
};

/// Elements and where they are: floats, of extent `count` along the axis.
struct Extremes {
  mlir::Value numbers, places;
};

/// The `count` extremes of the rows of `numbers`, floats: one after the other, each of those that
/// are left. Equal ones come in the order of their places. Where a row has no extreme, as beside
/// NaN, a place is that of the last element, or with `isLast` the first.
Extremes extremesOf(OpMaker &maker, mlir::Value numbers, const ExtremeKind &kind,
                    int64_t count = 1);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_EXTREMES_H
