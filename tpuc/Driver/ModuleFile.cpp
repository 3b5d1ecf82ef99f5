//===- ModuleFile.cpp - Modules in files, with their weights --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Driver/Diagnostics.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/MappedFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <filesystem>
#include <unordered_set>

using namespace mlir;
using namespace tpuc;

std::unique_ptr<MLIRContext> tpuc::makeContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<func::FuncDialect, quant::QuantDialect, top::TopDialect, tpu::TpuDialect>();
  registerEvaluators(*context);
  return context;
}

Expected<OwningOpRef<ModuleOp>> tpuc::readModule(MLIRContext &context, const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  std::span<const std::byte> bytes = (*file)->bytes();
  // The parser wants a zero byte at the end.
  std::unique_ptr<llvm::MemoryBuffer> text = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()), path);
  context.getLoadedDialect<top::TopDialect>()->setWeightFolder(
      std::filesystem::path(path).parent_path().string());
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  DiagnosticCollector diagnostics(context);
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (module)
    return module;
  Error error =
      diagnostics.error(path, "is no module", "MLIR text as model_transform writes it").value();
  if (!error.where.starts_with(path))
    error.where = path + ": " + error.where;
  return tl::unexpected<Error>(std::move(error));
}

Expected<void> tpuc::checkIsTop(ModuleOp module, const std::string &path) {
  bool lowered = isLowered(module);
  module.walk([&](Operation *op) {
    lowered |= op->getName().getDialectNamespace() == "tpu";
    return lowered ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (lowered)
    return makeError(path, "is lowered already", "a Top module as model_transform writes it");
  return {};
}

/// The names of the weights that ops read, each once, in the order of the ops.
static std::vector<std::string> weightNames(ModuleOp module) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  module.walk([&](top::WeightOp op) {
    if (std::string name = op.name(); seen.insert(name).second)
      names.push_back(std::move(name));
  });
  return names;
}

Expected<std::vector<OutputFile>> tpuc::writeModule(ModuleOp module, const std::string &path) {
  std::vector<OutputFile> files;
  Expected<OutputFile> text = OutputFile::create(path);
  if (!text)
    return propagate(text);
  if (auto weightFile = module->getAttrOfType<StringAttr>("module.weight_file")) {
    auto store = module.getContext()->getLoadedDialect<top::TopDialect>()->weights(module);
    if (!store)
      return propagate(store);
    std::string beside =
        (std::filesystem::path(path).parent_path() / weightFile.getValue().str()).string();
    Expected<OutputFile> weights = (*store)->save(beside, weightNames(module));
    if (!weights)
      return propagate(weights);
    files.push_back(std::move(*weights));
  }
  std::string buffer;
  llvm::raw_string_ostream stream(buffer);
  module.print(stream, OpPrintingFlags().enableDebugInfo().useLocalScope());
  stream << '\n';
  if (Expected<void> written = text->write(buffer); !written)
    return propagate(written);
  if (Expected<void> finished = text->finish(); !finished)
    return propagate(finished);
  files.push_back(std::move(*text));
  return files;
}

Expected<void> tpuc::runPasses(ModuleOp module,
                               const std::function<void(OpPassManager &)> &addPasses) {
  DiagnosticCollector diagnostics(*module.getContext());
  PassManager manager(module.getContext());
  addPasses(manager);
  if (failed(manager.run(module)))
    return diagnostics.error("module", "cannot be optimized");
  return {};
}
