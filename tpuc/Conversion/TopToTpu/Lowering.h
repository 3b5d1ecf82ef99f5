//===- Lowering.h - Top ops into tpu ops, as a plan says --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_LOWERING_H
#define TPUC_CONVERSION_TOPTOTPU_LOWERING_H

#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Conversion/TopToTpu/RoundedFilters.h"
#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Requant.h"

#include "mlir/IR/Builders.h"

namespace tpuc {

/// The attribute of an input whose source says how it stores it: the type of its elements.
inline constexpr const char *kSourceType = "source_type";

/// The attribute of an argument or result of `main` whose floats were made f32 (--widen-floats):
/// the type of the elements that callers give and get.
inline constexpr const char *kGivenType = "top.given_type";

/// The floats `type`: F32, F16 or BF16.
mlir::Type floatType(mlir::Builder &builder, DataType type);

/// Calls `tensor` `name`; the other tensors of its op keep their names.
void renameTensor(mlir::OpResult tensor, llvm::StringRef name);

/// Rewrites `main` once, op by op. What the lowering functions of single ops share.
class Lowering {
public:
  Lowering(mlir::func::FuncOp main, const TargetInfo &target, const StoragePlan &plan);

  /// Errors: a weight that cannot be read, a range that no integers stand for.
  Expected<void> run();

  //===--- For the lowering functions of ops ---------------------------------===//

  mlir::OpBuilder builder;
  const TargetInfo &target;
  const StoragePlan &plan;
  /// Pictures get other extents by interpolation also where products would do
  /// (LowerPictureResize.h).
  bool interpolatesPictures = false;
  /// What is computed does not matter, only how: filters are rounded in the way that takes least
  /// time.
  bool isForCycles = false;
  /// Filters that other lowerings of the network have rounded; may be null.
  RoundedFilters *filters = nullptr;

  /// The lowered tensor for `value`, a value of top, with elements of `type`: as it is stored, or
  /// after a cast or, between integers, a requantization.
  mlir::Value as(mlir::Value value, mlir::Type type);
  /// The lowered tensor for `value` with the elements that the network computes with: integers and
  /// truth values as they are, stored numbers as F32. Nothing stays nothing.
  mlir::Value plainOperand(mlir::Value value);
  /// The same as the integers that it is to be stored in.
  mlir::Value asIntegers(mlir::Value value) { return as(value, plan.quantized(value)); }
  mlir::Value none();

  /// The integers that a quantized source states for `value`, also of inputs, which are floats once
  /// they are lowered; null where it states none.
  static quant::UniformQuantizedType statedType(mlir::Value value);
  /// Whether all of `values` have the 8-bit integers that the source states for them: those of
  /// tensors are stored so, and constants state one scale.
  bool areOfSource(mlir::ValueRange values) const;
  /// Whether `op` is computed as the source states it, in fixed point and with two roundings: all
  /// its tensors are of it, and the target can.
  bool isFixedPoint(mlir::Operation *op) const;

  /// A new constant, named like `op` with `suffix`.
  mlir::Value weight(mlir::Operation *op, llvm::StringRef suffix, Tensor tensor);

  /// The bits of the multipliers with which the target scales stored integers, signs included.
  unsigned multiplierBits() const;
  /// The factor of a requantization by `scale` with the target's multipliers; in `where`.
  Expected<MultiplierShift> factor(double scale, mlir::Operation *op) const;
  mlir::ArrayAttr ints(llvm::ArrayRef<int64_t> values) { return builder.getI64ArrayAttr(values); }
  /// `multiplier`, `rshift` and the modes of the target on `op`.
  void setFactors(mlir::Operation *op, llvm::ArrayRef<MultiplierShift> factors);
  /// The same for factors that are rounded twice (kernels::fixedPoint).
  void setFixedFactors(mlir::Operation *op, llvm::ArrayRef<MultiplierShift> factors);
  /// How the target's requantizations round.
  mlir::StringAttr roundMode();

  /// The type of result 0 of `op` in integers.
  mlir::Type integerResult(mlir::Operation *op);
  /// The tpu op of the same name with these operands and the types of the plan as results.
  mlir::Operation *mirrored(mlir::Operation *op, mlir::ValueRange operands);
  /// `lowered`'s results stand for those of `op`.
  void replace(mlir::Operation *op, mlir::Operation *lowered);

private:
  Expected<void> lower(mlir::Operation *op);
  Expected<void> lowerFloat(mlir::Operation *op);
  void lowerRegions(mlir::Operation *op);
  void lowerResults();
  void narrowInputs();
  /// Whether what is stored is cast to elements of `given`, and they to it, in one step.
  bool castsDirectly(mlir::Type given) const;
  mlir::Value floatOperand(mlir::OpOperand &operand, mlir::Type type);
  mlir::Value narrowFilter(top::WeightOp filter, const ChannelOrder &order, mlir::Type type);
  mlir::Value biasBesideRounded(top::ConvOp conv, mlir::Value stored);
  mlir::Value castWeight(top::WeightOp weight, mlir::Type type);
  mlir::Value cast(mlir::Value stored, mlir::Type type, const std::string &name);
  /// `value`, floats, as the nearest numbers that `type` can store.
  mlir::Value roundedTo(quant::UniformQuantizedType type, mlir::Value value,
                        const std::string &name);

  mlir::func::FuncOp main;
  llvm::DenseMap<mlir::Value, mlir::Value> lowered;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
  std::optional<Error> failure;
};

/// Lowers one op whose plan is on integers. Errors: as Lowering::run.
Expected<void> lowerInteger(mlir::Operation *op, Lowering &lowering);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_LOWERING_H
