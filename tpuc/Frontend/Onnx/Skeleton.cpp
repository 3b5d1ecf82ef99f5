//===- Skeleton.cpp - A model's message without its large data ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wire format is that of protobuf's documentation, "Encoding": a message is a row of fields,
// each a varint (number << 3 | wire type) and its value.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/Skeleton.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include <fmt/format.h>
#include <optional>

using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// The messages through which a path leads to a tensor. Leaf: copied as it is.
enum class Kind : uint8_t { Leaf, Model, Graph, Function, Node, Attribute, Sparse, Tensor };

enum WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

constexpr const char *kindName(Kind kind) {
  switch (kind) {
  case Kind::Leaf:
    return "message";
  case Kind::Model:
    return "model";
  case Kind::Graph:
    return "graph";
  case Kind::Function:
    return "function";
  case Kind::Node:
    return "node";
  case Kind::Attribute:
    return "attribute";
  case Kind::Sparse:
    return "sparse tensor";
  case Kind::Tensor:
    return "tensor";
  }
  return "message";
}

/// What field `number` of a message of kind `kind` holds.
Kind kindOfField(Kind kind, uint64_t number) {
  switch (kind) {
  case Kind::Model:
    return number == 7 ? Kind::Graph : number == 25 ? Kind::Function : Kind::Leaf;
  case Kind::Graph:
    return number == 1    ? Kind::Node
           : number == 5  ? Kind::Tensor
           : number == 15 ? Kind::Sparse
                          : Kind::Leaf;
  case Kind::Function:
    return number == 7 ? Kind::Node : number == 11 ? Kind::Attribute : Kind::Leaf;
  case Kind::Node:
    return number == 5 ? Kind::Attribute : Kind::Leaf;
  case Kind::Attribute:
    return number == 5 || number == 10    ? Kind::Tensor
           : number == 6 || number == 11  ? Kind::Graph
           : number == 22 || number == 23 ? Kind::Sparse
                                          : Kind::Leaf;
  case Kind::Sparse:
    return number == 1 || number == 2 ? Kind::Tensor : Kind::Leaf;
  case Kind::Leaf:
  case Kind::Tensor:
    return Kind::Leaf;
  }
  return Kind::Leaf;
}

/// Training information, metadata of graphs, nodes and tensors, and what nobody has defined yet.
bool isSkipped(Kind kind, uint64_t number) {
  switch (kind) {
  case Kind::Model:
    return number == 20 || number > 25;
  case Kind::Graph:
    return number == 14 || number > 15;
  case Kind::Node:
    return number > 8;
  case Kind::Tensor:
    return number == 3 || number > 14;
  case Kind::Function:
    return number == 12 || number > 13;
  default:
    return number > 23;
  }
}

class Scanner {
public:
  Scanner(std::span<const std::byte> bytes, const std::string &where)
      : bytes(bytes), where(where) {}

  /// Appends the skeleton of the message in [begin, end) to `out`.
  Expected<void> message(Kind kind, size_t begin, size_t end, unsigned depth, std::string &out) {
    if (depth > kMaxDepth)
      return makeError(where, fmt::format("messages are nested more than {} deep", kMaxDepth));
    size_t at = begin;
    while (at < end) {
      Expected<Field> field = readField(kind, at, end);
      if (!field)
        return propagate(field);
      size_t start = at;
      at = field->end;
      if (isSkipped(kind, field->number))
        continue;
      if (kind == Kind::Tensor && appendPlace(*field, out))
        continue;
      Kind inner = field->type == Bytes ? kindOfField(kind, field->number) : Kind::Leaf;
      if (inner == Kind::Leaf) {
        append(out, start, at);
        continue;
      }
      std::string body;
      if (Expected<void> done = message(inner, field->begin, field->end, depth + 1, body); !done)
        return done;
      appendVarint(out, field->number << 3 | Bytes);
      appendVarint(out, body.size());
      out += body;
    }
    return {};
  }

private:
  static constexpr unsigned kMaxDepth = 200;

  struct Field {
    uint64_t number;
    uint8_t type;
    size_t begin; ///< Of the value; behind the length of a length-delimited one.
    size_t end;
  };

  tl::unexpected<Error> broken(Kind kind, size_t at, const std::string &what) const {
    return makeError(where, fmt::format("is corrupt or not an ONNX model: {} in a {} at byte {}",
                                        what, kindName(kind), at));
  }

  /// None where the varint leaves [at, end) or is longer than 64 bits.
  std::optional<uint64_t> readVarint(size_t &at, size_t end) const {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
      auto byte = std::to_integer<uint64_t>(bytes[at++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    return std::nullopt;
  }

  Expected<Field> readField(Kind kind, size_t at, size_t end) const {
    size_t start = at;
    std::optional<uint64_t> key = readVarint(at, end);
    if (!key || *key >> 3 == 0 || *key >> 32 != 0)
      return broken(kind, start, "no field number");
    Field field{*key >> 3, static_cast<uint8_t>(*key & 7), at, at};
    uint64_t size = 0;
    switch (field.type) {
    case Varint:
      if (!readVarint(at, end))
        return broken(kind, start, fmt::format("field {} is cut off", field.number));
      size = at - field.begin;
      break;
    case Fixed64:
      size = 8;
      break;
    case Fixed32:
      size = 4;
      break;
    case Bytes: {
      std::optional<uint64_t> length = readVarint(at, end);
      if (!length)
        return broken(kind, start, fmt::format("field {} is cut off", field.number));
      field.begin = at;
      size = *length;
      break;
    }
    default:
      return broken(
          kind, start,
          fmt::format("field {} has wire type {}", field.number, static_cast<int>(field.type)));
    }
    if (size > end - field.begin)
      return broken(kind, start,
                    fmt::format("field {} takes {} bytes where {} are left", field.number, size,
                                end - field.begin));
    field.end = field.begin + size;
    return field;
  }

  /// For a tensor's elements: their place instead of them, if there are any. False for all other
  /// fields.
  bool appendPlace(const Field &field, std::string &out) const {
    if (field.type != Bytes || (field.number != proto::Tensor::kRawDataFieldNumber &&
                                field.number != proto::Tensor::kFloatDataFieldNumber &&
                                field.number != proto::Tensor::kDoubleDataFieldNumber))
      return false;
    if (field.begin == field.end)
      return true;
    auto put = [&](int number, uint64_t value) {
      appendVarint(out, static_cast<uint64_t>(number) << 3 | Varint);
      appendVarint(out, value);
    };
    put(proto::Tensor::kMappedOffsetFieldNumber, field.begin);
    put(proto::Tensor::kMappedLengthFieldNumber, field.end - field.begin);
    put(proto::Tensor::kMappedFieldFieldNumber, field.number);
    return true;
  }

  void append(std::string &out, size_t begin, size_t end) const {
    out.append(reinterpret_cast<const char *>(bytes.data()) + begin, end - begin);
  }

  static void appendVarint(std::string &out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }

  std::span<const std::byte> bytes;
  const std::string &where;
};

} // namespace

Expected<std::string> tpuc::onnx::skeletonOf(std::span<const std::byte> bytes,
                                             const std::string &where) {
  std::string out;
  Scanner scanner(bytes, where);
  if (Expected<void> done = scanner.message(Kind::Model, 0, bytes.size(), 0, out); !done)
    return propagate(done);
  return out;
}
