//===- WholeNetwork.cpp - Chips that compile Top modules ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/WholeNetwork.h"
#include "runtime/Elements.h"
#include "runtime/Session.h"
#include "tpuc/Calibration/Calibrate.h"
#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Codegen/NetworkCompiler.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Support/Compare.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

using namespace tpuc;

namespace {

/// The two numbers of `32x16`.
Expected<std::pair<unsigned, unsigned>> arrayOf(llvm::StringRef text) {
  const auto [rows, columns] = text.split('x');
  std::pair<unsigned, unsigned> array;
  if (rows.getAsInteger(10, array.first) || columns.getAsInteger(10, array.second))
    return makeError("--array", fmt::format("'{}'", text.str()), "ROWSxCOLUMNS, such as 32x16");
  return array;
}

} // namespace

Expected<WholeNetwork> tpuc::compileWholeNetwork(const WholeNetworkRequest &request) {
  Expected<CalibrationTable> table = CalibrationTable::read(request.calibrationTable);
  if (!table)
    return propagate(table);
  Expected<std::vector<std::string>> names = calibratedNames(request.top);
  if (!names)
    return propagate(names);
  Expected<std::string> tableNote = table->fit(*names, request.calibrationTable);
  if (!tableNote)
    return propagate(tableNote);
  codegen::TensorRanges ranges;
  for (const CalibrationTable::Entry &entry : table->entries)
    ranges[entry.name] = {entry.min, entry.max};
  const std::unique_ptr<codegen::NetworkCompiler> compiler =
      codegen::networkCompilerOf(request.target);
  const model::Container *container =
      model::findContainer(request.target.container, model::containers());
  if (!compiler || !container)
    return makeError(fmt::format("--chip {}", request.target.name), "compiles no whole network",
                     "a chip that does");
  codegen::NetworkRequest asked = {
      .top = request.top, .ranges = ranges, .scheme = request.scheme, .without = request.without};
  if (!request.array.empty()) {
    const Expected<std::pair<unsigned, unsigned>> array = arrayOf(request.array);
    if (!array)
      return tl::unexpected<Error>(array.error());
    asked.array = *array;
  }
  Expected<codegen::NetworkResult> made = compiler->compile(asked);
  if (!made)
    return propagate(made);
  Expected<OutputFile> file = container->write(made->model, request.model);
  if (!file)
    return propagate(file);
  if (Expected<void> finished = file->finish(); !finished)
    return propagate(finished);
  Expected<ModelFileReport> report = checkModelFile({.path = file->temporaryPath(),
                                                     .lowered = request.top,
                                                     .inputs = {},
                                                     .numThreads = request.numThreads});
  if (!report)
    return propagate(report);
  return WholeNetwork{std::move(*file), std::move(*report), std::move(made->notes),
                      std::move(*tableNote)};
}

Expected<void> tpuc::compareWholeNetwork(const OutputFile &file, const TensorMap &inputs,
                                         const NpzReader &reference,
                                         const std::vector<std::string> &excepts,
                                         unsigned numThreads, ComparisonReport &report) {
  auto model = runtime::LoadedModel::load(file.temporaryPath());
  if (!model)
    return propagate(model);
  auto session = runtime::Session::create(std::move(*model), {}, numThreads);
  if (!session)
    return propagate(session);
  const model::Stage &stage = (*session)->stage();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    const auto given = inputs.find(stage.inputs[i].name);
    if (given == inputs.end())
      return makeError("--test_input", "no tensor '" + stage.inputs[i].name + "'");
    if (Expected<void> set = (*session)->setInput(i, given->second); !set)
      return set;
  }
  if (Expected<void> run = (*session)->run(); !run)
    return run;
  for (size_t i = 0; i < stage.outputs.size(); ++i) {
    const model::TensorInfo &info = stage.outputs[i];
    if (llvm::is_contained(excepts, info.name))
      continue;
    if (!reference.contains(info.name)) {
      report.addMissing(info.name, ComparisonReport::Side::Reference);
      continue;
    }
    Expected<Tensor> stored = (*session)->output(i);
    if (!stored)
      return propagate(stored);
    Expected<Tensor> wanted = reference.read(info.name);
    if (!wanted)
      return propagate(wanted);
    report.add(info.name, compareTensors(runtime::fromStored(*stored, info.scale, info.zeroPoint,
                                                             /*keepFixed=*/false),
                                         *wanted));
  }
  return {};
}
