//===- OpKernels.cpp - The kernels that compute an op on the BM1684X ----------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"
#include "tpuc/Codegen/ResizeTaps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Target/BM1684X/Codegen/Operands.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

namespace {

using Kernels = Expected<std::vector<Kernel>>;

LocalTensor operandOf(const SlicedOp &sliced, unsigned index) {
  return localOperand(sliced.op, *sliced.model, index, sliced.operands[index]);
}

LocalTensor resultOf(const SlicedOp &sliced) {
  return localOperand(sliced.op, *sliced.model, sliced.op->getNumOperands(), sliced.result);
}

Scratch scratchRoom(const SlicedOp &sliced) {
  return {static_cast<uint32_t>(sliced.scratchAddress), static_cast<uint32_t>(sliced.scratchBytes)};
}

uint32_t addressOf(const SlicedOp &sliced, unsigned index) {
  return static_cast<uint32_t>(sliced.operands[index].address);
}

Activation activationOf(Operation *op) {
  const auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  const auto limit = op->getAttrOfType<FloatAttr>("relu_limit");
  return {.relu = relu && relu.getValue(), .limit = limit ? limit.getValueAsDouble() : -1};
}

bool isPresent(Operation *op, unsigned index) {
  return index < op->getNumOperands() && !isa<NoneType>(op->getOperand(index).getType());
}

/// The entries of an attribute for h and w; of one spatial dimension that is w.
std::array<int64_t, 2> planar(std::optional<ArrayAttr> attribute, int64_t missing) {
  std::array<int64_t, 2> values{missing, missing};
  if (!attribute)
    return values;
  const SmallVector<int64_t> given = top::toInts(*attribute);
  if (given.size() == 1)
    return {missing, given[0]};
  return {given[0], given[1]};
}

/// The window of `op` over the slice that `sliced` is: pads are those at the slice's edges.
template <typename Op> Window2d windowOf(Op op, const SlicedOp &sliced) {
  Window2d window{.kernel = planar(op.getKernelShape(), 1),
                  .stride = planar(op.getStrides(), 1),
                  .dilation = planar(op.getDilations(), 1)};
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const PaddedRange range = sliced.model->operands[0].padded(axis, sliced.result.slice[axis]);
    window.padBegin[i] = range.padBegin;
    window.padEnd[i] = range.padEnd;
  }
  return window;
}

template <typename Op> bool isPlanar(Op op) { return op.getKernelShape().size() <= 2; }

Convolution convolutionOf(Operation *op, const SlicedOp &sliced, int64_t group) {
  Convolution conv;
  conv.input = operandOf(sliced, 0);
  conv.output = resultOf(sliced);
  conv.filterAddress = addressOf(sliced, 1);
  conv.group = group;
  conv.activation = activationOf(op);
  conv.scratch = scratchRoom(sliced);
  if (isPresent(op, 2))
    conv.biasAddress = addressOf(sliced, 2);
  // A depthwise convolution has as many groups as channels, of a slice, too.
  if (group > 1 && sliced.model->operands[0].maps[kAxisC].kind == AxisMap::Same)
    conv.group = conv.output.shape[1];
  return conv;
}

Kernels convKernels(tpu::ConvOp op, const SlicedOp &sliced) {
  if (!isPlanar(op))
    return makeError("", "a convolution over 3 dimensions", "1 or 2");
  if (llvm::any_of(planar(op.getStrides(), 1), [](int64_t stride) { return stride > 15; }))
    return makeError("", "a stride above 15", "what one command takes");
  Convolution conv = convolutionOf(op, sliced, static_cast<int64_t>(op.getGroup()));
  conv.window = windowOf(op, sliced);
  return std::vector<Kernel>{conv};
}

Kernels deconvKernels(tpu::DeconvOp op, const SlicedOp &sliced) {
  if (!isPlanar(op))
    return makeError("", "a transposed convolution over 3 dimensions", "1 or 2");
  if (op.getGroup() != 1)
    return makeError("", "a transposed convolution in groups", "one group");
  Convolution conv = convolutionOf(op, sliced, 1);
  conv.window = {.kernel = planar(op.getKernelShape(), 1),
                 .stride = planar(op.getStrides(), 1),
                 .dilation = planar(op.getDilations(), 1)};
  // Zeros around the spread input: a whole window less one, without what lies before the slice of
  // the result and behind it.
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned axis = kAxisH + i;
    const AxisMap &map = sliced.model->operands[0].maps[axis];
    const Range input = sliced.operands[0].slice[axis];
    const Range output = sliced.result.slice[axis];
    const int64_t before = output.begin - (input.begin * map.stride - map.pad);
    const int64_t behind = (input.end() - 1) * map.stride - map.pad + map.window - output.end();
    conv.window.padBegin[i] = map.window - 1 - before;
    conv.window.padEnd[i] = map.window - 1 - behind;
  }
  return std::vector<Kernel>{Deconvolution{conv}};
}

template <typename Op> Kernels poolKernels(Op op, const SlicedOp &sliced) {
  if (!isPlanar(op))
    return makeError("", "a pooling over 3 dimensions", "1 or 2");
  return std::vector<Kernel>{Pooling{.input = operandOf(sliced, 0),
                                     .output = resultOf(sliced),
                                     .window = windowOf(op, sliced),
                                     .isAverage = isa<tpu::AvgPoolOp>(op),
                                     .countsPadding = op.getCountIncludePad(),
                                     .activation = activationOf(op),
                                     .scratch = scratchRoom(sliced)}};
}

/// One product for each matrix of the batch.
Kernels matMulKernels(tpu::MatMulOp op, const SlicedOp &sliced) {
  const LocalTensor left = operandOf(sliced, 0);
  const LocalTensor right = operandOf(sliced, 1);
  const LocalTensor output = resultOf(sliced);
  MatrixProduct product;
  product.rightIsTransposed = operandForm(op, 1) == OperandForm::Columns;
  product.activation = activationOf(op);
  product.scratch = scratchRoom(sliced);
  if (isPresent(op, 2)) {
    if (sliced.model->operands[2].extents[kAxisC] != sliced.model->result[kAxisC])
      return makeError("", "one bias for all columns", "one for each");
    product.biasAddress = addressOf(sliced, 2);
  }
  if (op.getRightTranspose() && !product.rightIsTransposed && !packedLayout(op->getOpOperand(1)))
    return makeError("", "a transposed right operand in F32 that is no constant");
  std::vector<Kernel> products;
  for (int64_t batch = 0; batch < output.shape[0]; ++batch) {
    product.left = left.slice(0, batch, 1);
    product.right = right.slice(0, batch, 1);
    product.output = output.slice(0, batch, 1);
    products.push_back(product);
  }
  return products;
}

std::optional<BinaryKind> binaryKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<BinaryKind>>(op)
      .Case<tpu::AddOp, tpu::AddConstOp>([](auto) { return BinaryKind::Add; })
      .Case<tpu::SubOp, tpu::SubConstOp>([](auto) { return BinaryKind::Sub; })
      .Case<tpu::MulOp, tpu::MulConstOp>([](auto) { return BinaryKind::Mul; })
      .Case<tpu::DivOp, tpu::DivConstOp>([](auto) { return BinaryKind::Div; })
      .Case<tpu::MaxOp, tpu::MaxConstOp>([](auto) { return BinaryKind::Max; })
      .Case<tpu::MinOp, tpu::MinConstOp>([](auto) { return BinaryKind::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

Kernels binaryKernels(Operation *op, BinaryKind kind, const SlicedOp &sliced) {
  if (auto factors = op->getAttrOfType<ArrayAttr>("coeff"))
    for (double factor : toDoubles(factors))
      if (factor != 1)
        return makeError("", "a weighted sum", "factors of 1");
  Binary binary;
  binary.kind = kind;
  binary.output = resultOf(sliced);
  binary.activation = activationOf(op);
  binary.scratch = scratchRoom(sliced);
  std::vector<BinaryOperand> operands;
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    if (std::optional<double> number = scalarOperand(op, index);
        number && operandForm(op, index) == OperandForm::Absent)
      operands.emplace_back(*number);
    else
      operands.emplace_back(operandOf(sliced, index));
  }
  if (auto constant = op->getAttrOfType<FloatAttr>("const_val")) {
    operands.emplace_back(constant.getValueAsDouble());
    if (auto reverse = op->getAttrOfType<BoolAttr>("is_reverse"); reverse && reverse.getValue())
      std::swap(operands[0], operands[1]);
  }
  if (operands.size() != 2)
    return makeError("", std::to_string(operands.size()) + " operands", "two");
  binary.left = operands[0];
  binary.right = operands[1];
  return std::vector<Kernel>{binary};
}

/// The kind of an element-wise op of one tensor, with its two numbers.
std::optional<Unary> unaryOf(Operation *op) {
  const auto number = [&](StringRef name, double missing = 0) {
    const auto attribute = op->getAttrOfType<FloatAttr>(name);
    return attribute ? attribute.getValueAsDouble() : missing;
  };
  const auto make = [](UnaryKind kind, double a = 0, double b = 0) {
    Unary unary;
    unary.kind = kind;
    unary.a = a;
    unary.b = b;
    return unary;
  };
  using Maybe = std::optional<Unary>;
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](tpu::ReluOp) { return make(UnaryKind::Relu, number("relu_limit", -1)); })
      .Case([&](tpu::ClipOp) { return make(UnaryKind::Clip, number("min"), number("max")); })
      .Case([&](tpu::LeakyReluOp) { return make(UnaryKind::LeakyRelu, number("alpha")); })
      .Case([&](tpu::AbsOp) { return make(UnaryKind::Abs); })
      .Case([&](tpu::NegOp) { return make(UnaryKind::Neg); })
      .Case([&](tpu::SqrtOp) { return make(UnaryKind::Sqrt); })
      .Case([&](tpu::RsqrtOp) { return make(UnaryKind::Rsqrt); })
      .Case([&](tpu::ReciprocalOp) { return make(UnaryKind::Reciprocal); })
      .Case([&](tpu::ExpOp) { return make(UnaryKind::Exp); })
      .Case([&](tpu::LogOp) { return make(UnaryKind::Log); })
      .Case([&](tpu::SigmoidOp) {
        return make(UnaryKind::Sigmoid, number("scale", 1), number("bias"));
      })
      .Case([&](tpu::TanhOp) { return make(UnaryKind::Tanh); })
      .Case([&](tpu::SiLUOp) { return make(UnaryKind::Swish, 1); })
      .Case([&](tpu::SwishOp) { return make(UnaryKind::Swish, number("beta", 1)); })
      .Case([&](tpu::GELUOp gelu) {
        return make(gelu.getApproxMode() == "tanh" ? UnaryKind::GeluTanh : UnaryKind::GeluErf);
      })
      .Case([&](tpu::ErfOp) { return make(UnaryKind::Erf); })
      .Case([&](tpu::HardSigmoidOp) {
        return make(UnaryKind::HardSigmoid, number("alpha", 0.2), number("beta", 0.5));
      })
      .Case([&](tpu::HardSwishOp) { return make(UnaryKind::HardSwish); })
      .Case([&](tpu::EluOp) { return make(UnaryKind::Elu, number("alpha", 1)); })
      .Case([&](tpu::SoftplusOp) { return make(UnaryKind::Softplus); })
      .Case([&](tpu::MishOp) { return make(UnaryKind::Mish); })
      .Case([&](tpu::FloorOp) { return make(UnaryKind::Floor); })
      .Case([&](tpu::CeilOp) { return make(UnaryKind::Ceil); })
      .Case([&](tpu::RoundOp) { return make(UnaryKind::Round); })
      .Default([](Operation *) { return Maybe(); });
}

Kernels unaryKernels(const SlicedOp &sliced, Unary unary) {
  if (auto log = sliced.op->getAttrOfType<BoolAttr>("log"); log && log.getValue())
    return makeError("", "a logarithm of the result");
  unary.input = operandOf(sliced, 0);
  unary.output = resultOf(sliced);
  unary.scratch = scratchRoom(sliced);
  return std::vector<Kernel>{unary};
}

/// max(x, 0) + slope * min(x, 0), the second part in the scratch.
Kernels preluKernels(const SlicedOp &sliced) {
  const LocalTensor input = operandOf(sliced, 0);
  const LocalTensor output = resultOf(sliced);
  const LocalTensor negative = output.at(static_cast<uint32_t>(sliced.scratchAddress));
  BinaryOperand slope = operandOf(sliced, 1);
  if (std::optional<double> number = scalarOperand(sliced.op, 1))
    slope = *number;
  const auto binary = [](BinaryKind kind, BinaryOperand left, BinaryOperand right,
                         const LocalTensor &to) {
    return Binary{.kind = kind,
                  .left = std::move(left),
                  .right = std::move(right),
                  .output = to,
                  .activation = {},
                  .scratch = {}};
  };
  return std::vector<Kernel>{binary(BinaryKind::Min, input, 0.0, negative),
                             binary(BinaryKind::Mul, negative, slope, negative),
                             binary(BinaryKind::Max, input, 0.0, output),
                             binary(BinaryKind::Add, output, negative, output)};
}

Kernels reduceKernels(tpu::ReduceOp op, const SlicedOp &sliced) {
  const auto kind = llvm::StringSwitch<std::optional<ReduceKind>>(op.getMode())
                        .Case("ReduceSum", ReduceKind::Sum)
                        .Case("ReduceMean", ReduceKind::Mean)
                        .Case("ReduceMax", ReduceKind::Max)
                        .Case("ReduceMin", ReduceKind::Min)
                        .Default(std::nullopt);
  if (!kind)
    return makeError("", "mode " + op.getMode().str(), "a sum, mean, maximum or minimum");
  return std::vector<Kernel>{Reduction{.kind = *kind,
                                       .input = operandOf(sliced, 0),
                                       .output = resultOf(sliced),
                                       .scratch = scratchRoom(sliced)}};
}

/// A layer norm, or an instance norm.
template <typename Op> Kernels normKernels(Op op, const SlicedOp &sliced) {
  Normalization norm;
  norm.input = operandOf(sliced, 0);
  norm.output = resultOf(sliced);
  norm.epsilon = op.getEps().convertToDouble();
  norm.scratch = scratchRoom(sliced);
  if (isPresent(op, 1))
    norm.gamma = operandOf(sliced, 1);
  if (isPresent(op, 2))
    norm.beta = operandOf(sliced, 2);
  return std::vector<Kernel>{norm};
}

Kernels softmaxKernels(tpu::SoftmaxOp op, const SlicedOp &sliced) {
  return std::vector<Kernel>{Softmax{.input = operandOf(sliced, 0),
                                     .output = resultOf(sliced),
                                     .beta = op.getBeta().convertToDouble(),
                                     .isLog = op.getLog(),
                                     .scratch = scratchRoom(sliced)}};
}

Kernels upsampleKernels(const SlicedOp &sliced) {
  return std::vector<Kernel>{
      UpsampleNearest{.input = operandOf(sliced, 0), .output = resultOf(sliced)}};
}

Kernels interpKernels(tpu::InterpOp op, const SlicedOp &sliced) {
  if (repeatsPixels(op))
    return upsampleKernels(sliced);
  Resize resize;
  resize.input = operandOf(sliced, 0);
  resize.output = resultOf(sliced);
  resize.scratch = scratchRoom(sliced);
  for (unsigned i = 0; i < 2; ++i) {
    Expected<std::vector<InputTaps>> taps =
        resizeTaps(op, i, sliced.result.slice[kAxisH + i], sliced.operands[0].slice[kAxisH + i]);
    if (!taps)
      return propagate(taps);
    for (const InputTaps &tap : *taps)
      (i == 0 ? resize.rows : resize.columns).push_back({tap.first, tap.second, tap.secondWeight});
  }
  return std::vector<Kernel>{resize};
}

bool isComputed(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

/// Types and forms that no kernel takes.
Expected<void> checkOperands(const SlicedOp &sliced) {
  for (unsigned index = 0; index <= sliced.op->getNumOperands(); ++index) {
    const bool isResult = index == sliced.op->getNumOperands();
    if (!isResult && !isPresent(sliced.op, index))
      continue;
    const DataType type = elementTypeOf(sliced.op, index);
    if (!isComputed(type))
      return makeError("", "a tensor of " + std::string(dataTypeName(type)), "F32, F16 or BF16");
    const LocalSlice &local = isResult ? sliced.result : sliced.operands[index];
    const Slice &slice = local.slice;
    if (local.held && (operandForm(sliced.op, index) != OperandForm::Tensor ||
                       (*local.held)[kAxisD].size > 1 ||
                       (*local.held)[kAxisC] != slice[kAxisC]) && *local.held != slice)
      return makeError("", "a part of a larger operand");
    if (slice[kAxisD].size > 1)
      return makeError("", "a tensor of 5 dimensions", "at most 4");
  }
  return {};
}

} // namespace

bool hasKernel(Operation *op) {
  return binaryKind(op) || unaryOf(op) ||
         isa<tpu::ConvOp, tpu::DeconvOp, tpu::MaxPoolOp, tpu::AvgPoolOp, tpu::MatMulOp, tpu::CastOp,
             tpu::PReluOp, tpu::ReduceOp, tpu::LayerNormOp, tpu::InstanceNormOp, tpu::SoftmaxOp,
             tpu::UpsampleOp, tpu::InterpOp>(op);
}

Expected<std::vector<Kernel>> kernelsOf(const SlicedOp &sliced) {
  if (Expected<void> checked = checkOperands(sliced); !checked)
    return propagate(checked);
  Operation *op = sliced.op;
  if (std::optional<BinaryKind> kind = binaryKind(op))
    return binaryKernels(op, *kind, sliced);
  if (std::optional<Unary> unary = unaryOf(op))
    return unaryKernels(sliced, *unary);
  return llvm::TypeSwitch<Operation *, Kernels>(op)
      .Case([&](tpu::ConvOp conv) { return convKernels(conv, sliced); })
      .Case([&](tpu::DeconvOp deconv) { return deconvKernels(deconv, sliced); })
      .Case<tpu::MaxPoolOp, tpu::AvgPoolOp>([&](auto pool) { return poolKernels(pool, sliced); })
      .Case([&](tpu::MatMulOp product) { return matMulKernels(product, sliced); })
      .Case([&](tpu::CastOp) {
        return std::vector<Kernel>{CastOp{.input = operandOf(sliced, 0),
                                          .output = resultOf(sliced),
                                          .scratch = scratchRoom(sliced)}};
      })
      .Case([&](tpu::PReluOp) { return preluKernels(sliced); })
      .Case([&](tpu::ReduceOp reduce) { return reduceKernels(reduce, sliced); })
      .Case<tpu::LayerNormOp, tpu::InstanceNormOp>(
          [&](auto norm) { return normKernels(norm, sliced); })
      .Case([&](tpu::SoftmaxOp softmax) { return softmaxKernels(softmax, sliced); })
      .Case([&](tpu::UpsampleOp) { return upsampleKernels(sliced); })
      .Case([&](tpu::InterpOp interp) { return interpKernels(interp, sliced); })
      .Default([](Operation *) -> Kernels { return makeError("", "there is no kernel"); });
}

Expected<uint32_t> scratchOf(const Kernel &kernel) {
  struct Visitor {
    Expected<uint32_t> operator()(const Convolution &k) const { return convolutionScratch(k); }
    Expected<uint32_t> operator()(const Deconvolution &k) const {
      return deconvolutionScratch(k.conv);
    }
    Expected<uint32_t> operator()(const Pooling &k) const { return poolingScratch(k); }
    Expected<uint32_t> operator()(const MatrixProduct &k) const { return matrixProductScratch(k); }
    Expected<uint32_t> operator()(const Binary &k) const { return binaryScratch(k); }
    Expected<uint32_t> operator()(const CastOp &k) const { return castScratch(k); }
    Expected<uint32_t> operator()(const Unary &k) const { return unaryScratch(k); }
    Expected<uint32_t> operator()(const Reduction &k) const { return reductionScratch(k); }
    Expected<uint32_t> operator()(const Softmax &k) const { return softmaxScratch(k); }
    Expected<uint32_t> operator()(const Normalization &k) const { return normalizationScratch(k); }
    Expected<uint32_t> operator()(const UpsampleNearest &k) const {
      if (Expected<void> checked = checkUpsampleNearest(k); !checked)
        return propagate(checked);
      return 0;
    }
    Expected<uint32_t> operator()(const Resize &k) const { return resizeScratch(k); }
  };
  return std::visit(Visitor(), kernel);
}

Expected<void> emit(Builder &builder, const Kernel &kernel) {
  struct Visitor {
    Builder &builder;
    Expected<void> operator()(const Convolution &k) const { return emitConvolution(builder, k); }
    Expected<void> operator()(const Deconvolution &k) const {
      return emitDeconvolution(builder, k.conv);
    }
    Expected<void> operator()(const Pooling &k) const { return emitPooling(builder, k); }
    Expected<void> operator()(const MatrixProduct &k) const {
      return emitMatrixProduct(builder, k);
    }
    Expected<void> operator()(const Binary &k) const { return emitBinary(builder, k); }
    Expected<void> operator()(const CastOp &k) const { return emitCast(builder, k); }
    Expected<void> operator()(const Unary &k) const { return emitUnary(builder, k); }
    Expected<void> operator()(const Reduction &k) const { return emitReduction(builder, k); }
    Expected<void> operator()(const Softmax &k) const { return emitSoftmax(builder, k); }
    Expected<void> operator()(const Normalization &k) const {
      return emitNormalization(builder, k);
    }
    Expected<void> operator()(const UpsampleNearest &k) const {
      return emitUpsampleNearest(builder, k);
    }
    Expected<void> operator()(const Resize &k) const { return emitResize(builder, k); }
  };
  return std::visit(Visitor{builder}, kernel);
}

} // namespace tpuc::bm1684x::backend
