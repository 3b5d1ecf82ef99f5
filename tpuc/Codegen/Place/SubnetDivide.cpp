//===- SubnetDivide.cpp - Which engine runs which part of a network -------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Emit/CpuForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_SUBNETDIVIDE
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// The stored type of the first tensor of `op`, in words.
std::string typeName(Operation *op) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getResultTypes()),
                                            SmallVector<Type>(op->getOperandTypes())))
    if (std::optional<DataType> stored = storageDataType(type))
      return std::string(dataTypeName(*stored));
  return "none";
}

/// Who computes a layer.
enum class Engine : uint8_t {
  Tpu,
  Cpu,
  Either, ///< Nobody has to: the result lies where the operand does.
};

struct Layer {
  Operation *op = nullptr;
  Engine engine = Engine::Tpu;
  bool isTaken = false;
};

class Divider {
public:
  Divider(Block &block, const Backend &backend) : block(block), backend(backend) {}

  /// Says of each layer who computes it, or emits an error that names it.
  bool classify();
  bool needsCpu() const {
    return llvm::any_of(layers, [](const Layer &layer) { return layer.engine == Engine::Cpu; });
  }
  /// The engine and the layers of each sub-network, in the order in which they run.
  std::vector<SubNet> divide();
  /// Whether all that crosses the border of a sub-network has a shape; emits an error otherwise.
  bool checkShapes();

private:
  Expected<Engine> engineOf(Operation *op) const;
  SmallVector<Layer *> takeReady(Engine engine);
  bool isReady(Operation *op) const;

  Block &block;
  const Backend &backend;
  std::vector<Layer> layers;
  /// The layers that are in no sub-network yet.
  llvm::DenseSet<Operation *> open;
};

/// What the chip has a kernel for, it computes; but it knows no shapes that only the data show.
/// What only says where tensors lie is anyone's, if the host has a form for it.
Expected<Engine> Divider::engineOf(Operation *op) const {
  auto layer = dyn_cast<tpu::SubNetInterface>(op);
  if (!layer)
    return makeError("", "no op of a lowered network", "--convert-top-to-tpu first");
  std::optional<Error> refusal;
  if (llvm::all_of(op->getOperands(), hasKnownShape) &&
      llvm::all_of(op->getResults(), hasKnownShape)) {
    Expected<Place> place = fittingPlaceOf(op, backend);
    if (place)
      return *place == Place::Alias && checkCpuForm(op) ? Engine::Either : Engine::Tpu;
    refusal = place.error();
  } else {
    refusal = Error{"", "a shape that only the data show", ""};
  }
  Expected<void> host = checkCpuForm(op);
  if (!host)
    return makeError("", refusal->message() + ", and " + host.error().message());
  layer.setSubnetReasonAttr(StringAttr::get(op->getContext(), refusal->message()));
  return Engine::Cpu;
}

bool Divider::classify() {
  bool isRefused = false;
  for (Operation &op : block.without_terminator()) {
    if (!isLayer(&op))
      continue;
    Expected<Engine> engine = engineOf(&op);
    if (engine) {
      layers.push_back({&op, *engine});
      open.insert(&op);
      continue;
    }
    op.emitError() << op.getName() << " on " << typeName(&op) << " cannot be computed on "
                   << backend.info().name << ": " << engine.error().message();
    isRefused = true;
  }
  return !isRefused;
}

bool Divider::isReady(Operation *op) const {
  bool isReady = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (open.contains(operand.getDefiningOp()) && operand.getDefiningOp() != op)
        isReady = false;
  });
  return isReady;
}

/// The layers that `engine` can compute before the other one has to, in program order; none if not
/// one of them is for this engine alone.
SmallVector<Layer *> Divider::takeReady(Engine engine) {
  SmallVector<Layer *> taken;
  bool isNeeded = false;
  for (Layer &layer : layers) {
    if (layer.isTaken || (layer.engine != engine && layer.engine != Engine::Either) ||
        !isReady(layer.op))
      continue;
    layer.isTaken = true;
    open.erase(layer.op);
    taken.push_back(&layer);
    isNeeded |= layer.engine == engine;
  }
  if (isNeeded)
    return taken;
  for (Layer *layer : taken) {
    layer->isTaken = false;
    open.insert(layer->op);
  }
  return {};
}

std::vector<SubNet> Divider::divide() {
  std::vector<SubNet> subNets;
  const auto add = [&](bool isCpu, ArrayRef<Layer *> taken) {
    subNets.push_back({isCpu, {}});
    for (Layer *layer : taken)
      subNets.back().layers.push_back(layer->op);
  };
  for (bool isCpu = false; !open.empty(); isCpu = !isCpu) {
    SmallVector<Layer *> taken = takeReady(isCpu ? Engine::Cpu : Engine::Tpu);
    if (!taken.empty()) {
      add(isCpu, taken);
      continue;
    }
    taken = takeReady(isCpu ? Engine::Tpu : Engine::Cpu);
    if (!taken.empty()) {
      isCpu = !isCpu;
      add(isCpu, taken);
      continue;
    }
    // What is left only renames: it belongs to whom it comes from.
    for (Layer &layer : layers)
      if (open.erase(layer.op))
        subNets.back().layers.push_back(layer.op);
  }
  return subNets;
}

bool Divider::checkShapes() {
  bool isFine = true;
  for (const Layer &layer : layers)
    for (Value result : layer.op->getResults()) {
      if (hasKnownShape(result) || staysOnHost(result))
        continue;
      layer.op->emitError() << layer.op->getName() << " on " << typeName(layer.op)
                            << " cannot be computed on " << backend.info().name
                            << ": its result has a shape that only the data show, and is needed "
                               "outside of the CPU's layers";
      isFine = false;
      break;
    }
  return isFine;
}

struct SubnetDividePass : codegen::impl::SubnetDivideBase<SubnetDividePass> {
  using Base::Base;

  /// A result that is a constant becomes one that is computed, by copying it.
  void copyConstants(Block &block) {
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      if (!producer || !isConstant(producer))
        continue;
      OpBuilder builder(block.getTerminator());
      operand.set(
          builder.create<tpu::CopyOp>(producer->getLoc(), operand.get().getType(), operand.get())
              .getOutput());
    }
  }

  void mark(ArrayRef<SubNet> subNets, Block &block) {
    Builder builder(&getContext());
    for (const auto &[id, subNet] : llvm::enumerate(subNets))
      for (Operation *layer : subNet.layers) {
        auto member = cast<tpu::SubNetInterface>(layer);
        member.setSubnetIdAttr(builder.getI64IntegerAttr(static_cast<int64_t>(id)));
        member.setSubnetModeAttr(builder.getStringAttr(subNet.isCpu ? tpu::kOnCpu : tpu::kOnTpu));
        if (subNet.isCpu && !member.getSubnetReasonAttr())
          member.setSubnetReasonAttr(
              builder.getStringAttr("it moves nothing, beside layers of the host"));
        layer->moveBefore(block.getTerminator());
      }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return signalPassFailure();
    Expected<func::FuncOp> main = top::mainFunction(module);
    if (!main) {
      module.emitError(main.error().message());
      return signalPassFailure();
    }
    Block &block = main->front();
    copyConstants(block);
    Divider divider(block, *backend);
    if (!divider.classify())
      return signalPassFailure();
    OpBuilder builder(&getContext());
    if (divider.needsCpu()) {
      mark(divider.divide(), block);
      if (!divider.checkShapes())
        return signalPassFailure();
    } else {
      (*main)->setAttr(tpu::kSubNetId, builder.getI64IntegerAttr(0));
      (*main)->setAttr(tpu::kSubNetMode, builder.getStringAttr(tpu::kOnTpu));
    }
    setPhase(module, Phase::Divide);
  }
};

} // namespace
