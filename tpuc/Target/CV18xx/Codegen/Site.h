//===- Site.h - What the kernels of ops work on --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_SITE_H
#define TPUC_TARGET_CV18XX_CODEGEN_SITE_H

#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"

namespace tpuc::cv18xx::backend {

/// What a function of an op works on.
struct Site {
  Builder &builder;
  const codegen::TiledOp &tiled;

  const Chip &chip() const { return builder.chip(); }
  mlir::Operation *op() const { return tiled.op; }
  Expected<LocalTensor> operand(unsigned index) const {
    return layoutOf(tiled, index).local(chip(), tiled.operands[index]);
  }
  Expected<LocalTensor> result() const {
    return layoutOf(tiled, op()->getNumOperands()).local(chip(), tiled.result);
  }
  bool isBf16() const { return layoutOf(tiled, op()->getNumOperands()).isBf16; }
};

/// An operand with the result's shape: where it has one element along an axis, that is repeated.
Expected<LocalTensor> spread(const Site &site, unsigned index, const LocalTensor &result);

/// Operand `index` and result of an op on BF16. Errors (without `where`): integers.
Expected<std::array<LocalTensor, 2>> floatsOf(const Site &site, unsigned index = 0);

/// Whether an op has operand `index`, and it is not left out.
bool isGiven(mlir::Operation *op, unsigned index);

/// The bits of the finite BF16 next to a number: the chip takes infinite operands for no numbers.
uint16_t bf16Of(double number);

/// Two BF16 numbers whose product is close to `factor`; the second is 1 where the first is.
std::array<double, 2> factorsOf(double factor);

/// left * factor, which is more exact than one command has it: rounded once, unless the result lies
/// where `left` does.
Expected<void> emitScaled(const Site &site, const LocalTensor &result, const LocalTensor &left,
                          double factor);

/// The ReLU that an op ends with.
struct Relu {
  bool is = false;
  /// As elements of the result; none if there is none.
  std::optional<uint16_t> limit = std::nullopt;
};
Relu reluOf(mlir::Operation *op);

/// The ReLU that an op ends with, on a result that no command has applied it to.
Expected<void> applyRelu(const Site &site, const LocalTensor &result);

/// Limits a result from above where its ReLU does.
Expected<void> limitResult(const Site &site, const LocalTensor &result, const Relu &relu);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_SITE_H
