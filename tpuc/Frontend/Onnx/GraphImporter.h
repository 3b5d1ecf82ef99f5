//===- GraphImporter.h - From a planned model to a module --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H
#define TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "tpuc/Frontend/Onnx/NodeBuilder.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Support/ThreadPool.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tpuc::onnx {

/// A function of the model that is being expanded: where its attributes come from.
struct CallFrame {
  const proto::Function *function;
  const proto::Node *call;
  const CallFrame *outer;
};

/// The names that nodes of one graph, or of one call of a function, can use.
struct Scope {
  Scope *outer = nullptr;
  const CallFrame *frame = nullptr;
  int64_t opset = 0;
  /// Before the names of the tensors of an expanded function.
  std::string prefix;
  /// Tensors of a function that are the caller's under another name.
  llvm::StringMap<std::string> renamed;
  llvm::StringMap<mlir::Value> values;
  /// Initializers, which become weights when they are first used.
  llvm::StringMap<const proto::Tensor *> weights;
  llvm::StringMap<const proto::SparseTensor *> sparseWeights;
  /// Where the ops go.
  mlir::Block *block = nullptr;

  /// The name in the location of the op that makes `tensor`.
  std::string locationName(const std::string &tensor) const;
};

class GraphImporter {
public:
  GraphImporter(mlir::MLIRContext &context, const OnnxModel &model, const GraphPlan &plan,
                const OnnxImportOptions &options);

  Expected<mlir::OwningOpRef<mlir::ModuleOp>> run();

  mlir::MLIRContext *context() const { return builder.getContext(); }
  const OnnxModel &model() const { return onnxModel; }
  mlir::Value none() const { return noneValue; }
  /// The value of a tensor; null without an error where there is none (a left out argument of a
  /// function).
  Expected<mlir::Value> lookup(Scope &scope, const std::string &name);
  /// A constant, in the block of `main`.
  mlir::Value makeWeight(const std::string &name, Tensor tensor);
  /// The op at the end of the scope's block, its result types inferred. Null where it was computed
  /// at once: `results` are weights then.
  Expected<mlir::Operation *> makeOp(Scope &scope, mlir::OperationState &state,
                                     llvm::SmallVectorImpl<mlir::Value> &results);
  Expected<std::unique_ptr<mlir::Region>> makeRegion(Scope &outer, const proto::Graph &graph,
                                                     llvm::ArrayRef<mlir::Type> arguments,
                                                     llvm::SmallVectorImpl<mlir::Type> &yielded);
  /// The nodes of `graph`, an attribute of `node`, at the end of the scope's block; its outputs are
  /// those of the node.
  Expected<void> inlineGraph(Scope &outer, const proto::Node &node, const proto::Graph &graph);
  mlir::Location location(llvm::ArrayRef<std::string> names);
  /// `wanted`, or with a number behind it if a tensor has that name.
  std::string freeName(const std::string &wanted);

private:
  struct InputSpec {
    std::string name;
    DataType given;
    DataType declared;
    std::optional<Ints> dims;
  };

  Expected<void> checkOps() const;
  Expected<std::vector<InputSpec>> inputs() const;
  Expected<InputSpec> inputSpec(const proto::ValueInfo &info, size_t index) const;
  Expected<void> makeMain(mlir::ModuleOp module, const std::vector<InputSpec> &specs);
  void eraseUnusedWeights();
  void addWeights(Scope &scope, const proto::Graph &graph);
  Expected<void> convert(Scope &scope, const GraphPlan::Nodes &nodes);
  Expected<void> convertNode(Scope &scope, const proto::Node &node);
  Expected<void> expand(Scope &scope, const proto::Node &node, const proto::Function &function);
  bool fold(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &results);

  mlir::OpBuilder builder;
  const OnnxModel &onnxModel;
  const GraphPlan &plan;
  const OnnxImportOptions &options;
  mlir::ModuleOp module;
  mlir::Block *mainBlock = nullptr;
  mlir::Value noneValue;
  llvm::StringSet<> names;
  /// Weights of initializers that were used, in graphs that are converted again too.
  llvm::DenseMap<const void *, mlir::Value> weightOf;
  ThreadPool threads;
  int64_t nodeCount = 0;
};

/// The row for `op` in version `opset`; null where there is none.
const OpRow *findRow(std::string_view op, int64_t opset);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H
