//===- OnnxModel.h - An ONNX file as it was read -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXMODEL_H
#define TPUC_FRONTEND_ONNX_ONNXMODEL_H

#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Tensor.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::onnx {

namespace proto {
class Model;
class SparseTensor;
class Tensor;
} // namespace proto

/// The newest version of the operator set "ai.onnx" that the converters know.
inline constexpr int64_t kNewestOpset = 28;

/// An ONNX model: its message, and its tensors' elements where they lie, in the mapped file or in
/// the files of external data beside it. A handle: copies share everything.
class OnnxModel {
public:
  /// Errors: as MappedFile::open; an empty file; one that is no protobuf message, breaks off, or
  /// holds no graph; no version of the standard operator set, or one that is not known.
  static Expected<OnnxModel> open(const std::string &path);
  /// The same for a model in memory, which `owner` keeps alive. `where` names it in errors;
  /// external data is looked for in `folder`.
  static Expected<OnnxModel> fromMemory(std::span<const std::byte> bytes,
                                        std::shared_ptr<const void> owner, const std::string &where,
                                        const std::string &folder);

  const proto::Model &message() const;
  /// The path, as given.
  const std::string &where() const;
  /// The files of external data that were read so far.
  std::vector<std::string> externalFiles() const;
  /// The version of the standard operator set that the model asks for.
  int64_t opset() const;

  /// What nodes of the main graph make and what is no output of it.
  std::vector<std::string> innerTensors() const;

  /// The elements of `tensor`: a view into the file where they lie aligned in it, else a copy
  /// (the pages that it was made from are given back). `name` stands for it in errors. Errors:
  /// strings, complex numbers and types that tpuc has not; no, too few or too many elements;
  /// dimensions that do not fit; external data that is missing, too short or outside the folder of
  /// the model.
  Expected<Tensor> read(const proto::Tensor &tensor, const std::string &name) const;
  /// The bytes of the elements of `tensor` where they lie in the model as the tensor has them,
  /// aligned or not, so many as there are.
  std::optional<std::span<const std::byte>> mappedBytes(const proto::Tensor &tensor) const;
  /// A sparse tensor as a dense one. Errors: the same; indices that are out of range.
  Expected<Tensor> read(const proto::SparseTensor &tensor, const std::string &name) const;

private:
  struct State;
  explicit OnnxModel(std::shared_ptr<State> state) : state(std::move(state)) {}

  static Expected<OnnxModel> fromSource(std::span<const std::byte> bytes,
                                        std::shared_ptr<const void> owner,
                                        std::shared_ptr<const MappedFile> file,
                                        const std::string &where, const std::string &folder);
  Expected<void> parse(std::span<const std::byte> bytes);
  Expected<std::span<const std::byte>>
  externalBytes(const proto::Tensor &tensor, const std::string &place,
                std::shared_ptr<const MappedFile> &owner) const;

  std::shared_ptr<State> state;
};

/// The element type that ONNX numbers `dataType` (TensorProto.DataType); none for strings, complex
/// numbers and those that tpuc has not.
std::optional<DataType> dataTypeOfOnnx(int64_t dataType);
/// The inverse.
int64_t onnxDataType(DataType type);
/// `FLOAT`, `STRING`, ...: what ONNX calls it; `type 99` where it has no name for it.
std::string onnxTypeName(int64_t dataType);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXMODEL_H
