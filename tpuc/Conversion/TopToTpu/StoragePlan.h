//===- StoragePlan.h - Which type each tensor is stored in, and why ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_STORAGEPLAN_H
#define TPUC_CONVERSION_TOPTOTPU_STORAGEPLAN_H

#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <set>

namespace tpuc {

/// Attribute of a lowered op that is on floats by need: `Decision::step`.
inline constexpr llvm::StringLiteral kStorageStep = "storage_step";
/// Attribute beside it: `Decision::gain`.
inline constexpr llvm::StringLiteral kStorageGain = "storage_gain";

struct PlanOptions {
  QuantScheme scheme = schemes::kF32;
  bool avoidF16Overflow = false;
  /// Integers wherever an op has a form on them, whatever they lose (FloatsByNeed.h).
  bool isStrict = false;
  /// The same of these layers, by the names of their first tensors.
  std::set<std::string> onIntegers = {};
  /// Layers that take fewer cycles in wider floats, by the names of their first tensors: F32, or
  /// F16 in a network on integers, where ranges are far from its ends.
  std::map<std::string, QuantScheme> faster = {};
  /// What products on integers make that only the network gives is in floats, straight from their
  /// sums, but for layers of `onIntegers`.
  bool floatOutputs = false;
  /// Layers in another scheme, by the name of their first tensor. All integers are of one scheme.
  std::map<std::string, QuantScheme> exceptions = {};
  /// Ops that were made to scale the channels of what products on integers read, and their floats.
  std::map<mlir::Operation *, DataType> scalings = {};
  /// Ops that were made to multiply integers by a number, which are requantizations (ScaleParts.h).
  llvm::DenseSet<mlir::Operation *> rescalings = {};

  /// The integers of the layers that are on integers; none where no layer can be.
  std::optional<QuantScheme> integers() const;
};

/// What becomes of an op and of the tensors that it makes.
struct Decision {
  QuantScheme scheme = schemes::kF32;
  /// Why it is not the network's; empty where it is.
  std::string reason;
  /// Of a layer on floats by need: which layers are so together (FloatNeed).
  std::string step = {};
  /// And what this spares it (FloatNeed).
  double gain = 1;
  /// In which floats a product on integers gives its sums; none: in integers.
  std::optional<DataType> result = {};
};

/// Whether a source stores a tensor in integers that layers do not compute with: of more than 8
/// bits. Floats stand for these.
inline bool isWide(quant::UniformQuantizedType type) { return type.getStorage().width > 8; }

/// Whether `value` is a constant with an element that has no finite f16.
bool isHugeConstant(mlir::Value value);
/// Whether an operand is what an attention adds to its scores.
bool isAttentionMask(mlir::OpOperand &operand);

/// The policy of lowering: one storage type for each tensor.
///
/// An op has the scheme of its exception, else of the network. A scheme of integers needs a form on
/// integers (IntegerForms.h) and a range for every tensor that the op reads or makes; ops that move
/// elements follow their neighbours. What has no integer form is F32, or BF16 on chips without F32;
/// attention, nearly all of which is products, is F16 where the ranges say that its scores are
/// small. F16 gives way to F32 for constants beyond its range, for ops whose results are
/// coordinates or indices, and with `avoidF16Overflow` for ranges beyond 65504.
///
/// Layers whose signal integers would lose are on floats (FloatsByNeed.h): in F32 where they make
/// places, else in F16 where the chip has it. An exception for a layer goes before that.
///
/// Layers that are said to be faster in wider floats are in these (PlanOptions::faster), except for
/// what floats by need decides and for layers with exceptions.
///
/// Gates, the few numbers that scale whole channels (squeeze-excite), are F32 in a BF16 network.
///
/// A product (convolution, inner product) on integers whose readers are all on floats gives floats
/// straight from its sums, where the chip scales sums by a command of their own: nothing is rounded
/// to fewer bits between. With `floatOutputs`, that holds for outputs of the network, too, also
/// behind reshapes.
///
/// A product on integers whose sums were to be multiplied by 1 or more is on floats where the chip
/// multiplies them by less, unless an exception says otherwise.
///
/// Tensors that an op moves elements between share one scale and zero point: those of its result
/// where nobody else reads the operand, else those of the operand (manual 6.3.5,
/// "BackwardCalibration").
class StoragePlan {
public:
  StoragePlan(mlir::func::FuncOp main, const TargetInfo &target, PlanOptions options);

  const Decision &of(mlir::Operation *op) const { return decisions.find(op)->second; }
  bool isInteger(mlir::Operation *op) const { return of(op).scheme.isQuantized(); }
  /// Whether `op` is on integers and gives floats of its sums.
  bool givesFloats(mlir::Operation *op) const { return isInteger(op) && of(op).result.has_value(); }
  /// The scheme of what is stored in integers, for a plan that has any.
  const QuantScheme &integers() const { return *integerScheme; }
  /// The integers that `value` is stored in, wherever it is read as such; null without a range.
  quant::UniformQuantizedType quantized(mlir::Value value) const { return types.lookup(value); }
  /// Whether `op` is a requantization that was made as such.
  bool rescales(mlir::Operation *op) const { return options.rescalings.contains(op); }
  /// Without sign: the bits of the number by which averages multiply their sums, on chips whose
  /// sums have factors of that many bits outside of convolutions, too; 0: as many as others have.
  uint32_t averageBits() const;
  /// Has `op`, which only floats read, be on floats.
  void keepOnFloats(mlir::Operation *op);

private:
  void findGates();
  void findMasks();
  void decide(mlir::Operation *op);
  Decision decideFloat(mlir::Operation *op, const QuantScheme &wanted);
  /// The wider floats that `op` is to be in, as it takes fewer cycles so; none of most ops.
  std::optional<QuantScheme> fasterScheme(mlir::Operation *op) const;
  /// Why `op` cannot be computed on integers; empty if it can.
  std::string whyNotInteger(mlir::Operation *op) const;
  /// What ops without a form on integers are computed in; `op` may be null.
  QuantScheme floatsFor(mlir::Operation *op = nullptr) const;
  void decideNeeds();
  void decidePictures();
  void decideOutputs();
  void decideMovers();
  void decideResults();
  void shareTypes();
  void shareRescaled(top::MulConstOp op);
  bool isBound(mlir::Value value) const;
  void setScale(mlir::Value value, double scale);
  void fitAverage(mlir::Operation *op);
  void fitCast(mlir::Operation *op);
  void decideFactors();
  quant::UniformQuantizedType typeFor(mlir::Value value) const;

  mlir::func::FuncOp main;
  const TargetInfo &target;
  PlanOptions options;
  std::optional<QuantScheme> integerScheme;
  llvm::DenseMap<mlir::Operation *, Decision> decisions;
  /// Ops on one number per channel whose results scale larger tensors.
  llvm::DenseSet<mlir::Operation *> gates;
  /// Ops whose results have infinities that make weights of a softmax 0.
  llvm::DenseSet<mlir::Operation *> masks;
  llvm::DenseMap<mlir::Value, quant::UniformQuantizedType> types;
};

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_STORAGEPLAN_H
