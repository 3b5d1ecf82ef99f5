//===- NodeBuilder.h - What the converter of one node works with -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_NODEBUILDER_H
#define TPUC_FRONTEND_ONNX_NODEBUILDER_H

#include "tpuc/Frontend/Common/LayerBuilder.h"
#include "tpuc/Frontend/Onnx/OnnxModel.h"

namespace tpuc::onnx {

namespace proto {
class Attribute;
class Graph;
class Node;
} // namespace proto

class GraphImporter;
struct Scope;

using frontend::Attrs;
using frontend::Ints;
using frontend::IntsOrTensor;

/// One node of the source network, and the making of the ops that stand for it.
class NodeBuilder : public frontend::LayerBuilder {
public:
  NodeBuilder(GraphImporter &importer, Scope &scope, const proto::Node &node);

  const proto::Node &node() const { return source; }
  /// The version of the standard operator set that the node means.
  int64_t opset() const;

  unsigned numInputs() const override;
  bool has(unsigned index) const override;
  mlir::Value in(unsigned index) override;
  void bind(unsigned index, mlir::Value value) override;
  std::string place() const override;

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
  /// Fails where the node has an attribute that nobody asked for.
  void checkAttributes();

  // ---- graphs inside the node
  /// Builds the region of `graph`, whose inputs are `arguments`; it ends in a top.Yield. The types
  /// of what it yields go to `yielded`. Null after an error.
  std::unique_ptr<mlir::Region> region(const proto::Graph &graph,
                                       llvm::ArrayRef<mlir::Type> arguments,
                                       llvm::SmallVectorImpl<mlir::Type> &yielded);

  /// Converts the nodes of `graph` in the place of this one, whose outputs its outputs are.
  void inlineGraph(const proto::Graph &graph);

private:
  const proto::Attribute *find(llvm::StringRef name);
  const proto::Attribute *find(llvm::StringRef name, int64_t type, llvm::StringRef typeName);

  GraphImporter &importer;
  Scope &scope;
  const proto::Node &source;
  llvm::SmallVector<llvm::StringRef> asked;
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
  /// "" for the standard domain.
  std::string_view domain = {};
};

/// The domain of the operators that ONNX Runtime adds; of version 1 all.
inline constexpr std::string_view kMicrosoft = "com.microsoft";

/// The rows of all families, by domain, name and version.
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
llvm::ArrayRef<OpRow> foldHeadReshapes();
llvm::ArrayRef<OpRow> signalRows();
llvm::ArrayRef<OpRow> lossRows();
llvm::ArrayRef<OpRow> fusedRows();
llvm::ArrayRef<OpRow> transformerRows();
llvm::ArrayRef<OpRow> storedRows();

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_NODEBUILDER_H
