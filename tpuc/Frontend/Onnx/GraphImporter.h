//===- GraphImporter.h - From a planned model to a module --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H
#define TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H

#include "tpuc/Frontend/Common/ModuleBuilder.h"
#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "tpuc/Frontend/Onnx/NodeBuilder.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Frontend/Onnx/OnnxImport.h"

#include "llvm/ADT/StringMap.h"

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
                const ImportOptions &options);

  Expected<mlir::OwningOpRef<mlir::ModuleOp>> run();

  frontend::ModuleBuilder &module() { return builder; }
  const OnnxModel &model() const { return onnxModel; }
  /// The value of a tensor; null without an error where there is none (a left out argument of a
  /// function).
  Expected<mlir::Value> lookup(Scope &scope, const std::string &name);
  Expected<std::unique_ptr<mlir::Region>> makeRegion(Scope &outer, const proto::Graph &graph,
                                                     llvm::ArrayRef<mlir::Type> arguments,
                                                     llvm::SmallVectorImpl<mlir::Type> &yielded);
  /// The nodes of `graph`, an attribute of `node`, at the end of the scope's block; its outputs are
  /// those of the node.
  Expected<void> inlineGraph(Scope &outer, const proto::Node &node, const proto::Graph &graph);

private:
  Expected<void> checkOps() const;
  /// The inputs of the graph that are no initializers, and that are needed where it is cut.
  Expected<std::vector<frontend::ModelInput>> inputs() const;
  Expected<frontend::DeclaredInput> declaredInput(const proto::ValueInfo &info) const;
  Expected<void> makeMain(llvm::ArrayRef<frontend::ModelInput> inputs);
  void addWeights(Scope &scope, const proto::Graph &graph);
  Expected<void> convert(Scope &scope, const GraphPlan::Nodes &nodes);
  Expected<void> convertNode(Scope &scope, const proto::Node &node);
  Expected<void> expand(Scope &scope, const proto::Node &node, const proto::Function &function);

  frontend::ModuleBuilder builder;
  const OnnxModel &onnxModel;
  const GraphPlan &plan;
  const ImportOptions &options;
  /// Weights of initializers that were used, in graphs that are converted again too.
  llvm::DenseMap<const void *, mlir::Value> weightOf;
  int64_t nodeCount = 0;
};

/// The row for `node`, in version `opset` of the standard operator set; null where there is none.
const OpRow *findRow(const proto::Node &node, int64_t opset);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_GRAPHIMPORTER_H
