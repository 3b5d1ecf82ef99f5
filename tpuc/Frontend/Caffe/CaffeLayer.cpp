//===- CaffeLayer.cpp - What the converter of one layer works with --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeLayer.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

CaffeLayer::CaffeLayer(ImportState &state, const NetLayer &layer)
    : LayerBuilder(state.module, state.module.mainBlock(), layer.tops, layer.name()), state(state),
      source(layer) {}

unsigned CaffeLayer::numInputs() const { return static_cast<unsigned>(source.bottoms.size()); }

Value CaffeLayer::in(unsigned index) {
  if (index >= numInputs())
    return none();
  auto found = state.values.find(source.bottoms[index]);
  return found == state.values.end() ? none() : found->second;
}

void CaffeLayer::bind(unsigned index, Value value) {
  if (wants(index))
    state.values[source.tops[index]] = value;
}

std::string CaffeLayer::place() const { return state.model.where() + ": " + source.describe(); }

Ints CaffeLayer::shape(unsigned index) {
  std::optional<Ints> known = index < numInputs() ? dims(in(index)) : std::nullopt;
  if (known && isStatic(*known))
    return *known;
  fail(index < numInputs()
           ? fmt::format("the shape of the bottom '{}' is not known", source.bottoms[index])
           : fmt::format("has {} bottoms", numInputs()),
       index < numInputs() ? "a shape of numbers; --input_shapes may help"
                           : fmt::format("{} or more", index + 1));
  return {1, 1, 1, 1};
}

std::optional<Ints> CaffeLayer::customShape(unsigned index) const {
  auto found = state.options.customShapes.find(top(index));
  if (found == state.options.customShapes.end())
    return std::nullopt;
  return Ints(found->second.begin(), found->second.end());
}

int64_t CaffeLayer::axis(int64_t axis, int64_t rank, bool endAllowed) {
  return frontend::frontAxis(*this, axis, rank, endAllowed);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The blobs of the layer, or of the one that shares blob `index` with it.
const std::vector<Blob> *CaffeLayer::blobs(size_t index) {
  const CaffeWeights *weights = state.model.weights();
  if (!weights)
    return nullptr;
  if (const std::vector<Blob> *own = weights->find(source.name()))
    return own;
  std::vector<std::string> names = CaffeModel::sharedNames(source);
  if (index >= names.size() || names[index].empty())
    return nullptr;
  auto owner = state.shared.find(names[index]);
  return owner == state.shared.end() ? nullptr : weights->find(owner->second.first);
}

size_t CaffeLayer::numBlobs() {
  const std::vector<Blob> *found = blobs(0);
  return found ? found->size() : 0;
}

const Blob *CaffeLayer::findBlob(size_t index, StringRef what) {
  const std::vector<Blob> *found = blobs(index);
  if (found && index < found->size())
    return &(*found)[index];
  const CaffeWeights *weights = state.model.weights();
  if (!weights)
    fail(fmt::format("needs its {}", what.str()), "the .caffemodel of the network");
  else if (!found)
    fail(fmt::format("{} has no weights for it", weights->where()), "blobs under its name");
  else
    fail(fmt::format("{} has {} of its blobs", weights->where(), found->size()),
         fmt::format("{} or more: blob {} is its {}", index + 1, index, what.str()));
  return nullptr;
}

/// `dims` without the extents of 1 in front.
static ArrayRef<int64_t> withoutLeadingOnes(ArrayRef<int64_t> dims) {
  return dims.drop_while([](int64_t dim) { return dim == 1; });
}

std::optional<Tensor> CaffeLayer::blob(size_t index, StringRef what, ArrayRef<int64_t> dims) {
  const Blob *found = findBlob(index, what);
  if (!found)
    return std::nullopt;
  if (withoutLeadingOnes(found->dims) != withoutLeadingOnes(dims)) {
    fail(fmt::format("the shape of its {} in {} is {}", what.str(), state.model.weights()->where(),
                     found->shape()),
         fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ", ")));
    return std::nullopt;
  }
  return state.model.weights()->read(*found, {dims.data(), dims.size()});
}

Value CaffeLayer::blobWeight(size_t index, StringRef what, ArrayRef<int64_t> dims) {
  std::optional<Tensor> tensor = blob(index, what, dims);
  return tensor ? weight(what, std::move(*tensor)) : none();
}

std::optional<Ints> CaffeLayer::blobShape(size_t index) {
  const std::vector<Blob> *found = blobs(index);
  if (!found || index >= found->size())
    return std::nullopt;
  return Ints((*found)[index].dims.begin(), (*found)[index].dims.end());
}

//===----------------------------------------------------------------------===//
// Ops that many layers need
//===----------------------------------------------------------------------===//

Value CaffeLayer::filled(StringRef suffix, ArrayRef<int64_t> dims, float value) {
  Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  std::ranges::fill(tensor.mutableData<float>(), value);
  return weight(suffix, std::move(tensor));
}

Value CaffeLayer::reshaped(StringRef suffix, Value value, ArrayRef<int64_t> dims) {
  std::optional<Ints> now = LayerBuilder::dims(value);
  if (failed() || (now && ArrayRef(*now) == dims))
    return value;
  return temp<top::ReshapeOp>(suffix, {value, none()}, attrs().setInts("shape", Ints(dims)));
}

void CaffeLayer::emitReshaped(Value value, ArrayRef<int64_t> dims) {
  emit<top::ReshapeOp>({value, none()}, attrs().setInts("shape", Ints(dims)));
}

Steps &Steps::multiply(double scale) {
  if (scale != 1)
    then<top::MulConstOp>("scaled", layer.attrs().setFloat("const_val", scale));
  return *this;
}

Steps &Steps::add(double shift) {
  if (shift != 0)
    then<top::AddConstOp>("shifted", layer.attrs().setFloat("const_val", shift));
  return *this;
}

Steps &Steps::power(double exponent) {
  if (exponent != 1)
    then<top::PowConstOp>("power", layer.attrs().setFloat("const_val", exponent));
  return *this;
}

void Steps::finish() {
  if (steps.empty())
    then<top::CopyOp>("copy");
  for (size_t index = 0; index < steps.size(); ++index)
    steps[index](index + 1 == steps.size());
}
