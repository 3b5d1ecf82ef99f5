//===- OnnxModel.cpp - An ONNX file as it was read ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxModel.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Frontend/Onnx/Skeleton.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Folders.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace tpuc;
using namespace tpuc::onnx;
namespace fs = std::filesystem;

struct OnnxModel::State {
  std::string where;
  fs::path folder;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  /// The owner, where that is a mapped file.
  std::shared_ptr<const MappedFile> file;
  proto::Model message;
  int64_t opset = 0;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const MappedFile>> external;
};

const proto::Model &OnnxModel::message() const { return state->message; }
const std::string &OnnxModel::where() const { return state->where; }
int64_t OnnxModel::opset() const { return state->opset; }

std::vector<std::string> OnnxModel::innerTensors() const {
  std::set<std::string> outputs;
  for (const proto::ValueInfo &output : message().graph().output())
    outputs.insert(output.name());
  std::vector<std::string> names;
  for (const proto::Node &node : message().graph().node())
    for (const std::string &name : node.output())
      if (!name.empty() && !outputs.contains(name))
        names.push_back(name);
  return names;
}

Expected<OnnxModel> OnnxModel::open(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  return fromSource((*file)->bytes(), *file, *file, path, fs::path(path).parent_path().string());
}

Expected<OnnxModel> OnnxModel::fromMemory(std::span<const std::byte> bytes,
                                          std::shared_ptr<const void> owner,
                                          const std::string &where, const std::string &folder) {
  return fromSource(bytes, std::move(owner), nullptr, where, folder);
}

Expected<OnnxModel> OnnxModel::fromSource(std::span<const std::byte> bytes,
                                          std::shared_ptr<const void> owner,
                                          std::shared_ptr<const MappedFile> file,
                                          const std::string &where, const std::string &folder) {
  OnnxModel model(std::make_shared<State>());
  model.state->where = where;
  model.state->folder = folder.empty() ? fs::path(".") : fs::path(folder);
  model.state->bytes = bytes;
  model.state->owner = std::move(owner);
  model.state->file = std::move(file);
  try {
    if (Expected<void> parsed = model.parse(bytes); !parsed)
      return propagate(parsed);
  } catch (const std::bad_alloc &) {
    return makeError(where, "takes more memory than there is");
  }
  return model;
}

Expected<void> OnnxModel::parse(std::span<const std::byte> bytes) {
  const std::string &where = state->where;
  if (bytes.empty())
    return makeError(where, "is empty", "an ONNX model");
  Expected<std::string> skeleton = skeletonOf(bytes, where);
  if (!skeleton)
    return propagate(skeleton);
  if (skeleton->size() > INT32_MAX)
    return makeError(where, "holds more than 2 GiB besides its weights");
  google::protobuf::io::ArrayInputStream array(skeleton->data(),
                                               static_cast<int>(skeleton->size()));
  google::protobuf::io::CodedInputStream stream(&array);
  // Deeper nesting was refused by the skeleton.
  stream.SetRecursionLimit(1000);
  if (!state->message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return makeError(
        where, "is corrupt or not an ONNX model: a field has not the form that ONNX gives it");
  if (!state->message.has_graph())
    return makeError(where, "is not an ONNX model: it holds no graph");
  for (const proto::OperatorSetId &import : state->message.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      state->opset = std::max(state->opset, import.version());
  std::string known = fmt::format("opset_import of ai.onnx, version 1 to {}", kNewestOpset);
  if (state->opset == 0)
    return makeError(where, "says no version of the operator set ai.onnx", known);
  if (state->opset < 0 || state->opset > kNewestOpset)
    return makeError(where, fmt::format("needs opset version {}", state->opset), known);
  return {};
}

namespace {

/// Bytes that are copied before their source is released: a multiple of all page sizes.
constexpr size_t kPiece = size_t(4) << 20;

struct TypeRow {
  int64_t number;
  std::string_view name;
  std::optional<DataType> type;
};

constexpr TypeRow kTypes[] = {
    {0, "UNDEFINED", {}},
    {1, "FLOAT", DataType::F32},
    {2, "UINT8", DataType::U8},
    {3, "INT8", DataType::I8},
    {4, "UINT16", DataType::U16},
    {5, "INT16", DataType::I16},
    {6, "INT32", DataType::I32},
    {7, "INT64", DataType::I64},
    {8, "STRING", {}},
    {9, "BOOL", DataType::Bool},
    {10, "FLOAT16", DataType::F16},
    {11, "DOUBLE", DataType::F64},
    {12, "UINT32", DataType::U32},
    {13, "UINT64", DataType::U64},
    {14, "COMPLEX64", {}},
    {15, "COMPLEX128", {}},
    {16, "BFLOAT16", DataType::BF16},
    {17, "FLOAT8E4M3FN", DataType::F8E4M3FN},
    {18, "FLOAT8E4M3FNUZ", DataType::F8E4M3FNUZ},
    {19, "FLOAT8E5M2", DataType::F8E5M2},
    {20, "FLOAT8E5M2FNUZ", DataType::F8E5M2FNUZ},
    {21, "UINT4", DataType::U4},
    {22, "INT4", DataType::I4},
    {23, "FLOAT4E2M1", {}},
    {24, "FLOAT8E8M0", {}},
    {25, "UINT2", {}},
    {26, "INT2", {}},
    {27, "FLOAT6E2M3", {}},
    {28, "FLOAT6E3M2", {}},
};

/// Elements that the message holds one number each, as bytes of `type`: the low bytes of a number
/// are the element. A 4-bit pair is one number.
template <typename Field>
Expected<Tensor> fromNumbers(const Field &numbers, DataType type, const Shape &shape,
                             const std::string &place) {
  int64_t wanted = bitWidth(type) < 8 ? byteSize(type, shape.numElements()) : shape.numElements();
  if (numbers.size() != wanted)
    return makeError(place, fmt::format("holds {} elements", numbers.size()),
                     fmt::format("{} for shape {}", wanted, shape.str()));
  Expected<Tensor> tensor = Tensor::create(type, shape.dims(), place);
  if (!tensor)
    return tensor;
  size_t width = std::max(1U, bitWidth(type) / 8);
  std::byte *out = tensor->mutableBytes().data();
  for (auto number : numbers) {
    if (type == DataType::Bool)
      number = number != 0;
    std::memcpy(out, &number, width);
    out += width;
  }
  return tensor;
}

/// `bytes` of `owner`, which is `file` if that is given, as a tensor: borrowed if they lie aligned,
/// else copied.
Expected<Tensor> fromBytes(std::span<const std::byte> bytes, DataType type, const Shape &shape,
                           std::shared_ptr<const void> owner, const MappedFile *file,
                           const std::string &place) {
  auto wanted = static_cast<size_t>(byteSize(type, shape.numElements()));
  if (bytes.size() != wanted)
    return makeError(
        place, fmt::format("holds {} bytes of data", bytes.size()),
        fmt::format("{} for {} elements of {}", wanted, shape.numElements(), dataTypeName(type)));
  size_t width = std::max(1U, bitWidth(type) / 8);
  bool normal = type != DataType::Bool ||
                std::ranges::all_of(bytes, [](std::byte byte) { return byte <= std::byte(1); });
  if (normal && reinterpret_cast<uintptr_t>(bytes.data()) % width == 0)
    return Tensor::borrow(type, shape, bytes.data(), std::move(owner));
  Expected<Tensor> tensor = Tensor::create(type, shape.dims(), place);
  if (!tensor)
    return tensor;
  // In pieces, so that the elements are not in memory twice.
  std::span<std::byte> copy = tensor->mutableBytes();
  for (size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    std::span<const std::byte> piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    std::ranges::copy(piece, copy.subspan(begin).begin());
    if (file)
      file->release(piece);
  }
  if (!normal)
    for (std::byte &byte : copy)
      byte = byte == std::byte(0) ? byte : std::byte(1);
  return tensor;
}

std::optional<uint64_t> parseNumber(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

} // namespace

std::optional<DataType> tpuc::onnx::dataTypeOfOnnx(int64_t dataType) {
  for (const TypeRow &row : kTypes)
    if (row.number == dataType)
      return row.type;
  return std::nullopt;
}

int64_t tpuc::onnx::onnxDataType(DataType type) {
  for (const TypeRow &row : kTypes)
    if (row.type == type)
      return row.number;
  return 0;
}

std::string tpuc::onnx::onnxTypeName(int64_t dataType) {
  for (const TypeRow &row : kTypes)
    if (row.number == dataType)
      return std::string(row.name);
  return fmt::format("type {}", dataType);
}

std::vector<std::string> OnnxModel::externalFiles() const {
  std::lock_guard lock(state->mutex);
  std::vector<std::string> paths;
  for (const auto &[path, file] : state->external)
    if (file)
      paths.push_back(path);
  return paths;
}

Expected<std::span<const std::byte>>
OnnxModel::externalBytes(const proto::Tensor &tensor, const std::string &place,
                         std::shared_ptr<const MappedFile> &owner) const {
  std::string location;
  std::optional<uint64_t> offset = 0;
  std::optional<uint64_t> length;
  for (const proto::StringStringEntry &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = parseNumber(entry.value());
    else if (entry.key() == "length") {
      length = parseNumber(entry.value());
      if (!length)
        return makeError(place, "length '" + entry.value() + "' of the external data is no number");
    }
  }
  if (!offset)
    return makeError(place, "the offset of the external data is no number");
  if (location.empty() || location.find('\0') != std::string::npos)
    return makeError(place, "is external data without a location");
  try {
    fs::path relative(location);
    if (!isBelow(relative, state->folder))
      return makeError(place, "external data '" + location + "' is outside the model's folder",
                       "a path inside it");
    const fs::path path = fs::weakly_canonical(state->folder / relative);
    std::lock_guard lock(state->mutex);
    std::shared_ptr<const MappedFile> &file = state->external[path.string()];
    if (!file) {
      auto opened = MappedFile::open((state->folder / relative).string());
      if (!opened)
        return makeError(place, "external data: " + opened.error().message());
      file = *opened;
    }
    owner = file;
    uint64_t size = file->bytes().size();
    if (*offset > size || (length && *length > size - *offset))
      return makeError(place, fmt::format("external data '{}' has {} bytes", location, size),
                       fmt::format("{} from byte {} on", length.value_or(0), *offset));
    return file->bytes().subspan(*offset, length.value_or(size - *offset));
  } catch (const fs::filesystem_error &error) {
    return makeError(place, "external data '" + location + "': " + error.code().message());
  }
}

std::optional<std::span<const std::byte>>
OnnxModel::mappedBytes(const proto::Tensor &tensor) const {
  bool isRaw = tensor.has_mapped_length() && tensor.data_location() == 0 &&
               tensor.mapped_field() == proto::Tensor::kRawDataFieldNumber &&
               dataTypeOfOnnx(tensor.data_type()) != DataType::Bool;
  if (!isRaw)
    return std::nullopt;
  return state->bytes.subspan(tensor.mapped_offset(), tensor.mapped_length());
}

Expected<Tensor> OnnxModel::read(const proto::Tensor &tensor, const std::string &name) const {
  std::string place = state->where + ": tensor '" + name + "'";
  std::optional<DataType> type = dataTypeOfOnnx(tensor.data_type());
  if (!type)
    return makeError(place,
                     "elements of type " + onnxTypeName(tensor.data_type()) + " are not supported");
  std::span<const int64_t> dims(tensor.dims().data(), static_cast<size_t>(tensor.dims_size()));
  Expected<int64_t> count = checkedNumElements(dims, *type, place);
  if (!count)
    return propagate(count);
  Shape shape(dims);
  if (tensor.data_location() != 0) {
    std::shared_ptr<const MappedFile> owner;
    auto bytes = externalBytes(tensor, place, owner);
    if (!bytes)
      return propagate(bytes);
    return fromBytes(*bytes, *type, shape, owner, owner.get(), place);
  }
  if (tensor.has_mapped_length()) {
    uint64_t offset = tensor.mapped_offset();
    uint64_t length = tensor.mapped_length();
    bool fits =
        tensor.mapped_field() == proto::Tensor::kRawDataFieldNumber ||
        (tensor.mapped_field() == proto::Tensor::kFloatDataFieldNumber && *type == DataType::F32) ||
        (tensor.mapped_field() == proto::Tensor::kDoubleDataFieldNumber && *type == DataType::F64);
    if (!fits)
      return makeError(place, "elements of type " + onnxTypeName(tensor.data_type()) +
                                  " are in a field for another type");
    return fromBytes(state->bytes.subspan(offset, length), *type, shape, state->owner,
                     state->file.get(), place);
  }
  switch (*type) {
  case DataType::F32:
    return fromNumbers(tensor.float_data(), *type, shape, place);
  case DataType::F64:
    return fromNumbers(tensor.double_data(), *type, shape, place);
  case DataType::I64:
    return fromNumbers(tensor.int64_data(), *type, shape, place);
  case DataType::U32:
  case DataType::U64:
    return fromNumbers(tensor.uint64_data(), *type, shape, place);
  default:
    return fromNumbers(tensor.int32_data(), *type, shape, place);
  }
}

Expected<Tensor> OnnxModel::read(const proto::SparseTensor &tensor, const std::string &name) const {
  std::string place = state->where + ": sparse tensor '" + name + "'";
  Expected<Tensor> values = read(tensor.values(), name);
  if (!values)
    return values;
  Expected<Tensor> indices = read(tensor.indices(), name + "' (indices) '");
  if (!indices)
    return indices;
  std::span<const int64_t> dims(tensor.dims().data(), static_cast<size_t>(tensor.dims_size()));
  Expected<int64_t> total = checkedNumElements(dims, values->type(), place);
  if (!total)
    return propagate(total);
  int64_t count = values->numElements();
  const Shape &form = indices->shape();
  bool linear = form.rank() == 1;
  bool fits = indices->type() == DataType::I64 && values->shape().rank() == 1 &&
              (linear || form.rank() == 2) && form[0] == count &&
              (linear || form[1] == static_cast<int64_t>(dims.size()));
  if (!fits || bitWidth(values->type()) < 8)
    return makeError(place, fmt::format("{} values with indices of shape {}", count, form.str()),
                     "int64 indices of shape [values] or [values, rank]");
  // The dense form is what the graph computes with; nobody means terabytes by a few indices.
  if (*total > (int64_t(1) << 32))
    return makeError(place, fmt::format("has {} elements", *total), "at most 2^32");
  Expected<Tensor> dense = Tensor::create(values->type(), dims, place);
  if (!dense)
    return dense;
  size_t width = bitWidth(values->type()) / 8;
  Shape strides = dense->shape().strides();
  auto places = indices->data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = linear ? places[static_cast<size_t>(i)] : 0;
    bool inside = offset >= 0 && offset < *total;
    for (size_t axis = 0; !linear && axis < dims.size(); ++axis) {
      int64_t index = places[static_cast<size_t>(i) * dims.size() + axis];
      inside = inside && index >= 0 && index < dims[axis];
      offset += inside ? index * strides[axis] : 0;
    }
    if (!inside)
      return makeError(place, fmt::format("index {} is outside shape {}", i, Shape(dims).str()));
    std::memcpy(dense->mutableBytes().data() + static_cast<size_t>(offset) * width,
                values->rawBytes().data() + static_cast<size_t>(i) * width, width);
  }
  return dense;
}
