//===- Lowering.cpp - Top ops into tpu ops, as a plan says ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/LowerPictureResize.h"
#include "tpuc/Conversion/TopToTpu/LowerPreprocess.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MirroredOp.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

/// The f32 of a calibrated or quantized type, else `type` itself.
static Type expressed(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return type;
  if (auto calibrated = dyn_cast<quant::CalibratedQuantizedType>(tensor.getElementType()))
    return tensor.clone(calibrated.getExpressedType());
  if (quant::UniformQuantizedType quantized = tpu::quantizedType(type))
    return tensor.clone(quantized.getExpressedType());
  return type;
}

static Type withElements(Type type, Type element) { return cast<TensorType>(type).clone(element); }

/// What names of casts have behind the tensor's own.
static std::string suffixOf(Type element) {
  if (auto quantized = dyn_cast<quant::UniformQuantizedType>(element)) {
    const quant::StorageSpec storage = quantized.getStorage();
    return (storage.isSigned ? "_i" : "_u") + std::to_string(storage.width);
  }
  std::string text;
  llvm::raw_string_ostream(text) << "_" << element;
  return text;
}

static std::string nameOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return "input_" + std::to_string(cast<BlockArgument>(value).getArgNumber());
  return tensorNames(result.getOwner())[result.getResultNumber()];
}

void tpuc::renameTensor(OpResult tensor, StringRef name) {
  Operation *op = tensor.getOwner();
  Builder builder(op->getContext());
  SmallVector<std::string> names = tensorNames(op);
  names[tensor.getResultNumber()] = name.str();
  SmallVector<Location> places;
  for (const std::string &each : names)
    places.push_back(NameLoc::get(builder.getStringAttr(each)));
  op->setLoc(places.size() == 1 ? places[0] : builder.getFusedLoc(places));
}

Lowering::Lowering(func::FuncOp main, const TargetInfo &target, const StoragePlan &plan)
    : builder(main.getContext()), target(target), plan(plan), main(main) {}

/// Whether an argument is an input of pictures, which stay bytes.
static bool holdsPicture(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [](Operation *user) {
    auto input = dyn_cast<top::InputOp>(user);
    return input && isPictureInput(input);
  });
}

Expected<void> Lowering::run() {
  SmallVector<Operation *> ops =
      llvm::map_to_vector(main.front().without_terminator(), [](Operation &op) { return &op; });
  for (BlockArgument argument : main.getArguments())
    if (!holdsPicture(argument))
      argument.setType(expressed(argument.getType()));
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    if (Expected<void> done = lower(op); !done)
      return done;
    if (failure)
      return tl::unexpected<Error>(*failure);
  }
  lowerResults();
  for (Operation *op : llvm::reverse(ops))
    if (!isa<top::NoneOp, top::InputOp>(op) && op->use_empty())
      op->erase();
  narrowInputs();
  top::updateFunctionType(main);
  return {};
}

Expected<void> Lowering::lower(Operation *op) {
  if (auto input = dyn_cast<top::InputOp>(op); input && !isPictureInput(input)) {
    if (quant::UniformQuantizedType stated = tpu::quantizedType(input.getOutput());
        stated && !isWide(stated))
      op->setAttr(kSourceType, TypeAttr::get(stated));
    input.getOutput().setType(cast<TensorType>(expressed(input.getOutput().getType())));
  }
  if (op->hasTrait<traits::Structural>())
    return {};
  if (auto preprocess = dyn_cast<top::PreprocessOp>(op))
    return lowerPreprocess(preprocess, *this);
  if (auto resize = dyn_cast<top::InterpOp>(op);
      resize && !interpolatesPictures && isPictureResize(resize, target))
    return lowerPictureResize(resize, *this);
  return plan.isInteger(op) ? lowerInteger(op, *this) : lowerFloat(op);
}

/// Operands that stay in f32: biases, which are summed so with products of any kind, what sizes and
/// coordinates follow from, and where the target has f32 the constants of norms, which are computed
/// so, and constants that are repeated over a tensor.
static bool staysF32(OpOperand &operand, bool hasF32) {
  if (isa<top::LayerNormOp, top::RMSNormOp, top::InstanceNormOp, top::GroupNormOp,
          top::PixelNormOp>(operand.getOwner()))
    return hasF32 && operand.getOperandNumber() > 0 && operand.get().getDefiningOp<top::WeightOp>();
  // Full tensors would double what is loaded; of those the format stores what it stores of others.
  if (isa<top::AddOp, top::SubOp, top::MulOp, top::DivOp>(operand.getOwner()) ||
      (isa<top::PReluOp>(operand.getOwner()) && operand.getOperandNumber() == 1))
    return hasF32 && operand.get().getDefiningOp<top::WeightOp>() &&
           top::staticElements(operand.get()) <
               top::staticElements(operand.getOwner()->getResult(0));
  if (operand.getOwner()->hasTrait<traits::Product>())
    return operand.getOperandNumber() == 2;
  if (isa<top::LSTMOp, top::GRUOp, top::RNNOp>(operand.getOwner()))
    return operand.getOperandNumber() == 3;
  return isa<top::InterpOp>(operand.getOwner()) && operand.getOperandNumber() > 0;
}

Value Lowering::floatOperand(OpOperand &operand, Type type) {
  Value value = operand.get();
  const Type element = getElementTypeOrSelf(expressed(value.getType()));
  // What hides keys may be beyond the range of 16 bits.
  const auto isWideMask = [&] {
    const Value stored = lowered.lookup(value);
    return isAttentionMask(operand) &&
           (stored ? getElementTypeOrSelf(stored.getType()).isF32() : isHugeConstant(value));
  };
  if (!element.isF32() || staysF32(operand, hasScheme(target, schemes::kF32)) || isWideMask())
    return plainOperand(value);
  auto filter = value.getDefiningOp<top::WeightOp>();
  const std::optional<ChannelOrder> order =
      operand.getOperandNumber() == 1 ? filterOrder(operand.getOwner()) : std::nullopt;
  if (filter && order && (type.isF16() || type.isBF16()))
    return narrowFilter(filter, *order, type);
  return as(value, type);
}

/// A filter in 16 bits. Layers that share one share what it becomes.
Value Lowering::narrowFilter(top::WeightOp filter, const ChannelOrder &order, Type type) {
  Value &made = casts[{filter.getOutput(), type}];
  if (made)
    return made;
  Expected<Tensor> tensor = filter.read();
  if (!tensor) {
    failure = tensor.error();
    return filter.getOutput();
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(filter);
  const DataType narrow = *storageDataType(type);
  Tensor rounded = isForCycles ? convert(*tensor, narrow)
                               : roundFilter(convert(*tensor, DataType::F32), order, narrow);
  releaseMapped(tensor->rawBytes());
  made = top::WeightOp::create(builder, main->getParentOfType<ModuleOp>(),
                               filter.name() + suffixOf(type), std::move(rounded))
             .getOutput();
  return made;
}

Type tpuc::floatType(Builder &builder, DataType type) {
  if (type == DataType::F16)
    return builder.getF16Type();
  return type == DataType::BF16 ? Type(builder.getBF16Type()) : Type(builder.getF32Type());
}

/// The bias of a convolution of numbers around `pad_values`, which the bias takes away: the rounded
/// filter `stored` takes them away, too.
Value Lowering::biasBesideRounded(top::ConvOp conv, Value stored) {
  auto filter = conv.getFilter().getDefiningOp<top::WeightOp>();
  auto rounded = stored.getDefiningOp<top::WeightOp>();
  auto bias = conv.getBias().getDefiningOp<top::WeightOp>();
  if (!filter || !rounded || !bias || filter == rounded)
    return conv.getBias();
  Expected<Tensor> exact = filter.read();
  Expected<Tensor> used = rounded.read();
  Expected<Tensor> sums = bias.read();
  if (!exact || !used || !sums) {
    failure = !exact ? exact.error() : !used ? used.error() : sums.error();
    return conv.getBias();
  }
  const Tensor of = convert(*exact, DataType::F32);
  const Tensor by = convert(*used, DataType::F32);
  Tensor made = convert(*sums, DataType::F32).clone();
  const std::vector<double> around = toDoubles(conv.getPadValues());
  const std::span<float> biases = made.mutableData<float>();
  const size_t each = of.data<float>().size() / biases.size();
  const size_t taps = each / around.size();
  for (size_t i = 0; i < biases.size(); ++i) {
    double shift = 0;
    for (size_t k = 0; k < each; ++k)
      shift += (static_cast<double>(of.data<float>()[i * each + k]) -
                static_cast<double>(by.data<float>()[i * each + k])) *
               around[k / taps];
    biases[i] = static_cast<float>(static_cast<double>(biases[i]) + shift);
  }
  return weight(conv, "_bias_rounded", std::move(made));
}

static bool hasPads(tpu::ConvOp conv) {
  return conv.getPads() &&
         llvm::any_of(top::toInts(*conv.getPads()), [](int64_t pad) { return pad != 0; });
}

/// Says on a lowered op why it is stored as it is.
static void sayWhy(Operation *made, const Decision &decision) {
  Builder builder(made->getContext());
  if (!decision.reason.empty())
    made->setAttr("storage_reason", builder.getStringAttr(decision.reason));
  if (decision.step.empty())
    return;
  made->setAttr(kStorageStep, builder.getStringAttr(decision.step));
  made->setAttr(kStorageGain, builder.getF64FloatAttr(decision.gain));
}

Expected<void> Lowering::lowerFloat(Operation *op) {
  const Decision &decision = plan.of(op);
  const Type type = floatType(builder, decision.scheme.activation);
  std::optional<OperationName> name = tpu::mirrorOf(op->getName());
  if (!name)
    return makeError("layer '" + layerName(op) + "'",
                     op->getName().getStringRef().str() + " cannot be lowered");
  lowerRegions(op);
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(floatOperand(operand, type));
  if (auto conv = dyn_cast<top::ConvOp>(op); conv && conv.getPadValues())
    operands[2] = biasBesideRounded(conv, operands[1]);
  SmallVector<Type> results;
  for (Type result : op->getResultTypes()) {
    const Type plain = expressed(result);
    results.push_back(getElementTypeOrSelf(plain).isF32() ? withElements(plain, type) : plain);
  }
  Operation *made = tpu::createMirrored(builder, op, *name, operands, results);
  sayWhy(made, decision);
  if (auto conv = dyn_cast<tpu::ConvOp>(made); conv && conv.getPadValues() && !hasPads(conv))
    conv.removePadValuesAttr();
  // Only its products are computed in 16 bits: a softmax that rounds each of its steps loses a
  // digit.
  if (auto attention = dyn_cast<tpu::ScaleDotProductAttentionOp>(made);
      attention && !attention.getSoftmaxType() && !type.isF32() &&
      hasScheme(target, schemes::kF32) &&
      getElementTypeOrSelf(expressed(op->getResult(0).getType())).isF32())
    attention.setSoftmaxType(builder.getF32Type());
  replace(op, made);
  return {};
}

/// Bodies of branches and loops are computed as the source has them.
void Lowering::lowerRegions(Operation *op) {
  SmallVector<Operation *> inner;
  for (Region &region : op->getRegions())
    region.walk<WalkOrder::PostOrder>([&](Operation *nested) { inner.push_back(nested); });
  for (Operation *nested : inner) {
    for (OpOperand &operand : nested->getOpOperands())
      if (operand.get().getParentRegion() == &main.getBody() && top::isPresent(operand.get()))
        operand.set(as(operand.get(), getElementTypeOrSelf(expressed(operand.get().getType()))));
    std::optional<OperationName> name = tpu::mirrorOf(nested->getName());
    if (!name)
      continue;
    OpBuilder here(nested);
    Operation *made =
        tpu::createMirrored(here, nested, *name, nested->getOperands(), nested->getResultTypes());
    nested->replaceAllUsesWith(made);
    nested->erase();
  }
}

void Lowering::lowerResults() {
  Operation *terminator = main.front().getTerminator();
  builder.setInsertionPoint(terminator);
  llvm::DenseMap<Value, Value> given;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    if (Value made = given.lookup(value)) {
      operand.set(made);
      continue;
    }
    Type type = expressed(value.getType());
    if (auto stated = main.getResultAttrOfType<TypeAttr>(operand.getOperandNumber(), kGivenType)) {
      type = withElements(type, stated.getValue());
      main.removeResultAttr(operand.getOperandNumber(), builder.getStringAttr(kGivenType));
    }
    Value stored = lowered.lookup(value);
    if (!stored || stored.getType() == type) {
      operand.set(as(value, getElementTypeOrSelf(type)));
      continue;
    }
    // The output keeps its name; what is stored gets one of its own.
    const std::string name = nameOf(value);
    if (auto made = dyn_cast<OpResult>(stored); made && nameOf(made) == name)
      renameTensor(made, name + suffixOf(getElementTypeOrSelf(stored.getType())));
    if (!castsDirectly(getElementTypeOrSelf(type)))
      stored = as(value, builder.getF32Type());
    given[value] =
        builder.create<tpu::CastOp>(NameLoc::get(builder.getStringAttr(name)), type, stored)
            .getOutput();
    operand.set(given[value]);
  }
}

bool Lowering::castsDirectly(Type given) const {
  const std::optional<DataType> type = storageDataType(given);
  return given.isF32() || !isa<FloatType>(given) || (type && hasScheme(target, floatScheme(*type)));
}

/// Inputs that were made f32 are as callers give them again. Casts of them begin there, where the
/// chip has such floats.
void Lowering::narrowInputs() {
  for (BlockArgument argument : main.getArguments()) {
    const unsigned number = argument.getArgNumber();
    const auto stated = main.getArgAttrOfType<TypeAttr>(number, kGivenType);
    if (!stated)
      continue;
    main.removeArgAttr(number, kGivenType);
    // Pictures are bytes by now.
    if (!getElementTypeOrSelf(argument.getType()).isF32() || !argument.hasOneUse())
      continue;
    auto input = cast<top::InputOp>(*argument.user_begin());
    const TensorType given = input.getOutput().getType().clone(stated.getValue());
    SmallVector<OpOperand *> others;
    SmallVector<tpu::CastOp> back;
    for (OpOperand &use : input.getOutput().getUses()) {
      auto made = dyn_cast<tpu::CastOp>(use.getOwner());
      if (!made || !castsDirectly(stated.getValue()))
        others.push_back(&use);
      else if (made.getOutput().getType() == given)
        back.push_back(made);
    }
    argument.setType(given);
    input.getOutput().setType(given);
    for (tpu::CastOp made : back) {
      made.getOutput().replaceAllUsesWith(input.getOutput());
      made.erase();
    }
    if (others.empty())
      continue;
    builder.setInsertionPointAfter(input);
    const Value wide = cast(input.getOutput(), builder.getF32Type(), nameOf(input.getOutput()));
    for (OpOperand *use : others)
      use->set(wide);
  }
}

Value Lowering::none() {
  return builder.create<top::NoneOp>(builder.getUnknownLoc(), builder.getNoneType());
}

quant::UniformQuantizedType Lowering::statedType(Value value) {
  if (quant::UniformQuantizedType stated = tpu::quantizedType(value))
    return stated;
  auto input = value.getDefiningOp<top::InputOp>();
  auto kept = input ? input->getAttrOfType<TypeAttr>(kSourceType) : TypeAttr();
  return kept ? dyn_cast<quant::UniformQuantizedType>(kept.getValue())
              : quant::UniformQuantizedType();
}

bool Lowering::areOfSource(ValueRange values) const {
  return llvm::all_of(values, [&](Value value) {
    if (!top::isPresent(value))
      return true;
    if (auto weight = value.getDefiningOp<top::WeightOp>())
      return weight.getWeightScale() && weight.getWeightScale()->size() == 1;
    quant::UniformQuantizedType stated = statedType(value);
    return stated && stated.getStorage().width == 8 && stated == plan.quantized(value);
  });
}

bool Lowering::isFixedPoint(Operation *op) const {
  const auto isConstant = [](Value value) { return value.getDefiningOp<top::WeightOp>(); };
  return target.requant.canRoundTwice && areOfSource(op->getResults()) &&
         areOfSource(op->getOperands()) && !llvm::all_of(op->getOperands(), isConstant);
}

Value Lowering::castWeight(top::WeightOp weight, Type type) {
  Expected<top::WeightOp> made =
      type.isF16() ? weight.clone_f16(builder) : weight.clone_bf16(builder);
  if (made)
    return made->getOutput();
  failure = made.error();
  return weight.getOutput();
}

Value Lowering::cast(Value stored, Type type, const std::string &name) {
  const Location loc = NameLoc::get(builder.getStringAttr(name + suffixOf(type)));
  const Type to = withElements(stored.getType(), type);
  quant::UniformQuantizedType from = tpu::quantizedType(stored);
  auto wanted = dyn_cast<quant::UniformQuantizedType>(type);
  if (!from || !wanted)
    return builder.create<tpu::CastOp>(loc, to, stored).getOutput();
  OperationState state(loc, tpu::RequantIntOp::getOperationName(), stored, to);
  Operation *op = builder.create(state);
  Expected<MultiplierShift> made = factor(from.getScale() / wanted.getScale(), op);
  if (made)
    setFactors(op, *made);
  else
    failure = made.error();
  return op->getResult(0);
}

Value Lowering::as(Value value, Type type) {
  Value stored = lowered.lookup(value);
  if (!stored)
    stored = value;
  if (getElementTypeOrSelf(stored.getType()) == type)
    return stored;
  Value &made = casts[{value, type}];
  if (made)
    return made;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(stored);
  auto weight = value.getDefiningOp<top::WeightOp>();
  if (weight && (type.isF16() || type.isBF16()))
    made = castWeight(weight, type);
  else
    made = cast(stored, type, nameOf(value));
  return made;
}

Value Lowering::plainOperand(Value value) {
  return top::isPresent(value) ? as(value, getElementTypeOrSelf(expressed(value.getType())))
                               : value;
}

Value Lowering::weight(Operation *op, StringRef suffix, Tensor tensor) {
  const std::string name = layerName(op) + suffix.str();
  return top::WeightOp::create(builder, main->getParentOfType<ModuleOp>(), name, std::move(tensor))
      .getOutput();
}

unsigned Lowering::multiplierBits() const {
  // Chips that only shift after convolutions still scale in element-wise commands, by 8 bits.
  constexpr unsigned kElementwiseBits = 8;
  return target.requant.multiplierBits == 0 ? kElementwiseBits : target.requant.multiplierBits;
}

Expected<MultiplierShift> Lowering::factor(double scale, Operation *op) const {
  const unsigned bits = multiplierBits();
  MultiplierLimits limits;
  if (bits < 32)
    limits = MultiplierLimits::ofBits(bits);
  // Behind that many bits it would be rounded again.
  const bool isProduct = op->hasTrait<traits::Product>();
  if (const uint32_t most = target.requant.firstShiftBits; most != 0 && !isProduct)
    limits.maxShift = static_cast<int32_t>(most);
  return quantizeMultiplier(scale, limits, "layer '" + layerName(op) + "'");
}

StringAttr Lowering::roundMode() {
  return builder.getStringAttr(
      roundingModeName(target.requant.rounding.value_or(RoundingMode::HalfUp)));
}

void Lowering::setFactors(Operation *op, ArrayRef<MultiplierShift> factors) {
  SmallVector<int64_t> multipliers;
  SmallVector<int64_t> shifts;
  for (const MultiplierShift &factor : factors) {
    multipliers.push_back(factor.multiplier);
    shifts.push_back(factor.rshift);
  }
  op->setAttr("multiplier", ints(multipliers));
  op->setAttr("rshift", ints(shifts));
  op->setAttr("round_mode", roundMode());
}

void Lowering::setFixedFactors(Operation *op, ArrayRef<MultiplierShift> factors) {
  setFactors(op, factors);
  op->removeAttr("round_mode");
  const bool hasLeft = llvm::any_of(factors, [](auto factor) { return factor.rshift < 0; });
  op->setAttr("quant_mode",
              builder.getStringAttr(requantModeName(kernels::fixedPointMode(hasLeft))));
}

Type Lowering::integerResult(Operation *op) {
  Value result = op->getResult(0);
  quant::UniformQuantizedType type = plan.quantized(result);
  return type ? withElements(result.getType(), type) : result.getType();
}

Operation *Lowering::mirrored(Operation *op, ValueRange operands) {
  SmallVector<Type> results;
  for (Value result : op->getResults()) {
    Type type = plan.quantized(result);
    if (plan.givesFloats(op))
      type = floatType(builder, *plan.of(op).result);
    results.push_back(type ? withElements(result.getType(), type) : result.getType());
  }
  Operation *made =
      tpu::createMirrored(builder, op, *tpu::mirrorOf(op->getName()), operands, results);
  const Decision &decision = plan.of(op);
  sayWhy(made, decision);
  return made;
}

void Lowering::replace(Operation *op, Operation *made) {
  for (const char *attribute : kInputFigures)
    made->removeAttr(attribute);
  for (auto [old, result] : llvm::zip_equal(op->getResults(), made->getResults())) {
    lowered[old] = result;
    // What a quantized source stores in integers is rounded and cut off as it says, on floats too.
    quant::UniformQuantizedType stated = tpu::quantizedType(old);
    if (stated && !tpu::isQuantized(result))
      lowered[old] = isWide(stated) ? roundedTo(stated, result, nameOf(old))
                                    : cast(result, stated, nameOf(old));
  }
}

Value Lowering::roundedTo(quant::UniformQuantizedType type, Value value, const std::string &name) {
  Operation *maker = value.getDefiningOp();
  const Type element = getElementTypeOrSelf(value.getType());
  // Elements that move are numbers of it.
  if (!isa<FloatType>(element) || !maker || maker->hasTrait<traits::MovesElements>())
    return value;
  const auto step = [&](StringRef op, const std::string &own,
                        std::initializer_list<std::pair<StringRef, double>> numbers) {
    OperationState state(NameLoc::get(builder.getStringAttr(own)), op, value, value.getType());
    for (auto [attribute, number] : numbers)
      state.addAttribute(attribute, builder.getF64FloatAttr(number));
    value = builder.create(state)->getResult(0);
  };
  const StringRef clip = tpu::ClipOp::getOperationName();
  const StringRef times = tpu::MulConstOp::getOperationName();
  const double scale = type.getScale();
  const IntegerRange range = tpu::rangeOf(type);
  const auto least = static_cast<double>(range.lowest);
  const auto most = static_cast<double>(range.highest);
  renameTensor(mlir::cast<OpResult>(value), name + "_real");
  if (!element.isF32()) {
    // Floats of 16 bits hold fewer steps than the source has.
    step(clip, name, {{"min", least * scale}, {"max", most * scale}});
    return value;
  }
  step(times, name + "_steps", {{"const_val", 1 / scale}});
  step(tpu::RoundOp::getOperationName(), name + "_whole", {});
  step(clip, name + "_within", {{"min", least}, {"max", most}});
  step(times, name, {{"const_val", scale}});
  return value;
}
