//===- LowerQuantOps.cpp - quant.dcast and quant.qcast as arithmetic -------------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace tpuc::quant {
#define GEN_PASS_DEF_LOWERQUANTOPS
#include "tpuc/Dialect/Quant/Transforms/Passes.h.inc"
} // namespace tpuc::quant

using namespace mlir;
using namespace tpuc::quant;

namespace {

/// The sizes and encoding of `tensor` with another element type.
RankedTensorType withElementType(RankedTensorType tensor, Type element) {
  return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
}

/// Element-wise arithmetic on scalars or on ranked tensors of one shape, to which scalar constants
/// are splat.
class Elementwise {
public:
  /// On scalars.
  explicit Elementwise(ImplicitLocOpBuilder &builder) : builder(builder) {}
  /// On values shaped like `value`, a scalar or ranked tensor.
  Elementwise(ImplicitLocOpBuilder &builder, Value value)
      : builder(builder), shape(dyn_cast<RankedTensorType>(value.getType())) {
    if (!shape)
      return;
    for (int64_t dim = 0; dim < shape.getRank(); ++dim)
      if (shape.isDynamicDim(dim))
        dynamicSizes.push_back(builder.create<tensor::DimOp>(value, dim));
  }

  Type withElement(Type element) const {
    return shape ? Type(withElementType(shape, element)) : element;
  }

  Value splat(Value scalar) {
    if (!shape)
      return scalar;
    return builder.create<tensor::SplatOp>(withElement(scalar.getType()), scalar, dynamicSizes);
  }

  Value toFloat(Value integer, bool isSigned, FloatType element) {
    const Type type = withElement(element);
    if (isSigned)
      return builder.create<arith::SIToFPOp>(type, integer);
    return builder.create<arith::UIToFPOp>(type, integer);
  }

  Value toInteger(Value number, bool isSigned, IntegerType element) {
    const Type type = withElement(element);
    if (isSigned)
      return builder.create<arith::FPToSIOp>(type, number);
    return builder.create<arith::FPToUIOp>(type, number);
  }

  ImplicitLocOpBuilder &builder;

private:
  RankedTensorType shape;
  llvm::SmallVector<Value> dynamicSizes;
};

/// The scale and zero point of the elements at hand, as scalars; the zero point is null when it is
/// known to be 0.
struct ParamValues {
  Value scale;
  Value zeroPoint;
};

APInt toStorage(int64_t value, unsigned width) { return APInt(64, value).trunc(width); }

APFloat toExpressed(double value, FloatType type) {
  APFloat result(value);
  bool losesInfo = false;
  result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
}

Value createInteger(ImplicitLocOpBuilder &builder, IntegerType type, int64_t value) {
  return builder.create<arith::ConstantOp>(
      builder.getIntegerAttr(type, toStorage(value, type.getWidth())));
}

Value createFloat(ImplicitLocOpBuilder &builder, FloatType type, double value) {
  return builder.create<arith::ConstantOp>(builder.getFloatAttr(type, toExpressed(value, type)));
}

//===-- One element -----------------------------------------------------------===//

/// (float(stored) - float(zeroPoint)) * scale
Value emitDequantize(Elementwise &ops, UniformType type, ParamValues params, Value stored) {
  const bool isSigned = type.getStorage().isSigned;
  Value value = ops.toFloat(stored, isSigned, type.getExpressedType());
  if (params.zeroPoint) {
    const Value zeroPoint =
        ops.toFloat(ops.splat(params.zeroPoint), isSigned, type.getExpressedType());
    value = ops.builder.create<arith::SubFOp>(value, zeroPoint);
  }
  return ops.builder.create<arith::MulFOp>(value, ops.splat(params.scale));
}

/// clamp(integer(input / scale + float(zeroPoint)))
Value emitQuantize(Elementwise &ops, UniformType type, ParamValues params, Value input) {
  ImplicitLocOpBuilder &builder = ops.builder;
  const StorageSpec storage = type.getStorage();
  const IntegerType storageType = type.getStorageType();
  Value value = builder.create<arith::DivFOp>(input, ops.splat(params.scale));
  if (params.zeroPoint) {
    const Value zeroPoint =
        ops.toFloat(ops.splat(params.zeroPoint), storage.isSigned, type.getExpressedType());
    value = builder.create<arith::AddFOp>(value, zeroPoint);
  }
  value = ops.toInteger(value, storage.isSigned, storageType);
  if (storage.isFull())
    return value;
  const Value min = createInteger(builder, storageType, storage.min);
  const Value max = createInteger(builder, storageType, storage.max);
  const Value minSplat = ops.splat(min);
  const Value maxSplat = ops.splat(max);
  if (storage.isSigned) {
    value = builder.create<arith::MaxSIOp>(value, minSplat);
    return builder.create<arith::MinSIOp>(value, maxSplat);
  }
  value = builder.create<arith::MaxUIOp>(value, minSplat);
  return builder.create<arith::MinUIOp>(value, maxSplat);
}

/// clamp(roundeven(input / scale) + zeroPoint), NaN counting as 0, in a float type that holds
/// every sum that the clamp lets through: f32 up to 16 bits of storage (a rounded quotient below
/// 2^23 plus a zero point of 17 bits is exact, a larger one is beyond both bounds either way), f64
/// above and for f64.
Value emitSaturatingQuantize(Elementwise &ops, UniformType type, ParamValues params, Value input) {
  ImplicitLocOpBuilder &builder = ops.builder;
  const StorageSpec storage = type.getStorage();
  const bool wide = storage.width > 16 || type.getExpressedType().isF64();
  const FloatType exact = wide ? builder.getF64Type() : builder.getF32Type();

  Value value = builder.create<arith::DivFOp>(input, ops.splat(params.scale));
  if (type.getExpressedType() != exact)
    value = builder.create<arith::ExtFOp>(ops.withElement(exact), value);
  value = builder.create<math::RoundEvenOp>(value);
  const Value isNan = builder.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  const Value zero = ops.splat(createFloat(builder, exact, 0.0));
  value = builder.create<arith::SelectOp>(isNan, zero, value);
  if (params.zeroPoint) {
    const Value zeroPoint = ops.toFloat(ops.splat(params.zeroPoint), storage.isSigned, exact);
    value = builder.create<arith::AddFOp>(value, zeroPoint);
  }
  const Value min = ops.splat(createFloat(builder, exact, static_cast<double>(storage.min)));
  const Value max = ops.splat(createFloat(builder, exact, static_cast<double>(storage.max)));
  value = builder.create<arith::MaximumFOp>(value, min);
  value = builder.create<arith::MinimumFOp>(value, max);
  return ops.toInteger(value, storage.isSigned, type.getStorageType());
}

//===-- The four cases --------------------------------------------------------===//

/// What is computed for an element, and the element type it gives.
struct Kernel {
  Type resultElement;
  llvm::function_ref<Value(Elementwise &, ParamValues, Value)> emit;
};

/// Per layer; `input` is a scalar or ranked tensor.
Value lowerPerLayer(ImplicitLocOpBuilder &builder, UniformQuantizedType type, Value input,
                    const Kernel &kernel) {
  ParamValues params;
  params.scale = createFloat(builder, type.getExpressedType(), type.getScale());
  if (type.getZeroPoint() != 0)
    params.zeroPoint =
        createInteger(builder, cast<UniformType>(type).getStorageType(), type.getZeroPoint());
  Elementwise ops(builder, input);
  return kernel.emit(ops, params, input);
}

/// Per axis; `input` is a ranked tensor, its dimension `axis` the channel.
Value lowerPerAxis(ImplicitLocOpBuilder &builder, UniformQuantizedPerAxisType type, int64_t axis,
                   Value input, const Kernel &kernel) {
  const auto inputType = cast<RankedTensorType>(input.getType());
  const auto storageType = cast<UniformType>(type).getStorageType();
  llvm::SmallVector<APFloat> scales;
  llvm::SmallVector<APInt> zeroPoints;
  for (const AffineParams &params : type.getChannels()) {
    scales.push_back(toExpressed(params.scale, type.getExpressedType()));
    zeroPoints.push_back(toStorage(params.zeroPoint, storageType.getWidth()));
  }
  const int64_t numChannels = type.getChannels().size();
  const Value scaleTensor = builder.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get({numChannels}, type.getExpressedType()), scales));
  const Value zeroPointTensor = builder.create<arith::ConstantOp>(
      DenseElementsAttr::get(RankedTensorType::get({numChannels}, storageType), zeroPoints));

  llvm::SmallVector<Value> dynamicSizes;
  for (int64_t dim = 0; dim < inputType.getRank(); ++dim)
    if (inputType.isDynamicDim(dim))
      dynamicSizes.push_back(builder.create<tensor::DimOp>(input, dim));
  const Value init = builder.create<tensor::EmptyOp>(
      withElementType(inputType, kernel.resultElement), dynamicSizes);

  const AffineMap identity = builder.getMultiDimIdentityMap(inputType.getRank());
  const AffineMap channel = AffineMap::get(inputType.getRank(), 0, builder.getAffineDimExpr(axis));
  const llvm::SmallVector<utils::IteratorType> parallel(inputType.getRank(),
                                                        utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(
      TypeRange(init.getType()), ValueRange{input, scaleTensor, zeroPointTensor}, ValueRange{init},
      ArrayRef<AffineMap>{identity, channel, channel, identity}, parallel,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        Elementwise ops(body);
        body.create<linalg::YieldOp>(kernel.emit(ops, {args[1], args[2]}, args[0]));
      });
  return generic.getResult(0);
}

Value createNumElements(ImplicitLocOpBuilder &builder, Value shape) {
  return builder.create<shape::NumElementsOp>(builder.getIndexType(), shape);
}

Value createReshape(ImplicitLocOpBuilder &builder, Value tensor, ArrayRef<int64_t> staticShape,
                    ValueRange sizes) {
  const Value shape = builder.create<tensor::FromElementsOp>(sizes);
  const auto type = RankedTensorType::get(staticShape, getElementTypeOrSelf(tensor));
  return builder.create<tensor::ReshapeOp>(type, tensor, shape);
}

/// Reshapes the unranked `input` to [elements], or for a channel axis to [elements before it,
/// channels, elements behind it].
Value flatten(ImplicitLocOpBuilder &builder, UniformType type, Value input, Value shape) {
  const auto perAxis = dyn_cast<UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return createReshape(builder, input, {ShapedType::kDynamic}, createNumElements(builder, shape));
  const auto shapeType = shape.getType();
  auto split = [&](Value index) {
    return builder.create<shape::SplitAtOp>(TypeRange{shapeType, shapeType}, shape, index);
  };
  const Value axis = builder.create<arith::ConstantIndexOp>(perAxis.getAxis());
  const Value afterAxis = builder.create<arith::ConstantIndexOp>(perAxis.getAxis() + 1);
  const Value head = createNumElements(builder, split(axis).getHead());
  const Value tail = createNumElements(builder, split(afterAxis).getTail());
  const int64_t numChannels = perAxis.getChannels().size();
  const Value channels = builder.create<arith::ConstantIndexOp>(numChannels);
  return createReshape(builder, input, {ShapedType::kDynamic, numChannels, ShapedType::kDynamic},
                       {head, channels, tail});
}

/// Applies `kernel` with the parameters of `type` to each element of `input`.
Value lowerCast(ImplicitLocOpBuilder &builder, UniformType type, Value input,
                const Kernel &kernel) {
  Value shape;
  Value ranked = input;
  const bool unranked = isa<UnrankedTensorType>(input.getType());
  if (unranked) {
    const auto shapeType = RankedTensorType::get({ShapedType::kDynamic}, builder.getIndexType());
    shape = builder.create<shape::ShapeOfOp>(shapeType, input);
    ranked = flatten(builder, type, input, shape);
  }
  Value result;
  if (auto perAxis = dyn_cast<UniformQuantizedPerAxisType>(type))
    result = lowerPerAxis(builder, perAxis, unranked ? 1 : perAxis.getAxis(), ranked, kernel);
  else
    result = lowerPerLayer(builder, cast<UniformQuantizedType>(type), ranked, kernel);
  if (!unranked)
    return result;
  return builder.create<tensor::ReshapeOp>(UnrankedTensorType::get(kernel.resultElement), result,
                                           shape);
}

//===-- The pass --------------------------------------------------------------===//

void lowerDequantize(DequantizeCastOp op) {
  OpBuilder builder(op);
  ImplicitLocOpBuilder located(op.getLoc(), builder);
  const Type inputType = op.getInput().getType();
  const auto type = cast<UniformType>(getElementTypeOrSelf(inputType));
  const Value stored = located.create<StorageCastOp>(stripUniformTypes(inputType), op.getInput());
  auto emit = [&](Elementwise &ops, ParamValues params, Value element) {
    return emitDequantize(ops, type, params, element);
  };
  Value result = lowerCast(located, type, stored, {type.getExpressedType(), emit});
  op.replaceAllUsesWith(result);
  op.erase();
}

void lowerQuantize(QuantizeCastOp op, bool saturate) {
  OpBuilder builder(op);
  ImplicitLocOpBuilder located(op.getLoc(), builder);
  const auto type = cast<UniformType>(getElementTypeOrSelf(op.getResult().getType()));
  auto emit = [&](Elementwise &ops, ParamValues params, Value element) {
    return saturate ? emitSaturatingQuantize(ops, type, params, element)
                    : emitQuantize(ops, type, params, element);
  };
  const Value stored = lowerCast(located, type, op.getInput(), {type.getStorageType(), emit});
  Value result = located.create<StorageCastOp>(op.getResult().getType(), stored);
  op.replaceAllUsesWith(result);
  op.erase();
}

struct LowerQuantOpsPass : tpuc::quant::impl::LowerQuantOpsBase<LowerQuantOpsPass> {
  using LowerQuantOpsBase::LowerQuantOpsBase;

  // Each op is rewritten where it stands, once: linear time, and no folding of pairs on the way.
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto dequantize = dyn_cast<DequantizeCastOp>(op))
        lowerDequantize(dequantize);
      else if (auto quantize = dyn_cast<QuantizeCastOp>(op))
        lowerQuantize(quantize, saturate);
    });
  }
};

} // namespace
