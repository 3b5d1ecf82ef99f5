//===- ModuleBuilder.cpp - The module that becomes of a source model ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/ModuleBuilder.h"
#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Interpreter/Fold.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include <filesystem>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::frontend;

namespace {

/// Constants of more elements are not computed while importing: shapes have fewer, and weights are
/// the optimizer's.
constexpr int64_t kFoldedElements = 4096;

/// The errors that the dialect emits while this lives, without their location.
class ErrorCatcher {
public:
  explicit ErrorCatcher(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty()) {
            text = diagnostic.str();
            place = diagnostic.getLocation();
          }
          return success();
        }) {}

  std::string text;
  std::optional<Location> place;

private:
  ScopedDiagnosticHandler handler;
};

} // namespace

ModuleBuilder::ModuleBuilder(MLIRContext &context, std::string where)
    : source(std::move(where)), opBuilder(&context), threads(1) {
  context.loadDialect<func::FuncDialect, top::TopDialect>();
}

//===----------------------------------------------------------------------===//
// The module and its function
//===----------------------------------------------------------------------===//

void ModuleBuilder::begin(const ImportOptions &options, std::string_view platform,
                          ArrayRef<ModelInput> inputs) {
  std::string name = options.moduleName;
  if (name.empty())
    name = std::filesystem::path(source).stem().string();
  Builder &attributes = opBuilder;
  module = ModuleOp::create(attributes.getUnknownLoc(), name);
  (*module)->setAttr("module.name", attributes.getStringAttr(name));
  (*module)->setAttr("module.chip", attributes.getStringAttr("ALL"));
  (*module)->setAttr("module.platform", attributes.getStringAttr(platform));
  setPhase(*module, Phase::Import);
  if (!options.weightFile.empty())
    (*module)->setAttr("module.weight_file", attributes.getStringAttr(options.weightFile));
  auto *dialect = context()->getLoadedDialect<top::TopDialect>();
  dialect->setWeights(options.weightFile, std::make_shared<top::WeightStore>());
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (const ModelInput &input : inputs) {
    Type element = tpuc::elementType(context(), input.given);
    types.push_back(input.dims ? Type(RankedTensorType::get(*input.dims, element))
                               : Type(UnrankedTensorType::get(element)));
    locations.push_back(location({input.name}));
  }
  opBuilder.setInsertionPointToStart(module->getBody());
  auto function = opBuilder.create<func::FuncOp>(opBuilder.getUnknownLoc(), "main",
                                                 opBuilder.getFunctionType(types, {}));
  block = opBuilder.createBlock(&function.getBody(), {}, types, locations);
  noneValue = opBuilder.create<top::NoneOp>(opBuilder.getUnknownLoc(), opBuilder.getNoneType());
}

Expected<SmallVector<Value>> ModuleBuilder::makeInputs(ArrayRef<ModelInput> inputs) {
  SmallVector<Value> values;
  for (auto [input, argument] : llvm::zip_equal(inputs, block->getArguments())) {
    reserveName(input.name);
    opBuilder.setInsertionPointToEnd(block);
    OperationState state(argument.getLoc(), top::InputOp::getOperationName());
    state.addOperands(argument);
    state.addTypes(argument.getType());
    Value value = opBuilder.create(state)->getResult(0);
    if (input.given != input.declared) {
      OperationState cast(location({freeName(input.name + "_cast")}),
                          top::CastOp::getOperationName());
      cast.addOperands(value);
      cast.addAttribute("to", TypeAttr::get(tpuc::elementType(context(), input.declared)));
      cast.addTypes(UnrankedTensorType::get(opBuilder.getF32Type()));
      SmallVector<Value> results;
      if (Expected<Operation *> made = makeOp(block, cast, results); !made)
        return propagate(made);
      value = results[0];
    }
    values.push_back(value);
  }
  return values;
}

Expected<void> ModuleBuilder::addOutput(const std::string &name, Value value) {
  if (!value || isa<NoneType>(value.getType()))
    return makeError(source + ": output '" + name + "'", "is not computed");
  outputs.push_back(value);
  return {};
}

Expected<OwningOpRef<ModuleOp>>
ModuleBuilder::finish(const std::function<std::string(const std::string &)> &layerOf) {
  opBuilder.setInsertionPointToEnd(block);
  opBuilder.create<func::ReturnOp>(opBuilder.getUnknownLoc(), outputs);
  cast<func::FuncOp>(block->getParentOp())
      .setFunctionType(
          opBuilder.getFunctionType(block->getArgumentTypes(), ValueRange(outputs).getTypes()));
  eraseUnusedWeights();
  ErrorCatcher catcher(context());
  if (succeeded(verify(*module)))
    return std::move(module);
  std::string place = source;
  if (auto loc = catcher.place ? (*catcher.place)->findInstanceOf<NameLoc>() : NameLoc()) {
    std::string tensor = loc.getName().str();
    std::string layer = layerOf(tensor);
    place += ": " + (layer.empty() ? "tensor '" + tensor + "'" : layer);
  }
  return makeError(place, catcher.text);
}

/// Constants that became attributes, or that only ops used which were computed at once.
void ModuleBuilder::eraseUnusedWeights() {
  for (Operation &op : llvm::make_early_inc_range(*block))
    if (op.hasTrait<traits::Parameter>() && op.use_empty())
      op.erase();
}

//===----------------------------------------------------------------------===//
// What ops are made of
//===----------------------------------------------------------------------===//

Value ModuleBuilder::makeWeight(const std::string &name, Tensor tensor) {
  // In the block of main, where regions that are made again see it too.
  opBuilder.setInsertionPointToEnd(block);
  return top::WeightOp::create(opBuilder, *module, name, std::move(tensor)).getOutput();
}

Expected<Operation *> ModuleBuilder::makeOp(Block *at, OperationState &state,
                                            SmallVectorImpl<Value> &results) {
  opBuilder.setInsertionPointToEnd(at);
  ErrorCatcher catcher(context());
  Operation *op = opBuilder.create(state);
  // What the op itself demands comes first: shapes and kernels rely on it.
  auto inference = dyn_cast<top::InferShapeInterface>(op);
  if (failed(op->getName().verifyInvariants(op)) || (inference && failed(inference.inferShape()))) {
    op->erase();
    return makeError("", catcher.text);
  }
  if (fold(op, results)) {
    op->erase();
    return static_cast<Operation *>(nullptr);
  }
  llvm::append_range(results, op->getResults());
  return op;
}

bool ModuleBuilder::fold(Operation *op, SmallVectorImpl<Value> &results) {
  std::optional<SmallVector<Tensor>> tensors =
      foldConstant(op, {.maxElements = kFoldedElements}, threads);
  if (!tensors)
    return false;
  SmallVector<std::string> parts = tensorNames(op);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    results.push_back(top::isPresent(result) ? makeWeight(parts[index], (*tensors)[index])
                                             : noneValue);
  return true;
}

void ModuleBuilder::makeYield(Block *at, ValueRange results) {
  opBuilder.setInsertionPointToEnd(at);
  opBuilder.create<top::YieldOp>(opBuilder.getUnknownLoc(), results);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Location ModuleBuilder::location(ArrayRef<std::string> parts) {
  SmallVector<Location> locations;
  for (const std::string &part : parts)
    locations.push_back(NameLoc::get(opBuilder.getStringAttr(part)));
  return locations.size() == 1 ? locations[0] : FusedLoc::get(context(), locations);
}

std::string ModuleBuilder::freeName(const std::string &wanted) {
  std::string name = wanted;
  for (int number = 1; !names.insert(name).second; ++number)
    name = fmt::format("{}_{}", wanted, number);
  return name;
}
