//===- OpMaker.h - The ops that one op stands for ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_OPMAKER_H
#define TPUC_CODEGEN_DECOMPOSE_OPMAKER_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/Builders.h"

namespace tpuc::codegen {

/// Makes the ops that stand for `op`, in front of it. Each is named after what `op` gives, with the
/// word `what` behind it.
class OpMaker {
public:
  OpMaker(mlir::Operation *op, const Backend &backend) : backend(backend), op(op), builder(op) {}

  mlir::Value none();
  /// An op of one result: `dims` of the elements of `operands.front()`.
  template <typename Op>
  mlir::Value make(llvm::StringRef what, llvm::ArrayRef<int64_t> dims, mlir::ValueRange operands,
                   const mlir::NamedAttrList &attributes = {}) {
    return make(Op::getOperationName(), what, mlir::Type(typeOf(operands.front()).clone(dims)),
                operands, attributes);
  }
  /// One of the dimensions of its first operand.
  template <typename Op>
  mlir::Value makeLike(llvm::StringRef what, mlir::ValueRange operands,
                       const mlir::NamedAttrList &attributes = {}) {
    return make(Op::getOperationName(), what, mlir::Type(typeOf(operands.front())), operands,
                attributes);
  }
  /// Gives the first of the results that are not left out.
  mlir::Value make(llvm::StringRef name, llvm::StringRef what, mlir::TypeRange types,
                   mlir::ValueRange operands, const mlir::NamedAttrList &attributes);

  /// An op with a number, `MulConst` or its like: the type of `value`.
  template <typename Op>
  mlir::Value withConst(llvm::StringRef what, mlir::Value value, double number) {
    mlir::NamedAttrList attributes;
    attributes.set("const_val", builder.getF64FloatAttr(number));
    return makeLike<Op>(what, value, attributes);
  }

  /// Of a constant: another constant.
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> dims, llvm::StringRef what);
  /// The same where `value` may be a reshape of what has these dimensions, maybe through ops on
  /// single elements that nothing else reads: then these compute on `dims`, and nothing is
  /// reshaped.
  mlir::Value viewed(mlir::Value value, llvm::ArrayRef<int64_t> dims, llvm::StringRef what);
  mlir::Value permuted(mlir::Value value, llvm::ArrayRef<int64_t> order, llvm::StringRef what);
  /// Every `step`-th of the elements [begin, begin + size) of a dimension.
  mlir::Value sliced(mlir::Value value, int64_t axis, int64_t begin, int64_t size,
                     llvm::StringRef what, int64_t step = 1);
  /// The elements [begin, begin + size) of a dimension; of a constant: another constant.
  mlir::Value part(mlir::Value value, int64_t axis, int64_t begin, int64_t size,
                   llvm::StringRef what);
  /// Equal parts of a dimension.
  llvm::SmallVector<mlir::Value> split(mlir::Value value, int64_t axis, int64_t parts,
                                       llvm::StringRef what);
  /// Parts of a dimension, whose sizes add up to it.
  llvm::SmallVector<mlir::Value> split(mlir::Value value, int64_t axis,
                                       llvm::ArrayRef<int64_t> sizes, llvm::StringRef what);
  mlir::Value joined(mlir::ValueRange values, int64_t axis, llvm::StringRef what);
  mlir::Value weight(const Tensor &tensor, llvm::StringRef what);
  /// The same in the element type of `like`.
  mlir::Value weight(const Tensor &tensor, llvm::StringRef what, mlir::Value like);
  /// The elements as numbers of another type.
  mlir::Value converted(mlir::Value value, mlir::Type element, llvm::StringRef what);
  /// In F32 where the elements are floats of 16 bits and the chip has F32; of a constant: another
  /// constant, or with `folds` false what the chip makes of it.
  mlir::Value widened(mlir::Value value, llvm::StringRef what = "wide", bool folds = true);
  /// With the element type that result `index` has.
  mlir::Value narrowed(mlir::Value value, unsigned index, llvm::StringRef what = "narrow");
  /// With the dimensions and the element type that result `index` has.
  mlir::Value finished(mlir::Value value, unsigned index);

  /// Users of result `index` read `value` from now on, which takes its name.
  void replace(unsigned index, mlir::Value value);

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static llvm::ArrayRef<int64_t> dimsOf(mlir::Value value) { return typeOf(value).getShape(); }
  /// The dimension of `value` that `axis` names, -1 for the last one.
  static size_t frontAxis(int64_t axis, mlir::Value value) {
    return static_cast<size_t>(axis < 0 ? axis + typeOf(value).getRank() : axis);
  }
  /// F32 has every integer up to this one.
  static constexpr int64_t kMostExact = int64_t{1} << 24;
  /// Whether the chip computes what makes `value` in its local memory.
  bool isLocal(mlir::Value value) const {
    Expected<Place> place = backend.placeOf(value.getDefiningOp());
    return place && *place == Place::Local;
  }
  /// Whether the elements are F32, F16 or BF16.
  static bool isFloat(mlir::Value value);
  /// Of the attributes of an op, those of the activation that it applies to its result; and the
  /// others.
  static mlir::NamedAttrList activationOf(const mlir::NamedAttrList &attributes);
  static mlir::NamedAttrList withoutActivation(mlir::NamedAttrList attributes);
  /// The constant that a value is; none for others, and for what cannot be read.
  static std::optional<Tensor> constantOf(mlir::Value value);

  const Backend &backend;
  mlir::Operation *op;
  mlir::OpBuilder builder;

private:
  mlir::Location name(llvm::StringRef what);
};

/// The elements [begin, begin + size) of a dimension of a constant.
Tensor slicedConstant(const Tensor &tensor, size_t axis, int64_t begin, int64_t size);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_OPMAKER_H
