//===- TFLiteLayer.h - What the converter of one op works with - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_TFLITELAYER_H
#define TPUC_FRONTEND_TFLITE_TFLITELAYER_H

#include "tpuc/Frontend/TFLite/TFLiteValues.h"

namespace tpuc::tflite {

/// What all ops of a network have in common while it is imported.
struct ImportState {
  const TFLiteModel &model;
  frontend::ModuleBuilder &module;
  TFLiteValues values;
  /// See ImportOptions.
  bool hybrid = false;
};

/// A table without fields: all of them have their defaults.
const void *emptyTable();

/// One op of the network, and the making of the ops that stand for it.
class TFLiteLayer : public frontend::LayerBuilder {
public:
  TFLiteLayer(ImportState &state, const NetOp &op);

  unsigned numInputs() const override { return static_cast<unsigned>(op.inputs.size()); }
  bool has(unsigned index) const override { return index < numInputs() && op.inputs[index] >= 0; }
  /// The numbers of input `index` as in the source.
  mlir::Value in(unsigned index) override { return in(index, Layout::Source); }
  mlir::Value in(unsigned index, Layout layout);
  /// Its elements as they are stored.
  mlir::Value stored(unsigned index);
  void bind(unsigned index, mlir::Value value) override { bindAs(index, Layout::Source, value); }
  void bindAs(unsigned index, Layout layout, mlir::Value value);
  std::string place() const override;

  const NetOp &source() const { return op; }
  const NetTensor &tensor(unsigned index) const;
  const NetTensor &output(unsigned index) const;
  /// How intermediate tensor `index` is stored; null where there is no such tensor or scale.
  const Quantization *intermediate(size_t index) const;
  /// Element types as the source has them.
  fb::ElementType inputType(unsigned index) const { return tensor(index).type; }

  /// The options of the op; the defaults where it has none. An error of the op where it has those
  /// of another one.
  template <typename Options> const Options &options() {
    const fb::BuiltinOptions type = op.table->builtin_options_type();
    if (type == fb::BuiltinOptionsTraits<Options>::enum_value && op.table->builtin_options())
      return *static_cast<const Options *>(op.table->builtin_options());
    if (type != fb::BuiltinOptions::NONE)
      failOptions(type, fb::BuiltinOptionsTraits<Options>::enum_value);
    return *static_cast<const Options *>(emptyTable());
  }

  // ---- shapes, always as in the source
  /// The extents of input `index`, `what` of which must be known: an error otherwise, and a shape
  /// of ones.
  Ints shape(unsigned index);
  /// The same where dimensions may be open.
  std::optional<Ints> knownDims(unsigned index) const;
  int64_t inputRank(unsigned index);
  /// The constant integers of input `index`; an error where it is no constant.
  Ints needInts(unsigned index, llvm::StringRef what);
  /// The one dimension of `axes`, counted from the front: the first where there is none.
  int64_t frontAxisOf(const Ints &axes, int64_t rank);

  // ---- layouts
  /// Whether an op made input `index` with the channels in front.
  bool isFront(unsigned index) const;
  /// Where the inputs `indices`, which are broadcast with each other, are best computed: with the
  /// channels in front where one of the highest rank is there so.
  Layout layoutOf(llvm::ArrayRef<unsigned> indices);
  /// Input `index` for an op in `layout` whose result has `rank` dimensions: of as many of them in
  /// `Layout::ChannelsFirst`.
  mlir::Value broadcastable(unsigned index, Layout layout, int64_t rank);

  /// The op that makes output `index` in `layout`.
  template <typename Op>
  mlir::Value put(Layout layout, unsigned index, mlir::ValueRange operands,
                  const Attrs &attributes) {
    return putNamed(layout, index, Op::getOperationName(), operands, attributes);
  }
  template <typename Op>
  mlir::Value put(Layout layout, mlir::ValueRange operands, const Attrs &attributes) {
    return put<Op>(layout, 0, operands, attributes);
  }
  template <typename Op> mlir::Value put(Layout layout, mlir::ValueRange operands) {
    return put<Op>(layout, 0, operands, attrs());
  }
  /// The op that makes output 0 and applies `activation`, for ops that have `do_relu`.
  template <typename Op>
  void putActivated(Layout layout, fb::ActivationFunction activation, mlir::ValueRange operands,
                    Attrs attributes) {
    setActivation(attributes, activation);
    if (isFused(activation)) {
      put<Op>(layout, 0, operands, attributes);
      return;
    }
    putActivation(layout, activation, temp<Op>("linear", operands, attributes));
  }
  /// Output 0 as `activation` of `value`; it is `value` itself where there is none.
  void putActivation(Layout layout, fb::ActivationFunction activation, mlir::Value value);

  // ---- ops on the way
  mlir::Value reshaped(llvm::StringRef suffix, mlir::Value value, llvm::ArrayRef<int64_t> dims);
  mlir::Value transposed(llvm::StringRef suffix, mlir::Value value, llvm::ArrayRef<int64_t> order);
  /// The numbers of input `index` with dimension `order[i]` as dimension `i`. Of a constant, there
  /// is no other form.
  mlir::Value turned(llvm::StringRef suffix, unsigned index, llvm::ArrayRef<int64_t> order);
  mlir::Value cast(llvm::StringRef suffix, mlir::Value value, DataType type);
  mlir::Value filled(llvm::StringRef suffix, llvm::ArrayRef<int64_t> dims, float value);
  /// Whether the constant `index` holds 8-bit integers beside floats that are to be rounded to 8
  /// bits, too (ImportOptions::hybrid).
  bool isHybrid(unsigned index) const;
  /// The integers of such a constant, as `type`, in the source's order; an error where they cannot
  /// be read.
  std::optional<Tensor> needIntegers(unsigned index, DataType type = DataType::I8);
  /// The scale of its `count` channels along dimension `axis`, of which all may have one; an error
  /// where the source states others.
  std::vector<float> needScales(unsigned index, int64_t axis, int64_t count);
  /// The constant elements of input `index` as floats; an error where it is no constant.
  std::optional<Tensor> needConstant(unsigned index, llvm::StringRef what);

private:
  static bool isFused(fb::ActivationFunction activation);
  static void setActivation(Attrs &attributes, fb::ActivationFunction activation);
  void failOptions(fb::BuiltinOptions found, fb::BuiltinOptions wanted);
  mlir::Value putNamed(Layout layout, unsigned index, llvm::StringRef name,
                       mlir::ValueRange operands, const Attrs &attributes);
  mlir::Value orNone(Expected<mlir::Value> value);
  static std::vector<std::string> outputNames(ImportState &state, const NetOp &op);

  ImportState &state;
  const NetOp &op;
};

/// Whether input `index` is left out, or holds a bias for each of `outputs` channels; an error of
/// the layer otherwise.
bool checkBias(TFLiteLayer &layer, unsigned index, int64_t outputs);

/// How an op of the format becomes ops of the dialect.
struct OpRow {
  fb::BuiltinOperator code;
  int minInputs;
  /// -1: any number.
  int maxInputs;
  void (*convert)(TFLiteLayer &);
  /// What it becomes, for the page of ops.
  std::string_view becomes;
  /// The name where it is a custom op.
  std::string_view custom = {};
};

/// The rows of all families, by name.
llvm::ArrayRef<OpRow> opTable();
/// The row for `op`; null where there is none.
const OpRow *findRow(const NetOp &op);

// Each family's rows; the files Convert*.cpp.
llvm::ArrayRef<OpRow> blockRows();
llvm::ArrayRef<OpRow> customRows();
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> indexRows();
llvm::ArrayRef<OpRow> lstmRows();
llvm::ArrayRef<OpRow> movementRows();
llvm::ArrayRef<OpRow> recurrentRows();
llvm::ArrayRef<OpRow> reduceRows();
llvm::ArrayRef<OpRow> scatterRows();
llvm::ArrayRef<OpRow> windowRows();

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_TFLITELAYER_H
