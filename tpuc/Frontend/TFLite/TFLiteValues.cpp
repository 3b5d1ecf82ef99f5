//===- TFLiteValues.cpp - The tensors of a network in their forms ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteValues.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WeightRest.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;

//===----------------------------------------------------------------------===//
// Layouts and numbers
//===----------------------------------------------------------------------===//

Ints tpuc::tflite::frontOrder(int64_t rank) {
  Ints order = {0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis)
    order.push_back(axis);
  return order;
}

Ints tpuc::tflite::sourceOrder(int64_t rank) {
  Ints order = {0};
  for (int64_t axis = 2; axis < rank; ++axis)
    order.push_back(axis);
  order.push_back(1);
  return order;
}

int64_t tpuc::tflite::frontAxis(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

Tensor tpuc::tflite::permuted(const Tensor &tensor, ArrayRef<int64_t> order) {
  const Shape &shape = tensor.shape();
  const Shape strides = shape.strides();
  Shape to = shape;
  Ints steps;
  for (auto [axis, from] : llvm::enumerate(order)) {
    to[axis] = shape[static_cast<size_t>(from)];
    steps.push_back(strides[static_cast<size_t>(from)]);
  }
  Tensor made(tensor.type(), to);
  if (made.numElements() == 0)
    return made;
  const size_t width = bitWidth(tensor.type()) / 8;
  const std::byte *in = tensor.rawBytes().data();
  std::byte *out = made.mutableBytes().data();
  Ints at(order.size(), 0);
  int64_t offset = 0;
  for (int64_t count = made.numElements(); count > 0; --count) {
    std::memcpy(out, in + static_cast<size_t>(offset) * width, width);
    out += width;
    for (size_t axis = order.size(); axis-- > 0;) {
      offset += steps[axis];
      if (++at[axis] < to[axis])
        break;
      offset -= steps[axis] * to[axis];
      at[axis] = 0;
    }
  }
  return made;
}

Expected<Tensor> tpuc::tflite::dequantized(const Tensor &tensor, const Quantization &quantization,
                                           const std::string &place) {
  Expected<Tensor> made = Tensor::create(DataType::F32, tensor.shape().dims(), place);
  if (!made)
    return made;
  std::span<float> to = made->mutableData<float>();
  // How many neighbours in memory have one scale.
  int64_t inner = 1;
  const size_t count = quantization.scale.size();
  if (count > 1)
    for (size_t axis = static_cast<size_t>(quantization.axis) + 1; axis < tensor.shape().rank();
         ++axis)
      inner *= tensor.shape()[axis];
  // Of large tensors there are no wider copies.
  const size_t run = count > 1 ? static_cast<size_t>(inner) : to.size();
  const auto spread = [&](const auto *from) {
    for (size_t begin = 0, pair = 0; begin < to.size(); begin += run, pair = (pair + 1) % count) {
      const float scale = quantization.scale[pair];
      const int64_t zero = quantization.zeroPoint[pair];
      for (size_t index = begin; index < begin + run; ++index)
        to[index] = scale * static_cast<float>(int64_t(from[index]) - zero);
    }
  };
  if (tensor.type() == DataType::I8)
    spread(tensor.data<int8_t>().data());
  else if (tensor.type() == DataType::U8)
    spread(tensor.data<uint8_t>().data());
  else
    spread(convert(tensor, DataType::I64).data<int64_t>().data());
  return made;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

bool TFLiteValues::isQuantized(int index) const {
  std::optional<DataType> type = dataTypeOf(tensor(index).type);
  return tensor(index).quantization && type && isInteger(*type);
}

bool TFLiteValues::exists(int index, Layout layout) const {
  const Form &found = forms[static_cast<size_t>(index)][layout == Layout::Source ? 0 : 1];
  return found.stored || found.real;
}

std::optional<DataType> TFLiteValues::storedType(int index) const {
  for (const Form &each : forms[static_cast<size_t>(index)])
    if (each.stored)
      return storageDataType(each.stored.getType());
  return std::nullopt;
}

bool TFLiteValues::isConstant(int index) const {
  const Form &found = forms[static_cast<size_t>(index)][0];
  return tensor(index).isConstant || (found.real && top::constantTensor(found.real));
}

std::optional<Ints> TFLiteValues::dims(int index) const {
  for (Layout layout : {Layout::Source, Layout::ChannelsFirst}) {
    const Form &found = forms[static_cast<size_t>(index)][layout == Layout::Source ? 0 : 1];
    Value value = found.stored ? found.stored : found.real;
    if (!value)
      continue;
    std::optional<Ints> known = frontend::LayerBuilder::dims(value);
    if (!known || layout == Layout::Source)
      return known;
    Ints source;
    for (int64_t axis : sourceOrder(static_cast<int64_t>(known->size())))
      source.push_back((*known)[static_cast<size_t>(axis)]);
    return source;
  }
  const NetTensor &declared = tensor(index);
  Ints known(declared.dims.begin(), declared.dims.end());
  std::ranges::replace(known, int64_t(-1), ShapedType::kDynamic);
  return known;
}

std::string TFLiteValues::markedName(int index, Layout layout) const {
  return tensor(index).name + std::string(layout == kFront ? kFrontSuffix : "");
}

std::string TFLiteValues::nameIn(int index, Layout layout) {
  std::string name = markedName(index, layout);
  return layout == kFront ? module.freeName(name) : name;
}

std::string TFLiteValues::nameToMake(int index, Layout layout) {
  return isQuantized(index) ? module.freeName(markedName(index, layout) + "_real")
                            : nameIn(index, layout);
}

Expected<Value> TFLiteValues::make(StringRef op, const std::string &name, ValueRange operands,
                                   const Attrs &attributes) {
  OperationState state(module.location({name}), op);
  state.addOperands(operands);
  state.addAttributes(attributes.list().getAttrs());
  state.addTypes(UnrankedTensorType::get(Float32Type::get(module.context())));
  SmallVector<Value> results;
  Expected<Operation *> made = module.makeOp(module.mainBlock(), state, results);
  if (!made)
    return propagate(made);
  return results[0];
}

/// A transpose, or a reshape where only extents of 1 change places.
Expected<Value> TFLiteValues::moved(Value value, ArrayRef<int64_t> order, const std::string &name) {
  if (std::optional<Tensor> known = top::constantTensor(value);
      known && bitWidth(known->type()) >= 8)
    return module.makeWeight(name, permuted(*known, order));
  std::optional<Ints> dims = frontend::LayerBuilder::dims(value);
  Attrs attributes(module.context());
  if (dims && frontend::LayerBuilder::isStatic(*dims)) {
    Ints kept;
    Ints extents;
    for (int64_t axis : order) {
      extents.push_back((*dims)[static_cast<size_t>(axis)]);
      if (extents.back() != 1)
        kept.push_back(axis);
    }
    if (llvm::is_sorted(kept) && !llvm::is_contained(extents, 0))
      return make(top::ReshapeOp::getOperationName(), name, {value, module.none()},
                  attributes.setInts("shape", extents));
  }
  return make(top::PermuteOp::getOperationName(), name, value,
              attributes.setInts("order", Ints(order)));
}

/// QuantizeLinear or DequantizeLinear with the scale of tensor `index`.
Expected<Value> TFLiteValues::linear(StringRef op, int index, Value value,
                                     const std::string &name) {
  const Quantization &quantization = *tensor(index).quantization;
  if (quantization.scale.size() != 1)
    return makeError(fmt::format("{}: tensor '{}'", model.where(), tensor(index).name),
                     "is computed, and has several scales", "one scale");
  const DataType type = *dataTypeOf(tensor(index).type);
  const std::string &base = tensor(index).name;
  Value scale = module.makeWeight(module.freeName(base + "_scale"),
                                  Tensor::of<float>({}, {quantization.scale[0]}));
  Value zero =
      module.makeWeight(module.freeName(base + "_zero"),
                        convert(Tensor::of<int64_t>({}, {quantization.zeroPoint[0]}), type));
  return make(op, name, {value, scale, zero}, Attrs(module.context()));
}

Expected<void> TFLiteValues::set(int index, Layout layout, Value value) {
  Form &made = form(index, layout);
  if (!isQuantized(index)) {
    made = {value, value};
    return {};
  }
  Expected<Value> stored =
      linear(top::QuantizeLinearOp::getOperationName(), index, value, nameIn(index, layout));
  if (!stored)
    return propagate(stored);
  made.stored = *stored;
  return {};
}

/// By how much the integers of a vector exceed the rounded quotients of its numbers and scales;
/// nothing where they do not, or do in other tensors than biases.
static std::vector<int64_t> restOf(const Tensor &integers, const Tensor &numbers,
                                   const Quantization &quantization) {
  const size_t count = quantization.scale.size();
  if (integers.shape().rank() != 1 || bitWidth(integers.type()) < 32)
    return {};
  const Tensor wide = convert(integers, DataType::I64);
  const std::span<const int64_t> from = wide.data<int64_t>();
  std::vector<int64_t> rest(from.size());
  for (size_t at = 0; at < from.size(); ++at) {
    const size_t pair = at % count;
    const double quotient =
        static_cast<double>(numbers.data<float>()[at]) / quantization.scale[pair];
    rest[at] = from[at] - quantization.zeroPoint[pair] - static_cast<int64_t>(std::round(quotient));
  }
  return std::ranges::all_of(rest, [](int64_t each) { return each == 0; }) ? std::vector<int64_t>()
                                                                           : rest;
}

Expected<Value> TFLiteValues::movedConstant(int index, ArrayRef<int64_t> order,
                                            const std::string &name) {
  return makeConstant(index, order, name, true);
}

Expected<Value> TFLiteValues::makeConstant(int index, Layout layout, bool real) {
  std::string name = nameIn(index, layout);
  if (exists(index, layout))
    name = module.freeName(name + "_real");
  Ints order;
  if (layout == Layout::ChannelsFirst)
    order = frontOrder(static_cast<int64_t>(tensor(index).dims.size()));
  return makeConstant(index, order, name, real);
}

Expected<Value> TFLiteValues::makeConstant(int index, ArrayRef<int64_t> order,
                                           const std::string &name, bool real) {
  const NetTensor &declared = tensor(index);
  std::string place = fmt::format("{}: tensor '{}'", model.where(), declared.name);
  Expected<Tensor> elements = tl::unexpected(Error{});
  std::optional<DataType> type = dataTypeOf(declared.type);
  const bool isEmpty = llvm::is_contained(declared.dims, 0);
  if (declared.isConstant)
    elements = model.read(index);
  else if ((declared.isVariable || isEmpty) && type && !llvm::is_contained(declared.dims, -1))
    elements = Tensor::create(*type, declared.dims, place);
  else
    elements = makeError(place, "is read, but nothing makes it", "an op, an input or elements");
  if (!elements)
    return propagate(elements);
  const Tensor source = *elements;
  // Integers are moved before they become wider. Those of less than a byte have no moved form.
  const bool isMoved = !order.empty() && order.size() == source.shape().rank();
  if (isMoved)
    elements =
        permuted(bitWidth(source.type()) < 8 ? convert(source, DataType::I8) : source, order);
  if (real && isQuantized(index)) {
    Quantization quantization = *declared.quantization;
    if (isMoved)
      quantization.axis = std::ranges::find(order, int64_t(quantization.axis)) - order.begin();
    elements = dequantized(*elements, quantization, place);
  }
  if (!elements)
    return propagate(elements);
  // What was copied out of the file does not stay in memory.
  if (elements->rawBytes().data() != source.rawBytes().data())
    releaseMapped(source.rawBytes());
  if (!real || !isQuantized(index))
    return module.makeWeight(name, std::move(*elements));
  // The integers follow from the numbers, these scales, and what f32 loses of long ones.
  SmallVector<double> scales(declared.quantization->scale.begin(),
                             declared.quantization->scale.end());
  const std::vector<int64_t> rest = restOf(source, *elements, *declared.quantization);
  auto made = module.makeWeight(name, std::move(*elements)).getDefiningOp<top::WeightOp>();
  made.setWeightScaleAttr(Builder(module.context()).getF64ArrayAttr(scales));
  if (!rest.empty())
    top::setWeightRest(made, rest);
  return made.getOutput();
}

Expected<Value> TFLiteValues::stored(int index, Layout layout) {
  Form &wanted = form(index, layout);
  if (wanted.stored)
    return wanted.stored;
  const Layout other = layout == Layout::Source ? Layout::ChannelsFirst : Layout::Source;
  Form &found = form(index, other);
  Expected<Value> made = tl::unexpected(Error{});
  if (tensor(index).isConstant || !found.stored) {
    made = makeConstant(index, layout, false);
  } else {
    const auto rank = static_cast<int64_t>(dims(index)->size());
    made = moved(found.stored, layout == Layout::Source ? sourceOrder(rank) : frontOrder(rank),
                 nameIn(index, layout));
  }
  if (!made)
    return made;
  wanted.stored = *made;
  if (!isQuantized(index))
    wanted.real = *made;
  return made;
}

Expected<Value> TFLiteValues::real(int index, Layout layout) {
  Form &wanted = form(index, layout);
  if (wanted.real)
    return wanted.real;
  if (!isQuantized(index))
    return stored(index, layout);
  if (tensor(index).isConstant) {
    Expected<Value> made = makeConstant(index, layout, true);
    if (made)
      wanted.real = *made;
    return made;
  }
  Expected<Value> from = stored(index, layout);
  if (!from)
    return from;
  Expected<Value> made = linear(top::DequantizeLinearOp::getOperationName(), index, *from,
                                module.freeName(markedName(index, layout) + "_number"));
  if (made)
    wanted.real = *made;
  return made;
}
