//===- NpzCheck.cpp - tpuc's side of the cross-check with numpy -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// crosscheck.py runs these commands and compares with what numpy makes of the same files:
//   dump FILE                one line per tensor: name, type, shape, CRC of the elements, flags
//   spot FILE NAME INDEX...  elements of a u8 tensor
//   write FILE               tensors of every type, of ranks 0 to 8, with awkward names
//   many FILE COUNT          COUNT tensors "t0", "t1", ..., each its own number as i32
//   big FILE BYTES           a u8 tensor of so many zeros, its first and last element 7 and 9, and
//   a
//                            small one behind it
//   npy IN OUT               reads one .npy file, writes it again
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Npz.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <zlib.h>

using namespace tpuc;

namespace {

Expected<void> dump(const std::string &path) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  for (const std::string &name : reader->names()) {
    Expected<NpzEntry> info = reader->info(name);
    if (!info)
      return propagate(info);
    Expected<Tensor> tensor = reader->read(name);
    if (!tensor)
      return propagate(tensor);
    if (info->type != tensor->type() || info->shape != tensor->shape())
      return makeError(name, "info and read differ");
    std::span<const std::byte> bytes = tensor->rawBytes();
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
    fmt::print("{}\t{}\t{}\t{:08x}\t{}\t{}\n", name, dataTypeName(tensor->type()),
               tensor->shape().str(), crc, tensor->isWritable() ? "copied" : "borrowed",
               info->compressed ? "deflated" : "stored");
  }
  return reader->verify();
}

Expected<void> spot(const std::string &path, const std::string &name,
                    std::span<char *const> indices) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  Expected<Tensor> tensor = reader->read(name);
  if (!tensor)
    return propagate(tensor);
  for (const char *index : indices)
    fmt::print("{}\n", tensor->data<uint8_t>()[std::stoull(index)]);
  return {};
}

/// Bytes 0, 1, 2, ... modulo 251 in the elements, but for bools, which are 0 and 1.
Tensor pattern(DataType type, const Shape &shape) {
  Tensor tensor(type, shape);
  std::span<std::byte> bytes = tensor.mutableBytes();
  size_t modulus = type == DataType::Bool ? 2 : 251;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i % modulus);
  return tensor;
}

Expected<void> writeSamples(const std::string &path) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  Expected<void> result;
  auto add = [&](const std::string &name, const Tensor &tensor) {
    if (result)
      result = writer->add(name, tensor);
  };
  for (DataType type : kAllDataTypes)
    add(fmt::format("type/{}", dataTypeName(type)), pattern(type, {16, 16}));
  std::vector<int64_t> dims;
  for (size_t rank = 0; rank <= Shape::kMaxRank; ++rank) {
    add(fmt::format("rank {}", rank), pattern(DataType::F32, Shape(dims)));
    dims.push_back(rank % 2 + 1);
  }
  add("empty", Tensor(DataType::F64, {3, 0, 2}));
  add("empty i4", Tensor(DataType::I4, {0}));
  add("odd i4", pattern(DataType::I4, {3}));
  add("Größe/层.npy", pattern(DataType::I16, {5}));
  add("../up\\down", pattern(DataType::U8, {1}));
  add(std::string(3000, 'n'), pattern(DataType::U8, {2}));
  return result ? writer->close() : result;
}

Expected<void> writeMany(const std::string &path, int count) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  for (int32_t i = 0; i < count; ++i)
    if (Expected<void> added = writer->add(fmt::format("t{}", i), Tensor::of<int32_t>({}, {i}));
        !added)
      return added;
  return writer->close();
}

Expected<void> writeBig(const std::string &path, int64_t size) {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  if (Expected<void> begun = writer->beginTensor("big", DataType::U8, {size}); !begun)
    return begun;
  constexpr int64_t kPiece = 1 << 20;
  std::vector<std::byte> zeros(kPiece);
  for (int64_t at = 0; at < size; at += kPiece) {
    std::vector<std::byte> ends;
    std::span<const std::byte> piece = std::span(zeros).first(std::min(kPiece, size - at));
    if (at == 0 || at + kPiece >= size) {
      ends.assign(piece.begin(), piece.end());
      if (at == 0)
        ends.front() = std::byte(7);
      if (at + kPiece >= size)
        ends.back() = std::byte(9);
      piece = ends;
    }
    if (Expected<void> appended = writer->append(piece); !appended)
      return appended;
  }
  if (Expected<void> ended = writer->endTensor(); !ended)
    return ended;
  if (Expected<void> added = writer->add("behind", Tensor::of<int32_t>({2}, {5, 6})); !added)
    return added;
  return writer->close();
}

Expected<void> copyNpy(const std::string &from, const std::string &to) {
  Expected<Tensor> tensor = readNpy(from);
  if (!tensor)
    return propagate(tensor);
  return writeNpy(to, *tensor);
}

Expected<void> runCommand(std::span<char *const> arguments) {
  std::string command = arguments[0];
  std::string path = arguments[1];
  if (command == "dump")
    return dump(path);
  if (command == "write")
    return writeSamples(path);
  if (arguments.size() < 3)
    return makeError(command, "too few arguments");
  if (command == "spot")
    return spot(path, arguments[2], arguments.subspan(3));
  if (command == "many")
    return writeMany(path, std::stoi(arguments[2]));
  if (command == "big")
    return writeBig(path, std::stoll(arguments[2]));
  if (command == "npy")
    return copyNpy(path, arguments[2]);
  return makeError(command, "unknown command");
}

} // namespace

int main(int argc, char **argv) {
  std::span<char *const> arguments(argv + 1, static_cast<size_t>(argc - 1));
  if (arguments.size() < 2) {
    fmt::print(stderr, "usage: npz_check COMMAND FILE ...\n");
    return 2;
  }
  Expected<void> result = runCommand(arguments);
  if (result)
    return 0;
  fmt::print(stderr, "npz_check: error: {}\n", result.error().message());
  return 1;
}
