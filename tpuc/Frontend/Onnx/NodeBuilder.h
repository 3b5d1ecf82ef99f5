//===- NodeBuilder.h - What the converter of one node works with -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_NODEBUILDER_H
#define TPUC_FRONTEND_ONNX_NODEBUILDER_H

#include "tpuc/Frontend/Onnx/OnnxModel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tpuc::onnx {

namespace proto {
class Attribute;
class Graph;
class Node;
} // namespace proto

class GraphImporter;
struct Scope;

using Ints = llvm::SmallVector<int64_t>;

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

/// One node of the source network, and the making of the ops that stand for it.
///
/// The first error that is found stays and ends the import when the converter returns: after `fail`
/// everything can still be called, with results of no meaning.
class NodeBuilder {
public:
  NodeBuilder(GraphImporter &importer, Scope &scope, const proto::Node &node);

  mlir::MLIRContext *context() const;
  const proto::Node &node() const { return source; }
  /// The version of the standard operator set that the node means.
  int64_t opset() const;

  // ---- operands
  unsigned numInputs() const;
  /// Whether input `index` is given.
  bool has(unsigned index) const;
  /// Input `index`; the value of a `top.None` where it is left out.
  mlir::Value in(unsigned index);
  /// The inputs 0 to `count` - 1, as in() gives them.
  llvm::SmallVector<mlir::Value> firstInputs(unsigned count);
  llvm::SmallVector<mlir::Value> inputsFrom(unsigned index);
  mlir::Value none();
  /// Input `index`, where it is known now: an initializer, or computed from such.
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

  // ---- attributes: each that is asked for counts as known; the others are errors in the end
  bool hasAttribute(llvm::StringRef name);
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  int64_t needInt(llvm::StringRef name);
  double getFloat(llvm::StringRef name, double otherwise);
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<Ints> getInts(llvm::StringRef name);
  std::optional<std::vector<double>> getFloats(llvm::StringRef name);
  std::optional<std::vector<std::string>> getStrings(llvm::StringRef name);
  std::optional<Tensor> getTensor(llvm::StringRef name);
  std::optional<Tensor> getSparseTensor(llvm::StringRef name);
  /// A graph that must be there.
  const proto::Graph *needGraph(llvm::StringRef name);
  /// The element type that attribute `name` numbers; `otherwise` without it.
  mlir::Type getType(llvm::StringRef name, mlir::Type otherwise);
  /// A string that must be one of `choices`.
  std::string getChoice(llvm::StringRef name, llvm::StringRef otherwise,
                        llvm::ArrayRef<llvm::StringRef> choices);
  /// Attributes that mean nothing for inference.
  void ignore(llvm::ArrayRef<llvm::StringRef> names);

  // ---- results
  unsigned numOutputs() const;
  /// Whether output `index` has a name.
  bool wants(unsigned index) const;
  /// Makes output `index` be `value`.
  void bind(unsigned index, mlir::Value value);

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
    return makeTemp(suffix, Op::getOperationName(), operands, attributes);
  }
  template <typename Op> mlir::Value temp(llvm::StringRef suffix, mlir::ValueRange operands) {
    return temp<Op>(suffix, operands, attrs());
  }
  /// A constant on the way, named after output 0 and `suffix`.
  mlir::Value weight(llvm::StringRef suffix, Tensor tensor);
  /// Output 0 as a constant.
  void emitConstant(Tensor tensor);
  /// A constant vector of int64.
  mlir::Value intsWeight(llvm::StringRef suffix, llvm::ArrayRef<int64_t> values);

  /// Builds the region of `graph`, whose inputs are `arguments`; it ends in a top.Yield. The types
  /// of what it yields go to `yielded`. Null after an error.
  std::unique_ptr<mlir::Region> region(const proto::Graph &graph,
                                       llvm::ArrayRef<mlir::Type> arguments,
                                       llvm::SmallVectorImpl<mlir::Type> &yielded);

  /// Converts the nodes of `graph` in the place of this one, whose outputs its outputs are.
  void inlineGraph(const proto::Graph &graph);

  // ---- errors
  void fail(std::string found, std::string expected = "");
  bool failed() const { return error.has_value(); }
  /// What converters share: the number of inputs and outputs, attributes nobody asked for.
  void checkArity(int minInputs, int maxInputs);
  void checkAttributes();
  std::optional<Error> takeError() { return std::move(error); }

private:
  const proto::Attribute *find(llvm::StringRef name);
  const proto::Attribute *find(llvm::StringRef name, int64_t type, llvm::StringRef typeName);
  void failWith(Error inner);
  /// The tensor; none, and the error kept, where there is none.
  std::optional<Tensor> orFail(Expected<Tensor> tensor);
  std::string baseName() const;
  mlir::Value makeOutput(unsigned index, llvm::StringRef op, mlir::ValueRange operands,
                         const Attrs &attributes);
  mlir::Operation *makeOutputs(unsigned count, unsigned firstOptional, llvm::StringRef op,
                               mlir::ValueRange operands, const Attrs &attributes,
                               llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions);
  mlir::Value makeTemp(llvm::StringRef suffix, llvm::StringRef op, mlir::ValueRange operands,
                       const Attrs &attributes);

  GraphImporter &importer;
  Scope &scope;
  const proto::Node &source;
  llvm::SmallVector<llvm::StringRef> asked;
  std::optional<Error> error;
};

/// How one version of an ONNX op becomes ops of the dialect.
struct OpRow {
  std::string_view name;
  /// The first opset version that this row is for; a row of a later version takes over from there.
  int since;
  int minInputs;
  /// -1: any number.
  int maxInputs;
  void (*convert)(NodeBuilder &);
  /// What it becomes, for the support matrix.
  std::string_view becomes;
};

/// The rows of all families, by name and version.
llvm::ArrayRef<OpRow> opTable();

// Each family's rows; the files Convert*.cpp.
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> movementRows();
llvm::ArrayRef<OpRow> indexRows();
llvm::ArrayRef<OpRow> networkRows();
llvm::ArrayRef<OpRow> normRows();
llvm::ArrayRef<OpRow> reduceRows();
llvm::ArrayRef<OpRow> quantizeRows();
llvm::ArrayRef<OpRow> controlRows();
llvm::ArrayRef<OpRow> attentionRows();
llvm::ArrayRef<OpRow> signalRows();
llvm::ArrayRef<OpRow> lossRows();

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_NODEBUILDER_H
