//===- CaffeModel.h - A Caffe network as it was read ----------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_CAFFEMODEL_H
#define TPUC_FRONTEND_CAFFE_CAFFEMODEL_H

#include "tpuc/Frontend/Caffe/CaffeWeights.h"

#include <optional>

namespace tpuc::caffe {

namespace proto {
class LayerParameter;
class NetParameter;
} // namespace proto

/// A tensor that the network is given.
struct NetInput {
  std::string name;
  /// As the network states it; none where it does not.
  std::optional<std::vector<int64_t>> dims;
};

/// A layer of the network at inference.
struct NetLayer {
  /// What the prototxt says, as the newer generation says it. The model owns it.
  const proto::LayerParameter *parameters = nullptr;
  /// The tensors that it reads and makes. Caffe's name of a blob is that of the last tensor which
  /// is stored there; those that later layers replace are named after the layers that make them.
  std::vector<std::string> bottoms;
  std::vector<std::string> tops;

  const std::string &name() const;
  const std::string &type() const;
  /// `layer 'conv1' (Convolution)`.
  std::string describe() const;
};

/// A network for inference: what Caffe makes of a prototxt in the phase TEST. A handle.
class CaffeModel {
public:
  /// Reads the text `path` and the weights `weights`; an empty name stands for no weights. Errors:
  /// as CaffeWeights::open and as fromText.
  static Expected<CaffeModel> open(const std::string &path, const std::string &weights);
  /// The network in `text`, without weights. `where` names it in errors. Errors: the text is no
  /// prototxt (with line and column); layers of both generations, or of the one before them; layers
  /// that read databases; a bottom that no layer before makes; a top that is made twice; inputs
  /// whose shapes are fewer or more than they.
  static Expected<CaffeModel> fromText(std::string_view text, const std::string &where);

  const std::string &where() const;
  const std::vector<NetInput> &inputs() const;
  const std::vector<NetLayer> &layers() const;
  /// The tensors that no layer reads, in their order.
  const std::vector<std::string> &outputs() const;
  /// What was not taken from the text, and is of no effect as far as is known: a line each.
  const std::vector<std::string> &notes() const;
  /// Null where no weights were given.
  const CaffeWeights *weights() const;
  /// The name of the blobs that `layer` shares with others, by blob: `param { name: "w" }`.
  /// Empty for blobs of its own.
  static std::vector<std::string> sharedNames(const NetLayer &layer);

private:
  struct State;
  explicit CaffeModel(std::shared_ptr<State> state) : state(std::move(state)) {}
  friend class NetBuilder;

  std::shared_ptr<State> state;
};

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_CAFFEMODEL_H
