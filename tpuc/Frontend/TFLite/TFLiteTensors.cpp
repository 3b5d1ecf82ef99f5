//===- TFLiteTensors.cpp - The elements of TFLite's tensors ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteModel.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::tflite;

std::optional<DataType> tpuc::tflite::dataTypeOf(fb::ElementType type) {
  using fb::ElementType;
  switch (type) {
  case ElementType::FLOAT32:
    return DataType::F32;
  case ElementType::FLOAT16:
    return DataType::F16;
  case ElementType::BFLOAT16:
    return DataType::BF16;
  case ElementType::FLOAT64:
    return DataType::F64;
  case ElementType::INT4:
    return DataType::I4;
  case ElementType::UINT4:
    return DataType::U4;
  case ElementType::INT8:
    return DataType::I8;
  case ElementType::UINT8:
    return DataType::U8;
  case ElementType::INT16:
    return DataType::I16;
  case ElementType::UINT16:
    return DataType::U16;
  case ElementType::INT32:
    return DataType::I32;
  case ElementType::UINT32:
    return DataType::U32;
  case ElementType::INT64:
    return DataType::I64;
  case ElementType::UINT64:
    return DataType::U64;
  case ElementType::BOOL:
    return DataType::Bool;
  case ElementType::FLOAT8_E4M3FN:
    return DataType::F8E4M3FN;
  case ElementType::FLOAT8_E5M2:
    return DataType::F8E5M2;
  default:
    return std::nullopt;
  }
}

std::string tpuc::tflite::typeName(fb::ElementType type) {
  const char *name = fb::EnumNameElementType(type);
  return *name ? std::string(name) : fmt::format("type {}", static_cast<int>(type));
}

Expected<Tensor> tpuc::tflite::tensorOfBytes(std::span<const std::byte> bytes, DataType type,
                                             std::span<const int64_t> dims,
                                             std::shared_ptr<const void> owner,
                                             const std::string &place) {
  const Shape shape(dims);
  const auto wanted = static_cast<size_t>(byteSize(type, shape.numElements()));
  if (bytes.size() != wanted)
    return makeError(
        place, fmt::format("holds {} bytes", bytes.size()),
        fmt::format("{} for {} elements of {}", wanted, shape.numElements(), dataTypeName(type)));
  const bool normal = type != DataType::Bool || std::ranges::all_of(bytes, [](std::byte byte) {
                        return byte <= std::byte(1);
                      });
  const size_t width = std::max(1U, bitWidth(type) / 8);
  if (normal && reinterpret_cast<uintptr_t>(bytes.data()) % width == 0)
    return Tensor::borrow(type, shape, bytes.data(), std::move(owner));
  Expected<Tensor> tensor = Tensor::create(type, dims, place);
  if (!tensor)
    return tensor;
  std::ranges::copy(bytes, tensor->mutableBytes().begin());
  if (!normal)
    for (std::byte &byte : tensor->mutableBytes())
      byte = std::min(byte, std::byte(1));
  return tensor;
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

namespace {

/// The numbers of one of the three kinds of vectors; none where there is no vector.
std::optional<std::vector<int64_t>> indexVector(fb::SparseIndexVector type, const void *table) {
  auto numbers = [](const auto *vector) {
    const auto *values = vector->values();
    return values ? std::vector<int64_t>(values->begin(), values->end()) : std::vector<int64_t>();
  };
  if (!table)
    return std::nullopt;
  switch (type) {
  case fb::SparseIndexVector::Int32Vector:
    return numbers(static_cast<const fb::Int32Vector *>(table));
  case fb::SparseIndexVector::Uint16Vector:
    return numbers(static_cast<const fb::Uint16Vector *>(table));
  case fb::SparseIndexVector::Uint8Vector:
    return numbers(static_cast<const fb::Uint8Vector *>(table));
  default:
    return std::nullopt;
  }
}

/// A level of the traversal: a dimension, or what is left of one inside of its blocks.
struct Level {
  int64_t extent = 0;
  bool sparse = false;
  std::vector<int64_t> segments;
  std::vector<int64_t> indices;
};

/// Walks the levels as the format defines it. A dense level holds all positions of each element of
/// the level before; of a sparse one, `indices[segments[p]]` to `indices[segments[p + 1] - 1]` are
/// those of element `p`.
///
/// Rows [0, 1, 0], [0, 0, 2] with a dense and a sparse level: segments [0, 1, 2], indices [1, 2].
class SparseReader {
public:
  SparseReader(const fb::SparsityParameters &table, std::span<const int64_t> dims,
               const std::string &place)
      : table(table), dims(dims.begin(), dims.end()), place(place) {}

  Expected<Tensor> run(std::span<const std::byte> bytes, DataType type) {
    if (bitWidth(type) < 8)
      return makeError(place, fmt::format("is sparse with elements of {}", dataTypeName(type)),
                       "elements of whole bytes");
    if (Expected<void> done = readLevels(); !done)
      return propagate(done);
    Expected<Tensor> dense = Tensor::create(type, dims, place);
    if (!dense)
      return dense;
    width = bitWidth(type) / 8;
    from = bytes;
    to = dense->mutableBytes();
    strides = dense->shape().strides();
    at.assign(levels.size(), 0);
    if (Expected<void> done = walk(0, 0); !done)
      return propagate(done);
    if (taken != from.size())
      return makeError(place, fmt::format("holds {} bytes", from.size()),
                       fmt::format("{} for its sparse elements", taken));
    return dense;
  }

private:
  tl::unexpected<Error> wrong(std::string found) const {
    return makeError(place, std::move(found), "tables of a sparse tensor that fit");
  }

  Expected<void> readLevels() {
    const auto *order = table.traversal_order();
    const auto *metadata = table.dim_metadata();
    const auto *blocks = table.block_map();
    const size_t rank = dims.size();
    const size_t numBlocks = blocks ? blocks->size() : 0;
    if (!order || !metadata || order->size() != rank + numBlocks ||
        metadata->size() != order->size())
      return wrong("has a traversal of another number of dimensions");
    blockSizes.assign(rank, 1);
    for (uint32_t index = 0; index < numBlocks; ++index) {
      int64_t dimension = blocks->Get(index);
      if (dimension < 0 || dimension >= static_cast<int64_t>(rank) ||
          blockSizes[static_cast<size_t>(dimension)] != 1)
        return wrong(fmt::format("has blocks in dimension {}", dimension));
      blockOf.push_back(static_cast<size_t>(dimension));
      // The extents of blocks stand at the end of the traversal.
      int64_t extent = metadata->Get(static_cast<uint32_t>(rank) + index)->dense_size();
      if (extent < 1 || dims[static_cast<size_t>(dimension)] % extent != 0)
        return wrong(fmt::format("has blocks of {} in a dimension of {}", extent,
                                 dims[static_cast<size_t>(dimension)]));
      blockSizes[static_cast<size_t>(dimension)] = extent;
    }
    std::vector<bool> seen(order->size(), false);
    for (uint32_t index = 0; index < order->size(); ++index) {
      int64_t place = order->Get(index);
      if (place < 0 || place >= static_cast<int64_t>(order->size()) ||
          seen[static_cast<size_t>(place)] ||
          (place >= static_cast<int64_t>(rank)) != (index >= rank))
        return wrong(fmt::format("goes to dimension {} at step {}", place, index));
      seen[static_cast<size_t>(place)] = true;
      traversal.push_back(static_cast<size_t>(place));
      if (Expected<void> done = readLevel(*metadata->Get(index), static_cast<size_t>(place)); !done)
        return done;
    }
    return {};
  }

  Expected<void> readLevel(const fb::DimensionMetadata &metadata, size_t dimension) {
    Level level;
    const size_t rank = dims.size();
    level.extent = dimension < rank ? dims[dimension] / blockSizes[dimension]
                                    : blockSizes[blockOf[dimension - rank]];
    level.sparse = metadata.format() == fb::DimensionFormat::SPARSE_CSR;
    if (!level.sparse) {
      if (metadata.dense_size() != level.extent)
        return wrong(fmt::format("has a dense step of {} for {} positions", metadata.dense_size(),
                                 level.extent));
    } else {
      auto segments = indexVector(metadata.array_segments_type(), metadata.array_segments());
      auto indices = indexVector(metadata.array_indices_type(), metadata.array_indices());
      if (!segments || !indices)
        return wrong("has a sparse step without segments and indices");
      level.segments = std::move(*segments);
      level.indices = std::move(*indices);
      if (std::ranges::any_of(level.indices,
                              [&](int64_t index) { return index < 0 || index >= level.extent; }))
        return wrong(fmt::format("has an index outside of {} positions", level.extent));
      if (!std::ranges::is_sorted(level.segments) || level.segments.empty() ||
          level.segments.front() != 0 ||
          level.segments.back() != static_cast<int64_t>(level.indices.size()))
        return wrong("has segments that do not divide its indices");
    }
    levels.push_back(std::move(level));
    return {};
  }

  /// Element `parent` of the level before, whose positions stand in `at`.
  Expected<void> walk(size_t depth, int64_t parent) {
    if (depth == levels.size())
      return take();
    const Level &level = levels[depth];
    int64_t begin = parent * level.extent;
    int64_t end = begin + level.extent;
    if (level.sparse) {
      if (parent + 1 >= static_cast<int64_t>(level.segments.size()))
        return wrong(fmt::format("has no segment {}", parent));
      begin = level.segments[static_cast<size_t>(parent)];
      end = level.segments[static_cast<size_t>(parent) + 1];
    }
    for (int64_t element = begin; element < end; ++element) {
      at[depth] = level.sparse ? level.indices[static_cast<size_t>(element)] : element - begin;
      if (Expected<void> done = walk(depth + 1, element); !done)
        return done;
    }
    return {};
  }

  /// The next element, for the positions `at`.
  Expected<void> take() {
    const size_t rank = dims.size();
    std::vector<int64_t> index(rank, 0);
    for (size_t depth = 0; depth < levels.size(); ++depth) {
      const size_t dimension = traversal[depth];
      if (dimension < rank)
        index[dimension] += at[depth] * blockSizes[dimension];
      else
        index[blockOf[dimension - rank]] += at[depth];
    }
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      offset += index[axis] * strides[axis];
    if (from.size() - taken < width)
      return wrong(fmt::format("holds only {} bytes", from.size()));
    std::memcpy(to.data() + static_cast<size_t>(offset) * width, from.data() + taken, width);
    taken += width;
    return {};
  }

  const fb::SparsityParameters &table;
  std::vector<int64_t> dims;
  const std::string &place;
  std::vector<Level> levels;
  std::vector<size_t> traversal;
  std::vector<size_t> blockOf;
  std::vector<int64_t> blockSizes;
  std::span<const std::byte> from;
  std::span<std::byte> to;
  Shape strides;
  std::vector<int64_t> at;
  size_t width = 1;
  size_t taken = 0;
};

} // namespace

Expected<Tensor> tpuc::tflite::tensorOfSparse(const fb::SparsityParameters &sparsity,
                                              std::span<const std::byte> bytes, DataType type,
                                              std::span<const int64_t> dims,
                                              const std::string &place) {
  return SparseReader(sparsity, dims, place).run(bytes, type);
}
