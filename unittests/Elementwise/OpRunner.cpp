//===- OpRunner.cpp - Infers and evaluates a single op ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Elementwise/OpRunner.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Elements.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace tpuc;

Tensor tpuc::tensor(DataType type, const Shape &shape, const std::vector<double> &values) {
  return convert(Tensor::of<double>(shape, std::span<const double>(values)), type).clone();
}

std::string tpuc::text(const Tensor &tensor) {
  std::string result;
  for (int64_t extent : tensor.shape())
    result += std::to_string(extent) + "x";
  result += std::string(dataTypeName(tensor.type())) + ":";
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    // The sign of a NaN is the processor's choice.
    const std::string element = elementText(tensor, i);
    result += " " + (element == "-nan" ? "nan" : element);
  }
  return result;
}

OpRunner::OpRunner() {
  context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
  attachOps(&context, "top");
}

/// A function with one op of unknown results.
static std::string source(const std::string &name, const std::string &attributes,
                          const std::vector<std::string> &types, const std::vector<bool> &wanted) {
  std::string arguments;
  std::string operands;
  std::string operandTypes;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    const std::string value = "%a" + std::to_string(i);
    arguments += comma + value + ": " + types[i];
    operands += comma + value;
    operandTypes += comma + types[i];
  }
  std::string results;
  for (bool isWanted : wanted)
    results += std::string(results.empty() ? "" : ", ") + (isWanted ? "tensor<*xf32>" : "none");
  return "func.func @f(" + arguments + ") {\n%r:" + std::to_string(wanted.size()) + " = \"top." +
         name + "\"(" + operands + ") {" + attributes + "} : (" + operandTypes + ") -> (" +
         results + ") loc(\"layer\")\nreturn\n}";
}

static std::string typeText(mlir::Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// The op of `module` after inference; null if there is an error.
static mlir::Operation *inferred(mlir::ModuleOp module) {
  mlir::Operation *found = nullptr;
  module.walk([&](top::InferShapeInterface op) { found = op; });
  return mlir::succeeded(mlir::cast<top::InferShapeInterface>(found).inferShape()) ? found
                                                                                   : nullptr;
}

std::vector<Tensor> OpRunner::run(const std::string &name, const std::string &attributes,
                                  const std::vector<std::optional<Tensor>> &operands,
                                  const std::vector<bool> &wanted, std::string &error) {
  std::vector<std::string> types;
  for (const std::optional<Tensor> &operand : operands)
    types.push_back(operand ? typeText(tensorType(&context, operand->type(), operand->shape()))
                            : "none");
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    error = diagnostic.str();
    return mlir::success();
  });
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(source(name, attributes, types, wanted), &context);
  mlir::Operation *op = module ? inferred(*module) : nullptr;
  if (!op)
    return {};
  ThreadPool threads(2);
  EvalContext evaluation(
      op, operands,
      [](unsigned, DataType type, const Shape &shape) {
        return Tensor::create(type, shape.dims(), "result");
      },
      nullptr, threads);
  Expected<void> evaluated = mlir::cast<EvaluateInterface>(op).evaluate(evaluation);
  if (!evaluated) {
    error = evaluated.error().message();
    return {};
  }
  std::vector<Tensor> results(evaluation.results().begin(), evaluation.results().end());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!wanted[i])
      continue;
    auto type = mlir::cast<mlir::RankedTensorType>(op->getResult(i).getType());
    mlir::RankedTensorType actual = tensorType(&context, results[i].type(), results[i].shape());
    if (mlir::failed(mlir::verifyCompatibleShape(type, actual)) ||
        type.getElementType() != actual.getElementType())
      error = "inferred " + typeText(type) + ", evaluated " + typeText(actual);
  }
  return results;
}

std::string OpRunner::operator()(const std::string &name, const std::string &attributes,
                                 const std::vector<std::optional<Tensor>> &operands,
                                 const std::vector<bool> &wanted) {
  std::string error;
  std::vector<Tensor> results = run(name, attributes, operands, wanted, error);
  if (!error.empty())
    return error;
  std::string result;
  for (size_t i = 0; i < results.size(); ++i)
    if (wanted[i])
      result += (result.empty() ? "" : " | ") + text(results[i]);
  return result;
}

std::string OpRunner::infer(const std::string &name, const std::string &attributes,
                            const std::vector<std::string> &types, size_t numResults) {
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    error = diagnostic.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      source(name, attributes, types, std::vector<bool>(numResults, true)), &context);
  mlir::Operation *op = module ? inferred(*module) : nullptr;
  if (!op)
    return error;
  std::string result;
  for (mlir::Type type : op->getResultTypes())
    result += (result.empty() ? "" : " ") + typeText(type);
  return result;
}
