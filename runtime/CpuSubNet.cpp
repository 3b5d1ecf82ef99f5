//===- CpuSubNet.cpp - Layers that the host computes ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CpuSubNet.h"
#include "tpuc/Interpreter/Ops/OpRules.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::runtime {

namespace {

/// An op of a program, with the attributes that the file holds.
class StepContext : public ops::OpContext {
public:
  StepContext(const cpu::Program &program, const cpu::Op &op,
              std::span<const std::optional<Tensor>> operands, ThreadPool &threads)
      : OpContext(operands, op.results.size(), threads), program(program), op(op) {}

  bool wants(unsigned index) const override {
    return index < op.results.size() && op.results[index] >= 0;
  }

private:
  std::optional<ops::Attribute> attribute(std::string_view name) const override {
    for (const auto &[known, value] : op.attributes)
      if (known == name)
        return value;
    return std::nullopt;
  }
  Expected<Tensor> room(unsigned, DataType type, const Shape &shape) override {
    return Tensor::create(type, shape.dims(), place());
  }
  bool isConstant(unsigned index) const override {
    return op.operands[index] >= 0 &&
           program.values[static_cast<size_t>(op.operands[index])].home == cpu::Home::Weight;
  }
  std::string place() const override {
    return fmt::format("layer '{}' ({} on the CPU)", op.layer, op.name);
  }

  const cpu::Program &program;
  const cpu::Op &op;
};

/// Copies elements from a file or a device; what is not 0 is true.
void copyElements(std::span<const std::byte> from, Tensor &to) {
  std::ranges::copy(from, to.mutableBytes().begin());
  if (to.type() == DataType::Bool)
    for (std::byte &flag : to.mutableBytes())
      flag = std::byte(flag != std::byte(0));
}

/// The elements of `value` at `bytes`: a view where they are aligned, else a copy.
Tensor weightTensor(const cpu::Value &value, std::span<const std::byte> bytes) {
  const Shape shape(value.dims);
  constexpr uintptr_t kAlignment = 8;
  if (!bytes.empty() && reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0 &&
      value.type != DataType::Bool)
    return Tensor::borrow(value.type, shape, bytes.data(), nullptr);
  Tensor tensor(value.type, shape);
  copyElements(bytes, tensor);
  return tensor;
}

/// Checks an op by the rules that those of a module are verified by.
Expected<const ops::OpEvaluator *> checkedEvaluator(const cpu::Program &program, const cpu::Op &op,
                                                    const std::string &where) {
  const ops::OpEvaluator *evaluator = ops::findEvaluator(op.name);
  const ops::OpRule *rule = ops::findRule(op.name);
  if (!evaluator || !rule)
    return makeError(fmt::format("{}: layer '{}'", where, op.layer),
                     fmt::format("an op '{}' for the CPU", op.name), "one that tpuc has");
  std::vector<std::optional<ops::OperandFacts>> operands;
  for (const int32_t index : op.operands)
    if (index < 0) {
      operands.emplace_back();
    } else {
      const cpu::Value &value = program.values[static_cast<size_t>(index)];
      operands.push_back(ops::OperandFacts{value.type, value.dims.size()});
    }
  Expected<void> checked =
      ops::checkOp(*rule, operands, op.results.size(), op.attributes,
                   fmt::format("{}: layer '{}' ({} on the CPU)", where, op.layer, op.name));
  if (!checked)
    return propagate(checked);
  return evaluator;
}

/// Of each op: the values that it is the last one to read.
std::vector<std::vector<size_t>> lastReads(const cpu::Program &program) {
  std::vector<std::vector<size_t>> dead(program.ops.size());
  std::vector<bool> isMet(program.values.size());
  for (size_t i = program.ops.size(); i-- > 0;)
    for (const auto *list : {&program.ops[i].operands, &program.ops[i].results})
      for (const int32_t value : *list)
        if (value >= 0 && !isMet[static_cast<size_t>(value)]) {
          isMet[static_cast<size_t>(value)] = true;
          dead[i].push_back(static_cast<size_t>(value));
        }
  return dead;
}

} // namespace

/// The tensors of one run of a program.
class CpuSubNet::Frame {
public:
  Frame(const Part &part, Device &device, std::span<std::optional<Tensor>> results,
        ThreadPool &threads)
      : part(part), device(device), results(results), threads(threads), slots(part.constants) {}

  Expected<void> run();

private:
  Expected<void> runStep(const cpu::Op &op, const Step &step);
  Expected<std::optional<Tensor>> read(int32_t index);
  Expected<void> take(const cpu::Op &op, int32_t index, const Tensor &tensor);

  const Part &part;
  Device &device;
  std::span<std::optional<Tensor>> results;
  ThreadPool &threads;
  std::vector<std::optional<Tensor>> slots;
};

Expected<std::optional<Tensor>> CpuSubNet::Frame::read(int32_t index) {
  if (index < 0)
    return std::optional<Tensor>();
  std::optional<Tensor> &slot = slots[static_cast<size_t>(index)];
  if (slot)
    return slot;
  const cpu::Value &value = part.program.values[static_cast<size_t>(index)];
  Expected<Tensor> tensor = Tensor::create(value.type, value.dims, value.name);
  if (!tensor)
    return propagate(tensor);
  const auto size = static_cast<uint64_t>(tensor->byteSize());
  const std::span<const std::byte> bytes = device.contextBytes(value.address, size);
  if (bytes.size() != size)
    return makeError(value.name, "has no memory");
  copyElements(bytes, *tensor);
  slot = std::move(*tensor);
  return slot;
}

Expected<void> CpuSubNet::Frame::take(const cpu::Op &op, int32_t index, const Tensor &tensor) {
  const cpu::Value &value = part.program.values[static_cast<size_t>(index)];
  const bool fits =
      tensor.type() == value.type &&
      std::ranges::equal(tensor.shape().dims(), value.dims,
                         [](int64_t is, int64_t wanted) { return wanted == -1 || is == wanted; });
  if (!fits)
    return makeError(
        fmt::format("layer '{}' ({} on the CPU)", op.layer, op.name),
        fmt::format("computes {} {}", dataTypeName(tensor.type()), tensor.shape().str()),
        fmt::format("{} [{}]", dataTypeName(value.type), fmt::join(value.dims, ", ")));
  slots[static_cast<size_t>(index)] = tensor;
  if (value.home == cpu::Home::Result)
    results[value.address] = tensor;
  if (value.home != cpu::Home::Device)
    return {};
  const std::span<const std::byte> bytes = tensor.rawBytes();
  const std::span<std::byte> place = device.contextBytes(value.address, bytes.size());
  if (place.size() != bytes.size())
    return makeError(value.name, "has no memory");
  std::ranges::copy(bytes, place.begin());
  return {};
}

Expected<void> CpuSubNet::Frame::runStep(const cpu::Op &op, const Step &step) {
  std::vector<std::optional<Tensor>> operands;
  for (const int32_t index : op.operands) {
    Expected<std::optional<Tensor>> operand = read(index);
    if (!operand)
      return propagate(operand);
    operands.push_back(std::move(*operand));
  }
  StepContext context(part.program, op, operands, threads);
  context.setCache(step.cache.get());
  if (Expected<void> done = ops::evaluate(*step.evaluator, context); !done)
    return done;
  for (unsigned i = 0; i < op.results.size(); ++i)
    if (context.wants(i))
      if (Expected<void> taken = take(op, op.results[i], context.results()[i]); !taken)
        return taken;
  for (const size_t value : step.dead)
    slots[value].reset();
  return {};
}

Expected<void> CpuSubNet::Frame::run() {
  for (size_t i = 0; i < part.steps.size(); ++i)
    if (Expected<void> done = runStep(part.program.ops[i], part.steps[i]); !done)
      return done;
  return {};
}

Expected<std::shared_ptr<const CpuSubNet>> CpuSubNet::create(const model::Stage &stage,
                                                             const model::SubNet &subNet,
                                                             const std::string &where) {
  std::shared_ptr<CpuSubNet> made(new CpuSubNet());
  for (const cpu::Program &program : subNet.host) {
    Part part;
    for (const cpu::Value &value : program.values) {
      part.constants.emplace_back();
      if (value.home != cpu::Home::Weight)
        continue;
      const auto size =
          static_cast<uint64_t>(byteSize(value.type, Shape(value.dims).numElements()));
      const std::optional<model::Bytes> bytes =
          size == 0 ? model::Bytes() : stage.constantBytes(value.address, size);
      if (!bytes)
        return makeError(fmt::format("{}: {}", where, value.name),
                         fmt::format("{} bytes at 0x{:X}", size, value.address),
                         "a place in the constants");
      part.constants.back() = weightTensor(value, *bytes);
    }
    std::vector<std::vector<size_t>> dead = lastReads(program);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      Expected<const ops::OpEvaluator *> evaluator =
          checkedEvaluator(program, program.ops[i], where);
      if (!evaluator)
        return propagate(evaluator);
      part.steps.push_back({.evaluator = *evaluator, .dead = std::move(dead[i])});
    }
    std::ranges::copy(cpu::layersOf(program), std::back_inserter(made->layerNames));
    part.program = program;
    made->parts.push_back(std::move(part));
  }
  return made;
}

Expected<void> CpuSubNet::run(Device &device, std::span<std::optional<Tensor>> results,
                              ThreadPool &threads) const {
  for (const Part &part : parts)
    if (Expected<void> done = Frame(part, device, results, threads).run(); !done)
      return done;
  return {};
}

} // namespace tpuc::runtime
