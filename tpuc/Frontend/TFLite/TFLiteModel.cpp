//===- TFLiteModel.cpp - A TFLite model as it was read --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteModel.h"
#include "tpuc/Support/Counted.h"
#include "tpuc/Support/Rounding.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <unordered_set>

using namespace tpuc;
using namespace tpuc::tflite;

struct TFLiteModel::State {
  std::string where;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  const fb::Model *model = nullptr;
  std::vector<NetTensor> tensors;
  std::vector<NetOp> ops;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::unordered_map<std::string, int> byName;
  std::vector<std::string> notes;
};

const std::string &TFLiteModel::where() const { return state->where; }
const std::vector<NetTensor> &TFLiteModel::tensors() const { return state->tensors; }
const std::vector<NetOp> &TFLiteModel::ops() const { return state->ops; }
const std::vector<int> &TFLiteModel::inputs() const { return state->inputs; }
const std::vector<int> &TFLiteModel::outputs() const { return state->outputs; }
const std::vector<std::string> &TFLiteModel::notes() const { return state->notes; }

std::optional<int> TFLiteModel::findTensor(const std::string &name) const {
  auto found = state->byName.find(name);
  return found == state->byName.end() ? std::nullopt : std::optional(found->second);
}

std::string NetOp::type() const {
  if (code == fb::BuiltinOperator::CUSTOM)
    return custom;
  const char *name = fb::EnumNameBuiltinOperator(code);
  return *name ? std::string(name) : fmt::format("op {}", static_cast<int>(code));
}

std::string TFLiteModel::describe(const NetOp &op) const {
  std::string first;
  for (int output : op.outputs)
    if (output >= 0 && first.empty())
      first = fmt::format(", '{}'", state->tensors[static_cast<size_t>(output)].name);
  return fmt::format("op {} ({}{})", op.index, op.type(), first);
}

namespace tpuc::tflite {

/// Takes the tables apart and checks what the rest relies on.
class ModelReader {
public:
  explicit ModelReader(TFLiteModel::State &state) : state(state) {}

  Expected<void> run() {
    using Step = Expected<void> (ModelReader::*)();
    for (Step step : {&ModelReader::readHeader, &ModelReader::readTensors, &ModelReader::readOps,
                      &ModelReader::readEnds, &ModelReader::checkOrder})
      if (Expected<void> done = (this->*step)(); !done)
        return done;
    readSignatures();
    return {};
  }

private:
  tl::unexpected<Error> wrong(std::string found, std::string expected = "") const {
    return makeError(state.where, std::move(found), std::move(expected));
  }
  size_t numTensors() const { return state.tensors.size(); }
  const NetTensor &tensor(int index) const { return state.tensors[static_cast<size_t>(index)]; }

  Expected<void> readHeader() {
    constexpr size_t kLeast = 8;
    if (state.bytes.empty())
      return wrong("is empty", "a TFLite model");
    std::string_view begin(reinterpret_cast<const char *>(state.bytes.data()), state.bytes.size());
    if (begin.size() < kLeast || begin.substr(4, 4) != "TFL3")
      return wrong("is not a TFLite model", "the identifier 'TFL3' at byte 4");
    // Tables lie within the first 2 GiB; buffers may lie behind them.
    const size_t size = std::min<size_t>(begin.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
    flatbuffers::Verifier::Options options;
    options.max_depth = 32;
    options.max_tables = static_cast<flatbuffers::uoffset_t>(size / 4 + 64);
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(begin.data()), size, options);
    if (!fb::VerifyModelBuffer(verifier))
      return wrong("is damaged: its tables are not whole", "a complete FlatBuffer");
    state.model = fb::GetModel(begin.data());
    constexpr uint32_t kVersion = 3;
    if (state.model->version() != kVersion)
      return wrong(fmt::format("is of version {} of the format", state.model->version()), "3");
    if (!state.model->subgraphs() || state.model->subgraphs()->size() == 0)
      return wrong("holds no sub-graph", "one at least");
    graph = state.model->subgraphs()->Get(0);
    if (size_t others = state.model->subgraphs()->size() - 1)
      state.notes.push_back(fmt::format("{}: {} behind the main one left out", state.where,
                                        counted(others, "sub-graph")));
    return {};
  }

  Expected<void> readTensors() {
    std::unordered_set<std::string> names;
    const auto *tables = graph->tensors();
    for (uint32_t index = 0; tables && index < tables->size(); ++index)
      if (const auto *name = tables->Get(index)->name())
        names.insert(name->str());
    for (uint32_t index = 0; tables && index < tables->size(); ++index) {
      const fb::Tensor &table = *tables->Get(index);
      NetTensor made;
      made.table = &table;
      made.type = table.type();
      made.isVariable = table.is_variable();
      made.name = table.name() && table.name()->size() ? table.name()->str() : "tensor";
      // A name that is taken, or none.
      if (state.byName.contains(made.name) || !names.contains(made.name)) {
        std::string wanted = fmt::format("{}_{}", made.name, index);
        while (names.contains(wanted) || state.byName.contains(wanted))
          wanted += "_";
        made.name = wanted;
      }
      std::string place = fmt::format("{}: tensor {} ('{}')", state.where, index, made.name);
      for (auto read : {&ModelReader::readShape, &ModelReader::readBuffer})
        if (Expected<void> done = (this->*read)(table, made, place); !done)
          return done;
      if (const fb::QuantizationParameters *quantization = table.quantization())
        if (Expected<void> done = readQuantization(*quantization, made, place); !done)
          return done;
      state.byName.emplace(made.name, static_cast<int>(index));
      state.tensors.push_back(std::move(made));
    }
    return {};
  }

  Expected<void> readShape(const fb::Tensor &table, NetTensor &made, const std::string &place) {
    const auto *shape = table.shape();
    const auto *signature = table.shape_signature();
    const size_t rank = shape ? shape->size() : 0;
    if (rank > Shape::kMaxRank)
      return makeError(place, fmt::format("has {} dimensions", rank),
                       fmt::format("at most {}", Shape::kMaxRank));
    if (signature && signature->size() != 0 && signature->size() != rank)
      return makeError(place,
                       fmt::format("has {} in its shape and {} in its signature",
                                   counted(rank, "dimension"), signature->size()),
                       "as many in both");
    std::vector<int64_t> known;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      int64_t extent = shape->Get(axis);
      if (extent < 0)
        return makeError(place, fmt::format("has the extent {} in dimension {}", extent, axis),
                         "0 or more");
      known.push_back(extent);
      bool open = signature && signature->size() != 0 && signature->Get(axis) == -1;
      made.dims.push_back(open ? -1 : extent);
      if (signature && signature->size() != 0 && !open && signature->Get(axis) != extent)
        return makeError(place,
                         fmt::format("has the extent {} in dimension {}, and {} in its signature",
                                     extent, axis, signature->Get(axis)),
                         "-1 or the same number");
    }
    DataType type = dataTypeOf(made.type).value_or(DataType::F64);
    if (Expected<int64_t> sized = checkedNumElements(known, type, place); !sized)
      return propagate(sized);
    return {};
  }

  Expected<void> readBuffer(const fb::Tensor &table, NetTensor &made, const std::string &place) {
    const auto *buffers = state.model->buffers();
    if (table.external_buffer() != 0)
      return makeError(place, "has its elements in another file", "elements in the model");
    const uint32_t count = buffers ? buffers->size() : 0;
    if (table.buffer() == 0 && count == 0)
      return {};
    if (table.buffer() >= count)
      return makeError(place, fmt::format("names buffer {}", table.buffer()),
                       fmt::format("less than {}, the number of buffers", count));
    const fb::Buffer &buffer = *buffers->Get(table.buffer());
    if (buffer.offset() > 1 && (buffer.offset() > state.bytes.size() ||
                                buffer.size() > state.bytes.size() - buffer.offset()))
      return makeError(
          place,
          fmt::format("has its {} bytes at byte {} of the file", buffer.size(), buffer.offset()),
          fmt::format("bytes before {}, its end", state.bytes.size()));
    made.isConstant = table.buffer() != 0 && ((buffer.data() && buffer.data()->size() != 0) ||
                                              (buffer.offset() > 1 && buffer.size()));
    // A constant without elements needs no bytes.
    if (made.isConstant && std::ranges::find(made.dims, -1) != made.dims.end())
      return makeError(place, "is a constant of an open shape", "extents of 0 or more");
    return {};
  }

  Expected<void> readQuantization(const fb::QuantizationParameters &table, NetTensor &made,
                                  const std::string &place) {
    const auto *scales = table.scale();
    const auto *zeroPoints = table.zero_point();
    if (table.details_type() != 0)
      return makeError(
          place, fmt::format("is quantized in a way of its own (details {})", table.details_type()),
          "scales and zero points");
    const uint32_t count = scales ? scales->size() : 0;
    if (count == 0)
      return {};
    Quantization read;
    for (float scale : *scales) {
      if (!(scale > 0) || !std::isfinite(scale))
        return makeError(place, fmt::format("has the scale {}", scale), "a positive number");
      read.scale.push_back(scale);
    }
    if (zeroPoints && zeroPoints->size() != 0 && zeroPoints->size() != count)
      return makeError(place,
                       fmt::format("has {} and {}", counted(count, "scale"),
                                   counted(zeroPoints->size(), "zero point")),
                       "as many of both");
    read.zeroPoint.assign(count, 0);
    // The verifier lets vectors pass whose elements of 64 bits are not aligned.
    if (zeroPoints && zeroPoints->size() != 0)
      std::memcpy(read.zeroPoint.data(), zeroPoints->Data(), count * sizeof(int64_t));
    // Beside floats, zero points say nothing.
    const std::optional<DataType> type = dataTypeOf(made.type);
    const bool isNarrow = type && isInteger(*type) && bitWidth(*type) < 32;
    const IntegerRange range = isNarrow ? integerRange(*type) : integerRange<int32_t>();
    for (int64_t zeroPoint : read.zeroPoint)
      if (zeroPoint < range.lowest || zeroPoint > static_cast<int64_t>(range.highest))
        return makeError(place, fmt::format("has the zero point {}", zeroPoint),
                         fmt::format("{} to {}", range.lowest, range.highest));
    read.axis = table.quantized_dimension();
    if (count > 1) {
      if (read.axis < 0 || read.axis >= static_cast<int64_t>(made.dims.size()))
        return makeError(place, fmt::format("is quantized along dimension {}", read.axis),
                         fmt::format("0 to {}", static_cast<int64_t>(made.dims.size()) - 1));
      if (int64_t extent = made.dims[static_cast<size_t>(read.axis)]; extent != count)
        return makeError(
            place, fmt::format("has {} along dimension {}", counted(count, "scale"), read.axis),
            fmt::format("1 or {}, its extent", extent));
    }
    made.quantization = std::move(read);
    return {};
  }

  Expected<void> readOps() {
    const auto *codes = state.model->operator_codes();
    const auto *tables = graph->operators();
    for (uint32_t index = 0; tables && index < tables->size(); ++index) {
      const fb::Operator &table = *tables->Get(index);
      std::string place = fmt::format("{}: op {}", state.where, index);
      if (!codes || table.opcode_index() >= codes->size())
        return makeError(
            place, fmt::format("names code {}", table.opcode_index()),
            fmt::format("less than {}, the number of codes", codes ? codes->size() : 0));
      const fb::OperatorCode &code = *codes->Get(table.opcode_index());
      NetOp op;
      op.index = index;
      op.table = &table;
      op.version = code.version();
      int number =
          std::max<int>(code.deprecated_builtin_code(), static_cast<int>(code.builtin_code()));
      op.code = static_cast<fb::BuiltinOperator>(number);
      if (code.custom_code())
        op.custom = code.custom_code()->str();
      for (auto [from, to] :
           {std::pair(table.inputs(), &op.inputs), std::pair(table.outputs(), &op.outputs),
            std::pair(table.intermediates(), &op.intermediates)})
        if (from)
          to->assign(from->begin(), from->end());
      for (const std::vector<int> *list : {&op.inputs, &op.outputs, &op.intermediates})
        for (int each : *list)
          if (each < -1 || each >= static_cast<int64_t>(numTensors()))
            return makeError(fmt::format("{} ({})", place, op.type()),
                             fmt::format("names tensor {}", each),
                             fmt::format("-1 to {}", static_cast<int64_t>(numTensors()) - 1));
      state.ops.push_back(std::move(op));
    }
    return {};
  }

  /// The inputs and outputs of the graph.
  Expected<void> readEnds() {
    std::unordered_set<int> given;
    for (auto [what, from, to] : {std::tuple("input", graph->inputs(), &state.inputs),
                                  std::tuple("output", graph->outputs(), &state.outputs)})
      for (uint32_t index = 0; from && index < from->size(); ++index) {
        int each = from->Get(index);
        if (each < 0 || each >= static_cast<int64_t>(numTensors()))
          return wrong(fmt::format("has tensor {} as {} {}", each, what, index),
                       fmt::format("0 to {}", static_cast<int64_t>(numTensors()) - 1));
        if (to == &state.inputs) {
          if (!given.insert(each).second)
            return wrong(fmt::format("has tensor '{}' as input twice", tensor(each).name));
          if (tensor(each).isConstant)
            return wrong(fmt::format("has the constant '{}' as input {}", tensor(each).name, index),
                         "a tensor without elements");
        }
        to->push_back(each);
      }
    if (state.outputs.empty())
      return wrong("has no outputs", "one at least");
    return {};
  }

  /// Ops stand in the order in which they run, and a tensor is made once.
  Expected<void> checkOrder() {
    std::vector<bool> made(numTensors(), false);
    std::vector<bool> comes(numTensors(), false);
    for (int input : state.inputs)
      made[static_cast<size_t>(input)] = true;
    for (const NetOp &op : state.ops)
      for (int output : op.outputs)
        if (output >= 0)
          comes[static_cast<size_t>(output)] = true;
    for (const NetOp &op : state.ops) {
      std::string place = fmt::format("{}: op {} ({})", state.where, op.index, op.type());
      for (int input : op.inputs)
        if (input >= 0 && comes[static_cast<size_t>(input)] && !made[static_cast<size_t>(input)])
          return makeError(
              place,
              fmt::format("reads '{}', which it or an op behind it makes", tensor(input).name),
              "ops in the order in which they run");
      for (int output : op.outputs) {
        if (output < 0)
          continue;
        if (tensor(output).isConstant || made[static_cast<size_t>(output)])
          return makeError(place, fmt::format("makes '{}'", tensor(output).name),
                           "a tensor that is not there yet");
        made[static_cast<size_t>(output)] = true;
      }
    }
    return {};
  }

  void readSignatures() {
    const auto *signatures = state.model->signature_defs();
    for (uint32_t index = 0; signatures && index < signatures->size(); ++index) {
      const fb::SignatureDef &signature = *signatures->Get(index);
      if (signature.subgraph_index() != 0 || !signature.outputs())
        continue;
      for (const fb::TensorMap *output : *signature.outputs())
        if (output->name() && output->tensor_index() < numTensors())
          state.byName.emplace(output->name()->str(), static_cast<int>(output->tensor_index()));
    }
  }

  TFLiteModel::State &state;
  const fb::SubGraph *graph = nullptr;
};

} // namespace tpuc::tflite

Expected<TFLiteModel> TFLiteModel::fromMemory(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner,
                                              const std::string &where) {
  TFLiteModel model(std::make_shared<State>());
  model.state->where = where;
  model.state->bytes = bytes;
  model.state->owner = std::move(owner);
  try {
    if (Expected<void> done = ModelReader(*model.state).run(); !done)
      return propagate(done);
  } catch (const std::bad_alloc &) {
    return makeError(where, "takes more memory than there is");
  }
  return model;
}

Expected<TFLiteModel> TFLiteModel::open(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  return fromMemory((*file)->bytes(), *file, path);
}

Expected<Tensor> TFLiteModel::read(int index) const {
  const NetTensor &tensor = state->tensors[static_cast<size_t>(index)];
  std::string place = fmt::format("{}: tensor {} ('{}')", state->where, index, tensor.name);
  if (!tensor.isConstant)
    return makeError(place, "is no constant");
  std::optional<DataType> type = dataTypeOf(tensor.type);
  if (!type)
    return makeError(place, fmt::format("holds elements of type {}", typeName(tensor.type)),
                     "numbers");
  const fb::Buffer &buffer = *state->model->buffers()->Get(tensor.table->buffer());
  std::span<const std::byte> bytes;
  if (buffer.offset() > 1)
    bytes = state->bytes.subspan(buffer.offset(), buffer.size());
  else
    bytes = std::as_bytes(std::span(buffer.data()->data(), buffer.data()->size()));
  if (const fb::SparsityParameters *sparsity = tensor.table->sparsity())
    return tensorOfSparse(*sparsity, bytes, *type, tensor.dims, place);
  return tensorOfBytes(bytes, *type, tensor.dims, state->owner, place);
}

void TFLiteModel::release() const { releaseMapped(state->bytes); }
