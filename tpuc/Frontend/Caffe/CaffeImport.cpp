//===- CaffeImport.cpp - From a Caffe network to the top dialect ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeImport.h"
#include "tpuc/Frontend/Caffe/CaffeFormat.h"
#include "tpuc/Frontend/Caffe/CaffeLayer.h"
#include "tpuc/Frontend/Common/UnsupportedOps.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;
using frontend::ModelInput;

ArrayRef<LayerRow> tpuc::caffe::layerTable() {
  static const std::vector<LayerRow> kRows = [] {
    std::vector<LayerRow> rows;
    for (ArrayRef<LayerRow> family : {elementwiseRows(), windowRows(), normRows(), movementRows(),
                                      recurrentRows(), detectionRows(), anchorRows(), customRows()})
      rows.insert(rows.end(), family.begin(), family.end());
    std::ranges::sort(rows, {}, &LayerRow::type);
    return rows;
  }();
  return kRows;
}

const LayerRow *tpuc::caffe::findRow(std::string_view type) {
  ArrayRef<LayerRow> rows = layerTable();
  const auto *row = std::ranges::lower_bound(rows, type, {}, &LayerRow::type);
  return row != rows.end() && row->type == type ? row : nullptr;
}

namespace {

class Importer {
public:
  Importer(MLIRContext &context, const CaffeModel &model, const ImportOptions &options)
      : model(model), options(options), module(context, model.where()),
        state{model, module, {}, {}, options} {}

  Expected<OwningOpRef<ModuleOp>> run() {
    outputs = options.outputNames.empty() ? model.outputs() : options.outputNames;
    if (Expected<void> planned = plan(); !planned)
      return propagate(planned);
    Expected<std::vector<ModelInput>> inputs = boundInputs();
    if (!inputs)
      return propagate(inputs);
    for (const NetInput &input : model.inputs())
      module.reserveName(input.name);
    for (const NetLayer *layer : layers)
      for (const std::string &top : layer->tops)
        module.reserveName(top);
    module.begin(options, describeFormat().name, *inputs);
    Expected<SmallVector<Value>> values = module.makeInputs(*inputs);
    if (!values)
      return propagate(values);
    for (auto [input, value] : llvm::zip_equal(*inputs, *values))
      state.values[input.name] = value;
    for (const NetLayer *layer : layers)
      if (Expected<void> converted = convert(*layer); !converted)
        return propagate(converted);
    for (const std::string &output : outputs)
      if (Expected<void> added = module.addOutput(output, state.values[output]); !added)
        return propagate(added);
    return module.finish([&](const std::string &tensor) {
      auto found = makers.find(tensor);
      return found == makers.end() ? std::string() : found->second->describe();
    });
  }

private:
  /// The layers that the outputs need, and the inputs that they read. Errors: outputs that are no
  /// tensors; layers that are not supported.
  Expected<void> plan() {
    for (const NetLayer &layer : model.layers()) {
      for (const std::string &top : layer.tops)
        makers[top] = &layer;
      std::vector<std::string> names = CaffeModel::sharedNames(layer);
      for (size_t index = 0; index < names.size(); ++index)
        if (!names[index].empty())
          state.shared.try_emplace(names[index], layer.name(), index);
    }
    for (const std::string &output : outputs) {
      bool isInput = std::ranges::any_of(
          model.inputs(), [&](const NetInput &input) { return input.name == output; });
      if (!isInput && !makers.contains(output))
        return makeError("--output_names",
                         fmt::format("{} has no tensor '{}'", model.where(), output),
                         "tops of its layers");
      wanted.insert(output);
    }
    for (const NetLayer &layer : std::views::reverse(model.layers()))
      if (std::ranges::any_of(layer.tops,
                              [&](const std::string &top) { return wanted.contains(top); })) {
        layers.push_back(&layer);
        wanted.insert(layer.bottoms.begin(), layer.bottoms.end());
      }
    std::ranges::reverse(layers);
    frontend::UnsupportedOps unsupported;
    for (const NetLayer *layer : layers)
      if (!findRow(layer->type()))
        unsupported.add(layer->type(), layer->describe());
    return unsupported.check(model.where());
  }

  Expected<std::vector<ModelInput>> boundInputs() {
    std::vector<std::string> names;
    for (const NetInput &input : model.inputs())
      names.push_back(input.name);
    frontend::InputBinder binder(model.where(), options);
    if (Expected<void> checked = binder.checkCounts(names); !checked)
      return propagate(checked);
    std::vector<ModelInput> bound;
    for (size_t index = 0; index < model.inputs().size(); ++index) {
      const NetInput &input = model.inputs()[index];
      frontend::DeclaredInput declared{input.name, DataType::F32, std::nullopt, {}};
      if (input.dims)
        declared.dims.emplace(input.dims->begin(), input.dims->end());
      else if (options.inputShapes.empty())
        return makeError(fmt::format("{}: input '{}'", model.where(), input.name),
                         "has no shape in the network", "--input_shapes");
      Expected<ModelInput> made = binder.bind(declared, index);
      if (!made)
        return propagate(made);
      // A network that was cut may not need all of them any more.
      if (options.outputNames.empty() || wanted.contains(input.name))
        bound.push_back(std::move(*made));
    }
    return bound;
  }

  Expected<void> convert(const NetLayer &layer) {
    const LayerRow *row = findRow(layer.type());
    CaffeLayer builder(state, layer);
    builder.checkArity(row->minBottoms, row->maxBottoms);
    if (!builder.failed())
      row->convert(builder);
    if (std::optional<Error> error = builder.takeError())
      return tl::unexpected(std::move(*error));
    for (const std::string &top : layer.tops)
      if (!state.values.contains(top))
        return makeError(model.where() + ": " + layer.describe(),
                         fmt::format("does not make its top '{}'", top), "fewer tops");
    return {};
  }

  const CaffeModel &model;
  const ImportOptions &options;
  frontend::ModuleBuilder module;
  ImportState state;
  std::vector<std::string> outputs;
  std::vector<const NetLayer *> layers;
  std::unordered_map<std::string, const NetLayer *> makers;
  std::unordered_set<std::string> wanted;
};

} // namespace

Expected<OwningOpRef<ModuleOp>> tpuc::caffe::importCaffe(MLIRContext &context,
                                                         const CaffeModel &model,
                                                         const ImportOptions &options) {
  try {
    return Importer(context, model, options).run();
  } catch (const std::bad_alloc &) {
    return makeError(model.where(), "takes more memory than there is");
  }
}

std::string tpuc::caffe::supportMatrix() {
  std::string table;
  for (const LayerRow &row : layerTable())
    table += fmt::format("| {} | {} | {} |\n", row.type, row.origin, row.becomes);
  return fmt::format(
      "# Caffe layers that tpuc imports\n\n"
      "Generated by `tpuc-caffe --support-matrix`; do not edit. A type of layer that is not listed "
      "is refused by name, all of a network at once. `Input` layers and `Silence` become no op. "
      "Layers that serve training, such as `Accuracy` and those whose type ends in `Loss`, are "
      "left "
      "out with a note. Layers that read databases are refused.\n\n"
      "| layer | of | ops of the top dialect |\n| --- | --- | --- |\n{}",
      table);
}
