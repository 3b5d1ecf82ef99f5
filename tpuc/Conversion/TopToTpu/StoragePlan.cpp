//===- StoragePlan.cpp - Which type each tensor is stored in, and why -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Conversion/TopToTpu/FloatsByNeed.h"
#include "tpuc/Conversion/TopToTpu/IntegerForms.h"
#include "tpuc/Conversion/TopToTpu/LowerPreprocess.h"
#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Quantize.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

static constexpr double kMaxF16 = 65504;

/// The widest integers whose functions a table can hold, with an entry for each.
static constexpr unsigned kMaxTableBits = 8;

/// The range that calibration found for a tensor.
static std::optional<quant::FloatRange> rangeOf(Value value) {
  auto type = dyn_cast<quant::CalibratedQuantizedType>(getElementTypeOrSelf(value.getType()));
  if (!type)
    return std::nullopt;
  return type.getRange();
}

static bool isStructure(Operation *op) { return op->hasTrait<traits::Structural>(); }

static bool isNumber(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return isa<FloatType, quant::CalibratedQuantizedType, quant::UniformQuantizedType>(element);
}

/// Whether an op computes with indices, shapes or conditions alone, which have types of their own.
static bool hasNoNumbers(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), isNumber) &&
         llvm::none_of(op->getResultTypes(), isNumber);
}

/// Whether `isWanted` is true of a number in a constant of floats.
static bool hasNumber(top::WeightOp weight, llvm::function_ref<bool(float)> isWanted) {
  if (!weight || !isa<FloatType>(getElementTypeOrSelf(weight.getType())))
    return false;
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return false;
  const Tensor floats = convert(*tensor, DataType::F32);
  const bool isThere = llvm::any_of(floats.data<float>(), isWanted);
  releaseMapped(tensor->rawBytes());
  return isThere;
}

bool tpuc::isHugeConstant(Value value) {
  return hasNumber(value.getDefiningOp<top::WeightOp>(), [](float number) {
    return std::abs(number) > float(kMaxF16) && !std::isinf(number);
  });
}

bool tpuc::isAttentionMask(OpOperand &operand) {
  constexpr unsigned kMask = 3;
  return isa<top::ScaleDotProductAttentionOp>(operand.getOwner()) &&
         operand.getOperandNumber() == kMask;
}

/// Whether a constant that `op` reads, or one among its attributes, has no finite f16. Masks may be
/// in F32 beside what they are added to.
static bool hasHugeConstant(Operation *op) {
  if (auto value = op->getAttrOfType<FloatAttr>("const_val");
      value && std::abs(value.getValueAsDouble()) > kMaxF16)
    return true;
  return llvm::any_of(op->getOpOperands(), [](OpOperand &operand) {
    return !isAttentionMask(operand) && isHugeConstant(operand.get());
  });
}

/// Whether the results of an op grow with the number of elements.
static bool isSum(Operation *op) {
  if (isa<top::CumSumOp>(op))
    return true;
  auto reduce = dyn_cast<top::ReduceOp>(op);
  return reduce &&
         llvm::is_contained({"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd"},
                            reduce.getMode());
}

/// Sums of products, which have 32 bits before they are stored.
static bool isProduct(Operation *op) { return op->hasTrait<traits::Product>(); }

std::optional<QuantScheme> PlanOptions::integers() const {
  if (scheme.isQuantized())
    return scheme;
  for (const auto &exception : exceptions)
    if (exception.second.isQuantized())
      return exception.second;
  return std::nullopt;
}

StoragePlan::StoragePlan(func::FuncOp main, const TargetInfo &target, PlanOptions given)
    : main(main), target(target), options(std::move(given)), integerScheme(options.integers()) {
  for (Operation &op : main.front().without_terminator())
    for (Value result : op.getResults())
      if (quant::UniformQuantizedType type = typeFor(result))
        types[result] = type;
  findGates();
  findMasks();
  for (Operation &op : main.front().without_terminator())
    decide(&op);
  decideNeeds();
  decidePictures();
  decideOutputs();
  decideMovers();
  decideResults();
  shareTypes();
  decideFactors();
}

quant::UniformQuantizedType StoragePlan::typeFor(Value value) const {
  // A network that was quantized before says itself how it is stored.
  if (quant::UniformQuantizedType stated = tpu::quantizedType(value))
    return isWide(stated) ? quant::UniformQuantizedType() : stated;
  const std::optional<quant::FloatRange> range = rangeOf(value);
  if (!range || !integerScheme)
    return {};
  const DataType type = integerScheme->activation;
  const unsigned bits = bitWidth(type);
  const auto floatType = Float32Type::get(value.getContext());
  const auto make = [&](bool isSigned, double scale, int64_t zeroPoint) {
    return quant::UniformQuantizedType::get(quant::StorageSpec::full(isSigned, bits), floatType,
                                            {storableScale(scale), zeroPoint});
  };
  if (integerScheme->zeroPoint) {
    const double min = std::min(range->min, 0.0);
    const double max = std::max(range->max, 0.0);
    Expected<QuantParams> params = asymmetricParams(min, max, integerRange(type));
    auto picture = value.getDefiningOp<top::PreprocessOp>();
    if (params && picture && bits == 8 && target.compute().takes(unsignedType(type)) &&
        llvm::all_of(picture->getUsers(), isProduct)) {
      // Bytes less 128 stay bytes: the zero point of products takes the 128.
      const quant::UniformQuantizedType bytes =
          make(/*isSigned=*/false, params->scale, params->zeroPoint + 128);
      if (keepsBytes(picture, bytes))
        return bytes;
    }
    return params ? make(/*isSigned=*/true, params->scale, params->zeroPoint)
                  : quant::UniformQuantizedType();
  }
  const double threshold = std::max(std::abs(range->min), std::abs(range->max));
  const bool isUnsigned = isNonNegative(value) && target.compute().takes(unsignedType(type));
  Expected<double> scale =
      isUnsigned ? unsignedScale(threshold, bits) : activationScale(threshold, bits);
  return scale ? make(!isUnsigned, *scale, 0) : quant::UniformQuantizedType();
}

/// Whether `value` has one number for each channel.
static bool isPerChannel(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getRank() > 2 && isNumber(type) &&
         llvm::all_of(type.getShape().drop_front(2), [](int64_t extent) { return extent == 1; });
}

void StoragePlan::findGates() {
  const auto isScaledBy = [](Operation *user) {
    return isa<top::MulOp>(user) && !isPerChannel(user->getResult(0));
  };
  for (Operation &op : llvm::reverse(main.front().without_terminator())) {
    if (op.getNumResults() != 1 || op.getNumOperands() == 0 || op.use_empty() ||
        !isPerChannel(op.getResult(0)) || !isPerChannel(op.getOperand(0)))
      continue;
    if (llvm::all_of(op.getUsers(),
                     [&](Operation *user) { return gates.contains(user) || isScaledBy(user); }))
      gates.insert(&op);
  }
}

/// Whether an op puts infinities into its result by itself.
static bool makesInfinity(Operation *op) {
  if (auto pad = dyn_cast<top::PadOp>(op))
    return pad.getMode() == "constant" && std::isinf(pad.getVal().convertToDouble());
  if (auto fill = dyn_cast<top::ConstantFillOp>(op)) {
    auto value = dyn_cast<FloatAttr>(fill.getValue());
    return value && std::isinf(value.getValueAsDouble());
  }
  return llvm::none_of(op->getUsers(), isProduct) &&
         hasNumber(dyn_cast<top::WeightOp>(op), [](float number) { return std::isinf(number); });
}

/// Whether infinities of an operand are some of its result.
static bool keepsInfinity(Operation *op) {
  return isa<top::AddOp, top::WhereOp>(op) || integerForm(op) == IntegerForm::Moves;
}

/// Softmaxes alone tell infinity from the end of integers: a maximum of saturated numbers is right.
void StoragePlan::findMasks() {
  if (!integerScheme)
    return;
  const auto isRead = [](Operation &op, llvm::function_ref<bool(Operation *)> readsMask) {
    return llvm::any_of(op.getUses(), [&](OpOperand &use) {
      return isAttentionMask(use) || isa<top::SoftmaxOp>(use.getOwner()) ||
             readsMask(use.getOwner());
    });
  };
  // Only what may get there is looked into: constants may be large.
  llvm::SetVector<Operation *> behind;
  const auto leadsThere = [&](Operation *user) {
    return behind.contains(user) && (keepsInfinity(user) || makesInfinity(user));
  };
  for (Operation &op : llvm::reverse(main.front().without_terminator()))
    if (isRead(op, leadsThere))
      behind.insert(&op);
  llvm::DenseSet<Operation *> infinite;
  const auto isInfinite = [&](Value value) {
    return value.getDefiningOp() && infinite.contains(value.getDefiningOp());
  };
  for (Operation *op : llvm::reverse(behind))
    if (makesInfinity(op) || (keepsInfinity(op) && llvm::any_of(op->getOperands(), isInfinite)))
      infinite.insert(op);
  for (Operation *op : behind)
    if (infinite.contains(op) && isRead(*op, [&](Operation *user) { return masks.contains(user); }))
      masks.insert(op);
}

void StoragePlan::decide(Operation *op) {
  if (isStructure(op) || hasNoNumbers(op)) {
    decisions[op] = {};
    return;
  }
  if (auto scaling = options.scalings.find(op); scaling != options.scalings.end()) {
    decisions[op] = {floatScheme(scaling->second), "it scales channels for products on integers"};
    return;
  }
  if (std::optional<QuantScheme> scheme = fasterScheme(op)) {
    decisions[op] = {decideFloat(op, *scheme).scheme, "it takes fewer cycles so"};
    return;
  }
  auto exception = options.exceptions.find(layerName(op));
  const QuantScheme wanted =
      exception == options.exceptions.end() ? options.scheme : exception->second;
  Decision decision{wanted, ""};
  if (wanted.isQuantized()) {
    if (std::string why = whyNotInteger(op); !why.empty())
      decision = {decideFloat(op, floatsFor(op)).scheme, std::move(why)};
  } else {
    decision = decideFloat(op, wanted);
  }
  if (wanted != options.scheme && decision.reason.empty())
    decision.reason = "the quantize table says so";
  const bool isFree = exception == options.exceptions.end() && hasScheme(target, schemes::kF32);
  if (isFree && decision.scheme.activation == DataType::BF16 &&
      options.scheme.activation == DataType::BF16 && gates.contains(op))
    decision = {schemes::kF32, "it is small, and its result scales whole channels"};
  decisions[op] = std::move(decision);
}

/// Whether products of elements within the ranges of queries and keys stay far from the end of F16.
static bool hasSmallScores(top::ScaleDotProductAttentionOp op) {
  constexpr double kFar = 16;
  const auto type = dyn_cast<RankedTensorType>(op.getQuery().getType());
  if (!type || !type.hasStaticShape())
    return false;
  double most = static_cast<double>(type.getShape().back());
  for (Value operand : {op.getQuery(), op.getKey()}) {
    const std::optional<quant::FloatRange> range = rangeOf(operand);
    if (!range)
      return false;
    most *= std::max(-range->min, range->max);
  }
  most *= op.getScale() ? op.getScale()->convertToDouble() : 1;
  return most < kMaxF16 / kFar;
}

/// The largest absolute value of a constant or by a range, 0 of what is left out; none if nothing
/// is known.
static std::optional<double> largestOf(Value value) {
  if (isa<NoneType>(value.getType()))
    return 0;
  if (const std::optional<quant::FloatRange> range = rangeOf(value))
    return std::max(-range->min, range->max);
  const auto constant = top::constantTensor(value);
  if (!constant)
    return std::nullopt;
  double largest = 0;
  const Tensor numbers = convert(*constant, DataType::F64);
  for (double number : numbers.data<double>())
    largest = std::max(largest, std::abs(number));
  return largest;
}

/// Whether a recurrent cell stays far from the end of F16: its gates are between -1 and 1, and its
/// state grows by at most 1 with each step from one that is known, as its inputs are.
template <typename Op> static bool hasSmallStates(Op op, ValueRange initial) {
  constexpr double kFar = 16;
  const auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  const auto isBounded = [](Attribute name) {
    return llvm::is_contained({"Sigmoid", "Tanh", "HardSigmoid", "Softsign"},
                              cast<StringAttr>(name).getValue());
  };
  if ((op.getActivations() && !llvm::all_of(*op.getActivations(), isBounded)) || !type ||
      !type.hasStaticShape())
    return false;
  double most = static_cast<double>(std::max(type.getShape()[0], type.getShape()[1]));
  for (Value state : initial) {
    const std::optional<double> largest = largestOf(state);
    if (!largest)
      return false;
    most += *largest;
  }
  const std::optional<double> input = largestOf(op.getInput());
  return input && std::max(*input, most) < kMaxF16 / kFar;
}

static bool hasSmallStates(Operation *op) {
  if (auto cell = dyn_cast_or_null<top::LSTMOp>(op))
    return hasSmallStates(cell, {cell.getInitialH(), cell.getInitialC()});
  auto cell = dyn_cast_or_null<top::GRUOp>(op);
  return cell && hasSmallStates(cell, cell.getInitialH());
}

constexpr double kFarFromMaxF16 = kMaxF16 / 16;

/// Whether all that an op reads and makes, constants aside, has ranges that are far from both ends
/// of F16: from `least` on, and below `most`.
static bool isFarFromEnds(Operation *op, double least = 0x1p-8, double most = kFarFromMaxF16) {
  const auto isFar = [&](Value value) {
    if (!isNumber(value.getType()) || value.getDefiningOp<top::WeightOp>())
      return true;
    const std::optional<double> largest = largestOf(value);
    return largest && *largest >= least && *largest < most;
  };
  return llvm::all_of(op->getOperands(), isFar) && llvm::all_of(op->getResults(), isFar);
}

/// Whether an op rounds to F16 once, whatever it computes between, and has ranges that are far from
/// both ends of F16.
static bool isRoundedOnce(Operation *op) {
  if (!op || !(isProduct(op) ||
               isa<top::RMSNormOp, top::RopeOp, top::AvgPoolOp, top::MaxPoolOp, top::GatherOp>(op)))
    return false;
  // Computed elements that are moved may be places, which need more bits.
  if (isa<top::GatherOp>(op) && !op->getOperand(0).getDefiningOp<top::WeightOp>())
    return false;
  return isFarFromEnds(op);
}

QuantScheme StoragePlan::floatsFor(Operation *op) const {
  auto attention = dyn_cast_or_null<top::ScaleDotProductAttentionOp>(op);
  if (hasScheme(target, schemes::kF16) &&
      ((attention && hasSmallScores(attention)) || hasSmallStates(op) || isRoundedOnce(op)))
    return schemes::kF16;
  return hasScheme(target, schemes::kF32) ? schemes::kF32 : schemes::kBF16;
}

/// Whether a value is a sum of products of integers as a float: it counts steps, and a scale that
/// follows makes them numbers of the network.
static bool countsSteps(Value value) {
  auto cast = value.getDefiningOp<top::CastOp>();
  return cast && isa_and_nonnull<top::ConvIntegerOp, top::MatMulIntegerOp>(
                     cast->getOperand(0).getDefiningOp());
}

std::optional<QuantScheme> StoragePlan::fasterScheme(Operation *op) const {
  const std::string name = layerName(op);
  const auto found = options.faster.find(name);
  if (found == options.faster.end() || options.exceptions.contains(name) ||
      !hasScheme(target, found->second) ||
      llvm::any_of(op->getResults(), [](Value value) { return tpu::isQuantized(value); }))
    return std::nullopt;
  if (found->second.activation == DataType::F32)
    return found->second;
  // Layers that no integers hold may make places: F16 has steps of 1/16 below this.
  constexpr double kMostPlaces = 128;
  // The least number of F16 that is not subnormal: 8 bits have coarser steps for a range from here
  // on.
  constexpr double kLeast = 0x1p-14;
  const double most = whyNotInteger(op).empty() ? kFarFromMaxF16 : kMostPlaces;
  const bool fits = isFarFromEnds(op, kLeast, most);
  return options.scheme.isQuantized() && fits ? std::optional(found->second) : std::nullopt;
}

Decision StoragePlan::decideFloat(Operation *op, const QuantScheme &wanted) {
  const bool isF16 = wanted.activation == DataType::F16;
  if (wanted.activation == DataType::F32)
    return {wanted, ""};
  if (op->getNumRegions() > 0)
    return {schemes::kF32, "its bodies are computed in f32"};
  if (op->hasTrait<traits::ComputesInF32>())
    return {schemes::kF32, "it is exact enough in f32 only"};
  if (isF16 && hasHugeConstant(op))
    return {schemes::kF32, "a constant is beyond the range of f16"};
  if (isF16 && llvm::any_of(op->getOperands(), countsSteps))
    return {schemes::kF32, "sums of integers may leave the range of f16"};
  if (isF16 && options.avoidF16Overflow) {
    const auto isHuge = [](Value value) {
      std::optional<quant::FloatRange> range = rangeOf(value);
      return range && std::max(-range->min, range->max) > kMaxF16;
    };
    if (llvm::any_of(op->getOperands(), isHuge) || llvm::any_of(op->getResults(), isHuge))
      return {schemes::kF32, "values are beyond the range of f16"};
    if (isSum(op))
      return {schemes::kF32, "sums may leave the range of f16"};
  }
  return {wanted, ""};
}

std::string StoragePlan::whyNotInteger(Operation *op) const {
  if (integerForm(op) == IntegerForm::None)
    return fmt::format("{} has no form on integers", op->getName().getStringRef().str());
  if (masks.contains(op))
    return "it makes a mask, whose infinities are no integers";
  if (const unsigned bits = bitWidth(integerScheme->activation);
      bits > kMaxTableBits && isTabulated(op))
    return fmt::format("{} has no form on integers of {} bits", op->getName().getStringRef().str(),
                       bits);
  // With sign.
  constexpr uint32_t kNeighbourBits = 12;
  if (isa<top::InterpOp>(op) && integerForm(op) == IntegerForm::Computes &&
      target.requant.sumMultiplierBits < kNeighbourBits)
    return fmt::format("weights of neighbours have {} bits, and the factors of sums {}",
                       kNeighbourBits, target.requant.sumMultiplierBits);
  const auto isConstant = [](OpOperand *operand) {
    return operand->get().getDefiningOp<top::WeightOp>() != nullptr;
  };
  const SmallVector<OpOperand *> operands = integerOperands(op);
  if (!operands.empty() && llvm::all_of(operands, isConstant))
    return "its operands are constants without ranges";
  for (OpOperand *operand : operands)
    if (!types.contains(operand->get()) && !isConstant(operand))
      return fmt::format("operand {} has no range", operand->getOperandNumber());
  for (Value result : op->getResults())
    if (isa<FloatType>(getElementTypeOrSelf(result.getType())) ||
        (rangeOf(result) && !types.contains(result)))
      return "the result has no range";
  return "";
}

/// Layers whose signal integers would lose.
void StoragePlan::decideNeeds() {
  if (options.isStrict || !options.scheme.isQuantized())
    return;
  const auto mayChange = [&](Operation *op) {
    return isInteger(op) && !options.exceptions.contains(layerName(op)) &&
           !options.onIntegers.contains(layerName(op)) &&
           !llvm::any_of(op->getResults(), [](Value value) { return tpu::isQuantized(value); });
  };
  const auto isScaling = [&](Operation *op) { return options.scalings.contains(op); };
  const auto needs =
      floatsByNeed(main, [&](Value value) { return types.lookup(value); }, mayChange, isScaling);
  const auto isHuge = [](Value value) {
    std::optional<quant::FloatRange> range = rangeOf(value);
    return range && std::max(-range->min, range->max) > kMaxF16;
  };
  // The weights of a softmax are on floats in any case, and 16 bits hold what they are.
  const auto makesWeights = [&](Operation *op) {
    auto softmax = dyn_cast<top::SoftmaxOp>(op);
    return softmax && !softmax.getLog() && !options.exceptions.contains(layerName(op)) &&
           hasScheme(target, schemes::kF16) && !isHuge(softmax.getInput());
  };
  for (const auto &[op, need] : needs) {
    if (!mayChange(op) && !makesWeights(op))
      continue;
    const bool isNarrow = !need.isPlace && hasScheme(target, schemes::kF16);
    const QuantScheme wanted =
        isNarrow && llvm::none_of(op->getResults(), isHuge) ? schemes::kF16 : floatsFor();
    decisions[op] = {decideFloat(op, wanted).scheme, kByNeed.str() + need.reason, need.step,
                     need.gain};
  }
}

/// Bytes of pictures become integers straight away where all that reads them is on integers.
void StoragePlan::decidePictures() {
  for (auto op : main.getOps<top::PreprocessOp>()) {
    const auto isOnIntegers = [&](Operation *user) {
      auto found = decisions.find(user);
      return found != decisions.end() && found->second.scheme.isQuantized();
    };
    if (!isInteger(op) && integerScheme && types.contains(op.getOutput()) && !op->use_empty() &&
        !options.exceptions.contains(layerName(op)) && llvm::all_of(op->getUsers(), isOnIntegers))
      decisions[op] = {*integerScheme, "what reads it is on integers"};
  }
}

void StoragePlan::keepOnFloats(Operation *op) {
  if (isInteger(op))
    decisions[op] = {schemes::kF32, "what reads it is on floats"};
}

/// Products on integers that make outputs give these in floats, and reshapes behind them, which
/// move nothing, are on floats.
void StoragePlan::decideOutputs() {
  if (!options.floatOutputs || options.isStrict ||
      target.requant.strategy != RequantStrategy::OwnCommand)
    return;
  const auto mayChange = [&](Operation *op) {
    return isInteger(op) && !options.exceptions.contains(layerName(op)) &&
           !options.onIntegers.contains(layerName(op)) && !tpu::isQuantized(op->getResult(0));
  };
  const auto isReshape = [](Operation *op) {
    return isa<top::ReshapeOp, top::FlattenOp, top::FlattenTo2DOp, top::SqueezeOp>(op);
  };
  for (Operation &op : main.front().without_terminator()) {
    if (!isProduct(&op) || !mayChange(&op))
      continue;
    SmallVector<Operation *> reshapes;
    Value value = op.getResult(0);
    while (value.hasOneUse() && isReshape(*value.user_begin()) && mayChange(*value.user_begin())) {
      reshapes.push_back(*value.user_begin());
      value = reshapes.back()->getResult(0);
    }
    if (value.use_empty() || !llvm::all_of(value.getUsers(), [](Operation *user) {
          return user->hasTrait<OpTrait::IsTerminator>();
        }))
      continue;
    const std::string reason = kByNeed.str() + kGivesOutput.str();
    decisions[&op].result = DataType::F32;
    decisions[&op].reason = reason;
    decisions[&op].step = layerName(&op);
    for (Operation *reshape : reshapes)
      decisions[reshape] = {decideFloat(reshape, floatsFor()).scheme, reason, layerName(&op)};
  }
}

/// Ops that move elements are on integers where a neighbour is: what they move is smaller then.
void StoragePlan::decideMovers() {
  const auto isMover = [&](Operation *op) {
    return isInteger(op) && integerForm(op) == IntegerForm::Moves &&
           !options.exceptions.contains(layerName(op));
  };
  llvm::DenseMap<Operation *, bool> hasIntegerNeighbour;
  const auto countsAsInteger = [&](Operation *op) {
    return isInteger(op) && (!isMover(op) || hasIntegerNeighbour.lookup(op));
  };
  for (Operation &op : main.front().without_terminator())
    if (isMover(&op))
      hasIntegerNeighbour[&op] = llvm::any_of(op.getOperands(), [&](Value operand) {
        Operation *maker = operand.getDefiningOp();
        return maker && countsAsInteger(maker);
      });
  for (Operation &op : llvm::reverse(main.front().without_terminator()))
    if (isMover(&op) && !hasIntegerNeighbour[&op])
      hasIntegerNeighbour[&op] = llvm::any_of(op.getUsers(), [&](Operation *user) {
        return decisions.contains(user) && countsAsInteger(user);
      });
  for (Operation &op : main.front().without_terminator()) {
    auto found = hasIntegerNeighbour.find(&op);
    if (found == hasIntegerNeighbour.end() || found->second)
      continue;
    // As the floats are stored that it moves, or as what reads them first wants them.
    Operation *maker = op.getOperand(0).getDefiningOp();
    const bool isMade = maker && !isStructure(maker) && !isInteger(maker);
    Operation *reader = op.use_empty() ? nullptr : *op.user_begin();
    const bool isRead = reader && !isStructure(reader) && decisions.contains(reader) &&
                        !isInteger(reader) && op.hasOneUse();
    const QuantScheme wanted = isMade ? of(maker).scheme : isRead ? of(reader).scheme : floatsFor();
    decisions[&op] = {decideFloat(&op, wanted).scheme, "it moves floats between ops on floats"};
  }
}

/// Products whose results nobody wants in integers give them in the widest type that is read.
void StoragePlan::decideResults() {
  if (target.requant.strategy != RequantStrategy::OwnCommand)
    return;
  const auto readsFloats = [&](Operation *user) {
    auto found = decisions.find(user);
    return found != decisions.end() && !found->second.scheme.isQuantized();
  };
  for (auto &[op, decision] : decisions) {
    if (!decision.scheme.isQuantized() || !isProduct(op) || op->use_empty() ||
        tpu::isQuantized(op->getResult(0)) || !llvm::all_of(op->getUsers(), readsFloats))
      continue;
    decision.result = of(*op->user_begin()).scheme.activation;
    for (Operation *user : op->getUsers())
      if (of(user).scheme.activation != decision.result)
        decision.result = DataType::F32;
  }
}

/// What is multiplied is the same integers with another scale, where nobody else reads it.
void StoragePlan::shareRescaled(top::MulConstOp op) {
  quant::UniformQuantizedType wide = types.lookup(op.getOutput());
  Value narrow = op.getInput();
  if (!isInteger(op) || !wide || !narrow.hasOneUse() || !types.contains(narrow))
    return;
  const double scale = wide.getScale() / op.getConstVal().convertToDouble();
  types[narrow] = quant::UniformQuantizedType::get(wide.getStorage(), wide.getExpressedType(),
                                                   {storableScale(scale), wide.getZeroPoint()});
}

/// How many elements each average of pictures has: of pools without padding, and of means over
/// whole pictures. None of others.
static std::optional<int64_t> averagedElements(Operation *op) {
  if (auto pool = dyn_cast<top::AvgPoolOp>(op)) {
    const bool isPadded = pool.getAutoPad() != "NOTSET" || pool.getCeilMode() ||
                          (pool.getPads() && llvm::any_of(top::toInts(*pool.getPads()),
                                                          [](int64_t pad) { return pad != 0; }));
    if (isPadded || pool.getKernelShape().size() != 2)
      return std::nullopt;
    return ShapedType::getNumElements(top::toInts(pool.getKernelShape()));
  }
  auto reduce = dyn_cast<top::ReduceOp>(op);
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!reduce || reduce.getMode() != "ReduceMean" || !reduce.getAxes() || !type ||
      type.getRank() != 4 || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> axes = top::toInts(*reduce.getAxes());
  for (int64_t &axis : axes)
    axis += axis < 0 ? type.getRank() : 0;
  llvm::sort(axes);
  if (axes != SmallVector<int64_t>{2, 3})
    return std::nullopt;
  return type.getDimSize(2) * type.getDimSize(3);
}

uint32_t StoragePlan::averageBits() const {
  constexpr uint32_t kFew = 8;
  const RequantInfo &requant = target.requant;
  return requant.strategy == RequantStrategy::InConvolution && requant.sumMultiplierBits <= kFew
             ? requant.sumMultiplierBits
             : 0;
}

/// Whether what moves several tensors, or the network's caller, says how a value is stored.
bool StoragePlan::isBound(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    return decisions.contains(user) && isInteger(user) && integerForm(user) == IntegerForm::Moves &&
           integerOperands(user).size() != 1;
  });
}

void StoragePlan::setScale(Value value, double scale) {
  const quant::UniformQuantizedType type = types.lookup(value);
  types[value] = quant::UniformQuantizedType::get(type.getStorage(), type.getExpressedType(),
                                                  {storableScale(scale), type.getZeroPoint()});
}

/// A scale of the result with which an average needs a multiplier of few bits only: a little larger
/// than its range asks for, by at most two units in the last place of the multiplier.
void StoragePlan::fitAverage(Operation *op) {
  const uint32_t bits = averageBits();
  const std::optional<int64_t> count =
      bits != 0 && isInteger(op) ? averagedElements(op) : std::nullopt;
  if (!count || tpu::isQuantized(op->getResult(0)))
    return;
  const quant::UniformQuantizedType input = types.lookup(op->getOperand(0));
  const quant::UniformQuantizedType result = types.lookup(op->getResult(0));
  if (!input || !result || isBound(op->getResult(0)))
    return;
  const double unit = input.getScale() / static_cast<double>(*count);
  int exponent = 0;
  // From 1/2 on below 1.
  const double fraction = std::frexp(unit / result.getScale(), &exponent);
  const double multiplier = std::floor(std::ldexp(fraction, static_cast<int>(bits)));
  setScale(op->getResult(0), unit / std::ldexp(multiplier, exponent - static_cast<int>(bits)));
}

/// A scale of what floats and integers share with which a product by one BF16 converts it: a little
/// larger than its range asks for. Chips with F32 have numbers that are exact enough.
void StoragePlan::fitCast(Operation *op) {
  // The host casts inputs, and what is in F32 for it.
  if (hasScheme(target, schemes::kF32) || isa<top::InputOp>(op) || !decisions.contains(op) ||
      op->getNumResults() != 1)
    return;
  const Value value = op->getResult(0);
  const quant::UniformQuantizedType type = types.lookup(value);
  const auto isOnBf16 = [&](Operation *of) {
    return this->of(of).scheme.activation == DataType::BF16;
  };
  const auto readsOtherwise = [&](Operation *user) {
    return decisions.contains(user) &&
           (isInteger(op) ? isOnBf16(user) : isInteger(user) && isOnBf16(op));
  };
  if (!type || tpu::isQuantized(value) || isBound(value) ||
      llvm::none_of(op->getUsers(), readsOtherwise))
    return;
  constexpr int kBits = 8;
  const auto rounded = [](double number, double (*round)(double)) {
    int exponent = 0;
    const double fraction = std::frexp(number, &exponent);
    return std::ldexp(round(std::ldexp(fraction, kBits)), exponent - kBits);
  };
  setScale(value, isInteger(op) ? rounded(type.getScale(), std::ceil)
                                : 1 / rounded(1 / type.getScale(), std::floor));
}

void StoragePlan::shareTypes() {
  const auto isMover = [&](Operation &op) {
    return isInteger(&op) && integerForm(&op) == IntegerForm::Moves;
  };
  for (Operation &op : llvm::reverse(main.front().without_terminator())) {
    if (rescales(&op))
      shareRescaled(cast<top::MulConstOp>(op));
    if (!isMover(op) || !types.contains(op.getResult(0)) || op.getNumResults() > 1)
      continue;
    for (OpOperand *operand : integerOperands(&op))
      if (Value value = operand->get(); value.hasOneUse() && types.contains(value))
        types[value] = types[op.getResult(0)];
  }
  for (Operation &op : main.front().without_terminator()) {
    fitAverage(&op);
    fitCast(&op);
    SmallVector<OpOperand *> operands =
        isMover(op) ? integerOperands(&op) : SmallVector<OpOperand *>();
    if (operands.size() != 1)
      continue;
    for (Value result : op.getResults())
      if (types.contains(result))
        types[result] = types[operands[0]->get()];
  }
}

/// Of products on integers, the factor that makes their sums integers of the result must be below 1
/// inside of convolutions. It is at most that of the largest weight.
void StoragePlan::decideFactors() {
  if (!integerScheme || target.requant.strategy != RequantStrategy::InConvolution)
    return;
  const double steps = std::ldexp(1.0, static_cast<int>(bitWidth(integerScheme->weight)) - 1) - 1;
  for (Operation &op : main.front().without_terminator()) {
    if (!isProduct(&op) || !isInteger(&op) || givesFloats(&op) ||
        options.exceptions.contains(layerName(&op)) || tpu::isQuantized(op.getResult(0)))
      continue;
    const quant::UniformQuantizedType input = quantized(op.getOperand(0));
    const quant::UniformQuantizedType result = quantized(op.getResult(0));
    const std::optional<double> largest = largestOf(op.getOperand(1));
    if (!input || !result || !largest)
      continue;
    const double factor = input.getScale() * (*largest / steps) / result.getScale();
    if (factor >= 1)
      decisions[&op] = {decideFloat(&op, floatsFor(&op)).scheme,
                        fmt::format("its sums would be multiplied by {:.3g}, and {} multiplies "
                                    "them by less than 1",
                                    factor, target.name)};
  }
}
