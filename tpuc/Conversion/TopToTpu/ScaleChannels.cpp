//===- ScaleChannels.cpp - A scale for each channel that products read ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/ScaleChannels.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Conversion/TopToTpu/LowerInteger.h"
#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Kernels/VectorMath.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/SideBySide.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tpuc;

namespace {

/// Where the factors of channels are applied.
enum class Applied : uint8_t {
  /// By ops of their own, in floats.
  Behind,
  /// In filter and bias of the product that makes the tensor, on integers or floats.
  InMaker,
};

/// Makers apply factors where that makes the estimated error so many times smaller. It knows
/// neither how filters are clipped nor what tuned thresholds save, and where it promised less,
/// networks lost as often as they won (test/conformance/tflite/tasks.py, bench/accuracy/seeds.py).
constexpr double kLeastGainInMaker = 5;

/// To which power factors are taken that makers apply: the first makes all channels as wide.
constexpr double kParts[] = {1, 0.75, 0.5, 0.25};

/// A tensor that is to be scaled.
struct ScaledTensor {
  SmallVector<Operation *> readers;
  int64_t axis = 0;
  Applied applied = Applied::Behind;
};

class ChannelScaler {
public:
  ChannelScaler(func::FuncOp main, const TargetInfo &target, const StoragePlan &plan,
                PlanOptions &options)
      : main(main), target(target), plan(plan), options(options), integers(plan.integers()),
        builder(main.getContext()) {}

  Expected<void> run();

private:
  void find(Operation *op);
  std::optional<DataType> floatsOf(Value value) const;
  ChannelMap scaledMap(Operation *reader, DataType floats, double part) const;
  ChannelMap shiftedMap(Operation *reader, DataType floats, double part) const;
  Expected<std::optional<ChannelMap>> bestMap(Value value, const ScaledTensor &tensor,
                                              DataType floats) const;
  Value constant(const std::string &name, const ScaledTensor &tensor, ArrayRef<float> numbers,
                 RankedTensorType type);
  Value apply(Value value, const ScaledTensor &tensor, const ChannelMap &map, DataType floats);
  Expected<void> applyInMaker(OpResult value, const ChannelMap &map);

  func::FuncOp main;
  const TargetInfo &target;
  const StoragePlan &plan;
  PlanOptions &options;
  QuantScheme integers;
  OpBuilder builder;
  llvm::MapVector<Value, ScaledTensor> tensors;
};

Expected<Tensor> readFilter(Operation *op) {
  Expected<Tensor> filter = op->getOperand(1).getDefiningOp<top::WeightOp>().read();
  if (!filter)
    return propagate(filter);
  return convert(*filter, DataType::F32);
}

std::string tensorName(Value value) {
  auto result = cast<OpResult>(value);
  return tensorNames(result.getOwner())[result.getResultNumber()];
}

/// Whether the product `maker`, on integers, can make each channel of its result, along `axis`,
/// larger: by constant filters and biases, in front of nothing but a ReLU without a limit.
bool takesFactors(Operation *maker, int64_t axis) {
  if (!isa<top::ConvOp, top::MatMulOp>(maker) || !summedAxis(maker))
    return false;
  auto type = cast<RankedTensorType>(maker->getResult(0).getType());
  const int64_t channels = isa<top::ConvOp>(maker) ? 1 : type.getRank() - 1;
  auto filter = maker->getOperand(1).getDefiningOp<top::WeightOp>();
  auto bias = maker->getOperand(2).getDefiningOp<top::WeightOp>();
  const auto biasType = dyn_cast<RankedTensorType>(maker->getOperand(2).getType());
  auto limit = maker->getAttrOfType<FloatAttr>("relu_limit");
  return axis == channels && !filter.getWeightScaleAttr() &&
         filterOrder(maker)->numChannels() == type.getDimSize(axis) &&
         (!biasType || (bias && biasType.getNumElements() == type.getDimSize(axis))) &&
         !(limit && limit.getValueAsDouble() >= 0);
}

bool hasRelu(Operation *op) {
  auto relu = op->getAttrOfType<BoolAttr>("do_relu");
  return relu && relu.getValue();
}

/// The floats in which `value` is multiplied; none where it is not made in floats, or in none that
/// are finer than the integers.
std::optional<DataType> ChannelScaler::floatsOf(Value value) const {
  Operation *maker = value.getDefiningOp();
  if (!maker || isa<top::InputOp, top::WeightOp>(maker) ||
      (plan.isInteger(maker) && !plan.givesFloats(maker)))
    return std::nullopt;
  const DataType made =
      plan.givesFloats(maker) ? *plan.of(maker).result : plan.of(maker).scheme.activation;
  if (significantBits(made) > significantBits(plan.integers().activation))
    return made;
  return hasScheme(target, schemes::kF32) ? std::optional(DataType::F32) : std::nullopt;
}

void ChannelScaler::find(Operation *op) {
  const std::optional<int64_t> axis = summedAxis(op);
  if (!axis || !plan.isInteger(op) || !op->hasAttr(kInputLowest) || !op->hasAttr(kInputHighest))
    return;
  Value value = op->getOperand(0);
  Operation *maker = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto filter = op->getOperand(1).getDefiningOp<top::WeightOp>();
  if (!type || !type.hasStaticShape() || filter.getWeightScaleAttr() || !maker ||
      !isa<quant::CalibratedQuantizedType>(type.getElementType()))
    return;
  const bool isInMaker = !floatsOf(value);
  // With one scale for the whole filter, larger channels would make all others coarser.
  if (isInMaker && !(integers.granularity == Granularity::PerChannel && plan.isInteger(maker) &&
                     takesFactors(maker, *axis)))
    return;
  ScaledTensor &tensor = tensors[value];
  if (tensor.readers.empty()) {
    tensor.axis = *axis;
    tensor.applied = isInMaker ? Applied::InMaker : Applied::Behind;
  }
  if (tensor.axis == *axis)
    tensor.readers.push_back(op);
}

/// The intervals that calibration has found for the channels of what `reader` reads. Attributes are
/// found by their names, which is too slow to be done for each element: once for each reader.
class ChannelRanges {
public:
  explicit ChannelRanges(Operation *reader)
      : lowest(reader->getAttrOfType<DenseF32ArrayAttr>(kInputLowest).asArrayRef()),
        highest(reader->getAttrOfType<DenseF32ArrayAttr>(kInputHighest).asArrayRef()) {}

  size_t size() const { return lowest.size(); }
  quant::FloatRange operator[](size_t channel) const {
    return {double(lowest[channel]), double(highest[channel])};
  }

private:
  ArrayRef<float> lowest;
  ArrayRef<float> highest;
};

/// For each channel what makes it as wide as the widest, or as many times as wide as the integers
/// have steps (256 in 8 bits), to the power of `exponent`: a number that `floats` holds.
static SmallVector<float> wideningFactors(ArrayRef<double> widths, DataType floats,
                                          DataType integers, double exponent) {
  const double leastWidth = std::ldexp(1.0, -static_cast<int>(bitWidth(integers)));
  const double widest = *llvm::max_element(widths);
  SmallVector<float> factors;
  for (double width : widths) {
    const double part = widest > 0 ? std::max(width / widest, leastWidth) : 1;
    const auto factor = static_cast<float>(std::pow(part, -exponent));
    factors.push_back(floats == DataType::F16 ? kernels::roundF16(factor) : factor);
  }
  return factors;
}

/// The range of a channel after `map`.
static quant::FloatRange mappedRange(const ChannelRanges &ranges, const ChannelMap &map,
                                     size_t channel) {
  const quant::FloatRange old = ranges[channel];
  const double summand = map.summands.empty() ? 0 : double(map.summands[channel]);
  const auto [min, max] = std::minmax({old.min * double(map.factors[channel]) + summand,
                                       old.max * double(map.factors[channel]) + summand});
  return {min, max};
}

/// The range of all channels after `map`, around 0 unless it is asymmetric.
static quant::FloatRange rangeAfter(const ChannelRanges &ranges, const ChannelMap &map,
                                    bool asymmetric) {
  quant::FloatRange range = {0, 0};
  for (size_t channel = 0; channel < map.factors.size(); ++channel) {
    const quant::FloatRange one = mappedRange(ranges, map, channel);
    range.min = std::min(range.min, one.min);
    range.max = std::max(range.max, one.max);
  }
  if (asymmetric)
    return range;
  const double threshold = std::max(range.max, -range.min);
  return {-threshold, threshold};
}

/// Nothing is added: 0 stays 0. Channels that are negative for the most part change their sign, so
/// that the sides on which channels are wide coincide.
ChannelMap ChannelScaler::scaledMap(Operation *reader, DataType floats, double part) const {
  const ChannelRanges ranges(reader);
  SmallVector<double> widths;
  for (size_t channel = 0; channel < ranges.size(); ++channel) {
    const quant::FloatRange range = ranges[channel];
    const double below = std::max(-range.min, 0.0);
    const double above = std::max(range.max, 0.0);
    widths.push_back(integers.zeroPoint ? below + above : std::max(below, above));
  }
  ChannelMap map{wideningFactors(widths, floats, integers.activation, part), {}};
  for (auto [channel, factor] : llvm::enumerate(map.factors)) {
    const quant::FloatRange range = ranges[channel];
    if (integers.zeroPoint && -range.min > range.max)
      factor = -factor;
  }
  map.range = rangeAfter(ranges, map, integers.zeroPoint);
  return map;
}

/// The middle of every channel becomes 0.
ChannelMap ChannelScaler::shiftedMap(Operation *reader, DataType floats, double part) const {
  const ChannelRanges ranges(reader);
  SmallVector<double> widths;
  for (size_t channel = 0; channel < ranges.size(); ++channel) {
    const quant::FloatRange range = ranges[channel];
    widths.push_back(range.max - range.min);
  }
  ChannelMap map{wideningFactors(widths, floats, integers.activation, part), {}};
  for (auto [channel, factor] : llvm::enumerate(map.factors)) {
    const quant::FloatRange range = ranges[channel];
    const auto summand = static_cast<float>(-(range.min + range.max) / 2 * double(factor));
    map.summands.push_back(floats == DataType::F16 ? kernels::roundF16(summand) : summand);
  }
  map.range = rangeAfter(ranges, map, integers.zeroPoint);
  return map;
}

/// Whether the bias of `reader` can take up what is added to its input: elements outside of the
/// input are 0 all the same, and the bias has one number for each output channel.
static bool takesSummands(Operation *reader) {
  const auto isZero = [](Attribute pad) { return cast<IntegerAttr>(pad).getInt() == 0; };
  if (auto conv = dyn_cast<top::ConvOp>(reader);
      !conv || conv.getAutoPad() != "NOTSET" ||
      (conv.getPads() && !llvm::all_of(*conv.getPads(), isZero))) {
    auto product = dyn_cast<top::MatMulOp>(reader);
    if (!product || cast<RankedTensorType>(product.getRight().getType()).getRank() != 2)
      return false;
  }
  auto bias = dyn_cast<RankedTensorType>(reader->getOperand(2).getType());
  return !bias || (reader->getOperand(2).getDefiningOp<top::WeightOp>() &&
                   bias.getNumElements() == filterOrder(reader)->numChannels());
}

namespace {

/// What errors of rounding depend on of the constant filter of a product, so that it is read once,
/// however many scales are compared.
class FilterFigures {
public:
  /// Magnitudes are for `filterError` only.
  static Expected<FilterFigures> of(Operation *reader, bool withMagnitudes);

  /// The sum of w² * step² over the elements of the filter, of the steps of their input channels.
  double inputError(ArrayRef<double> steps) const;
  /// What rounding the filter to integers up to `highest` adds to the sums where inputs are
  /// `factors` times as large: for each output channel its step, by the mean square of each input
  /// channel. That is taken to be 1/64 of the square of its width.
  double filterError(ArrayRef<float> factors, double highest) const;

private:
  FilterFigures(Operation *reader, const ChannelOrder &order)
      : reader(reader), order(order), channels(reader) {}

  Operation *reader;
  /// Of the magnitudes: of the taps that meet one input channel there is the largest.
  ChannelOrder order;
  InputChannels channels;
  std::vector<float> magnitudes;
  int64_t taps = 1;
  /// Of each input channel the sum of the squares of what it meets.
  std::vector<double> squares;
};

} // namespace

Expected<FilterFigures> FilterFigures::of(Operation *reader, bool withMagnitudes) {
  Expected<Tensor> filter = readFilter(reader);
  if (!filter)
    return propagate(filter);
  FilterFigures figures(reader, *filterOrder(reader));
  const auto taps = static_cast<size_t>(figures.taps = figures.order.taps);
  figures.order.inner /= figures.taps;
  figures.order.taps = 1;
  figures.channels = figures.channels.withoutTaps(figures.taps);
  const std::span<const float> weights = filter->data<float>();
  const size_t count = weights.size() / taps;
  if (withMagnitudes)
    figures.magnitudes.reserve(count);
  const float *next = weights.data();
  figures.channels.forEach(static_cast<int64_t>(count), [&](size_t channel) {
    double sum = 0;
    float largest = 0;
    for (size_t tap = 0; tap < taps; ++tap) {
      const float magnitude = std::abs(next[tap]);
      largest = magnitude > largest ? magnitude : largest;
      sum += double(magnitude) * double(magnitude);
    }
    next += taps;
    if (channel >= figures.squares.size())
      figures.squares.resize(channel + 1);
    figures.squares[channel] += sum;
    if (withMagnitudes)
      figures.magnitudes.push_back(largest);
  });
  releaseMapped(filter->rawBytes());
  return figures;
}

double FilterFigures::inputError(ArrayRef<double> steps) const {
  double error = 0;
  for (size_t channel = 0; channel < squares.size(); ++channel)
    error += squares[channel] * steps[channel] * steps[channel];
  return error;
}

double FilterFigures::filterError(ArrayRef<float> factors, double highest) const {
  const ChannelRanges ranges(reader);
  // Of each input channel what elements are multiplied by, and the squares of the widths of what
  // its taps meet.
  std::vector<double> parts, widths;
  for (auto [channel, signedFactor] : llvm::enumerate(factors)) {
    const double factor = std::abs(double(signedFactor));
    const quant::FloatRange range = ranges[channel];
    const double width = factor * (std::max(range.max, 0.0) - std::min(range.min, 0.0)) / 8;
    parts.push_back(1 / factor);
    widths.push_back(double(taps) * width * width);
  }
  // Of each output channel the largest element and the sum of squares.
  const auto numOutputs = static_cast<size_t>(order.numChannels());
  std::vector<double> largest(numOutputs), sums(numOutputs);
  const auto run = static_cast<size_t>(order.inner);
  if (order.outer == 1 && channels.areNeighbours(order.inner)) {
    for (size_t output = 0; output < numOutputs; ++output) {
      const auto element = output * run;
      const auto first = static_cast<size_t>(channels.firstOf(static_cast<int64_t>(element)));
      largest[output] = foldSideBySide(
          run, 0.0, [&](size_t i) { return double(magnitudes[element + i]) * parts[first + i]; },
          [](double a, double b) { return b > a ? b : a; });
      const bool isSame =
          output > 0 &&
          first == static_cast<size_t>(channels.firstOf(static_cast<int64_t>(element - run)));
      sums[output] = isSame ? sums[output - 1]
                            : sumSideBySide(run, [&](size_t i) { return widths[first + i]; });
    }
  } else {
    int64_t element = 0;
    channels.forEach(static_cast<int64_t>(magnitudes.size()), [&](size_t channel) {
      const auto output = static_cast<size_t>(order.channelOf(element));
      const double scaled = double(magnitudes[static_cast<size_t>(element++)]) * parts[channel];
      largest[output] = std::max(largest[output], scaled);
      sums[output] += widths[channel];
    });
  }
  double error = 0;
  for (size_t output = 0; output < numOutputs; ++output) {
    const double step = largest[output] / highest;
    error += step * step * sums[output];
  }
  return error;
}

/// The map with the smallest error; none where rounding as it is is as good.
Expected<std::optional<ChannelMap>> ChannelScaler::bestMap(Value value, const ScaledTensor &tensor,
                                                           DataType floats) const {
  const double plainStep = plan.quantized(value).getScale();
  Operation *first = tensor.readers[0];
  SmallVector<double> steps(ChannelRanges(first).size(), plainStep);
  const bool isInMaker = tensor.applied == Applied::InMaker;
  std::vector<FilterFigures> filters;
  for (Operation *reader : tensor.readers) {
    Expected<FilterFigures> figures = FilterFigures::of(reader, isInMaker);
    if (!figures)
      return propagate(figures);
    filters.push_back(std::move(*figures));
  }
  // Of channels that are made as wide as others, filters are rounded as coarsely as of these.
  const auto highest = static_cast<double>(integerRange(integers.weight).highest);
  const auto errorOf = [&](ArrayRef<float> factors) {
    double error = 0;
    for (const FilterFigures &filter : filters)
      error += filter.inputError(steps) + (isInMaker ? filter.filterError(factors, highest) : 0);
    return error;
  };
  double least = errorOf(SmallVector<float>(steps.size(), 1));
  const bool isCutOff = isInMaker && hasRelu(value.getDefiningOp());
  const bool canShift = !isCutOff && llvm::all_of(tensor.readers, takesSummands);
  SmallVector<ChannelMap> maps;
  for (double part : isInMaker ? ArrayRef(kParts) : ArrayRef(kParts).take_front(1)) {
    maps.push_back(scaledMap(first, floats, part));
    if (canShift)
      maps.push_back(shiftedMap(first, floats, part));
  }
  std::optional<ChannelMap> best;
  for (ChannelMap &map : maps) {
    if (!(map.range.max > map.range.min))
      break;
    const double step = (map.range.max - map.range.min) / double(numSteps(integers.activation));
    for (auto [channel, factor] : llvm::enumerate(map.factors))
      steps[channel] = step / double(factor);
    const double error = errorOf(map.factors);
    const double leastGain = isInMaker ? kLeastGainInMaker : kLeastGain;
    if (least < (best && isInMaker ? 1 : leastGain) * error)
      continue;
    least = error;
    best = std::move(map);
  }
  return best;
}

/// One number for each channel of tensors of `type`.
Value ChannelScaler::constant(const std::string &name, const ScaledTensor &tensor,
                              ArrayRef<float> numbers, RankedTensorType type) {
  SmallVector<int64_t> dims(static_cast<size_t>(type.getRank()), 1);
  dims[static_cast<size_t>(tensor.axis)] = static_cast<int64_t>(numbers.size());
  Tensor elements(DataType::F32, Shape(std::span(dims.data(), dims.size())));
  llvm::copy(numbers, elements.mutableData<float>().begin());
  return top::WeightOp::create(builder, main->getParentOfType<ModuleOp>(), name,
                               std::move(elements));
}

/// `value` after `map`.
Value ChannelScaler::apply(Value value, const ScaledTensor &tensor, const ChannelMap &map,
                           DataType floats) {
  auto type = cast<RankedTensorType>(value.getType());
  const auto floatType = Float32Type::get(type.getContext());
  const auto stored = type.clone(quant::CalibratedQuantizedType::get(floatType, map.range));
  const std::string name = tensorName(value) + "_scaled";
  builder.setInsertionPointAfterValue(value);
  const auto append = [&]<typename Op>(const std::string &called, const char *operand,
                                       ArrayRef<float> numbers, Type result) {
    Value with = constant(called + operand, tensor, numbers, type);
    auto made = builder.create<Op>(NameLoc::get(builder.getStringAttr(called)), result,
                                   ValueRange{value, with});
    options.scalings[made] = floats;
    value = made.getOutput();
  };
  if (map.summands.empty()) {
    append.operator()<top::MulOp>(name, "_factors", map.factors, stored);
    return value;
  }
  append.operator()<top::MulOp>(name, "_factors", map.factors, type.clone(floatType));
  append.operator()<top::AddOp>(tensorName(value) + "_shifted", "_summands", map.summands, stored);
  return value;
}

/// Makes what makes `value` give it after `map`: with another filter, bias and name.
Expected<void> ChannelScaler::applyInMaker(OpResult value, const ChannelMap &map) {
  Operation *maker = value.getOwner();
  Expected<Tensor> filter = readFilter(maker);
  if (!filter)
    return propagate(filter);
  const ChannelOrder order = *filterOrder(maker);
  Tensor multiplied(DataType::F32, filter->shape());
  const std::span<const float> weights = filter->data<float>();
  for (auto [index, made] : llvm::enumerate(multiplied.mutableData<float>()))
    made = weights[index] *
           map.factors[static_cast<size_t>(order.channelOf(static_cast<int64_t>(index)))];
  releaseMapped(filter->rawBytes());
  Tensor bias(DataType::F32, Shape{order.numChannels()});
  const std::span<float> numbers = bias.mutableData<float>();
  std::ranges::fill(numbers, 0.0F);
  if (auto old = maker->getOperand(2).getDefiningOp<top::WeightOp>()) {
    Expected<Tensor> read = old.read();
    if (!read)
      return propagate(read);
    llvm::copy(convert(*read, DataType::F32).data<float>(), numbers.begin());
  }
  for (size_t channel = 0; channel < numbers.size(); ++channel)
    numbers[channel] = numbers[channel] * map.factors[channel] +
                       (map.summands.empty() ? 0 : map.summands[channel]);
  builder.setInsertionPoint(maker);
  const auto module = main->getParentOfType<ModuleOp>();
  maker->setOperand(1, top::WeightOp::create(builder, module, layerName(maker) + "_filter_widened",
                                             std::move(multiplied)));
  maker->setOperand(2, top::WeightOp::create(builder, module, layerName(maker) + "_bias_widened",
                                             std::move(bias)));
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(type.clone(
      quant::CalibratedQuantizedType::get(Float32Type::get(type.getContext()), map.range)));
  const std::string plain = layerName(maker);
  renameTensor(value, tensorName(value) + "_scaled");
  // What is said of the layer holds for it under its new name.
  const std::string scaled = layerName(maker);
  if (auto said = options.exceptions.find(plain); said != options.exceptions.end())
    options.exceptions.emplace(scaled, said->second);
  if (options.onIntegers.contains(plain))
    options.onIntegers.insert(scaled);
  return {};
}

Expected<void> ChannelScaler::run() {
  for (Operation &op : main.front().without_terminator())
    find(&op);
  for (const auto &[value, tensor] : tensors) {
    const bool isInMaker = tensor.applied == Applied::InMaker;
    // What else reads the tensor would see the factors.
    if (isInMaker && std::distance(value.use_begin(), value.use_end()) !=
                         static_cast<ptrdiff_t>(tensor.readers.size()))
      continue;
    const DataType floats = isInMaker ? DataType::F32 : *floatsOf(value);
    Expected<std::optional<ChannelMap>> map = bestMap(value, tensor, floats);
    if (!map)
      return propagate(map);
    if (!*map)
      continue;
    if (isInMaker)
      if (Expected<void> made = applyInMaker(cast<OpResult>(value), **map); !made)
        return made;
    Value scaled = isInMaker ? value : apply(value, tensor, **map, floats);
    for (Operation *reader : tensor.readers) {
      reader->setOperand(0, scaled);
      if (Expected<void> converted = readAfter(**map, reader); !converted)
        return propagate(converted);
    }
  }
  return {};
}

} // namespace

Expected<double> tpuc::roundingError(ArrayRef<Operation *> readers, ArrayRef<double> steps) {
  double error = 0;
  for (Operation *reader : readers) {
    Expected<FilterFigures> filter = FilterFigures::of(reader, /*withMagnitudes=*/false);
    if (!filter)
      return propagate(filter);
    error += filter->inputError(steps);
  }
  return error;
}

/// The bias loses what the filter makes of the summands of its input's channels.
static Expected<void> takeSummands(OpBuilder &builder, Operation *reader, const Tensor &filter,
                                   ArrayRef<float> summands) {
  const ChannelOrder order = *filterOrder(reader);
  SmallVector<double> sums(static_cast<size_t>(order.numChannels()), 0);
  if (auto bias = reader->getOperand(2).getDefiningOp<top::WeightOp>()) {
    Expected<Tensor> numbers = bias.read();
    if (!numbers)
      return propagate(numbers);
    llvm::copy(convert(*numbers, DataType::F32).data<float>(), sums.begin());
  }
  const float *weight = filter.data<float>().data();
  int64_t element = 0;
  InputChannels(reader).forEach(filter.numElements(), [&](size_t channel) {
    sums[static_cast<size_t>(order.channelOf(element++))] -=
        double(*weight++) * double(summands[channel]);
  });
  Tensor bias(DataType::F32, Shape{order.numChannels()});
  llvm::transform(sums, bias.mutableData<float>().begin(),
                  [](double sum) { return static_cast<float>(sum); });
  reader->setOperand(2,
                     top::WeightOp::create(builder, reader->getParentOfType<ModuleOp>(),
                                           layerName(reader) + "_bias_shifted", std::move(bias)));
  return {};
}

/// What calibration has found of the ranges of the channels that `reader` reads, after `map`.
static void moveRanges(const ChannelMap &map, Operation *reader) {
  if (!reader->hasAttr(kInputLowest) || !reader->hasAttr(kInputHighest))
    return;
  const ChannelRanges ranges(reader);
  SmallVector<float> lowest;
  SmallVector<float> highest;
  for (size_t channel = 0; channel < map.factors.size(); ++channel) {
    const quant::FloatRange range = mappedRange(ranges, map, channel);
    lowest.push_back(static_cast<float>(range.min));
    highest.push_back(static_cast<float>(range.max));
  }
  OpBuilder builder(reader);
  reader->setAttr(kInputLowest, builder.getDenseF32ArrayAttr(lowest));
  reader->setAttr(kInputHighest, builder.getDenseF32ArrayAttr(highest));
}

Expected<void> tpuc::readAfter(const ChannelMap &map, Operation *reader) {
  OpBuilder builder(reader);
  Expected<Tensor> filter = readFilter(reader);
  if (!filter)
    return propagate(filter);
  Tensor divided(DataType::F32, filter->shape());
  float *at = divided.mutableData<float>().data();
  const float *weight = filter->data<float>().data();
  InputChannels(reader).forEach(filter->numElements(),
                                [&](size_t channel) { *at++ = *weight++ / map.factors[channel]; });
  releaseMapped(filter->rawBytes());
  if (!map.summands.empty())
    if (Expected<void> taken = takeSummands(builder, reader, divided, map.summands); !taken)
      return taken;
  reader->setOperand(1, top::WeightOp::create(builder, reader->getParentOfType<ModuleOp>(),
                                              layerName(reader) + "_filter_scaled",
                                              std::move(divided)));
  moveRanges(map, reader);
  if (auto means = reader->getAttrOfType<DenseF32ArrayAttr>(kInputMeans)) {
    SmallVector<float> mapped;
    for (auto [channel, mean] : llvm::enumerate(means.asArrayRef()))
      mapped.push_back(mean * map.factors[channel] +
                       (map.summands.empty() ? 0 : map.summands[channel]));
    reader->setAttr(kInputMeans, builder.getDenseF32ArrayAttr(mapped));
  }
  if (auto pairs = reader->getAttrOfType<DenseF32ArrayAttr>(kInputCovariances)) {
    SmallVector<float> mapped(pairs.asArrayRef());
    for (size_t c = 0; c < map.factors.size(); ++c)
      for (size_t d = 0; d <= c; ++d)
        mapped[pairIndex(c, d)] *= map.factors[c] * map.factors[d];
    reader->setAttr(kInputCovariances, builder.getDenseF32ArrayAttr(mapped));
  }
  return {};
}

Expected<void> tpuc::scaleChannels(func::FuncOp main, const TargetInfo &target,
                                   const StoragePlan &plan, PlanOptions &options) {
  if (!options.integers())
    return {};
  return ChannelScaler(main, target, plan, options).run();
}
