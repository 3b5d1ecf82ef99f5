//===- CpuForm.cpp - Layers as the host computes them -------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/CpuForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MirroredOp.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Interpreter/Lift.h"
#include "tpuc/Interpreter/OpAttributes.h"
#include "tpuc/Interpreter/Ops/OpEvaluator.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The name under which Interpreter/Ops knows `op`: that of top, where it has the same op.
std::string evaluatorName(Operation *op) {
  OperationName name = op->getName();
  if (name.getDialectNamespace() == "tpu")
    name = tpu::mirrorOf(name).value_or(name);
  return name.stripDialect().str();
}

/// The type without an address.
Type plainType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), tensor.getElementType()) : type;
}

class ProgramMaker {
public:
  explicit ProgramMaker(ArrayRef<Operation *> layers) : layers(layers) {}
  Expected<cpu::Program> make();

private:
  void isolate();
  Value addArgument(Value value);
  Expected<int32_t> valueOf(Value value, StringRef name, std::optional<Value> original);
  Expected<void> addOp(Operation &op);
  Expected<void> addStoredCast(tpu::CastOp op);

  ArrayRef<Operation *> layers;
  OwningOpRef<ModuleOp> isolated;
  /// The values of the network that are the arguments and results of the isolated function.
  SmallVector<Value> arguments, results;
  llvm::DenseMap<Value, int32_t> numbers;
  cpu::Program program;
};

Value ProgramMaker::addArgument(Value value) {
  arguments.push_back(value);
  auto main = cast<func::FuncOp>(isolated->getBody()->front());
  return main.front().addArgument(plainType(value.getType()), value.getLoc());
}

/// A module of the layers alone. What they read from outside, weights among it, are arguments.
void ProgramMaker::isolate() {
  MLIRContext *context = layers.front()->getContext();
  isolated = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(isolated->getBody());
  auto main =
      builder.create<func::FuncOp>(isolated->getLoc(), "main", FunctionType::get(context, {}, {}));
  builder.setInsertionPointToEnd(main.addEntryBlock());
  IRMapping mapping;
  for (Operation *layer : layers) {
    for (Value operand : layer->getOperands()) {
      if (mapping.contains(operand))
        continue;
      auto none = operand.getDefiningOp<top::NoneOp>();
      mapping.map(operand, none ? builder.clone(*none)->getResult(0) : addArgument(operand));
    }
    Operation *copy = builder.clone(*layer, mapping);
    for (Value result : copy->getResults())
      result.setType(plainType(result.getType()));
  }
  SmallVector<Value> returned;
  for (Operation *layer : layers)
    for (Value result : layer->getResults())
      if (!staysOnHost(result) || outputOnHost(result)) {
        results.push_back(result);
        returned.push_back(mapping.lookup(result));
      }
  builder.create<func::ReturnOp>(isolated->getLoc(), returned);
  main.setType(
      FunctionType::get(context, main.front().getArgumentTypes(), ValueRange(returned).getTypes()));
}

/// The number of a value of the isolated function, which is `original` in the network if that has a
/// place for it or gives it to the caller; -1 for what is left out.
Expected<int32_t> ProgramMaker::valueOf(Value value, StringRef name,
                                        std::optional<Value> original) {
  if (isa<NoneType>(value.getType()))
    return -1;
  if (auto known = numbers.find(value); known != numbers.end())
    return known->second;
  cpu::Value made;
  made.name = name.str();
  const auto type = dyn_cast<RankedTensorType>(value.getType());
  const std::optional<DataType> stored = storageDataType(value.getType());
  if (!type || !stored)
    return makeError("tensor '" + made.name + "'", "has no rank or no type that tensors can hold");
  made.type = *stored;
  for (int64_t extent : type.getShape())
    made.dims.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  if (const auto output = original ? outputOnHost(*original) : std::nullopt) {
    made.home = cpu::Home::Result;
    made.address = *output;
  } else if (original) {
    std::optional<int64_t> address = addressOf(original->getType());
    if (!address)
      return makeError("tensor '" + made.name + "'", "has no address", "--address-assign first");
    made.home = original->getDefiningOp<top::WeightOp>() ? cpu::Home::Weight : cpu::Home::Device;
    made.address = static_cast<uint64_t>(*address);
  }
  const auto number = static_cast<int32_t>(program.values.size());
  program.values.push_back(std::move(made));
  numbers[value] = number;
  return number;
}

/// A cast from or to stored integers, step by step as the interpreter computes it: x = (q - zero) *
/// scale, and q = zero + x / scale within the range of its type, rounded half away from zero.
Expected<void> ProgramMaker::addStoredCast(tpu::CastOp op) {
  const std::string layer = layerName(op);
  Expected<int32_t> input = valueOf(op.getInput(), layer, std::nullopt);
  Expected<int32_t> result = valueOf(op.getOutput(), layer, std::nullopt);
  if (!input || !result)
    return propagate(input ? result : input);
  int32_t last = *input;
  std::vector<cpu::Op> steps;
  const auto addStep = [&](const char *name, DataType type,
                           std::vector<std::pair<std::string, ops::Attribute>> attributes,
                           std::vector<int32_t> operands) {
    cpu::Value value = program.values[static_cast<size_t>(*result)];
    value.name = layer + "_step" + std::to_string(program.values.size());
    value.type = type;
    value.home = cpu::Home::Host;
    value.address = 0;
    last = static_cast<int32_t>(program.values.size());
    program.values.push_back(std::move(value));
    steps.push_back({name, layer, std::move(attributes), std::move(operands), {last}});
  };
  const auto castTo = [&](DataType type) {
    addStep("Cast", type, {{"to", type}, {"saturate", true}}, {last});
  };
  const auto add = [&](double number) {
    addStep("AddConst", DataType::F32,
            {{"const_val", number}, {"do_relu", false}, {"relu_limit", -1.0}}, {last});
  };
  const auto multiply = [&](double number) {
    addStep("MulConst", DataType::F32,
            {{"const_val", number}, {"do_relu", false}, {"relu_limit", -1.0}}, {last});
  };
  if (program.values[static_cast<size_t>(last)].type != DataType::F32)
    castTo(DataType::F32);
  if (const quant::UniformQuantizedType from = tpu::quantizedType(op.getInput())) {
    const QuantParams params = tpu::paramsOf(from);
    if (params.zeroPoint != 0)
      add(-static_cast<double>(params.zeroPoint));
    multiply(static_cast<float>(params.scale));
  }
  if (const quant::UniformQuantizedType to = tpu::quantizedType(op.getOutput())) {
    const QuantParams params = tpu::paramsOf(to);
    const IntegerRange range = tpu::rangeOf(to);
    const auto zeroPoint = static_cast<double>(params.zeroPoint);
    multiply(static_cast<float>(1.0 / params.scale));
    addStep("Clip", DataType::F32,
            {{"min", static_cast<double>(range.lowest) - zeroPoint},
             {"max", static_cast<double>(range.highest) - zeroPoint}},
            {last});
    const int32_t bounded = last;
    // The largest float below one half, with the sign of what is rounded; the rest is cut off.
    addStep("Sign", DataType::F32, {}, {last});
    multiply(0x1.fffffep-2);
    addStep("Add", DataType::F32, {{"do_relu", false}, {"relu_limit", -1.0}}, {bounded, last});
    castTo(DataType::I32);
    if (params.zeroPoint != 0) {
      castTo(DataType::F32);
      add(zeroPoint);
    }
  }
  if (const DataType type = program.values[static_cast<size_t>(*result)].type;
      steps.empty() || program.values[static_cast<size_t>(last)].type != type)
    castTo(type);
  steps.back().results = {*result};
  llvm::move(steps, std::back_inserter(program.ops));
  return {};
}

Expected<void> ProgramMaker::addOp(Operation &op) {
  if (auto cast = dyn_cast<tpu::CastOp>(op);
      cast && (tpu::isQuantized(cast.getInput()) || tpu::isQuantized(cast.getOutput())))
    return addStoredCast(cast);
  cpu::Op made;
  made.name = evaluatorName(&op);
  made.layer = layerName(&op);
  if (!ops::findEvaluator(made.name))
    return wrong(&op, op.getName().getStringRef() + " has no form for the CPU");
  for (NamedAttribute attribute : op.getAttrs()) {
    const StringRef name = attribute.getName().getValue();
    if (name == tpu::kSubNetId || name == tpu::kSubNetMode || name == tpu::kSubNetReason ||
        name == "storage_reason")
      continue;
    if (std::optional<ops::Attribute> plain = opAttribute(attribute.getValue()))
      made.attributes.emplace_back(name.str(), std::move(*plain));
  }
  if (auto cast = dyn_cast<tpu::CastOp>(op)) {
    made.attributes.emplace_back("to", *storageDataType(cast.getOutput().getType()));
    made.attributes.emplace_back("saturate", true);
  }
  for (Value operand : op.getOperands()) {
    Expected<int32_t> number = valueOf(operand, made.layer, std::nullopt);
    if (!number)
      return propagate(number);
    made.operands.push_back(*number);
  }
  for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults())) {
    Expected<int32_t> number = valueOf(result, name, std::nullopt);
    if (!number)
      return propagate(number);
    made.results.push_back(*number);
  }
  program.ops.push_back(std::move(made));
  return {};
}

Expected<cpu::Program> ProgramMaker::make() {
  isolate();
  if (OwningOpRef<ModuleOp> lifted = liftDeviceOps(*isolated))
    isolated = std::move(lifted);
  auto main = cast<func::FuncOp>(isolated->getBody()->front());
  const auto nameOf = [](Value value) {
    if (auto result = dyn_cast<OpResult>(value))
      return tensorNames(result.getOwner())[result.getResultNumber()];
    return "input_" + std::to_string(cast<BlockArgument>(value).getArgNumber());
  };
  for (auto [argument, original] : llvm::zip_equal(main.getArguments(), arguments))
    if (Expected<int32_t> number = valueOf(argument, nameOf(original), original); !number)
      return propagate(number);
  for (auto [value, original] :
       llvm::zip_equal(main.front().getTerminator()->getOperands(), results))
    if (Expected<int32_t> number = valueOf(value, nameOf(original), original); !number)
      return propagate(number);
  for (Operation &op : main.front().without_terminator())
    if (!isa<top::NoneOp>(op))
      if (Expected<void> added = addOp(op); !added)
        return propagate(added);
  return std::move(program);
}

} // namespace

Expected<void> codegen::checkCpuForm(Operation *op) {
  if (op->getNumRegions() > 0)
    return makeError("", "the CPU has no control flow");
  if (llvm::any_of(op->getOperands(), [](Value value) {
        auto rows = value.getDefiningOp<tpu::PackRowsOp>();
        return rows && !rows.getInLocalMemory();
      }))
    return makeError("", "the rows that it reads as channels lie as rows");
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getResultTypes()),
                                            SmallVector<Type>(op->getOperandTypes()))) {
    if (isa<NoneType>(type))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !storageDataType(type))
      return makeError("", "the CPU does not know the rank or the type of its tensors");
    if (tensor.getRank() > static_cast<int64_t>(Shape::kMaxRank))
      return makeError("", "the CPU has tensors of at most " + std::to_string(Shape::kMaxRank) +
                               " dimensions");
  }
  const bool isQuantized = llvm::any_of(op->getOperands(), tpu::isQuantized) ||
                           llvm::any_of(op->getResults(), tpu::isQuantized);
  const bool isOnIntegers = op->hasAttr("dequant_scale") || tpu::hasIntegerFusion(op) ||
                            (isQuantized && (op->hasAttr("rshift") || op->hasAttr("quant_mode")));
  if (isOnIntegers || !ops::findEvaluator(evaluatorName(op)))
    return makeError("",
                     isOnIntegers ? "the CPU has no requantization" : "the CPU has no form of it");
  return {};
}

Expected<cpu::Program> codegen::cpuProgramOf(ArrayRef<Operation *> layers) {
  return ProgramMaker(layers).make();
}
