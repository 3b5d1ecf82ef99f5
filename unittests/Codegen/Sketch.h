//===- Sketch.h - Networks in the making ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_CODEGEN_SKETCH_H
#define UNITTESTS_CODEGEN_SKETCH_H

#include "tpuc/Interpreter/Interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

namespace tpuc::codegen {

using Dims = std::vector<int64_t>;

/// A network in the making: tensors by name, ops as text.
class Sketch {
public:
  explicit Sketch(unsigned seed) : seed(seed), generator(seed) {}

  int64_t among(std::initializer_list<int64_t> values) {
    std::uniform_int_distribution<size_t> index(0, values.size() - 1);
    return values.begin()[index(generator)];
  }
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator);
  }
  /// Few, more than 64 lanes, and an even share of them.
  int64_t channels() { return among({3, 17, 64, 70, 130}); }

  std::string input(const std::string &name, const Dims &dims) {
    return input(name, numbers(dims), typeOf(dims));
  }
  /// An input of integers from 0 to `count` - 1.
  std::string indices(const std::string &name, const Dims &dims, int64_t count) {
    Tensor tensor(DataType::I64, Shape(std::span(dims.data(), dims.size())));
    for (int64_t &number : tensor.mutableData<int64_t>())
      number = between(0, count - 1);
    return input(name, std::move(tensor), fmt::format("tensor<{}xi64>", fmt::join(dims, "x")));
  }
  std::string weight(const std::string &name, const Dims &dims) {
    // All sketches of a test share a store.
    const std::string stored = fmt::format("{}{}", name, seed);
    weights[stored] = numbers(dims);
    types[name] = typeOf(dims);
    body +=
        fmt::format("%{} = \"top.Weight\"() : () -> {} loc(\"{}\")\n", name, types[name], stored);
    return name;
  }
  /// Without `dims` a vector.
  std::string integers(const std::string &name, const std::vector<int64_t> &values,
                       Dims dims = {}) {
    const std::string stored = fmt::format("{}{}", name, seed);
    if (dims.empty())
      dims = {std::ssize(values)};
    Tensor tensor(DataType::I64, Shape(std::span(dims.data(), dims.size())));
    std::ranges::copy(values, tensor.mutableData<int64_t>().begin());
    weights[stored] = std::move(tensor);
    types[name] = fmt::format("tensor<{}xi64>", fmt::join(dims, "x"));
    body +=
        fmt::format("%{} = \"top.Weight\"() : () -> {} loc(\"{}\")\n", name, types[name], stored);
    return name;
  }
  /// An op of the tensors `operands` ("n": left out) whose result is named, of type `element`; as
  /// many others as `numUnused` are left out.
  std::string op(const std::string &name, const std::string &kind,
                 const std::vector<std::string> &operands, const std::string &attributes = "",
                 const std::string &element = "f32", unsigned numUnused = 0) {
    std::vector<std::string> values;
    std::vector<std::string> operandTypes;
    for (const std::string &operand : operands) {
      values.push_back("%" + operand);
      operandTypes.push_back(operand == "n" ? "none" : types.at(operand));
    }
    types[name] = fmt::format("tensor<*x{}>", element);
    std::string names = "%" + name;
    std::string results = types[name];
    for (unsigned i = 0; i < numUnused; ++i) {
      names += fmt::format(", %{}_unused{}", name, i);
      results += ", none";
    }
    body += fmt::format("{} = \"top.{}\"({}) {{{}}} : ({}) -> ({}) loc(\"{}\")\n", names, kind,
                        fmt::join(values, ", "), attributes, fmt::join(operandTypes, ", "), results,
                        name);
    return name;
  }
  /// The same of an op with more results, which are left out.
  std::string opOfMany(const std::string &name, const std::string &kind, size_t results,
                       const std::vector<std::string> &operands,
                       const std::string &attributes = "") {
    return op(name, kind, operands, attributes, "f32", static_cast<unsigned>(results) - 1);
  }
  std::string text() const {
    return fmt::format("func.func @main({}) -> tensor<*xf32> {{\n%n = \"top.None\"() : () -> "
                       "none\n{}return %r : tensor<*xf32>\n}}",
                       arguments, body);
  }

  TensorMap inputs, weights;

private:
  std::string input(const std::string &name, Tensor values, const std::string &type) {
    inputs[name] = std::move(values);
    types[name] = type;
    arguments += fmt::format("{}%{}_in: {}", arguments.empty() ? "" : ", ", name, type);
    body += fmt::format("%{0} = \"top.Input\"(%{0}_in) : ({1}) -> {1} loc(\"{0}\")\n", name, type);
    return name;
  }
  static std::string typeOf(const Dims &dims) {
    return fmt::format("tensor<{}xf32>", fmt::join(dims, "x"));
  }
  Tensor numbers(const Dims &dims) {
    std::normal_distribution<float> normal;
    Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
    for (float &number : tensor.mutableData<float>())
      number = normal(generator);
    return tensor;
  }

  unsigned seed;
  std::mt19937 generator;
  std::map<std::string, std::string> types;
  std::string arguments, body;
};

} // namespace tpuc::codegen

#endif // UNITTESTS_CODEGEN_SKETCH_H
