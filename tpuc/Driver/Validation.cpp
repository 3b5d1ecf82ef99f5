//===- Validation.cpp - A network run against a reference, tensor by tensor -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Validation.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Suggest.h"
#include "tpuc/Support/TensorText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using namespace tpuc;

namespace {

/// The first names of a list, for messages.
template <typename Names> std::string someOf(const Names &names) {
  constexpr size_t kShown = 8;
  std::vector<std::string> shown;
  for (const std::string &name : names) {
    if (shown.size() == kShown)
      break;
    shown.push_back("'" + name + "'");
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown)
    text += fmt::format(" and {} more", names.size() - kShown);
  return text.empty() ? "none" : text;
}

/// Runs the network and hands each of its tensors, the inputs too, to the file and to `look`.
Expected<OutputFile> runInto(mlir::ModuleOp module, const TensorMap &inputs,
                             const std::string &path, unsigned numThreads,
                             const TensorProbe &look) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  std::set<std::string> seen;
  InterpreterOptions options;
  options.numThreads = numThreads;
  options.probe = [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
    // An npz has a name once; ops of a module that somebody has written may share one.
    if (!seen.insert(name).second)
      return {};
    if (Expected<void> looked = look(name, tensor); !looked)
      return looked;
    return writer->add(name, tensor);
  };
  Expected<std::unique_ptr<Interpreter>> interpreter = Interpreter::create(module, options);
  if (!interpreter)
    return propagate(interpreter);
  if (Expected<TensorMap> outputs = (*interpreter)->run(inputs); !outputs)
    return propagate(outputs);
  return writer->finish();
}

Expected<void> checkExcepts(const std::vector<std::string> &excepts,
                            const std::set<std::string> &names) {
  std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string &name : excepts)
    if (!names.contains(name)) {
      std::optional<std::string_view> near = closestMatch(name, known);
      return makeError("--excepts", "the network has no tensor '" + name + "'",
                       near ? fmt::format("a tensor of it; did you mean '{}'?", *near)
                            : "tensors of it");
    }
  return {};
}

} // namespace

Expected<OutputFile> tpuc::dumpTensors(mlir::ModuleOp module, const TensorMap &inputs,
                                       const std::string &path, unsigned numThreads) {
  return runInto(module, inputs, path, numThreads,
                 [](const std::string &, const Tensor &) -> Expected<void> { return {}; });
}

Expected<OutputFile> tpuc::validate(mlir::ModuleOp module, const TensorMap &inputs,
                                    const NpzReader &reference, const ValidationOptions &options,
                                    const std::string &path, ComparisonReport &report) {
  std::set<std::string> excepts(options.excepts.begin(), options.excepts.end());
  std::set<std::string> names;
  auto look = [&](const std::string &name, const Tensor &tensor) -> Expected<void> {
    names.insert(name);
    if (excepts.contains(name)) {
      report.addExcept(name);
      return {};
    }
    // An input is not a result.
    if (!reference.contains(name) || inputs.contains(name))
      return {};
    Expected<Tensor> expected = reference.read(name);
    if (!expected)
      return propagate(expected);
    report.add(name, compareTensors(tensor, *expected,
                                    static_cast<int>(std::max(1U, options.numThreads))));
    releaseMapped(expected->rawBytes());
    return {};
  };
  Expected<OutputFile> file = runInto(module, inputs, path, options.numThreads, look);
  if (!file)
    return file;
  if (Expected<void> checked = checkExcepts(options.excepts, names); !checked)
    return propagate(checked);
  if (report.entries().empty() && excepts.empty())
    return makeError(reference.where(), "has only " + someOf(reference.names()),
                     "some of the network's tensors " + someOf(names));
  return file;
}
