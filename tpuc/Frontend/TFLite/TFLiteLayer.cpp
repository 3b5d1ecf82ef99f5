//===- TFLiteLayer.cpp - What the converter of one op works with ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/TFLite/TFLiteLayer.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;

const void *tpuc::tflite::emptyTable() {
  // The list of fields, of four bytes, is empty; the table behind it names it, four bytes before.
  struct Empty {
    uint16_t listBytes = 4;
    uint16_t tableBytes = 4;
    int32_t toList = 4;
  };
  static constexpr Empty kEmpty;
  return &kEmpty.toList;
}

std::vector<std::string> TFLiteLayer::outputNames(ImportState &state, const NetOp &op) {
  std::vector<std::string> names;
  for (int output : op.outputs)
    names.push_back(output < 0 ? std::string() : state.values.nameToMake(output, Layout::Source));
  return names;
}

TFLiteLayer::TFLiteLayer(ImportState &state, const NetOp &op)
    : LayerBuilder(state.module, state.module.mainBlock(), outputNames(state, op),
                   fmt::format("op_{}", op.index)),
      state(state), op(op) {}

std::string TFLiteLayer::place() const {
  return state.model.where() + ": " + state.model.describe(op);
}

Value TFLiteLayer::orNone(Expected<Value> value) {
  if (value)
    return *value;
  failWith(std::move(value.error()));
  return none();
}

Value TFLiteLayer::in(unsigned index, Layout layout) {
  return has(index) ? orNone(state.values.real(op.inputs[index], layout)) : none();
}

Value TFLiteLayer::stored(unsigned index) {
  return has(index) ? orNone(state.values.stored(op.inputs[index])) : none();
}

void TFLiteLayer::bindAs(unsigned index, Layout layout, Value value) {
  if (index >= op.outputs.size() || op.outputs[index] < 0 || failed())
    return;
  if (Expected<void> done = state.values.set(op.outputs[index], layout, value); !done)
    failWith(std::move(done.error()));
}

const NetTensor &TFLiteLayer::tensor(unsigned index) const {
  return state.model.tensors()[static_cast<size_t>(op.inputs[index])];
}

const NetTensor &TFLiteLayer::output(unsigned index) const {
  return state.model.tensors()[static_cast<size_t>(op.outputs[index])];
}

const Quantization *TFLiteLayer::intermediate(size_t index) const {
  if (index >= op.intermediates.size() || op.intermediates[index] < 0)
    return nullptr;
  const auto &found =
      state.model.tensors()[static_cast<size_t>(op.intermediates[index])].quantization;
  return found ? &*found : nullptr;
}

void TFLiteLayer::failOptions(fb::BuiltinOptions found, fb::BuiltinOptions wanted) {
  fail(fmt::format("has the options of another op, {}", fb::EnumNameBuiltinOptions(found)),
       fb::EnumNameBuiltinOptions(wanted));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::optional<Ints> TFLiteLayer::knownDims(unsigned index) const {
  return has(index) ? state.values.dims(op.inputs[index]) : std::nullopt;
}

Ints TFLiteLayer::shape(unsigned index) {
  std::optional<Ints> known = knownDims(index);
  if (known && isStatic(*known))
    return *known;
  fail(fmt::format("the shape of input {} is not known", index),
       "a shape of numbers; --input_shapes may help");
  return Ints(known ? known->size() : 4, 1);
}

int64_t TFLiteLayer::inputRank(unsigned index) {
  std::optional<Ints> known = knownDims(index);
  if (!known)
    fail(fmt::format("the rank of input {} is not known", index), "a known one");
  return known ? static_cast<int64_t>(known->size()) : 1;
}

Ints TFLiteLayer::needInts(unsigned index, StringRef what) {
  if (std::optional<Ints> ints = has(index) ? constantInts(index) : std::nullopt)
    return *ints;
  fail(fmt::format("its {} is computed, or left out", what.str()), "constant integers");
  return {};
}

int64_t TFLiteLayer::frontAxisOf(const Ints &axes, int64_t rank) {
  return frontend::frontAxis(*this, axes.empty() ? 0 : axes[0], rank);
}

std::optional<Tensor> TFLiteLayer::needConstant(unsigned index, StringRef what) {
  std::optional<Tensor> known = has(index) ? constant(index) : std::nullopt;
  if (!known) {
    fail(fmt::format("its {} is computed, or left out", what.str()), "a constant");
    return std::nullopt;
  }
  return convert(*known, DataType::F32);
}

bool TFLiteLayer::isHybrid(unsigned index) const {
  if (!state.hybrid || !has(index) || !tensor(index).isConstant || !tensor(index).quantization ||
      output(0).type != fb::ElementType::FLOAT32)
    return false;
  const NetTensor &weights = tensor(index);
  const bool isNarrow =
      weights.type == fb::ElementType::INT8 || weights.type == fb::ElementType::INT4;
  return isNarrow &&
         llvm::all_of(weights.quantization->zeroPoint, [](int64_t zero) { return zero == 0; });
}

std::optional<Tensor> TFLiteLayer::needIntegers(unsigned index, DataType type) {
  Expected<Tensor> integers = state.model.read(op.inputs[index]);
  if (integers)
    return convert(*integers, type);
  failWith(std::move(integers.error()));
  return std::nullopt;
}

std::vector<float> TFLiteLayer::needScales(unsigned index, int64_t axis, int64_t count) {
  const Quantization &stated = *tensor(index).quantization;
  if (stated.scale.size() == 1)
    return std::vector<float>(static_cast<size_t>(count), stated.scale[0]);
  if (std::ssize(stated.scale) != count || stated.axis != axis)
    fail(fmt::format("its weights have {} scales along dimension {}", stated.scale.size(),
                     stated.axis),
         fmt::format("one, or {} along dimension {}", count, axis));
  std::vector<float> scales = stated.scale;
  scales.resize(static_cast<size_t>(count), 1);
  return scales;
}

bool tpuc::tflite::checkBias(TFLiteLayer &layer, unsigned index, int64_t outputs) {
  if (layer.failed() || !layer.has(index))
    return !layer.failed();
  const Ints dims = layer.shape(index);
  const int64_t count = ShapedType::getNumElements(dims);
  if (!layer.failed() && count != outputs)
    layer.fail(fmt::format("has a bias of {} elements", count),
               fmt::format("{}, one for each output channel", outputs));
  return !layer.failed();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool TFLiteLayer::isFront(unsigned index) const {
  return has(index) && !state.values.isConstant(op.inputs[index]) &&
         state.values.exists(op.inputs[index], Layout::ChannelsFirst);
}

Layout TFLiteLayer::layoutOf(ArrayRef<unsigned> indices) {
  int64_t highest = 0;
  for (unsigned index : indices)
    highest = std::max(highest, inputRank(index));
  for (unsigned index : indices)
    if (isFront(index) && inputRank(index) == highest)
      return Layout::ChannelsFirst;
  return Layout::Source;
}

Value TFLiteLayer::broadcastable(unsigned index, Layout layout, int64_t rank) {
  const int64_t own = inputRank(index);
  if (layout == Layout::Source)
    return in(index);
  if (own == rank)
    return in(index, layout);
  Ints dims = shape(index);
  if (std::ranges::all_of(dims, [](int64_t extent) { return extent == 1; }))
    return in(index);
  Ints lifted(static_cast<size_t>(rank - own), 1);
  lifted.append(dims.begin(), dims.end());
  Value full = reshaped(fmt::format("in{}_lifted", index), in(index), lifted);
  return transposed(fmt::format("in{}_nchw", index), full, frontOrder(rank));
}

Value TFLiteLayer::putNamed(Layout layout, unsigned index, StringRef name, ValueRange operands,
                            const Attrs &attributes) {
  if (failed() || index >= op.outputs.size() || op.outputs[index] < 0)
    return none();
  OperationState made(state.module.location({state.values.nameToMake(op.outputs[index], layout)}),
                      name);
  made.addOperands(operands);
  made.addAttributes(attributes.list().getAttrs());
  made.addTypes(UnrankedTensorType::get(Float32Type::get(context())));
  SmallVector<Value> results;
  Expected<Operation *> done = state.module.makeOp(state.module.mainBlock(), made, results);
  if (!done) {
    failWith(std::move(done.error()));
    return none();
  }
  bindAs(index, layout, results[0]);
  return results[0];
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

bool TFLiteLayer::isFused(fb::ActivationFunction activation) {
  return activation == fb::ActivationFunction::NONE || activation == fb::ActivationFunction::RELU ||
         activation == fb::ActivationFunction::RELU6;
}

void TFLiteLayer::setActivation(Attrs &attributes, fb::ActivationFunction activation) {
  if (activation != fb::ActivationFunction::RELU && activation != fb::ActivationFunction::RELU6)
    return;
  attributes.setBool("do_relu", true);
  if (activation == fb::ActivationFunction::RELU6)
    attributes.setFloat("relu_limit", 6.0);
}

void TFLiteLayer::putActivation(Layout layout, fb::ActivationFunction activation, Value value) {
  using fb::ActivationFunction;
  switch (activation) {
  case ActivationFunction::NONE:
    put<top::CopyOp>(layout, value);
    return;
  case ActivationFunction::RELU:
    put<top::ReluOp>(layout, value);
    return;
  case ActivationFunction::RELU6:
    put<top::ReluOp>(layout, value, attrs().setFloat("relu_limit", 6.0));
    return;
  case ActivationFunction::RELU_N1_TO_1:
    put<top::ClipOp>(layout, value, attrs().setFloat("min", -1.0).setFloat("max", 1.0));
    return;
  default:
    fail(fmt::format("has the activation {}", static_cast<int>(activation)),
         "NONE, RELU, RELU6 or RELU_N1_TO_1");
  }
}

//===----------------------------------------------------------------------===//
// Ops on the way
//===----------------------------------------------------------------------===//

/// The constant `moved` with the scales that `value` states, of which it is another form.
static Value withScalesOf(Value value, Value moved) {
  auto from = value.getDefiningOp<top::WeightOp>();
  auto to = moved.getDefiningOp<top::WeightOp>();
  if (from && to && from.getWeightScaleAttr())
    to.setWeightScaleAttr(from.getWeightScaleAttr());
  return moved;
}

Value TFLiteLayer::reshaped(StringRef suffix, Value value, ArrayRef<int64_t> dims) {
  std::optional<Ints> now = LayerBuilder::dims(value);
  if (failed() || (now && ArrayRef(*now) == dims))
    return value;
  if (std::optional<Tensor> known = top::constantTensor(value);
      known && !llvm::is_contained(dims, -1)) {
    const Shape shape(std::span(dims.data(), dims.size()));
    if (shape.numElements() == known->numElements())
      return withScalesOf(value, weight(suffix, known->reshaped(shape)));
  }
  return temp<top::ReshapeOp>(suffix, {value, none()}, attrs().setInts("shape", Ints(dims)));
}

Value TFLiteLayer::transposed(StringRef suffix, Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order) || failed())
    return value;
  if (std::optional<Tensor> known = top::constantTensor(value);
      known && bitWidth(known->type()) >= 8 && known->shape().rank() == order.size())
    return withScalesOf(value, weight(suffix, permuted(*known, order)));
  return temp<top::PermuteOp>(suffix, value, attrs().setInts("order", Ints(order)));
}

Value TFLiteLayer::turned(StringRef suffix, unsigned index, ArrayRef<int64_t> order) {
  if (failed() || !has(index) || !tensor(index).isConstant)
    return transposed(suffix, in(index), order);
  return orNone(state.values.movedConstant(op.inputs[index], order,
                                           state.module.freeName(baseName() + "_" + suffix.str())));
}

Value TFLiteLayer::cast(StringRef suffix, Value value, DataType type) {
  Type wanted = tpuc::elementType(context(), type);
  if (failed() || elementType(value) == wanted)
    return value;
  return temp<top::CastOp>(suffix, value, attrs().setType("to", wanted));
}

Value TFLiteLayer::filled(StringRef suffix, ArrayRef<int64_t> dims, float value) {
  Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  std::ranges::fill(tensor.mutableData<float>(), value);
  return weight(suffix, std::move(tensor));
}
