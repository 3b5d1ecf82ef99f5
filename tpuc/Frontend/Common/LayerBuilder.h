//===- LayerBuilder.h - What the converter of one layer works with - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_COMMON_LAYERBUILDER_H
#define TPUC_FRONTEND_COMMON_LAYERBUILDER_H

#include "tpuc/Frontend/Common/ModuleBuilder.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tpuc::frontend {

/// The attributes of an op that is being made. What is not given (an empty optional) is left out.
class Attrs {
public:
  explicit Attrs(mlir::MLIRContext *context) : builder(context) {}

  Attrs &set(llvm::StringRef name, mlir::Attribute value);
  Attrs &setInt(llvm::StringRef name, std::optional<int64_t> value);
  Attrs &setFloat(llvm::StringRef name, std::optional<double> value);
  Attrs &setBool(llvm::StringRef name, bool value);
  Attrs &setString(llvm::StringRef name, llvm::StringRef value);
  Attrs &setInts(llvm::StringRef name, const std::optional<Ints> &value);
  Attrs &setFloats(llvm::StringRef name, const std::optional<std::vector<double>> &value);
  Attrs &setType(llvm::StringRef name, mlir::Type value);

  const mlir::NamedAttrList &list() const { return attributes; }

private:
  mlir::Builder builder;
  mlir::NamedAttrList attributes;
};

/// Integers that a network gives as an attribute or an input that is constant, or else as a tensor
/// that it computes: what the ops of the dialect take as `x` or `x_tensor`.
struct IntsOrTensor {
  std::optional<Ints> ints;
  /// None's value where `ints` is given, or neither is.
  mlir::Value tensor;
};

/// One layer of a source network, and the making of the ops that stand for it. A front end derives
/// its own from this one: where inputs come from, who learns of outputs, how attributes are read.
///
/// The first error that is found stays and ends the import when the converter returns: after `fail`
/// everything can still be called, with results of no meaning.
class LayerBuilder {
public:
  /// The ops go to the end of `block`. `outputs` are the names of the layer's tensors, empty where
  /// nobody wants one; `name` stands for them where there are none.
  LayerBuilder(ModuleBuilder &module, mlir::Block *block, std::vector<std::string> outputs,
               std::string name);
  virtual ~LayerBuilder();

  mlir::MLIRContext *context() const { return module.context(); }

  // ---- what the format says
  virtual unsigned numInputs() const = 0;
  /// Whether input `index` is given.
  virtual bool has(unsigned index) const = 0;
  /// Input `index`; the value of a `top.None` where it is left out.
  virtual mlir::Value in(unsigned index) = 0;
  /// Makes output `index` be `value`, where it is wanted.
  virtual void bind(unsigned index, mlir::Value value) = 0;
  /// The model and the layer, as errors name them: `m.onnx: node 'conv1' (Conv)`.
  virtual std::string place() const = 0;

  // ---- operands
  /// The inputs 0 to `count` - 1, as in() gives them.
  llvm::SmallVector<mlir::Value> firstInputs(unsigned count);
  llvm::SmallVector<mlir::Value> inputsFrom(unsigned index);
  mlir::Value none() const { return module.none(); }
  /// Input `index`, where it is known now: a constant, or computed from such.
  std::optional<Tensor> constant(unsigned index);
  std::optional<Ints> constantInts(unsigned index);
  std::optional<double> constantFloat(unsigned index);
  /// Input `index` as it goes into an op.
  IntsOrTensor intsOrTensor(unsigned index);

  static std::optional<Ints> dims(mlir::Value value);
  static std::optional<int64_t> rank(mlir::Value value);
  static bool isStatic(const Ints &dims);
  static mlir::Type elementType(mlir::Value value);
  /// The rank of input `index`, whose `what` asks for it; an error where it is not known.
  int64_t needRank(unsigned index, llvm::StringRef what);

  // ---- results
  unsigned numOutputs() const { return static_cast<unsigned>(outputNames.size()); }
  /// Whether output `index` has a name.
  bool wants(unsigned index) const { return index < numOutputs() && !outputNames[index].empty(); }

  Attrs attrs() const { return Attrs(context()); }
  /// The op that makes output 0, named like it.
  template <typename Op> mlir::Value emit(mlir::ValueRange operands, const Attrs &attributes) {
    return emitAs<Op>(0, operands, attributes);
  }
  template <typename Op> mlir::Value emit(mlir::ValueRange operands) {
    return emit<Op>(operands, attrs());
  }
  /// The op of one result that makes output `index`.
  template <typename Op>
  mlir::Value emitAs(unsigned index, mlir::ValueRange operands, const Attrs &attributes) {
    return makeOutput(index, Op::getOperationName(), operands, attributes);
  }
  /// The op of `count` results whose first makes output 0; the others have type none.
  template <typename Op>
  mlir::Value emitFirst(unsigned count, mlir::ValueRange operands, const Attrs &attributes) {
    return makeOutput(0, Op::getOperationName(), operands, attributes, count);
  }
  /// The op whose results are the outputs 0 to `count` - 1. Results from `firstOptional` on that
  /// nobody wants have type none.
  template <typename Op>
  mlir::Operation *emitAll(unsigned count, unsigned firstOptional, mlir::ValueRange operands,
                           const Attrs &attributes) {
    return makeOutputs(count, firstOptional, Op::getOperationName(), operands, attributes, {});
  }
  /// The same with regions, which are taken.
  template <typename Op>
  mlir::Operation *emitRegions(mlir::ValueRange operands, const Attrs &attributes,
                               llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions) {
    return makeOutputs(numOutputs(), numOutputs(), Op::getOperationName(), operands, attributes,
                       regions);
  }
  /// An op of one result on the way, named after output 0 and `suffix`.
  template <typename Op>
  mlir::Value temp(llvm::StringRef suffix, mlir::ValueRange operands, const Attrs &attributes) {
    return makeTemps(suffix, Op::getOperationName(), operands, attributes, 1, 1)[0];
  }
  template <typename Op> mlir::Value temp(llvm::StringRef suffix, mlir::ValueRange operands) {
    return temp<Op>(suffix, operands, attrs());
  }
  /// The `count` results of an op on the way; those from `firstUnwanted` on have type none.
  template <typename Op>
  llvm::SmallVector<mlir::Value> temps(llvm::StringRef suffix, unsigned count,
                                       unsigned firstUnwanted, mlir::ValueRange operands,
                                       const Attrs &attributes) {
    return makeTemps(suffix, Op::getOperationName(), operands, attributes, count, firstUnwanted);
  }
  /// The attributes of a Slice that takes elements [begin, end) of dimension `axis`.
  Attrs partAttrs(int64_t axis, int64_t begin, int64_t end) const;
  /// Elements [begin, end) of dimension `axis`.
  mlir::Value part(llvm::StringRef suffix, mlir::Value value, int64_t axis, int64_t begin,
                   int64_t end);
  /// A constant on the way, named after output 0 and `suffix`.
  mlir::Value weight(llvm::StringRef suffix, Tensor tensor);
  /// Output 0 as a constant.
  void emitConstant(Tensor tensor);
  /// A constant vector of int64.
  mlir::Value intsWeight(llvm::StringRef suffix, llvm::ArrayRef<int64_t> values);

  // ---- errors
  void fail(std::string found, std::string expected = "");
  bool failed() const { return error.has_value(); }
  /// Errors: fewer than `minInputs` or more than `maxInputs` (-1: any number) inputs, one of the
  /// first left out, no outputs.
  void checkArity(int minInputs, int maxInputs);
  std::optional<Error> takeError() { return std::move(error); }

protected:
  void failWith(Error inner);
  /// The tensor; none, and the error kept, where there is none.
  std::optional<Tensor> orFail(Expected<Tensor> tensor);
  /// What ops and constants on the way are named after.
  std::string baseName() const;

private:
  mlir::Value makeOutput(unsigned index, llvm::StringRef op, mlir::ValueRange operands,
                         const Attrs &attributes, unsigned count = 1);
  mlir::Operation *makeOutputs(unsigned count, unsigned firstOptional, llvm::StringRef op,
                               mlir::ValueRange operands, const Attrs &attributes,
                               llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions);
  llvm::SmallVector<mlir::Value> makeTemps(llvm::StringRef suffix, llvm::StringRef op,
                                           mlir::ValueRange operands, const Attrs &attributes,
                                           unsigned count, unsigned firstUnwanted);
  /// The results of an op, of which those from `firstUnwanted` on have type none; empty, and the
  /// error kept, where it cannot be.
  llvm::SmallVector<mlir::Value> makeNamed(const std::vector<std::string> &names,
                                           llvm::StringRef op, mlir::ValueRange operands,
                                           const Attrs &attributes, unsigned firstUnwanted);
  std::string outputName(unsigned index);

  ModuleBuilder &module;
  mlir::Block *block;
  std::vector<std::string> outputNames;
  std::string layerName;
  std::optional<Error> error;
};

/// `axis` counted from the front; an error of the layer unless it is in [-rank, rank), or in
/// [-rank, rank] if `endAllowed`.
int64_t frontAxis(LayerBuilder &layer, int64_t axis, int64_t rank, bool endAllowed = false);

/// The one element of `tensor` as an attribute of its type.
mlir::TypedAttr elementAttr(mlir::MLIRContext *context, const Tensor &tensor);

/// `input` in the shape of `like`, as output 0: by an attribute where at most one extent is unknown
/// (-1 stands for it), else by a shape that is computed.
mlir::Value reshapeLike(LayerBuilder &layer, mlir::Value input, mlir::Value like);

/// The extents `start` to `end` of `input` (negative: from the back; none: all) as output 0: a
/// constant where they are known.
void emitShape(LayerBuilder &layer, mlir::Value input, int64_t start, std::optional<int64_t> end);

/// Widens the types `carried` of values that the body of a loop takes and gives again, by what it
/// gave: extents that differ become unknown. Whether that changed any. Fails where the body changes
/// an element type.
bool widenCarried(LayerBuilder &layer, llvm::MutableArrayRef<mlir::Type> carried,
                  llvm::ArrayRef<mlir::Type> given);

} // namespace tpuc::frontend

#endif // TPUC_FRONTEND_COMMON_LAYERBUILDER_H
