//===- ConvertStored.cpp - Operators of ONNX Runtime's quantizer ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers on stored integers are imported as what they stand for: the integers as numbers, the layer
// on these, and the result as integers (DequantizeLinear, the layer, QuantizeLinear). This is the
// form in which a chip keeps the integers of the network.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Counted.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Numbers and integers
//===----------------------------------------------------------------------===//

/// The numbers that input `index` stores with the scale and zero point in the inputs behind it.
Value numbers(NodeBuilder &node, StringRef suffix, Value stored, Value scale, Value zeroPoint,
              int64_t axis = 0) {
  return node.temp<top::DequantizeLinearOp>(suffix, {stored, scale, zeroPoint},
                                            node.attrs().setInt("axis", axis));
}

Value numbers(NodeBuilder &node, unsigned index, StringRef suffix) {
  return numbers(node, suffix, node.in(index), node.in(index + 1), node.in(index + 2));
}

/// Output 0: `value` as integers with the scale in input `scale` and the zero point behind it.
/// Where that is left out the integers have the type of `like`.
void emitStored(NodeBuilder &node, Value value, unsigned scale, Value like) {
  Attrs attributes = node.attrs();
  if (!node.has(scale + 1))
    attributes.setType("to", NodeBuilder::elementType(like));
  node.emit<top::QuantizeLinearOp>({value, node.in(scale), node.in(scale + 1)}, attributes);
}

/// A product of scales, as a constant where both are known.
Value scaleProduct(NodeBuilder &node, unsigned left, unsigned right, StringRef suffix,
                   double factor = 1.0) {
  std::optional<Tensor> a = node.constant(left);
  std::optional<Tensor> b = node.constant(right);
  if (a && b && (a->numElements() == 1 || b->numElements() == 1)) {
    const Tensor &wide = a->numElements() == 1 ? *b : *a;
    const Tensor &one = a->numElements() == 1 ? *a : *b;
    Tensor product(DataType::F32, wide.shape());
    const Tensor from = convert(wide, DataType::F32);
    const float times = convert(one, DataType::F32).data<float>()[0] * static_cast<float>(factor);
    for (auto [to, number] : llvm::zip_equal(product.mutableData<float>(), from.data<float>()))
      to = times * number;
    return node.weight(suffix, std::move(product));
  }
  Value product = node.temp<top::MulOp>(suffix, {node.in(left), node.in(right)});
  if (factor == 1.0)
    return product;
  return node.temp<top::MulConstOp>(suffix.str() + "_scaled", product,
                                    node.attrs().setFloat("const_val", factor));
}

//===----------------------------------------------------------------------===//
// Element by element, and pools
//===----------------------------------------------------------------------===//

/// A, its scale and zero point, B's, C's.
template <typename Op> void binaryStored(NodeBuilder &node) {
  needInputs(node, {3, 4, 6});
  Value left = numbers(node, 0, "a");
  Value right = numbers(node, 3, "b");
  emitStored(node, node.temp<Op>("real", {left, right}), 6, node.in(0));
}

/// X, its scale and zero point, Y's.
void storedLeakyRelu(NodeBuilder &node) {
  needInputs(node, {3});
  Value real = node.temp<top::LeakyReluOp>(
      "real", numbers(node, 0, "x"), node.attrs().setFloat("alpha", node.getFloat("alpha", 0.01)));
  emitStored(node, real, 3, node.in(0));
}

void storedSigmoid(NodeBuilder &node) {
  needInputs(node, {3});
  emitStored(node, node.temp<top::SigmoidOp>("real", numbers(node, 0, "x")), 3, node.in(0));
}

/// A softmax as QLinearSoftmax stores it: ONNX Runtime multiplies it by the whole part of 1 / scale
/// and not by 1 / scale, which makes a difference of up to one part in that number.
Value asSoftmaxIsStored(NodeBuilder &node, Value real, unsigned scaleInput) {
  const std::optional<Tensor> scale = node.constant(scaleInput);
  if (!scale || scale->numElements() != 1)
    return real;
  const float step = convert(*scale, DataType::F32).data<float>()[0];
  const float whole = std::floor(1 / step);
  // Where 1 / scale is a whole number, the factor is 1 but for rounding.
  const double factor = static_cast<double>(whole) * static_cast<double>(step);
  if (!(step > 0) || !std::isfinite(whole) || std::abs(factor - 1) < 0x1p-20)
    return real;
  return node.temp<top::MulConstOp>("stored", real, node.attrs().setFloat("const_val", factor));
}

void storedSoftmax(NodeBuilder &node) {
  needInputs(node, {3});
  const int64_t opset = node.needInt("opset");
  int64_t rank = node.needRank(0, "the softmax");
  int64_t axis = frontAxis(node, node.getInt("axis", -1), rank);
  if (node.failed())
    return;
  Value real = numbers(node, 0, "x");
  if (opset >= 13 || axis == rank - 1) {
    real = node.temp<top::SoftmaxOp>("real", real, node.attrs().setInt("axis", axis));
  } else {
    // Before opset 13 all dimensions from `axis` on were one.
    std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
    if (!dims || !NodeBuilder::isStatic(*dims))
      return node.fail("the shape of the input is not known");
    Value flat = node.temp<top::FlattenTo2DOp>("flat", real, node.attrs().setInt("axis", axis));
    Value made = node.temp<top::SoftmaxOp>("made", flat, node.attrs().setInt("axis", 1));
    real =
        node.temp<top::ReshapeOp>("real", {made, node.none()}, node.attrs().setInts("shape", dims));
  }
  emitStored(node, asSoftmaxIsStored(node, real, 3), 3, node.in(0));
}

void storedAveragePool(NodeBuilder &node) {
  needInputs(node, {3});
  const bool channelsLast = node.getInt("channels_last", 0) != 0;
  std::optional<Ints> kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.fail("attribute 'kernel_shape' is missing");
  Value real = numbers(node, 0, "x");
  if (channelsLast)
    real = moveChannels(node, real, /*toEnd=*/false, /*last=*/false, "channels_first");
  real = node.temp<top::AvgPoolOp>(
      "real", real,
      node.attrs()
          .setInts("kernel_shape", kernel)
          .setInts("strides", node.getInts("strides"))
          .setInts("pads", node.getInts("pads"))
          .setString("auto_pad", autoPad(node))
          .setBool("ceil_mode", node.getInt("ceil_mode", 0) != 0)
          .setBool("count_include_pad", node.getInt("count_include_pad", 0) != 0));
  if (channelsLast)
    real = moveChannels(node, real, /*toEnd=*/true, /*last=*/false, "channels_last");
  emitStored(node, real, 3, node.in(0));
}

void emitMean(NodeBuilder &node, const Ints &axes, bool keepDims) {
  Value real = node.temp<top::ReduceOp>("real", {numbers(node, 0, "x"), node.none()},
                                        node.attrs()
                                            .setInts("axes", axes)
                                            .setString("mode", "ReduceMean")
                                            .setBool("keepdims", keepDims));
  emitStored(node, real, 3, node.in(0));
}

void storedGlobalAveragePool(NodeBuilder &node) {
  const bool channelsLast = node.getInt("channels_last", 0) != 0;
  int64_t rank = node.needRank(0, "the pool");
  if (node.failed())
    return;
  std::optional<Ints> dims = NodeBuilder::dims(node.in(0));
  Ints window(dims->begin() + std::min<int64_t>(rank, 2), dims->end());
  if (!channelsLast && rank > 2 && NodeBuilder::isStatic(window)) {
    Value real = node.temp<top::AvgPoolOp>("real", numbers(node, 0, "x"),
                                           node.attrs().setInts("kernel_shape", window));
    return emitStored(node, real, 3, node.in(0));
  }
  Ints axes;
  for (int64_t axis = channelsLast ? 1 : 2; axis < (channelsLast ? rank - 1 : rank); ++axis)
    axes.push_back(axis);
  emitMean(node, axes, true);
}

void storedMean(NodeBuilder &node) {
  needInputs(node, {3});
  std::optional<Ints> axes = node.getInts("axes");
  if (!axes)
    return node.fail("attribute 'axes' is missing");
  emitMean(node, *axes, node.needInt("keepdims") != 0);
}

/// Y's scale and zero point, then each input with its own.
void storedConcat(NodeBuilder &node) {
  const int64_t axis = node.needInt("axis");
  if (node.numInputs() < 5 || (node.numInputs() - 2) % 3 != 0)
    return node.fail("has " + counted(node.numInputs(), "input"),
                     "2 and 3 for each part: a tensor, its scale and its zero point");
  SmallVector<Value> parts;
  for (unsigned index = 2; index < node.numInputs(); index += 3)
    parts.push_back(numbers(node, index, fmt::format("part{}", (index - 2) / 3)));
  emitStored(node, node.temp<top::ConcatOp>("real", parts, node.attrs().setInt("axis", axis)), 0,
             node.in(2));
}

/// The condition, X and Y with scales and zero points, Z's.
void storedWhere(NodeBuilder &node) {
  Value yes = numbers(node, 1, "x");
  Value no = numbers(node, 4, "y");
  emitStored(node, node.temp<top::WhereOp>("real", {node.in(0), yes, no}), 7, node.in(1));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The axis that a scale of the right operand counts: the last.
int64_t columnAxis(Value right, bool transposed = false) {
  int64_t rank = NodeBuilder::rank(right).value_or(2);
  return rank < 2 ? 0 : transposed ? rank - 2 : rank - 1;
}

/// alpha * A' * B' + C: A, B and Y with their scales and zero points, C in the product of the
/// scales and alpha. Floats where Y has no scale.
void qGemm(NodeBuilder &node) {
  const double alpha = node.getFloat("alpha", 1.0);
  const bool right = node.getInt("transB", 0) != 0;
  Attrs attributes = node.attrs()
                         .setBool("left_transpose", node.getInt("transA", 0) != 0)
                         .setBool("right_transpose", right);
  const bool stored = node.has(7);
  Value left = numbers(node, 0, "a");
  Value weights =
      numbers(node, "b", node.in(3), node.in(4), node.in(5), columnAxis(node.in(3), right));
  Value addend = node.none();
  if (node.has(6)) {
    int64_t rank = node.needRank(6, "C");
    addend = numbers(node, "c", node.in(6), scaleProduct(node, 1, 4, "c_scale", alpha), node.none(),
                     std::max<int64_t>(rank - 1, 0));
  }
  const bool isBias = alpha == 1.0 && NodeBuilder::rank(addend) == 1;
  const bool adds = node.has(6) && !isBias;
  Value value = make<top::MatMulOp>(node, !stored && !adds && alpha == 1.0, "product",
                                    {left, weights, isBias ? addend : node.none()}, attributes);
  if (alpha != 1.0)
    value = make<top::MulConstOp>(node, !stored && !adds, "scaled", value,
                                  node.attrs().setFloat("const_val", alpha));
  if (adds)
    value = make<top::AddOp>(node, !stored, "sum", {value, addend}, node.attrs());
  if (stored)
    emitStored(node, value, 7, node.in(0));
}

/// Output 0: the product of numbers, with the bias in input `bias`.
void emitProduct(NodeBuilder &node, Value left, Value right, unsigned bias) {
  node.emit<top::MatMulOp>({left, right, node.in(bias)});
}

/// A, B, their scales, their zero points, a bias.
void matMulIntegerToFloat(NodeBuilder &node) {
  Value left = numbers(node, "a", node.in(0), node.in(2), node.in(4));
  Value right = numbers(node, "b", node.in(1), node.in(3), node.in(5), columnAxis(node.in(1)));
  emitProduct(node, left, right, 6);
}

/// `value` as the u8 of its range, and back.
Value throughOwnRange(NodeBuilder &node, Value value, StringRef suffix) {
  SmallVector<Value> stored =
      node.temps<top::DynamicQuantizeLinearOp>(suffix.str() + "_stored", 3, 3, value, node.attrs());
  return numbers(node, suffix, stored[0], stored[1], stored[2]);
}

/// A, B with its scale and zero point, a bias. A is stored in u8 by its own range.
void dynamicQuantizeMatMul(NodeBuilder &node) {
  Value left = throughOwnRange(node, node.in(0), "a");
  Value right = numbers(node, "b", node.in(1), node.in(2), node.in(3), columnAxis(node.in(1)));
  emitProduct(node, left, right, 4);
}

//===----------------------------------------------------------------------===//
// Weights of few bits
//===----------------------------------------------------------------------===//

/// Element `index` of row `row` of numbers of `bits` bits, the first in the low bits of a byte.
unsigned bitsAt(std::span<const uint8_t> bytes, size_t rowBytes, size_t row, size_t index,
                unsigned bits) {
  const size_t perByte = 8 / bits;
  const uint8_t byte = bytes[row * rowBytes + index / perByte];
  return (byte >> ((index % perByte) * bits)) & ((1U << bits) - 1);
}

/// A product with weights of N columns of K numbers, in blocks with a scale and a zero point each.
void matMulNBits(NodeBuilder &node) {
  const int64_t bits = node.getInt("bits", 4);
  const int64_t rows = node.needInt("K");
  const int64_t columns = node.needInt("N");
  const int64_t block = node.needInt("block_size");
  // How exactly the sums are computed, and whether the weights stand in another order in memory.
  node.ignore({"accuracy_level"});
  if (node.getInt("weight_prepacked", 0) != 0)
    return node.fail("attribute 'weight_prepacked' is not 0", "weights in the order of the format");
  if (bits != 2 && bits != 4 && bits != 8)
    return node.fail(fmt::format("attribute 'bits' is {}", bits), "2, 4 or 8");
  if (rows < 1 || columns < 1 || block < 1 || rows > (int64_t(1) << 31) ||
      columns > (int64_t(1) << 31) || block > (int64_t(1) << 31))
    return node.fail(fmt::format("K, N and block_size are {}, {} and {}", rows, columns, block),
                     "positive 32-bit numbers");
  if (node.has(4))
    return node.fail("has input 4, the group of each row", "blocks of rows in their order");
  std::optional<Tensor> packed = node.constant(1);
  std::optional<Tensor> scales = node.constant(2);
  std::optional<Tensor> zeros = node.has(3) ? node.constant(3) : std::nullopt;
  if (!packed || !scales || (node.has(3) && !zeros))
    return node.fail("the weights, scales or zero points are not constant");
  const int64_t blocks = (rows + block - 1) / block;
  const int64_t columnBytes = blocks * ((block * bits + 7) / 8);
  const int64_t zeroBytes = (blocks * bits + 7) / 8;
  if (packed->type() != DataType::U8 || packed->numElements() != columns * columnBytes)
    return node.fail(
        fmt::format("the weights are {} bytes", packed->byteSize()),
        fmt::format("{}: {} columns of {} blocks", columns * columnBytes, columns, blocks));
  if (scales->numElements() != columns * blocks)
    return node.fail(fmt::format("has {} scales", scales->numElements()),
                     fmt::format("{}: one for each block", columns * blocks));
  const bool packedZeros = zeros && zeros->type() == DataType::U8;
  if (zeros && zeros->numElements() != columns * (packedZeros ? zeroBytes : blocks))
    return node.fail(fmt::format("has {} elements of zero points", zeros->numElements()),
                     fmt::format("{}", columns * (packedZeros ? zeroBytes : blocks)));
  const Tensor scaleFloats = convert(*scales, DataType::F32);
  const Tensor zeroFloats = zeros && !packedZeros ? convert(*zeros, DataType::F32) : Tensor();
  Expected<Tensor> weights =
      Tensor::create(DataType::F32, Ints{rows, columns}, node.place() + ": the weights");
  if (!weights)
    return node.fail(weights.error().message());
  auto to = weights->mutableData<float>();
  const auto bytes = packed->data<uint8_t>();
  const auto blockBytes = columnBytes / blocks;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = column * blocks + row / block;
      const unsigned stored = bitsAt(bytes, blockBytes, at, row % block, bits);
      float zero = static_cast<float>(1U << (bits - 1));
      if (packedZeros)
        zero = static_cast<float>(
            bitsAt(zeros->data<uint8_t>(), zeroBytes, column, row / block, bits));
      else if (zeros)
        zero = zeroFloats.data<float>()[at];
      to[row * columns + column] =
          (static_cast<float>(stored) - zero) * scaleFloats.data<float>()[at];
    }
  Tensor typed = convert(*weights, scales->type());
  node.emit<top::MatMulOp>({node.in(0), node.weight("weights", std::move(typed)), node.in(5)});
}

//===----------------------------------------------------------------------===//
// Recurrent cells
//===----------------------------------------------------------------------===//

/// The weights [D, I, 4 * H] in input `index` as the numbers [D, 4 * H, I] that they store; scale
/// and zero point, one for each direction or each of its columns, in `scale` and behind it.
Value cellWeights(NodeBuilder &node, unsigned index, unsigned scale, StringRef suffix) {
  std::optional<Tensor> stored = node.constant(index);
  std::optional<Tensor> scales = node.constant(scale);
  std::optional<Tensor> zeros = node.constant(scale + 1);
  if (!stored || !scales || !zeros || stored->shape().rank() != 3) {
    node.fail(fmt::format("input {} or its scale or zero point is not constant, or not of rank 3",
                          index));
    return node.none();
  }
  const int64_t directions = stored->shape()[0];
  const int64_t inputs = stored->shape()[1];
  const int64_t columns = stored->shape()[2];
  for (const Tensor *each : {&*scales, &*zeros})
    if (each->numElements() != directions && each->numElements() != directions * columns) {
      node.fail(fmt::format("input {} has {} scales or zero points", index, each->numElements()),
                fmt::format("{} or {}", directions, directions * columns));
      return node.none();
    }
  auto at = [&](std::span<const float> values, int64_t direction, int64_t column) {
    return values[static_cast<int64_t>(values.size()) == directions ? direction
                                                                    : direction * columns + column];
  };
  const Tensor from = convert(*stored, DataType::F32);
  const Tensor scaleFloats = convert(*scales, DataType::F32);
  const Tensor zeroFloats = convert(*zeros, DataType::F32);
  Tensor to(DataType::F32, Shape{directions, columns, inputs});
  auto source = from.data<float>();
  auto target = to.mutableData<float>();
  for (int64_t direction = 0; direction < directions; ++direction)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t input = 0; input < inputs; ++input)
        target[(direction * columns + column) * inputs + input] =
            (source[(direction * inputs + input) * columns + column] -
             at(zeroFloats.data<float>(), direction, column)) *
            at(scaleFloats.data<float>(), direction, column);
  return node.weight(suffix, std::move(to));
}

/// LSTM with stored weights. The inputs of all steps are rounded by their range; the states are
/// not.
void dynamicQuantizeLstm(NodeBuilder &node) {
  needInputs(node, {8, 9, 10, 11});
  Value filter = cellWeights(node, 1, 8, "w");
  Value recurrence = cellWeights(node, 2, 10, "r");
  if (node.failed())
    return;
  SmallVector<Value> operands = {throughOwnRange(node, node.in(0), "x"), filter, recurrence};
  for (unsigned index = 3; index < 8; ++index)
    operands.push_back(node.in(index));
  node.emitAll<top::LSTMOp>(3, 0, operands, lstmAttrs(node, recurrence));
}

constexpr OpRow kStoredRows[] = {
    {"DynamicQuantizeLSTM", 1, 3, 12, dynamicQuantizeLstm,
     "DynamicQuantizeLinear, DequantizeLinear, LSTM", kMicrosoft},
    {"DynamicQuantizeMatMul", 1, 3, 5, dynamicQuantizeMatMul,
     "DynamicQuantizeLinear, DequantizeLinear, MatMul", kMicrosoft},
    {"MatMulIntegerToFloat", 1, 4, 7, matMulIntegerToFloat, "DequantizeLinear, MatMul", kMicrosoft},
    {"MatMulNBits", 1, 3, 6, matMulNBits, "MatMul", kMicrosoft},
    {"QGemm", 1, 6, 9, qGemm, "DequantizeLinear, MatMul, Add, QuantizeLinear", kMicrosoft},
    {"QLinearAdd", 1, 2, 8, binaryStored<top::AddOp>, "DequantizeLinear, Add, QuantizeLinear",
     kMicrosoft},
    {"QLinearAveragePool", 1, 2, 5, storedAveragePool, "DequantizeLinear, AvgPool, QuantizeLinear",
     kMicrosoft},
    {"QLinearConcat", 1, 5, -1, storedConcat, "DequantizeLinear, Concat, QuantizeLinear",
     kMicrosoft},
    {"QLinearGlobalAveragePool", 1, 5, 5, storedGlobalAveragePool,
     "DequantizeLinear, AvgPool, Reduce, QuantizeLinear", kMicrosoft},
    {"QLinearLeakyRelu", 1, 2, 5, storedLeakyRelu, "DequantizeLinear, LeakyRelu, QuantizeLinear",
     kMicrosoft},
    {"QLinearMul", 1, 2, 8, binaryStored<top::MulOp>, "DequantizeLinear, Mul, QuantizeLinear",
     kMicrosoft},
    {"QLinearReduceMean", 1, 2, 5, storedMean, "DequantizeLinear, Reduce, QuantizeLinear",
     kMicrosoft},
    {"QLinearSigmoid", 1, 2, 5, storedSigmoid, "DequantizeLinear, Sigmoid, QuantizeLinear",
     kMicrosoft},
    {"QLinearSoftmax", 1, 2, 5, storedSoftmax, "DequantizeLinear, Softmax, QuantizeLinear",
     kMicrosoft},
    {"QLinearWhere", 1, 9, 9, storedWhere, "DequantizeLinear, Where, QuantizeLinear", kMicrosoft},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::storedRows() { return kStoredRows; }
