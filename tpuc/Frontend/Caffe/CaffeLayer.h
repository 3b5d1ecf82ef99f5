//===- CaffeLayer.h - What the converter of one layer works with - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_CAFFELAYER_H
#define TPUC_FRONTEND_CAFFE_CAFFELAYER_H

#include "tpuc/Frontend/Caffe/Caffe.pb.h"
#include "tpuc/Frontend/Caffe/CaffeModel.h"
#include "tpuc/Frontend/Common/LayerBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <unordered_map>

namespace tpuc::caffe {

using frontend::Attrs;
using frontend::Ints;

/// The blobs that layers share by a name, and the layer that has them first.
using SharedBlobs = std::unordered_map<std::string, std::pair<std::string, size_t>>;

/// What all layers of a network have in common while it is imported.
struct ImportState {
  const CaffeModel &model;
  frontend::ModuleBuilder &module;
  std::unordered_map<std::string, mlir::Value> values;
  SharedBlobs shared;
  const ImportOptions &options;
};

/// One layer of the network, and the making of the ops that stand for it.
class CaffeLayer : public frontend::LayerBuilder {
public:
  CaffeLayer(ImportState &state, const NetLayer &layer);

  unsigned numInputs() const override;
  bool has(unsigned index) const override { return index < numInputs(); }
  mlir::Value in(unsigned index) override;
  void bind(unsigned index, mlir::Value value) override;
  std::string place() const override;

  const proto::LayerParameter &parameters() const { return *source.parameters; }
  const std::string &type() const { return source.type(); }

  /// The extents of bottom `index`. An error of the layer where they are not known, or there is no
  /// such bottom: `[1, 1, 1, 1]` then.
  Ints shape(unsigned index);
  /// `axis` counted from the front of `rank` dimensions.
  int64_t axis(int64_t axis, int64_t rank, bool endAllowed = false);

  /// The tensor that top `index` becomes.
  const std::string &top(unsigned index) const { return source.tops[index]; }
  /// The shape that the user states of top `index`; none where nothing is stated.
  std::optional<Ints> customShape(unsigned index) const;

  // ---- parameters: the blobs of the layer in the weights
  size_t numBlobs();
  /// Blob `index` in the shape `dims`; `what` names it in errors: there is no such blob, or it has
  /// another shape. A blob with leading extents of 1 more or less counts as the same shape.
  std::optional<Tensor> blob(size_t index, llvm::StringRef what, llvm::ArrayRef<int64_t> dims);
  /// The same as a constant of the module, `top.None`'s value after an error.
  mlir::Value blobWeight(size_t index, llvm::StringRef what, llvm::ArrayRef<int64_t> dims);
  /// The blob's own shape.
  std::optional<Ints> blobShape(size_t index);

  /// A constant of `dims` with one number throughout.
  mlir::Value filled(llvm::StringRef suffix, llvm::ArrayRef<int64_t> dims, float value);
  /// `value` in the shape `dims`; the value itself where it has it.
  mlir::Value reshaped(llvm::StringRef suffix, mlir::Value value, llvm::ArrayRef<int64_t> dims);
  /// The same as output 0.
  void emitReshaped(mlir::Value value, llvm::ArrayRef<int64_t> dims);

private:
  const std::vector<Blob> *blobs(size_t index);
  const Blob *findBlob(size_t index, llvm::StringRef what);

  ImportState &state;
  const NetLayer &source;
};

/// Ops behind each other, of which the last makes output 0 of a layer.
class Steps {
public:
  Steps(CaffeLayer &layer, mlir::Value start) : layer(layer), value(start) {}

  /// An op on what was made so far and on `more`. `suffix` names it where it is not the last one.
  template <typename Op>
  Steps &then(const std::string &suffix, const Attrs &attributes,
              const std::vector<mlir::Value> &more = {}) {
    steps.push_back([this, suffix, attributes, more](bool last) {
      std::vector<mlir::Value> operands = {value};
      operands.insert(operands.end(), more.begin(), more.end());
      value = last ? layer.emit<Op>(operands, attributes)
                   : layer.temp<Op>(suffix, operands, attributes);
    });
    return *this;
  }
  template <typename Op> Steps &then(const std::string &suffix) {
    return then<Op>(suffix, layer.attrs());
  }
  /// x * scale, x + shift, x ^ power; nothing where that is x.
  Steps &multiply(double scale);
  Steps &add(double shift);
  Steps &power(double exponent);

  /// Makes the ops; a copy where there are none.
  void finish();

private:
  CaffeLayer &layer;
  mlir::Value value;
  std::vector<std::function<void(bool)>> steps;
};

/// How a type of layer becomes ops of the dialect.
struct LayerRow {
  std::string_view type;
  int minBottoms;
  /// -1: any number.
  int maxBottoms;
  void (*convert)(CaffeLayer &);
  /// What it becomes, for the page of layers.
  std::string_view becomes;
  /// Whose layer it is: Caffe's own, SSD's, or that of other forks.
  std::string_view origin = "Caffe";
};

/// The rows of all families, by type.
llvm::ArrayRef<LayerRow> layerTable();
/// The row for `type`; null where there is none.
const LayerRow *findRow(std::string_view type);

// Each family's rows; the files Convert*.cpp.
llvm::ArrayRef<LayerRow> elementwiseRows();
llvm::ArrayRef<LayerRow> windowRows();
llvm::ArrayRef<LayerRow> normRows();
llvm::ArrayRef<LayerRow> movementRows();
llvm::ArrayRef<LayerRow> recurrentRows();
llvm::ArrayRef<LayerRow> detectionRows();
llvm::ArrayRef<LayerRow> anchorRows();
llvm::ArrayRef<LayerRow> customRows();

/// x in the average pools and maxima of `Pooling` and `SPP`: kernel, stride and pad by dimension.
struct Window {
  Ints kernel;
  Ints stride;
  Ints pad;
  bool roundsUp = true;
};
/// The attributes of a pool over `window`, whose number of positions rounds up and whose last
/// windows are clipped as in Caffe. Fails where a window would lie behind the input.
Attrs poolAttrs(CaffeLayer &layer, const Window &window, const Ints &dims);

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_CAFFELAYER_H
