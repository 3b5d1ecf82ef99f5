//===- TFLiteImport.cpp - From a TFLite model to the top dialect ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteImport.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Frontend/Common/UnsupportedOps.h"
#include "tpuc/Frontend/TFLite/TFLiteFormat.h"
#include "tpuc/Frontend/TFLite/TFLiteLayer.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ranges>
#include <unordered_set>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;
using frontend::ModelInput;

/// What a row is called in messages and on the page.
static std::string_view nameOf(const OpRow &row) {
  return row.custom.empty() ? fb::EnumNameBuiltinOperator(row.code) : row.custom;
}

ArrayRef<OpRow> tpuc::tflite::opTable() {
  static const std::vector<OpRow> kRows = [] {
    std::vector<OpRow> rows;
    for (ArrayRef<OpRow> family :
         {blockRows(), customRows(), elementwiseRows(), indexRows(), lstmRows(), movementRows(),
          recurrentRows(), reduceRows(), scatterRows(), windowRows()})
      rows.insert(rows.end(), family.begin(), family.end());
    std::ranges::sort(rows, {}, nameOf);
    return rows;
  }();
  return kRows;
}

const OpRow *tpuc::tflite::findRow(const NetOp &op) {
  std::string type = op.type();
  ArrayRef<OpRow> rows = opTable();
  const auto *row = std::ranges::lower_bound(rows, std::string_view(type), {}, nameOf);
  return row != rows.end() && nameOf(*row) == type && row->code == op.code ? row : nullptr;
}

namespace {

class Importer {
public:
  Importer(MLIRContext &context, const TFLiteModel &model, const ImportOptions &options)
      : model(model), options(options), module(context, model.where()),
        state{model, module, TFLiteValues(model, module), options.hybrid} {}

  Expected<OwningOpRef<ModuleOp>> run() {
    if (Expected<void> planned = plan(); !planned)
      return propagate(planned);
    Expected<std::vector<ModelInput>> inputs = boundInputs();
    if (!inputs)
      return propagate(inputs);
    for (const NetTensor &tensor : model.tensors())
      module.reserveName(tensor.name);
    module.begin(options, describeFormat().name, *inputs);
    Expected<SmallVector<Value>> values = module.makeInputs(*inputs);
    if (!values)
      return propagate(values);
    for (auto [input, value] : llvm::zip_equal(*inputs, *values))
      setInput(*model.findTensor(input.name), value);
    for (const NetOp *op : ops)
      if (Expected<void> converted = convert(*op); !converted)
        return propagate(converted);
    for (int output : outputs) {
      Expected<Value> value = state.values.stored(output);
      if (!value)
        return propagate(value);
      if (Expected<void> added = module.addOutput(tensor(output).name, *value); !added)
        return propagate(added);
    }
    Expected<OwningOpRef<ModuleOp>> made = module.finish([&](const std::string &name) {
      std::optional<int> found = model.findTensor(name);
      auto maker = found ? makers.find(*found) : makers.end();
      return maker == makers.end() ? std::string() : model.describe(*maker->second);
    });
    // Its tensors are to say how the source stores them.
    if (made && makesIntegers())
      setPhase(**made, Phase::TakeQuantized);
    return made;
  }

private:
  const NetTensor &tensor(int index) const { return model.tensors()[static_cast<size_t>(index)]; }

  /// Whether ops make integers that stand for numbers.
  bool makesIntegers() const {
    return llvm::any_of(ops, [&](const NetOp *op) {
      return llvm::any_of(
          op->outputs, [&](int output) { return output >= 0 && state.values.isQuantized(output); });
    });
  }

  void setInput(int index, Value value) { state.values.setStored(index, value); }

  /// The ops that the outputs need, in their order. Errors: outputs that are no tensors; ops that
  /// are not supported.
  Expected<void> plan() {
    outputs = model.outputs();
    if (!options.outputNames.empty())
      outputs.clear();
    for (const std::string &name : options.outputNames) {
      std::optional<int> found = model.findTensor(name);
      if (!found)
        return makeError("--output_names",
                         fmt::format("{} has no tensor '{}'", model.where(), name),
                         "outputs of its ops");
      outputs.push_back(*found);
    }
    wanted.insert(outputs.begin(), outputs.end());
    for (const NetOp &op : std::views::reverse(model.ops())) {
      for (int output : op.outputs)
        makers.emplace(output, &op);
      if (std::ranges::none_of(op.outputs, [&](int output) { return wanted.contains(output); }))
        continue;
      ops.push_back(&op);
      wanted.insert(op.inputs.begin(), op.inputs.end());
    }
    std::ranges::reverse(ops);
    frontend::UnsupportedOps unsupported;
    for (const NetOp *op : ops)
      if (!findRow(*op))
        unsupported.add(op->type(), model.describe(*op));
    return unsupported.check(model.where());
  }

  Expected<std::vector<ModelInput>> boundInputs() {
    std::vector<std::string> names;
    for (int input : model.inputs())
      names.push_back(tensor(input).name);
    frontend::InputBinder binder(model.where(), options);
    if (Expected<void> checked = binder.checkCounts(names); !checked)
      return propagate(checked);
    std::vector<ModelInput> bound;
    for (size_t index = 0; index < model.inputs().size(); ++index) {
      const NetTensor &input = tensor(model.inputs()[index]);
      std::optional<DataType> type = dataTypeOf(input.type);
      if (!type)
        return makeError(fmt::format("{}: input '{}'", model.where(), input.name),
                         fmt::format("holds elements of {}", typeName(input.type)), "numbers");
      frontend::DeclaredInput declared{
          input.name, *type, Ints(input.dims.begin(), input.dims.end()), {}};
      std::ranges::replace(*declared.dims, int64_t(-1), ShapedType::kDynamic);
      Expected<ModelInput> made = binder.bind(declared, index);
      if (!made)
        return propagate(made);
      // A network that was cut may not need all of them any more.
      if (options.outputNames.empty() || wanted.contains(model.inputs()[index]))
        bound.push_back(std::move(*made));
    }
    return bound;
  }

  /// Where `input` of an op has places of elements, which have no scale.
  static bool hasPlaces(const NetOp &op, size_t input) {
    static constexpr fb::BuiltinOperator kOps[] = {
        fb::BuiltinOperator::GATHER, fb::BuiltinOperator::GATHER_ND,  fb::BuiltinOperator::PAD,
        fb::BuiltinOperator::PADV2,  fb::BuiltinOperator::MIRROR_PAD,
    };
    return input == 1 && llvm::is_contained(kOps, op.code);
  }

  /// Integers of one narrow type stand for numbers in all tensors of an op, or in none.
  Expected<void> checkScales(const NetOp &op) const {
    // Of each type a tensor with a scale and one without, -1 for none.
    std::map<fb::ElementType, std::pair<int, int>> found;
    SmallVector<int> tensors(op.outputs.begin(), op.outputs.end());
    for (auto [place, input] : llvm::enumerate(op.inputs))
      if (!hasPlaces(op, place))
        tensors.push_back(input);
    for (int index : tensors) {
      const auto type = index < 0 ? std::nullopt : dataTypeOf(tensor(index).type);
      if (!type || !isInteger(*type) || bitWidth(*type) > 16)
        continue;
      auto &[having, lacking] = found.try_emplace(tensor(index).type, -1, -1).first->second;
      (tensor(index).quantization ? having : lacking) = index;
      if (having >= 0 && lacking >= 0)
        return makeError(fmt::format("{}: {}", model.where(), model.describe(op)),
                         fmt::format("tensor '{}' of {} has no scale", tensor(lacking).name,
                                     typeName(tensor(lacking).type)),
                         fmt::format("one, as '{}' has", tensor(having).name));
    }
    return {};
  }

  /// Output `index`, which `op` made, has the type that the file says.
  Expected<void> checkType(const NetOp &op, int index) const {
    const std::optional<DataType> made = state.values.storedType(index);
    if (!made || made == dataTypeOf(tensor(index).type))
      return {};
    return makeError(fmt::format("{}: {}", model.where(), model.describe(op)),
                     fmt::format("makes {} in '{}', which holds {}", dataTypeName(*made),
                                 tensor(index).name, typeName(tensor(index).type)),
                     "one type");
  }

  Expected<void> convert(const NetOp &op) {
    const OpRow *row = findRow(op);
    if (Expected<void> checked = checkScales(op); !checked)
      return checked;
    TFLiteLayer layer(state, op);
    layer.checkArity(row->minInputs, row->maxInputs);
    if (!layer.failed() && op.outputs.front() < 0)
      layer.fail("has no first output", "a tensor");
    try {
      if (!layer.failed())
        row->convert(layer);
    } catch (const std::bad_alloc &) {
      return makeError(layer.place(), "takes more memory than there is");
    }
    if (std::optional<Error> error = layer.takeError())
      return tl::unexpected(std::move(*error));
    for (int output : op.outputs) {
      if (output < 0)
        continue;
      if (!state.values.exists(output, Layout::Source) &&
          !state.values.exists(output, Layout::ChannelsFirst))
        return makeError(fmt::format("{}: {}", model.where(), model.describe(op)),
                         fmt::format("does not make its output '{}'", tensor(output).name),
                         "fewer outputs");
      if (Expected<void> checked = checkType(op, output); !checked)
        return checked;
    }
    return {};
  }

  const TFLiteModel &model;
  const ImportOptions &options;
  frontend::ModuleBuilder module;
  ImportState state;
  std::vector<int> outputs;
  std::vector<const NetOp *> ops;
  std::unordered_map<int, const NetOp *> makers;
  std::unordered_set<int> wanted;
};

} // namespace

Expected<OwningOpRef<ModuleOp>> tpuc::tflite::importTFLite(MLIRContext &context,
                                                           const TFLiteModel &model,
                                                           const ImportOptions &options) {
  try {
    return Importer(context, model, options).run();
  } catch (const std::bad_alloc &) {
    return makeError(model.where(), "takes more memory than there is");
  }
}

std::string tpuc::tflite::supportMatrix() {
  std::string table;
  for (const OpRow &row : opTable())
    table += fmt::format("| {} | {} |\n", nameOf(row), row.becomes);
  return fmt::format(
      "# TFLite ops that tpuc imports\n\n"
      "Generated by `tpuc-tflite --support-matrix`; do not edit. There are {} of them. An op that "
      "is not listed is refused by name, all of a network at once. "
      "[tflite.md](tflite.md) says what holds for all of them. With `--hybrid`, products with "
      "weights of 8-bit integers become DynamicQuantizeRows and MatMulInteger, ConvInteger or "
      "Deconv, with arithmetic.\n\n"
      "| op | ops of the top dialect |\n| --- | --- |\n{}",
      opTable().size(), table);
}
