//===- tpuc-opt.cpp - Runs passes over a module, one at a time if you like ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What mlir-opt is to MLIR. The options for pipelines, crash reproducers, statistics and printing
// are MLIR's; a few that all programs of tpuc have are added.
//
//===----------------------------------------------------------------------===//

#include "tools/common/HelpLayout.h"
#include "tools/tpuc-opt/Help.h"
#include "tpuc/Codegen/Aliases.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/Nesting.h"
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Support/SimdLevel.h"
#include "tpuc/Target/Registry.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sched.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tpuc;

namespace {

constexpr std::string_view kName = "tpuc-opt";
constexpr llvm::StringLiteral kSummary = "tpuc-opt: runs passes over a module\n";
/// The columns of --help where stdout is no terminal.
constexpr size_t kHelpWidth = 100;

/// Whether a note shows the op that an error is about, and the op is as long as a whole network.
bool showsNetwork(const mlir::Diagnostic &note) {
  const std::string text = note.str();
  return llvm::StringRef(text).starts_with("see current operation: ") &&
         llvm::StringRef(text).trim().contains('\n');
}

/// Errors at a function or module say what is wrong; thousands of lines of it behind them do not.
mlir::LogicalResult withoutNetwork(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
      llvm::none_of(diagnostic.getNotes(), showsNetwork))
    return mlir::failure();
  mlir::InFlightDiagnostic shown = mlir::emitError(diagnostic.getLocation(), diagnostic.str());
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    if (!showsNetwork(note))
      shown.attachNote(note.getLocation()) << note.str();
  return mlir::success();
}

void registerAll(mlir::DialectRegistry &registry) {
  // Only what is needed: registering everything costs seconds of compile time, and MLIR's own
  // `quant` would take the name of ours.
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::shape::ShapeDialect, mlir::tensor::TensorDialect,
                  quant::QuantDialect, top::ModuleDialect, top::TopDialect, tpu::TpuDialect>();
  mlir::registerTransformsPasses();
  quant::registerQuantTransforms();
  registerTransforms(registry);
  registerTopToTpu(registry);
  codegen::registerCodegen();
  // Modules have functions, so that this is called for each context behind MLIR's own handler.
  registry.addExtension(+[](mlir::MLIRContext *context, mlir::func::FuncDialect *) {
    context->getDiagEngine().registerHandler(withoutNetwork);
  });
}

/// Tells the dialect of each context where the weights of the module lie.
class WeightFolder : public mlir::DialectExtension<WeightFolder, top::TopDialect> {
public:
  WeightFolder(std::string folder, bool mustLieBelow)
      : folder(std::move(folder)), mustLieBelow(mustLieBelow) {}

  void apply(mlir::MLIRContext *, top::TopDialect *dialect) const override {
    dialect->setWeightFolder(folder, mustLieBelow);
  }

private:
  std::string folder;
  bool mustLieBelow;
};

/// MLIR sizes its thread pool by the processors that the process may use.
void limitThreads(unsigned count) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed))
      continue;
    if (count == 0)
      CPU_CLR(cpu, &allowed);
    else
      --count;
  }
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

/// The command line with today's names of passes in place of earlier ones. `words` holds them.
std::vector<char *> withCurrentNames(int argc, char **argv, std::vector<std::string> &words) {
  for (const std::string_view word : std::span(argv, static_cast<size_t>(argc))) {
    const size_t begin = std::min(word.find_first_not_of('-'), word.size());
    const std::string_view name = word.substr(begin, word.find('=') - begin);
    words.emplace_back(word);
    if (begin > 0 && codegen::currentName(name) != name)
      words.back().replace(begin, name.size(), codegen::currentName(name));
  }
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  return pointers;
}

/// Only the options of this program and of MLIR stand in --help and are suggested; those that
/// LLVM's libraries bring stand in --help-hidden. To be called before the program declares its own.
void hideForeignOptions(std::span<char *> arguments) {
  const bool areListed = llvm::any_of(arguments, [](llvm::StringRef word) {
    return word.ltrim('-') == "help-hidden" || word.ltrim('-') == "help-list-hidden";
  });
  for (const auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    if (name.starts_with("help") || name == "version")
      continue;
    // What is not listed at all is not suggested either.
    if (!areListed)
      option->setHiddenFlag(llvm::cl::ReallyHidden);
    else if (option->getOptionHiddenFlag() == llvm::cl::NotHidden)
      option->setHiddenFlag(llvm::cl::Hidden);
  }
}

int fail(const Error &error) {
  reportError(kName, error);
  return 1;
}

int run(llvm::StringRef input, llvm::StringRef output, mlir::DialectRegistry &registry) {
  RunFiles files;
  files.reads("tpuc-opt", input.str());
  files.writes("-o", output.str());
  if (Expected<void> checked = files.check(); !checked)
    return fail(checked.error());
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &why);
  if (!file)
    return fail({"", why, ""});
  if (Expected<void> checked = checkNesting(file->getBuffer(), input.str()); !checked)
    return fail(checked.error());
  std::string result;
  llvm::raw_string_ostream stream(result);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (mlir::failed(mlir::MlirOptMain(stream, std::move(file), registry, config)))
    return 1;
  Expected<void> written = writeFileOrStdout(output.str(), result);
  return written ? 0 : fail(written.error());
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  hideForeignOptions({argv, static_cast<size_t>(argc)});
  if (Expected<void> known = checkSimdLevel(); !known)
    return fail(known.error());
  llvm::cl::opt<bool> listTargets("list-targets", llvm::cl::desc("Show the chips and end"));
  llvm::cl::opt<unsigned> numThreads("num_threads",
                                     llvm::cl::desc("Threads to use; 0: one for each processor"),
                                     llvm::cl::init(0), llvm::cl::value_desc("count"));
  llvm::cl::opt<bool> allowOutside(
      "allow_outside", llvm::cl::desc("Take the weight file of a module from outside its folder"));
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &out) { out << "tpuc-opt " << TPUC_VERSION << '\n'; });

  mlir::DialectRegistry registry;
  registerAll(registry);
  std::vector<std::string> words;
  std::vector<char *> arguments = withCurrentNames(argc, argv, words);
  // With --help the options are declared only; LLVM would print them as it likes and end.
  const std::optional<HelpRequest> help = helpRequestOf(arguments);
  auto [input, output] =
      mlir::registerAndParseCLIOptions(help ? 1 : argc, arguments.data(), kSummary, registry);
  if (help) {
    // MLIR's overview is a string that is gone by now.
    llvm::cl::ParseCommandLineOptions(1, arguments.data(), kSummary);
    Expected<std::string> text = helpText(*help, terminalWidth(kHelpWidth));
    if (!text)
      return fail(text.error());
    llvm::outs() << *text;
    return 0;
  }
  if (listTargets) {
    llvm::outs() << formatTargetTable();
    return 0;
  }
  if (numThreads > 0)
    limitThreads(numThreads);
  registry.addExtension(std::make_unique<WeightFolder>(
      std::filesystem::path(input).parent_path().string(), !allowOutside));
  return run(input, output, registry);
}
