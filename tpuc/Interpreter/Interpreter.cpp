//===- Interpreter.cpp - Runs a network over tensors -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Interpreter/LayoutPlan.h"
#include "tpuc/Interpreter/Lift.h"
#include "tpuc/Interpreter/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <new>

using namespace tpuc;

static void attachTop(mlir::MLIRContext *context) {
  attachOps(context, "top");
#include "tpuc/Interpreter/AttachTop.inc"
}

static void attachTpu(mlir::MLIRContext *context) {
  attachOps(context, "tpu");
#include "tpuc/Interpreter/AttachTpu.inc"
}

void tpuc::registerEvaluators(mlir::MLIRContext &context) {
  context.loadDialect<top::TopDialect, tpu::TpuDialect>();
  attachTop(&context);
  attachTpu(&context);
}

void tpuc::registerEvaluators(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, top::TopDialect *) { attachTop(context); });
  registry.addExtension(+[](mlir::MLIRContext *context, tpu::TpuDialect *) { attachTpu(context); });
}

namespace {

/// Blocks of memory of one size. Each run takes one; it comes back when the last tensor in it dies.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
public:
  explicit BlockPool(int64_t bytes) : bytes(bytes) {}

  Expected<std::shared_ptr<Tensor>> take() {
    Tensor block;
    {
      std::lock_guard lock(mutex);
      if (!free.empty()) {
        block = std::move(free.back());
        free.pop_back();
        return share(std::move(block));
      }
    }
    Expected<Tensor> made = Tensor::create(DataType::U8, {&bytes, 1}, "memory of the network");
    if (!made)
      return propagate(made);
    return share(std::move(*made));
  }

private:
  std::shared_ptr<Tensor> share(Tensor block) {
    auto giveBack = [pool = weak_from_this()](Tensor *returned) {
      std::unique_ptr<Tensor> owned(returned);
      if (auto alive = pool.lock()) {
        std::lock_guard lock(alive->mutex);
        alive->free.push_back(std::move(*owned));
      }
    };
    return {std::make_unique<Tensor>(std::move(block)).release(), giveBack};
  }

  int64_t bytes;
  std::mutex mutex;
  std::vector<Tensor> free;
};

/// `[1, ?, 3] f32`
std::string describe(const TensorInfo &info) {
  std::string text(dataTypeName(info.dataType));
  if (!info.type.hasRank())
    return "any shape of " + text;
  std::vector<std::string> dims;
  for (int64_t extent : info.type.getShape())
    dims.push_back(mlir::ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return fmt::format("[{}] {}", fmt::join(dims, ", "), text);
}

bool fits(const Tensor &tensor, mlir::TensorType type) {
  if (storageDataType(type) != tensor.type())
    return false;
  if (!type.hasRank())
    return true;
  llvm::ArrayRef<int64_t> dims = type.getShape();
  return dims.size() == tensor.shape().rank() &&
         std::equal(dims.begin(), dims.end(), tensor.shape().begin(), [](int64_t want, int64_t is) {
           return want == is || mlir::ShapedType::isDynamic(want);
         });
}

std::string describe(const Tensor &tensor) {
  return tensor.shape().str() + " " + std::string(dataTypeName(tensor.type()));
}

Expected<TensorInfo> infoOf(std::string name, mlir::Type type) {
  auto tensorType = mlir::dyn_cast<mlir::TensorType>(type);
  std::optional<DataType> dataType = tensorType ? storageDataType(tensorType) : std::nullopt;
  if (!dataType) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("tensor '" + name + "'", "has type " + text, "a tensor of numbers");
  }
  return TensorInfo{std::move(name), tensorType, *dataType};
}

std::string inputName(mlir::BlockArgument argument) {
  for (mlir::Operation *user : argument.getUsers())
    if (mlir::isa<top::InputOp>(user))
      return layerName(user);
  if (auto name = argument.getLoc()->findInstanceOf<mlir::NameLoc>())
    return name.getName().str();
  return fmt::format("input_{}", argument.getArgNumber());
}

std::string outputName(mlir::Value value) {
  if (auto result = mlir::dyn_cast<mlir::OpResult>(value))
    return tensorNames(result.getOwner())[result.getResultNumber()];
  return inputName(mlir::cast<mlir::BlockArgument>(value));
}

} // namespace

struct Interpreter::State {
  State(InterpreterOptions given) : options(std::move(given)), threads(options.numThreads) {}

  InterpreterOptions options;
  mutable ThreadPool threads;
  /// What is run in place of a module with tpu ops.
  mlir::OwningOpRef<mlir::ModuleOp> lifted;
  mlir::Region *body = nullptr;
  Program program;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::shared_ptr<BlockPool> pool;

  bool wantsAll() const { return options.keepAll || options.probe || options.substitute; }
  /// `tensor`, which the module has as `type`, as it is given to the caller.
  Tensor shown(Tensor tensor, mlir::Type type) const {
    quant::UniformQuantizedType quantized = tpu::quantizedType(type);
    if (!options.expressed || !quantized)
      return tensor;
    Tensor numbers(DataType::F32, tensor.shape());
    kernels::dequantizeStored(tensor, tpu::paramsOf(quantized), numbers, threads);
    return numbers;
  }
  /// The reverse, for what a caller gives.
  Tensor stored(const Tensor &tensor, mlir::Type type) const {
    quant::UniformQuantizedType quantized = tpu::quantizedType(type);
    if (!quantized || tensor.type() != DataType::F32)
      return tensor;
    Tensor integers(*storageDataType(type), tensor.shape());
    kernels::quantizeStored(tensor, tpu::paramsOf(quantized), tpu::rangeOf(quantized), integers,
                            threads);
    return integers;
  }
};

/// The tensors of one run.
class Interpreter::Frame {
public:
  explicit Frame(const State &state) : state(state), slots(state.program.constants) {}

  Expected<TensorMap> run(std::span<const Tensor> inputs);

private:
  /// What lies in the block of memory, as long as a handle to it is alive.
  struct Tenant {
    BufferRange range;
    std::weak_ptr<const void> handle;
  };

  Expected<llvm::SmallVector<Tensor>> runBlock(mlir::Region &region,
                                               llvm::ArrayRef<Tensor> arguments);
  Expected<void> runStep(const Step &step);
  Expected<void> timeStep(const Step &step);
  Expected<void> evaluate(const Step &step);
  Expected<void> runKernel(const Step &step);
  Expected<Tensor> allocate(const Step &step, unsigned slot, DataType type, const Shape &shape);
  Expected<void> take(const Step &step, unsigned index, Tensor tensor);
  /// Tells the caller of a tensor that the module has as `type`, and lets him replace it.
  Expected<void> show(const std::string &name, Tensor &tensor, mlir::TensorType type);

  const State &state;
  std::vector<std::optional<Tensor>> slots;
  std::shared_ptr<Tensor> memory;
  llvm::SmallVector<Tenant> tenants;
  TensorMap kept;
};

Expected<TensorMap> Interpreter::Frame::run(std::span<const Tensor> inputs) {
  if (state.program.plannedBytes > 0) {
    Expected<std::shared_ptr<Tensor>> block = state.pool->take();
    if (!block)
      return propagate(block);
    memory = std::move(*block);
  }
  auto results = runBlock(*state.body, {inputs.data(), inputs.size()});
  if (!results)
    return propagate(results);
  for (auto [info, tensor] : llvm::zip_equal(state.outputs, *results))
    kept.insert_or_assign(info.name, state.shown(std::move(tensor), info.type));
  return std::move(kept);
}

Expected<llvm::SmallVector<Tensor>> Interpreter::Frame::runBlock(mlir::Region &region,
                                                                 llvm::ArrayRef<Tensor> arguments) {
  const BlockProgram &block = state.program.block(region);
  if (arguments.size() != block.arguments.size())
    return makeError("layer '" + layerName(region.getParentOp()) + "'",
                     fmt::format("{} tensors for its body", arguments.size()),
                     fmt::format("{}", block.arguments.size()));
  for (auto [slot, tensor] : llvm::zip_equal(block.arguments, arguments))
    slots[slot] = tensor;
  const bool isTimed = state.options.timer && &region == state.body;
  for (const Step &step : block.steps)
    if (Expected<void> done = isTimed ? timeStep(step) : runStep(step); !done)
      return propagate(done);
  llvm::SmallVector<Tensor> results;
  for (unsigned slot : block.yielded) {
    assert(slots[slot] && "only tensors are yielded");
    results.push_back(*slots[slot]);
  }
  return results;
}

Expected<void> Interpreter::Frame::runStep(const Step &step) {
  Expected<void> done = {};
  if (step.kernel)
    done = runKernel(step);
  else if (step.evaluator)
    done = evaluate(step);
  else
    done = take(step, 0, *slots[step.operands[0]]);
  for (unsigned slot : step.dead)
    slots[slot].reset();
  return done;
}

Expected<void> Interpreter::Frame::timeStep(const Step &step) {
  const auto start = std::chrono::steady_clock::now();
  Expected<void> done = runStep(step);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  state.options.timer(step.names[0], step.kind(), time.count());
  return done;
}

Expected<void> Interpreter::Frame::evaluate(const Step &step) {
  llvm::SmallVector<std::optional<Tensor>> operands;
  for (unsigned slot : step.operands)
    operands.push_back(slots[slot]);
  EvalContext context(
      step.op, operands,
      [&](unsigned index, DataType type, const Shape &shape) {
        return allocate(step, step.firstResult + index, type, shape);
      },
      [&](mlir::Region &region, llvm::ArrayRef<Tensor> arguments) {
        return runBlock(region, arguments);
      },
      state.threads);
  context.setCache(step.cache.get());
  try {
    EvaluateInterface evaluator = step.evaluator;
    if (Expected<void> done = evaluator.evaluate(context); !done)
      return done;
  } catch (const std::bad_alloc &) {
    return context.error("not enough memory");
  }
  for (unsigned index = 0; index < step.op->getNumResults(); ++index)
    if (context.wants(index))
      if (Expected<void> done = take(step, index, std::move(context.results()[index])); !done)
        return done;
  return {};
}

Expected<void> Interpreter::Frame::runKernel(const Step &step) {
  llvm::SmallVector<const float *> operands;
  for (unsigned slot : step.operands)
    operands.push_back(slots[slot]->data<float>().data());
  Expected<Tensor> result = allocate(step, step.firstResult, DataType::F32, step.shape);
  if (!result)
    return propagate(result);
  try {
    step.kernel->run(operands, result->mutableData<float>().data(), state.threads);
  } catch (const std::bad_alloc &) {
    return makeError("layer '" + step.names[0] + "'", "not enough memory");
  }
  if (step.isPlain)
    return take(step, 0, std::move(*result));
  slots[step.firstResult] = std::move(*result);
  return {};
}

Expected<void> Interpreter::Frame::take(const Step &step, unsigned index, Tensor tensor) {
  auto type = mlir::cast<mlir::TensorType>(step.op->getResult(index).getType());
  const std::string &name = step.names[index];
  if (!fits(tensor, type)) {
    Expected<TensorInfo> info = infoOf(name, type);
    return makeError("layer '" + name + "' (" + step.op->getName().getStringRef().str() + ")",
                     "computes " + describe(tensor),
                     (info ? describe(*info) : info.error().found) + ", as the module states");
  }
  if (state.wantsAll() && step.op->getParentRegion() == state.body && !isIntermediate(step.op))
    if (Expected<void> shown = show(name, tensor, type); !shown)
      return shown;
  slots[step.firstResult + index] = std::move(tensor);
  return {};
}

Expected<void> Interpreter::Frame::show(const std::string &name, Tensor &tensor,
                                        mlir::TensorType type) {
  const Tensor shown = state.shown(tensor, type);
  if (state.options.probe)
    if (Expected<void> told = state.options.probe(name, shown); !told)
      return told;
  if (state.options.keepAll)
    kept.insert_or_assign(name, shown);
  if (!state.options.substitute)
    return {};
  Expected<std::optional<Tensor>> other = state.options.substitute(name, shown);
  if (!other)
    return propagate(other);
  if (!*other)
    return {};
  Tensor stored = state.stored(**other, type);
  if (stored.type() != tensor.type() || stored.shape() != tensor.shape())
    return makeError("tensor '" + name + "'", "is to be replaced by " + describe(**other),
                     describe(tensor));
  tensor = std::move(stored);
  return {};
}

Expected<Tensor> Interpreter::Frame::allocate(const Step &step, unsigned slot, DataType type,
                                              const Shape &shape) {
  Expected<int64_t> count = checkedNumElements(shape.dims(), type, "layer '" + step.names[0] + "'");
  if (!count)
    return propagate(count);
  int64_t bytes = byteSize(type, *count);
  const BufferRange &range = state.program.ranges[slot];
  if (bytes > 0 && bytes <= range.bytes) {
    llvm::erase_if(tenants, [](const Tenant &tenant) { return tenant.handle.expired(); });
    // A view that outlives what the plan knows (of a kernel, or in the hands of a probe) keeps its
    // place.
    bool isFree = llvm::none_of(tenants, [&](const Tenant &tenant) {
      return tenant.range.offset < range.offset + range.bytes &&
             range.offset < tenant.range.offset + tenant.range.bytes;
    });
    if (isFree) {
      auto handle = std::make_shared<std::shared_ptr<Tensor>>(memory);
      tenants.push_back({range, handle});
      return Tensor::within(type, shape, memory->mutableBytes().data() + range.offset, handle);
    }
  }
  return Tensor::create(type, shape.dims(), "layer '" + step.names[0] + "'");
}

Interpreter::Interpreter(std::unique_ptr<State> state) : state(std::move(state)) {}
Interpreter::~Interpreter() = default;

Expected<std::unique_ptr<Interpreter>> Interpreter::create(mlir::ModuleOp module,
                                                           InterpreterOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  state->lifted = liftDeviceOps(module);
  Expected<mlir::func::FuncOp> network = top::mainFunction(state->lifted ? *state->lifted : module);
  if (!network)
    return propagate(network);
  mlir::func::FuncOp main = *network;
  state->body = &main.getBody();
  Expected<Program> program = Program::make(main.getBody());
  if (!program)
    return propagate(program);
  state->program = std::move(*program);
  // A kernel may read what another one made in blocks, which nobody replaces.
  if (!state->options.substitute)
    planLayouts(state->program, main.getBody(), /*fuse=*/!state->wantsAll());
  state->program.planLives();
  if (!state->options.keepAll)
    if (Expected<void> planned = state->program.planMemory(main.getBody()); !planned)
      return propagate(planned);
  state->pool = std::make_shared<BlockPool>(state->program.plannedBytes);
  for (mlir::BlockArgument argument : main.getArguments()) {
    Expected<TensorInfo> info = infoOf(inputName(argument), argument.getType());
    if (!info)
      return propagate(info);
    state->inputs.push_back(std::move(*info));
  }
  for (mlir::Value value : main.front().getTerminator()->getOperands()) {
    Expected<TensorInfo> info = infoOf(outputName(value), value.getType());
    if (!info)
      return propagate(info);
    state->outputs.push_back(std::move(*info));
  }
  return std::unique_ptr<Interpreter>(new Interpreter(std::move(state)));
}

const std::vector<TensorInfo> &Interpreter::inputs() const { return state->inputs; }
const std::vector<TensorInfo> &Interpreter::outputs() const { return state->outputs; }
int64_t Interpreter::plannedBytes() const { return state->program.plannedBytes; }

Expected<TensorMap> Interpreter::run(const TensorMap &inputs) const {
  std::vector<std::string> given;
  std::vector<std::string> wanted;
  std::vector<Tensor> ordered;
  for (const auto &[name, tensor] : inputs)
    given.push_back(name);
  for (const TensorInfo &info : state->inputs) {
    wanted.push_back(info.name);
    if (auto found = inputs.find(info.name); found != inputs.end())
      ordered.push_back(found->second);
  }
  if (ordered.size() != wanted.size() || given.size() != wanted.size())
    return makeError("inputs", given.empty() ? "none" : fmt::format("{}", fmt::join(given, ", ")),
                     wanted.empty() ? "none" : fmt::format("{}", fmt::join(wanted, ", ")));
  return run(ordered);
}

Expected<TensorMap> Interpreter::run(std::span<const Tensor> inputs) const {
  if (inputs.size() != state->inputs.size())
    return makeError("inputs", fmt::format("{} tensors", inputs.size()),
                     fmt::format("{}", state->inputs.size()));
  std::vector<Tensor> stored;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const TensorInfo &info = state->inputs[index];
    stored.push_back(state->stored(inputs[index], info.type));
    if (!fits(stored.back(), info.type))
      return makeError("input '" + info.name + "'", describe(inputs[index]), describe(info));
  }
  return Frame(*state).run(stored);
}

Expected<std::vector<TensorMap>> Interpreter::runSamples(std::span<const TensorMap> samples) const {
  std::vector<Expected<TensorMap>> results(samples.size());
  state->threads.parallelFor(
      static_cast<int64_t>(samples.size()), 1, [&](int64_t begin, int64_t end) {
        for (int64_t sample = begin; sample < end; ++sample)
          results[static_cast<size_t>(sample)] = run(samples[static_cast<size_t>(sample)]);
      });
  std::vector<TensorMap> tensors;
  for (Expected<TensorMap> &result : results) {
    if (!result)
      return propagate(result);
    tensors.push_back(std::move(*result));
  }
  return tensors;
}
