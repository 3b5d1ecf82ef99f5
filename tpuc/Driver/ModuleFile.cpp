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
#include "tpuc/Driver/ValueOrder.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Folders.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Nesting.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"

#include <filesystem>
#include <mutex>
#include <new>
#include <unordered_set>

using namespace mlir;
using namespace tpuc;

/// LLVM would abort where malloc gives nothing; the rest of the program knows std::bad_alloc.
static void throwBadAlloc(void *, const char *, bool) { throw std::bad_alloc(); }

std::unique_ptr<MLIRContext> tpuc::makeContext() {
  static std::once_flag installed;
  std::call_once(installed, [] { llvm::install_bad_alloc_error_handler(throwBadAlloc); });
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<func::FuncDialect, quant::QuantDialect, top::TopDialect, tpu::TpuDialect>();
  registerEvaluators(*context);
  return context;
}

/// Errors: a weight file that is not in the folder of `path`, the module's.
static Expected<void> checkWeightFiles(ModuleOp module, const std::string &path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Expected<void> result;
  module->walk([&](ModuleOp each) {
    auto name = each->getAttrOfType<StringAttr>("module.weight_file");
    if (!result || !name || name.getValue().empty())
      return;
    const std::filesystem::path file = name.getValue().str();
    std::error_code error;
    // The dialect would take one of the working folder where there is none beside the module.
    const bool isElsewhere =
        !std::filesystem::exists(folder / file, error) && std::filesystem::exists(file, error);
    if (!isBelow(file, folder) || isElsewhere)
      result = makeError(path + ": module.weight_file",
                         "'" + file.string() + "' is outside the folder of the module",
                         "a file in it, or --allow_outside");
  });
  return result;
}

Expected<OwningOpRef<ModuleOp>> tpuc::readModule(MLIRContext &context, const std::string &path,
                                                 bool allowOutside) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  std::span<const std::byte> bytes = (*file)->bytes();
  const llvm::StringRef given(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (Expected<void> checked = checkNesting(given, path); !checked)
    return propagate(checked);
  if (Expected<void> checked = checkValueOrder(given, path); !checked)
    return propagate(checked);
  // The parser wants a zero byte at the end.
  std::unique_ptr<llvm::MemoryBuffer> text = llvm::MemoryBuffer::getMemBufferCopy(given, path);
  context.getLoadedDialect<top::TopDialect>()->setWeightFolder(
      std::filesystem::path(path).parent_path().string());
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  DiagnosticCollector diagnostics(context);
  // What verifies ops may read weights.
  auto module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (module && !allowOutside)
    if (Expected<void> checked = checkWeightFiles(*module, path); !checked)
      return propagate(checked);
  if (module && succeeded(verify(*module)))
    return module;
  Error error =
      diagnostics.error(path, "is no module", "MLIR text as model_transform writes it").value();
  if (!error.where.starts_with(path))
    error.where = path + ": " + error.where;
  return tl::unexpected<Error>(std::move(error));
}

std::string tpuc::weightFileOf(ModuleOp module, const std::string &path) {
  auto weightFile = module->getAttrOfType<StringAttr>("module.weight_file");
  if (!weightFile || weightFile.getValue().empty())
    return "";
  return (std::filesystem::path(path).parent_path() / weightFile.getValue().str()).string();
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

/// Before anything is inflated that takes more than its type says.
static Expected<void> checkShapes(ModuleOp module, const top::WeightStore &store) {
  Expected<void> result;
  module.walk([&](top::WeightOp op) {
    if (!result)
      return;
    Expected<Shape> shape = store.shape(op.name());
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    if (!shape)
      result = propagate(shape);
    else if (!llvm::equal(type.getShape(), shape->dims()))
      result = makeError("weight '" + op.name() + "'", "shape " + shape->str() + " in the file",
                         Shape(type.getShape()).str());
  });
  return result;
}

/// Writes the weights that `module` names beside `path`, and their digest to its attribute.
static Expected<OutputFile> writeWeights(ModuleOp module, const std::string &path) {
  auto store = module.getContext()->getLoadedDialect<top::TopDialect>()->weights(module);
  if (!store)
    return propagate(store);
  if (Expected<void> checked = checkShapes(module, **store); !checked)
    return propagate(checked);
  Expected<OutputFile> file = (*store)->save(weightFileOf(module, path), weightNames(module));
  if (!file)
    return file;
  module->removeAttr(top::kWeightDigest);
  // What is no regular file cannot be read again.
  if (file->temporaryPath().empty())
    return file;
  Expected<NpzReader> written = NpzReader::open(file->temporaryPath());
  if (!written)
    return propagate(written);
  module->setAttr(top::kWeightDigest,
                  StringAttr::get(module.getContext(), top::weightDigest(*written)));
  return file;
}

namespace {

/// Writes to a file what it gets, in pieces. The first error ends it.
class FileStream : public llvm::raw_ostream {
public:
  explicit FileStream(OutputFile &file) : file(file) { SetBufferSize(1 << 16); }
  ~FileStream() override { flush(); }

  Expected<void> finish() {
    flush();
    return result;
  }

private:
  void write_impl(const char *text, size_t size) override {
    if (result)
      result = file.write(std::string_view(text, size));
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  OutputFile &file;
  Expected<void> result;
  uint64_t written = 0;
};

} // namespace

Expected<std::vector<OutputFile>> tpuc::writeModule(ModuleOp module, const std::string &path) {
  std::vector<OutputFile> files;
  Expected<OutputFile> text = OutputFile::create(path);
  if (!text)
    return propagate(text);
  if (module->getAttrOfType<StringAttr>("module.weight_file")) {
    Expected<OutputFile> weights = writeWeights(module, path);
    if (!weights)
      return propagate(weights);
    files.push_back(std::move(*weights));
  }
  {
    // The text of a large network is long.
    FileStream stream(*text);
    module.print(stream, OpPrintingFlags().enableDebugInfo().useLocalScope());
    stream << '\n';
    if (Expected<void> written = stream.finish(); !written)
      return propagate(written);
  }
  if (Expected<void> finished = text->finish(); !finished)
    return propagate(finished);
  files.push_back(std::move(*text));
  return files;
}

Expected<void> tpuc::runPasses(ModuleOp module,
                               const std::function<void(OpPassManager &)> &addPasses,
                               std::vector<std::string> *remarks, bool verifies) {
  DiagnosticCollector diagnostics(*module.getContext());
  PassManager manager(module.getContext());
  manager.enableVerifier(verifies);
  addPasses(manager);
  if (failed(manager.run(module)))
    return diagnostics.error("module", "cannot be optimized");
  if (remarks)
    remarks->insert(remarks->end(), diagnostics.remarks().begin(), diagnostics.remarks().end());
  return {};
}
