//===- CpuProgram.cpp - What a CPU sub-network computes -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/CpuProgram/CpuProgram.h"

#include <algorithm>
#include <cpuprogram_generated.h>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::cpu {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using ops::Attribute;

using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

//===--- Writing ---------------------------------------------------------===//

/// What a table of the schema holds of an attribute.
struct Stored {
  Integers integers = {};
  Reals reals = {};
  Texts texts = {};
  std::vector<uint8_t> bytes = {};
};

struct Storer {
  Stored operator()(bool value) const { return {.integers = {value ? 1 : 0}}; }
  Stored operator()(int64_t value) const { return {.integers = {value}}; }
  Stored operator()(double value) const { return {.reals = {value}}; }
  Stored operator()(const std::string &value) const { return {.texts = {value}}; }
  Stored operator()(const Integers &values) const { return {.integers = values}; }
  Stored operator()(const Reals &values) const { return {.reals = values}; }
  Stored operator()(const Texts &values) const { return {.texts = values}; }
  Stored operator()(DataType type) const { return {.texts = {std::string(dataTypeName(type))}}; }
  Stored operator()(const Tensor &number) const {
    Stored stored = (*this)(number.type());
    for (const std::byte each : number.rawBytes())
      stored.bytes.push_back(static_cast<uint8_t>(each));
    return stored;
  }
};

Offset<fb::Attribute> encode(FlatBufferBuilder &builder,
                             const std::pair<std::string, Attribute> &attribute) {
  const Stored stored = std::visit(Storer(), attribute.second);
  const auto name = builder.CreateString(attribute.first);
  const auto integers = builder.CreateVector(stored.integers);
  const auto reals = builder.CreateVector(stored.reals);
  const auto texts = builder.CreateVectorOfStrings(stored.texts);
  const auto bytes = builder.CreateVector(stored.bytes);
  return fb::CreateAttribute(builder, name, static_cast<uint8_t>(attribute.second.index()),
                             integers, reals, texts, bytes);
}

Offset<fb::Op> encode(FlatBufferBuilder &builder, const Op &op) {
  std::vector<Offset<fb::Attribute>> attributes;
  for (const auto &attribute : op.attributes)
    attributes.push_back(encode(builder, attribute));
  return fb::CreateOpDirect(builder, op.name.c_str(), op.layer.c_str(), &attributes, &op.operands,
                            &op.results);
}

Offset<fb::Value> encode(FlatBufferBuilder &builder, const Value &value) {
  return fb::CreateValueDirect(builder, value.name.c_str(),
                               std::string(dataTypeName(value.type)).c_str(), &value.dims,
                               static_cast<uint8_t>(value.home), value.address);
}

//===--- Reading ---------------------------------------------------------===//

/// Reads the tables of a program; every part of it may be missing.
class ProgramReader {
public:
  explicit ProgramReader(std::string where) : where(std::move(where)) {}
  Expected<Program> read(const fb::Program &table);

private:
  Expected<Value> value(const fb::Value &table) const;
  Expected<Op> op(const fb::Op &table) const;
  Expected<Attribute> attribute(const fb::Attribute &table, const std::string &place) const;
  Expected<void> checkOrder(const Program &program) const;

  std::string where;
};

bool isOnHost(const Value &value) { return value.home == Home::Host || value.home == Home::Result; }

std::string textOf(const flatbuffers::String *string) { return string ? string->str() : ""; }

/// The verifier aligns a list's length only: in a damaged file its elements may lie anywhere.
template <typename T> std::vector<T> listOf(const flatbuffers::Vector<T> *list) {
  std::vector<T> elements(list ? list->size() : 0);
  if (!elements.empty())
    std::memcpy(elements.data(), list->Data(), elements.size() * sizeof(T));
  return elements;
}

Expected<Value> ProgramReader::value(const fb::Value &table) const {
  Value value;
  value.name = textOf(table.name());
  const std::string place = where + ": " + value.name;
  const std::optional<DataType> type = parseDataType(textOf(table.type()));
  if (!type)
    return makeError(place, fmt::format("a tensor of type '{}'", textOf(table.type())));
  value.type = *type;
  value.dims = listOf(table.dims());
  if (table.home() > static_cast<uint8_t>(Home::Result))
    return makeError(place, fmt::format("a tensor at home in {}", table.home()), "0 to 3");
  value.home = static_cast<Home>(table.home());
  value.address = table.place();
  std::vector<int64_t> known = value.dims;
  if (isOnHost(value))
    std::ranges::replace(known, int64_t{-1}, int64_t{1});
  if (Expected<int64_t> count = checkedNumElements(known, value.type, place); !count)
    return propagate(count);
  return value;
}

Expected<Attribute> ProgramReader::attribute(const fb::Attribute &table,
                                             const std::string &place) const {
  const Integers integers = listOf(table.integers());
  const Reals reals = listOf(table.reals());
  Texts texts;
  if (table.texts())
    for (const flatbuffers::String *text : *table.texts())
      texts.push_back(textOf(text));
  const auto wrong = [&] {
    return makeError(place, fmt::format("attribute '{}' is damaged", textOf(table.name())));
  };
  const std::optional<DataType> type =
      texts.size() == 1 ? parseDataType(texts.front()) : std::nullopt;
  switch (table.kind()) {
  case 0:
    if (integers.size() == 1)
      return Attribute(integers.front() != 0);
    return wrong();
  case 1:
    if (integers.size() == 1)
      return Attribute(integers.front());
    return wrong();
  case 2:
    if (reals.size() == 1)
      return Attribute(reals.front());
    return wrong();
  case 3:
    if (texts.size() == 1)
      return Attribute(texts.front());
    return wrong();
  case 4:
    return Attribute(integers);
  case 5:
    return Attribute(reals);
  case 6:
    return Attribute(texts);
  case 7:
    if (type)
      return Attribute(*type);
    return wrong();
  case 8: {
    const std::vector<uint8_t> bytes = listOf(table.bytes());
    if (!type || bytes.size() != static_cast<size_t>(byteSize(*type, 1)))
      return wrong();
    Tensor number(*type, Shape{});
    std::ranges::copy(std::as_bytes(std::span(bytes)), number.mutableBytes().begin());
    return Attribute(number);
  }
  default:
    return wrong();
  }
}

Expected<Op> ProgramReader::op(const fb::Op &table) const {
  Op op;
  op.name = textOf(table.name());
  op.layer = textOf(table.layer());
  const std::string place = fmt::format("{}: layer '{}'", where, op.layer);
  if (table.attributes())
    for (const fb::Attribute *each : *table.attributes()) {
      Expected<Attribute> read = attribute(*each, place);
      if (!read)
        return propagate(read);
      op.attributes.emplace_back(textOf(each->name()), std::move(*read));
    }
  op.operands = listOf(table.operands());
  op.results = listOf(table.results());
  return op;
}

/// Every value is made once and before it is read, or by nobody and on the device.
Expected<void> ProgramReader::checkOrder(const Program &program) const {
  std::vector<bool> isMade(program.values.size());
  std::vector<bool> isRead(program.values.size());
  const auto exists = [&](int32_t index) {
    return index >= -1 && index < static_cast<int64_t>(program.values.size());
  };
  for (const Op &op : program.ops) {
    const std::string place = fmt::format("{}: layer '{}'", where, op.layer);
    for (const int32_t operand : op.operands) {
      if (!exists(operand))
        return makeError(place, fmt::format("reads value {}", operand),
                         fmt::format("one of {}", program.values.size()));
      if (operand == -1)
        continue;
      const auto index = static_cast<size_t>(operand);
      if (!isMade[index] && isOnHost(program.values[index]))
        return makeError(place,
                         fmt::format("reads '{}' before it is made", program.values[index].name));
      isRead[index] = true;
    }
    for (const int32_t result : op.results) {
      if (!exists(result))
        return makeError(place, fmt::format("makes value {}", result),
                         fmt::format("one of {}", program.values.size()));
      if (result == -1)
        continue;
      const auto index = static_cast<size_t>(result);
      if (isMade[index] || isRead[index] || program.values[index].home == Home::Weight)
        return makeError(
            place, fmt::format("makes '{}', which is there already", program.values[index].name));
      isMade[index] = true;
    }
  }
  return {};
}

Expected<Program> ProgramReader::read(const fb::Program &table) {
  Program program;
  if (table.values())
    for (const fb::Value *each : *table.values()) {
      Expected<Value> made = value(*each);
      if (!made)
        return propagate(made);
      program.values.push_back(std::move(*made));
    }
  if (table.ops())
    for (const fb::Op *each : *table.ops()) {
      Expected<Op> made = op(*each);
      if (!made)
        return propagate(made);
      program.ops.push_back(std::move(*made));
    }
  if (program.ops.empty())
    return makeError(where, "layers of the CPU without an op", "one at least");
  if (Expected<void> checked = checkOrder(program); !checked)
    return propagate(checked);
  return program;
}

} // namespace

std::vector<std::string> layersOf(const Program &program) {
  std::vector<std::string> layers;
  for (const Op &op : program.ops)
    if (std::ranges::find(layers, op.layer) == layers.end())
      layers.push_back(op.layer);
  return layers;
}

std::vector<std::byte> encodeProgram(const Program &program) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::Value>> values;
  for (const Value &value : program.values)
    values.push_back(encode(builder, value));
  std::vector<Offset<fb::Op>> ops;
  for (const Op &op : program.ops)
    ops.push_back(encode(builder, op));
  builder.Finish(fb::CreateProgramDirect(builder, &values, &ops));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

Expected<Program> parseProgram(std::span<const std::byte> bytes, const std::string &where) {
  // Tables may lie anywhere in a file; the format's own are aligned from the start of the bytes.
  const std::vector<std::byte> aligned(bytes.begin(), bytes.end());
  const auto *data = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier verifier(data, aligned.size());
  if (!fb::VerifyProgramBuffer(verifier))
    return makeError(where, "the layers of the CPU are damaged");
  return ProgramReader(where).read(*fb::GetProgram(data));
}

} // namespace tpuc::cpu
