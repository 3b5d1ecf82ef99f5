//===- OpContext.h - One op while it is evaluated ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops mean stands in this component, without MLIR: an op is a name, operands, and attributes
// by name. The interpreter lends it the attributes of an op of MLIR, the runtime those that a model
// file holds.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_OPCONTEXT_H
#define TPUC_INTERPRETER_OPS_OPCONTEXT_H

#include "tpuc/Interpreter/Kernels/KernelCache.h"
#include "tpuc/Interpreter/Ops/Attribute.h"
#include "tpuc/Support/Tensor.h"
#include "tpuc/Support/ThreadPool.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::ops {

using Dims = std::vector<int64_t>;

/// An attribute that an op cannot do without, and that it has not or not as the right kind. The ops
/// of a module are verified; only a damaged model file can cause this. `evaluate` catches it.
struct AttributeError {
  std::string found;
  std::string expected;
};

/// The operands, attributes and results of one op while it is evaluated.
class OpContext {
public:
  OpContext(std::span<const std::optional<Tensor>> operands, size_t numResults, ThreadPool &threads)
      : inputs(operands), outputs(numResults), pool(threads) {}
  virtual ~OpContext();

  unsigned numOperands() const { return static_cast<unsigned>(inputs.size()); }
  /// Whether operand `index` is there and a tensor.
  bool has(unsigned index) const { return index < inputs.size() && inputs[index].has_value(); }
  const Tensor &operand(unsigned index) const { return *inputs[index]; }
  /// Null where the operand is left out: what kernels take for optional tensors.
  const Tensor *optional(unsigned index) const { return has(index) ? &*inputs[index] : nullptr; }

  /// Whether somebody asks for result `index`.
  virtual bool wants(unsigned index) const = 0;
  /// Writable room for result `index`. The elements are undefined.
  Expected<Tensor *> allocate(unsigned index, DataType type, const Shape &shape);
  /// Hands over a tensor as result `index`: a view of an operand (reshape), or what a kernel made.
  void set(unsigned index, Tensor tensor) { outputs[index] = std::move(tensor); }
  std::span<Tensor> results() { return outputs; }

  ThreadPool &threads() { return pool; }

  /// Lends the op what its kernel kept from earlier runs, and keeps for later ones.
  void setCache(kernels::KernelCache *cache) { kept = cache; }
  /// Null unless one was lent and operand `constant` is a weight, the same in every run.
  kernels::KernelCache *cacheFor(unsigned constant) const {
    return isConstant(constant) ? kept : nullptr;
  }

  // The attribute of that name. Those that return no optional throw AttributeError where there is
  // none of that kind.
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  DataType type(std::string_view name) const;
  Dims intList(std::string_view name) const;
  /// False where there is no such attribute.
  bool optionalFlag(std::string_view name) const;
  std::optional<std::string> optionalText(std::string_view name) const;
  std::optional<int64_t> optionalInteger(std::string_view name) const;
  std::optional<double> optionalReal(std::string_view name) const;
  std::optional<DataType> optionalType(std::string_view name) const;
  std::optional<Dims> optionalIntList(std::string_view name) const;
  std::optional<std::vector<std::string>> optionalTextList(std::string_view name) const;
  /// Empty where there is no such attribute.
  std::vector<double> realList(std::string_view name) const;
  /// A flag or number as a tensor of rank 0.
  Tensor number(std::string_view name) const;

  /// The integers of operand `index`; none where it is left out.
  std::optional<Dims> intsOf(unsigned index) const;
  /// The integers of operand `index`, or else of the attribute that stands in for it.
  std::optional<Dims> ints(std::string_view name, unsigned index) const;

  /// An Error about this op: names the layer.
  tl::unexpected<Error> error(std::string found, std::string expected = "") const;

protected:
  /// The attribute of that name, where the op has one.
  virtual std::optional<Attribute> attribute(std::string_view name) const = 0;
  /// Memory for result `index`, which holds nothing that matters.
  virtual Expected<Tensor> room(unsigned index, DataType type, const Shape &shape) = 0;
  /// Whether operand `index` is the same in every run.
  virtual bool isConstant(unsigned index) const = 0;
  /// The layer and the op, as errors name them.
  virtual std::string place() const = 0;

private:
  template <typename T> std::optional<T> optionalAs(std::string_view name) const;
  template <typename T> T as(std::string_view name) const;

  std::span<const std::optional<Tensor>> inputs;
  std::vector<Tensor> outputs;
  ThreadPool &pool;
  kernels::KernelCache *kept = nullptr;
};

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_OPCONTEXT_H
