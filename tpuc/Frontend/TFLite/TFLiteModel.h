//===- TFLiteModel.h - A TFLite model as it was read ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_TFLITEMODEL_H
#define TPUC_FRONTEND_TFLITE_TFLITEMODEL_H

#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Tensor.h"

#include "TFLite_generated.h"

#include <optional>
#include <unordered_map>

namespace tpuc::tflite {

/// What the integers of a tensor stand for: scale[i] * (stored - zeroPoint[i]), with `i` the index
/// along `axis`, or 0 where there is one pair.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zeroPoint;
  /// Counted from the front; of a meaning only where there are several pairs.
  int64_t axis = 0;
};

/// A tensor of the main sub-graph.
struct NetTensor {
  /// As in the file where that is the only one of its name; a number behind it otherwise.
  std::string name;
  fb::ElementType type = fb::ElementType::FLOAT32;
  /// -1 where the extent is open.
  std::vector<int64_t> dims;
  std::optional<Quantization> quantization;
  /// Whether its elements stand in the file.
  bool isConstant = false;
  /// Whether it is a state that runs hand on, 0 at first.
  bool isVariable = false;
  const fb::Tensor *table = nullptr;
};

/// An op of the main sub-graph.
struct NetOp {
  size_t index = 0;
  fb::BuiltinOperator code = fb::BuiltinOperator::ADD;
  /// The name of the op where it is a custom one.
  std::string custom;
  int32_t version = 1;
  /// Numbers of tensors, -1 for none.
  std::vector<int> inputs;
  std::vector<int> outputs;
  /// Tensors that say how an op of integers stores what it computes on the way.
  std::vector<int> intermediates;
  const fb::Operator *table = nullptr;

  /// `CONV_2D`, the name of a custom op, or `op 250` where its code is not known.
  std::string type() const;
};

/// A model: its tables, and its tensors' elements where they lie in the file. A handle.
class TFLiteModel {
public:
  /// Errors: as MappedFile::open and fromMemory.
  static Expected<TFLiteModel> open(const std::string &path);
  /// The model in `bytes`, which are aligned to 16 and which `owner` keeps alive. `where` names it
  /// in errors: another format or version; damaged tables; no sub-graph; numbers of tensors,
  /// buffers or codes that do not exist; shapes that cannot be; scales that are not positive, or
  /// not as many as they must be; ops that read what is made behind them, or make what is there.
  static Expected<TFLiteModel> fromMemory(std::span<const std::byte> bytes,
                                          std::shared_ptr<const void> owner,
                                          const std::string &where);

  const std::string &where() const;
  const std::vector<NetTensor> &tensors() const;
  const std::vector<NetOp> &ops() const;
  /// Numbers of tensors.
  const std::vector<int> &inputs() const;
  const std::vector<int> &outputs() const;
  /// The tensor that is called so, by its name or as a signature of the main sub-graph calls an
  /// output.
  std::optional<int> findTensor(const std::string &name) const;
  /// What was left out: a line each.
  const std::vector<std::string> &notes() const;
  /// `op 3 (CONV_2D, 'relu1')`: the number, the type, and the first tensor that it makes.
  std::string describe(const NetOp &op) const;

  /// The elements of tensor `index`, as they are stored: a view into the file where they lie
  /// aligned in it. Sparse ones are spread out. Errors: it is no constant; a type that tpuc has
  /// not; fewer or more bytes than its shape needs; sparse indices that are out of range.
  Expected<Tensor> read(int index) const;
  /// Lets the pages of a mapped file leave the memory until they are read again.
  void release() const;

private:
  struct State;
  friend class ModelReader;
  explicit TFLiteModel(std::shared_ptr<State> state) : state(std::move(state)) {}

  std::shared_ptr<State> state;
};

/// tpuc's element type; none for strings, complex numbers and what else it has not.
std::optional<DataType> dataTypeOf(fb::ElementType type);
/// `FLOAT32`, ...; `type 99` where the number has no name.
std::string typeName(fb::ElementType type);

/// The bytes `bytes` as elements: borrowed from `owner` where they lie aligned, else copied.
/// `place` stands in errors: another number of bytes than `dims` need; no room.
Expected<Tensor> tensorOfBytes(std::span<const std::byte> bytes, DataType type,
                               std::span<const int64_t> dims, std::shared_ptr<const void> owner,
                               const std::string &place);
/// The elements of a sparse tensor, the others 0. Errors: as tensorOfBytes; tables that do not fit
/// each other or `dims`.
Expected<Tensor> tensorOfSparse(const fb::SparsityParameters &sparsity,
                                std::span<const std::byte> bytes, DataType type,
                                std::span<const int64_t> dims, const std::string &place);

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_TFLITEMODEL_H
