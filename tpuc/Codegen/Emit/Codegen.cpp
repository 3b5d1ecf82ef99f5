//===- Codegen.cpp - The commands of a network, and its file ------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Aliases.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Heuristics.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Pass/PassManager.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_CODEGEN
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

namespace tpuc::codegen::generated {
#define GEN_PASS_REGISTRATION
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen::generated

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct CodegenPass : codegen::impl::CodegenBase<CodegenPass> {
  using Base::Base;
  void runOnOperation() override {
    if (model.empty()) {
      getOperation().emitError("--codegen: no model; expected the file to write");
      return signalPassFailure();
    }
    Expected<OutputFile> file = writeModelFile(getOperation(), model);
    Expected<void> done = file ? file->commit() : propagate(file);
    if (!done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

} // namespace

Expected<void> codegen::checkStorage(const Backend &backend, const ConstantStorage &storage) {
  return backend.createEmitter()->setStorage(storage);
}

Expected<OutputFile> codegen::writeModelFile(ModuleOp module, const std::string &path,
                                             const ConstantStorage &storage) {
  Expected<std::unique_ptr<Backend>> backend = backendOf(module);
  if (!backend)
    return propagate(backend);
  Expected<func::FuncOp> main = top::mainFunction(module);
  if (!main)
    return propagate(main);
  const TargetInfo &target = (*backend)->info();
  const model::Container *container = model::findContainer(target.container, model::containers());
  if (!container)
    return makeError("module", "there is no file format for " + std::string(target.name),
                     "a chip with a container");
  Expected<model::CompiledModel> compiled = readModelContents(module, target);
  if (!compiled)
    return propagate(compiled);
  std::unique_ptr<Emitter> emitter = (*backend)->createEmitter();
  if (Expected<void> set = emitter->setStorage(storage); !set)
    return propagate(set);
  if (Expected<void> emitted = emitNetwork(*main, **backend, *emitter); !emitted)
    return propagate(emitted);
  if (Expected<void> finished = emitter->finish(*compiled); !finished)
    return propagate(finished);
  return container->write(*compiled, path);
}

/// What is not left out; --layer-group refuses names that are none.
static Heuristics heuristicsOf(const GenerationOptions &options, const Backend &backend) {
  return Heuristics::without(options.without, backend).value_or(Heuristics());
}

/// Adds the target's own passes of a stage, but for those that are left out.
static void addOptional(OpPassManager &manager, Stage stage, const Backend &backend,
                        const GenerationOptions &options) {
  for (const OptionalPass &each : backend.optionalPasses()) {
    std::unique_ptr<Pass> pass = each.create();
    const bool isLeftOut = llvm::any_of(options.without, [&](const std::string &name) {
      return currentName(name) == std::string_view(pass->getArgument());
    });
    if (each.stage == stage && !isLeftOut)
      manager.addPass(std::move(pass));
  }
}

void codegen::addDivision(OpPassManager &manager, const Backend &backend,
                          const GenerationOptions &options) {
  if (heuristicsOf(options, backend).foldHeadReshapes)
    manager.addPass(createFoldHeadReshapes());
  manager.addPass(createDecomposeAttention());
  DecomposeOptions decomposition;
  decomposition.without = options.without;
  manager.addPass(createDecompose(std::move(decomposition)));
  addOptional(manager, Stage::Divide, backend, options);
}

void codegen::addCodegen(OpPassManager &manager, const Backend &backend,
                         const GenerationOptions &options) {
  addDivision(manager, backend, options);
  const Heuristics heuristics = heuristicsOf(options, backend);
  if (heuristics.joinConvolutions)
    manager.addPass(createJoinConvolutions());
  if (heuristics.splitConvolutions)
    manager.addPass(createSplitConvolutions());
  addOptional(manager, Stage::Refine, backend, options);
  manager.addPass(createSubnetDivide());
  manager.addPass(createWeightReorder());
  if (heuristics.opReorder)
    manager.addPass(createOpReorder());
  if (heuristics.hoistOutputs)
    manager.addPass(createHoistOutputs());
  if (options.dividesOps)
    manager.addPass(
        createDivideOps({.numThreads = options.numThreads, .without = options.without}));
  LayerGroupOptions grouping;
  grouping.opt = options.opt;
  grouping.seconds = options.searchSeconds;
  grouping.without = options.without;
  grouping.numThreads = options.numThreads;
  manager.addPass(createLayerGroup(std::move(grouping)));
  manager.addPass(createAddressAssign({.isQuick = options.isMeasured}));
}

void codegen::registerCodegen() {
  generated::registerTpucCodegenPasses();
  for (const TargetInfo *target : knownTargets())
    if (const std::unique_ptr<Backend> backend = backendOf(*target))
      for (const OptionalPass &pass : backend->optionalPasses())
        registerPass(pass.create);
}
