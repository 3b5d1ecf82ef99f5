//===- Backends.cpp - The chips that have a code generator ------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backends.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/ConstantStorage.h"
#include "tpuc/Codegen/Group/KnownCosts.h"
#include "tpuc/Codegen/Place/AddressPlan.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Target/Registry.h"

#include "mlir/IR/DialectInterface.h"

#include <map>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Emitter::~Emitter() = default;

namespace tpuc::codegen {

/// Keeps what is known for the modules of a context, by the names of chips.
class KnownInContext : public DialectInterface::Base<KnownInContext> {
public:
  explicit KnownInContext(Dialect *dialect) : Base(dialect) {}

  /// Null as long as no module of ours was read.
  static KnownInContext *of(MLIRContext &context) {
    auto *dialect = context.getLoadedDialect<top::TopDialect>();
    if (!dialect)
      return nullptr;
    if (auto *known = dialect->getRegisteredInterface<KnownInContext>())
      return known;
    return &dialect->addInterface<KnownInContext>();
  }

  using Chips = std::map<std::string, std::shared_ptr<KnownCosts>>;
  std::shared_ptr<Chips> chips = std::make_shared<Chips>();
};

} // namespace tpuc::codegen

Backend::Backend(const TargetInfo &target)
    : target(target), costs(std::make_shared<KnownCosts>()) {}

Backend::~Backend() = default;

Expected<void> Emitter::setStorage(const ConstantStorage &wanted) {
  if (wanted.isUsual())
    return {};
  return makeError("", "a chip that stores constants in one way", "one that leaves a choice");
}

Expected<TileModel> Backend::modelOf(Operation *op, TileLayout layout) const {
  Expected<TileModel> model = tileModel(op, info(), layout);
  if (model)
    model->layout = layoutOf(op, *model);
  return model;
}

Expected<SmallVector<int64_t>> Backend::runCycles(Commands emit) const {
  Expected<Cost> work = cost(emit);
  return work ? Expected<SmallVector<int64_t>>({work->most()}) : propagate(work);
}

int64_t Backend::transferCycles(int64_t bytes, int64_t rows) const {
  const TimingInfo &timing = *target.timing;
  const int64_t moved = std::max(bytes, rows * timing.minBurstBytes);
  return int64_t{timing.transferStartCycles} + timing.memoryLatencyCycles +
         static_cast<int64_t>(static_cast<double>(moved) / timing.globalToLocal) + 1;
}

Expected<void> Backend::assignAddresses(AddressPlan &plan) const {
  return placeInOneRange(plan, target);
}

std::unique_ptr<Backend> codegen::backendOf(const TargetInfo &target) {
  for (CreateBackend create : backends())
    if (std::unique_ptr<Backend> backend = create(target))
      return backend;
  return nullptr;
}

Expected<std::unique_ptr<Backend>> codegen::backendOf(ModuleOp module) {
  auto chip = module->getAttrOfType<StringAttr>("module.chip");
  if (!chip || chip.getValue() == "ALL")
    return makeError("module", "is compiled for no chip", "--chip-assign first");
  Expected<const TargetInfo *> target = lookupTarget(chip.getValue().str());
  if (!target)
    return propagate(target);
  if (std::unique_ptr<Backend> backend = backendOf(**target)) {
    if (KnownInContext *known = KnownInContext::of(*module.getContext()))
      backend->share(
          known->chips->try_emplace(std::string((*target)->name), backend->known()).first->second);
    return backend;
  }
  return makeError("module", "there is no code generator of layer groups for " +
                                 std::string((*target)->name));
}

void codegen::shareKnownCosts(MLIRContext &context, MLIRContext &other) {
  KnownInContext *from = KnownInContext::of(context);
  KnownInContext *to = KnownInContext::of(other);
  if (from && to)
    to->chips = from->chips;
}

std::unique_ptr<Backend> codegen::backendOrEmit(ModuleOp module) {
  Expected<std::unique_ptr<Backend>> backend = backendOf(module);
  if (backend)
    return std::move(*backend);
  module.emitError(backend.error().message());
  return nullptr;
}
