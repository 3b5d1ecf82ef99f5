//===- TFLiteValues.h - The tensors of a network in their forms - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_TFLITEVALUES_H
#define TPUC_FRONTEND_TFLITE_TFLITEVALUES_H

#include "tpuc/Frontend/Common/LayerBuilder.h"
#include "tpuc/Frontend/TFLite/TFLiteModel.h"

#include <array>

namespace tpuc::tflite {

using frontend::Attrs;
using frontend::Ints;

/// In which order the dimensions of a tensor stand: as in the source (channels last), or with the
/// channels in second place, as ops on windows take them. Tensors of 3 to 5 dimensions have both.
enum class Layout { Source, ChannelsFirst };
inline constexpr Layout kFront = Layout::ChannelsFirst;

/// What stands behind the name of a tensor that has its channels in second place.
inline constexpr std::string_view kFrontSuffix = "_nchw";

/// order[i]: which dimension of a tensor with the channels last becomes dimension `i`.
Ints frontOrder(int64_t rank);
/// The inverse.
Ints sourceOrder(int64_t rank);
/// Where dimension `axis` of the source stands with the channels in front.
int64_t frontAxis(int64_t axis, int64_t rank);
/// `tensor` with dimension `order[i]` as dimension `i`. Throws std::bad_alloc.
Tensor permuted(const Tensor &tensor, llvm::ArrayRef<int64_t> order);
/// The numbers that the integers of `tensor` stand for, as f32.
Expected<Tensor> dequantized(const Tensor &tensor, const Quantization &quantization,
                             const std::string &place);

/// The tensors of the network while it is imported. A tensor that ops make in one layout comes into
/// being in the other when somebody asks for it, so a chain of convolutions has no transposes. A
/// tensor of integers that stand for numbers is stored as they are, and becomes floats when an op
/// reads it.
class TFLiteValues {
public:
  TFLiteValues(const TFLiteModel &model, frontend::ModuleBuilder &module)
      : model(model), module(module), forms(model.tensors().size()) {}

  /// The name of tensor `index` in `layout`, as an op that computes in floats makes it.
  std::string nameToMake(int index, Layout layout);
  /// Tensor `index` is `value`. Integers that stand for numbers are made of it. Errors: as makeOp.
  Expected<void> set(int index, Layout layout, mlir::Value value);
  /// Tensor `index` is `value`, whose elements are those of the source.
  void setStored(int index, mlir::Value value) { form(index, Layout::Source).stored = value; }

  /// The numbers of tensor `index`; floats where it holds integers that stand for numbers. Errors:
  /// nothing makes it; as TFLiteModel::read.
  Expected<mlir::Value> real(int index, Layout layout);
  /// Its elements as in the source.
  Expected<mlir::Value> stored(int index, Layout layout = Layout::Source);

  /// The numbers of the constant `index` with dimension `order[i]` as dimension `i`, as a constant
  /// of its own. Errors: as TFLiteModel::read.
  Expected<mlir::Value> movedConstant(int index, llvm::ArrayRef<int64_t> order,
                                      const std::string &name);

  /// Whether its elements are integers that stand for numbers.
  bool isQuantized(int index) const;
  /// Whether an op made it in that layout, or it was asked for so.
  bool exists(int index, Layout layout) const;
  /// The type in which an op made its elements; none where that is not known, or nothing made it.
  std::optional<DataType> storedType(int index) const;
  /// Whether its elements are known.
  bool isConstant(int index) const;
  /// Its extents as in the source, dynamic ones ShapedType::kDynamic; none of an unknown rank.
  std::optional<Ints> dims(int index) const;

private:
  struct Form {
    mlir::Value stored;
    mlir::Value real;
  };

  Form &form(int index, Layout layout) {
    return forms[static_cast<size_t>(index)][layout == Layout::Source ? 0 : 1];
  }
  const NetTensor &tensor(int index) const { return model.tensors()[static_cast<size_t>(index)]; }
  /// The tensor's name with the mark of `layout`; another one may have it already.
  std::string markedName(int index, Layout layout) const;
  /// The name of tensor `index` as it is stored in `layout`.
  std::string nameIn(int index, Layout layout);
  Expected<mlir::Value> makeConstant(int index, Layout layout, bool real);
  /// The constant with dimension `order[i]` as dimension `i` (all as they are where it is empty).
  Expected<mlir::Value> makeConstant(int index, llvm::ArrayRef<int64_t> order,
                                     const std::string &name, bool real);
  Expected<mlir::Value> make(llvm::StringRef op, const std::string &name, mlir::ValueRange operands,
                             const Attrs &attributes);
  Expected<mlir::Value> moved(mlir::Value value, llvm::ArrayRef<int64_t> order,
                              const std::string &name);
  Expected<mlir::Value> linear(llvm::StringRef op, int index, mlir::Value value,
                               const std::string &name);

  const TFLiteModel &model;
  frontend::ModuleBuilder &module;
  std::vector<std::array<Form, 2>> forms;
};

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_TFLITEVALUES_H
