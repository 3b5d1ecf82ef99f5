//===- Functions.cpp - Functions of BF16 by tables ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Functions.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"

#include <limits>
#include <numbers>

namespace tpuc::cv18xx {

uint16_t bf16Bits(double number) { return toBf16(static_cast<float>(number)); }

namespace {

constexpr unsigned kTensors = 4, kTables = 3;
constexpr uint32_t kTableBytes = 2 * std::tuple_size_v<Table>;
constexpr int kBias = 127, kSignificandBits = 7;

double valueOf(uint16_t bits) { return static_cast<double>(fromBf16(bits)); }

/// The low byte of a BF16 as a number from 2^lowest on below 2^(lowest + 2), and the distance to
/// the next one.
struct LowByte {
  double number, step;
};
LowByte lowByte(unsigned byte, int lowest) {
  const int exponent = ((kBias + lowest) & 1) == static_cast<int>(byte >> 7) ? lowest : lowest + 1;
  return {std::ldexp(1 + (byte & 0x7F) / 128.0, exponent),
          std::ldexp(1, exponent - kSignificandBits)};
}

/// A table in all lanes.
Expected<void> loadTable(Builder &builder, const Table &values, uint32_t address) {
  const Chip &chip = builder.chip();
  const GlobalTensor from{.base = kConstantBase,
                          .offset = builder.keep(values),
                          .shape = {1, chip.lanes, 1, std::tuple_size_v<Table>},
                          .strides = {},
                          .isBf16 = true};
  return emitLoad(builder, from, compactTensor(chip, address, from.shape, true));
}

/// Commands one after the other on tensors of one shape; the first that fails is kept.
class Steps {
public:
  Steps(Builder &builder, const FunctionOperands &operands)
      : builder(builder), operands(operands), next(operands.scratch) {}

  LocalTensor tensor() {
    const Chip &chip = builder.chip();
    const LocalTensor made = alignedTensor(chip, next, operands.result.shape, true);
    next += alignedBytes(chip, operands.result.shape, true);
    return made;
  }
  /// A table in all lanes.
  uint32_t table(const Table &values) {
    if (operands.tables)
      return *operands.tables + numTables++ * kTableBytes;
    const uint32_t address = next;
    next += kTableBytes;
    if (!problem)
      keep(loadTable(builder, values, address));
    return address;
  }
  void run(std::string_view name, const LocalTensor &result, const LocalTensor &left,
           Elements right) {
    if (!problem)
      keep(emitElements(builder, {.name = name, .result = result, .left = left, .right = right}));
  }
  void run(std::string_view name, const LocalTensor &result, const LocalTensor &left,
           const LocalTensor &right) {
    run(name, result, left, Elements(right));
  }
  void run(std::string_view name, const LocalTensor &result, const LocalTensor &left,
           double number) {
    run(name, result, left, Elements(bf16Bits(number)));
  }
  void look(const LocalTensor &result, const LocalTensor &index, uint32_t table) {
    if (!problem)
      keep(emitLookup(builder, result, index, table));
  }
  /// The upper bytes of BF16 numbers as indices.
  void upperBytes(const LocalTensor &result, const LocalTensor &input) {
    const auto bytesOf = [](LocalTensor tensor, uint32_t byte) {
      tensor.address += byte;
      tensor.isBf16 = false;
      return tensor;
    };
    if (!problem)
      keep(emitElements(builder,
                        {.name = "copy", .result = bytesOf(result, 0), .left = bytesOf(input, 1)}));
  }
  /// Adds the lower bytes of `added` times a number of 8 bits to the upper bytes of `result`, which
  /// are 0 to 127 before and afterwards. `zeros` lies behind `result`.
  void addToUpperBytes(const LocalTensor &result, const LocalTensor &zeros,
                       const LocalTensor &added, uint16_t factor) {
    LocalTensor bytes = result, lower = added;
    bytes.address += 1;
    bytes.isBf16 = lower.isBf16 = false;
    if (!problem)
      keep(emitElements(builder, {.name = "mac",
                                  .result = bytes,
                                  .left = lower,
                                  .right = factor,
                                  .planeDistance = zeros.address - bytes.address}));
  }
  /// The input where lookups can take it.
  LocalTensor indices(const LocalTensor &room) {
    if (operands.input.isAligned(builder.chip()))
      return operands.input;
    run("copy", room, operands.input, Elements(uint16_t{0}));
    return room;
  }

  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

private:
  void keep(Expected<void> made) {
    if (!made)
      problem = made.error();
  }

  Builder &builder;
  const FunctionOperands &operands;
  uint32_t next, numTables = 0;
  std::optional<Error> problem;
};

//===--- Curves -------------------------------------------------------------===//

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double tanhNormal(double x) {
  return 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
/// tanh(ln(1 + e^x))
double mishFactor(double x) {
  const double power = std::exp(x);
  return power * (power + 2) / (power * (power + 2) + 2);
}
double tanhFactor(double x) { return x == 0 ? 1 : std::tanh(x) / x; }
double erfFactor(double x) { return x == 0 ? 2 * std::numbers::inv_sqrtpi : std::erf(x) / x; }

double eluFactor(double x) { return x == 0 ? 1 : std::expm1(x) / x; }
double softplus(double x) { return std::log1p(std::exp(x)); }

/// What a curve is made of: `factor` from -offset / 2 on below `offset`, in steps of offset / 256,
/// from 0 on offset / 128; `low` and `high` beyond.
struct CurveShape {
  double (*factor)(double);
  double offset;
  double low, high;
  bool isTimesInput;
  /// The result is at most 1, and at least -1.
  bool isUnit;
  /// Pieces are given by x itself, not by its distance from their middle: two commands less. Where
  /// a curve is steep beside its value, that would lose more than two units in the last place.
  bool isByInput;
};

constexpr size_t kNumCurves = 9;

const CurveShape &shapeOf(Curve curve) {
  static constexpr std::array<CurveShape, kNumCurves> kShapes = {
      {{sigmoid, 32, 0, 1, false, false, true},
       {sigmoid, 32, 0, 1, true, false, true},
       {normal, 16, 0, 1, true, false, false},
       {tanhNormal, 16, 0, 1, true, false, false},
       {mishFactor, 32, 0, 1, true, false, true},
       {tanhFactor, 8, 1, 1, true, true, true},
       {erfFactor, 8, 1, 1, true, true, false},
       {eluFactor, 32, 1, 1, true, true, true},
       {softplus, 32, 0, 1, false, false, true}}};
  return kShapes[static_cast<size_t>(curve)];
}

struct CurveTables {
  Table values, slopes;
};

/// What is added to the distance from a piece's middle: a slope has a few last bits to spare, and
/// times this they make up for what the value loses when it is rounded.
constexpr double kLead = 0.25;

/// The value T and the slope S that keep T + S t closest to a piece of a curve, where t is the
/// input or, with a lead, its distance from the middle.
class Piece {
public:
  struct Point {
    double place, exact;
  };
  /// `isEach`: the points are all inputs of the piece, so that what the sums are rounded to counts.
  Piece(std::vector<Point> points, bool isEach, double chord, int steps)
      : points(std::move(points)), isEach(isEach) {
    const uint16_t nearest = bf16Bits(chord);
    for (int step = -steps; step <= steps; ++step) {
      const auto candidate = static_cast<uint16_t>(nearest + step);
      // Across 0 there is another sign, or no number.
      if ((candidate ^ nearest) >> 15 == 0)
        consider(candidate);
    }
  }

  uint16_t value = 0, slope = 0;

private:
  void consider(uint16_t candidate) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const Point &point : points) {
      const double rest = point.exact - valueOf(candidate) * point.place;
      least = std::min(least, rest);
      most = std::max(most, rest);
    }
    const uint16_t middle = bf16Bits((least + most) / 2);
    double error = std::max(most - valueOf(middle), valueOf(middle) - least);
    if (isEach) {
      // Of lines that round alike, the closer one.
      constexpr double kTie = 0x1p-10;
      double rounded = 0;
      for (const Point &point : points) {
        const double made = valueOf(middle) + valueOf(candidate) * point.place;
        rounded = std::max(rounded, std::fabs(valueOf(bf16Bits(made)) - point.exact));
      }
      error = rounded + kTie * error;
    }
    if (error >= best)
      return;
    best = error;
    value = middle;
    slope = candidate;
  }

  std::vector<Point> points;
  bool isEach;
  double best = std::numeric_limits<double>::infinity();
};

/// The BF16 from `first` to `last` whose sum with the offset is the one of a piece; empty where
/// they are more than a few.
std::vector<double> inputsOf(double sum, double offset, double first, double last) {
  constexpr size_t kMost = 32;
  std::vector<double> inputs;
  // Numbers beside 0 are many.
  if (first <= 0 && last >= 0)
    return inputs;
  const auto [nearer, farther] = std::minmax({std::fabs(first), std::fabs(last)});
  for (uint16_t bits = bf16Bits(nearer); valueOf(bits) <= farther; ++bits) {
    const double input = std::copysign(valueOf(bits), first);
    if (input < first || input > last || valueOf(bf16Bits(input + offset)) != sum)
      continue;
    if (inputs.size() == kMost)
      return {};
    inputs.push_back(input);
  }
  return inputs;
}

/// A piece around a sum with the offset, from `before` before to `behind` behind it.
Piece pieceOf(const CurveShape &shape, double sum, double before, double behind) {
  constexpr size_t kPoints = 9;
  const double middle = sum - shape.offset;
  const double chord =
      (shape.factor(middle + behind) - shape.factor(middle - before)) / (before + behind);
  std::vector<double> inputs;
  if (shape.isByInput)
    inputs = inputsOf(sum, shape.offset, middle - before, middle + behind);
  const bool isEach = !inputs.empty();
  for (size_t i = 0; i < kPoints && !isEach; ++i)
    inputs.push_back(middle - before + (before + behind) * static_cast<double>(i) / (kPoints - 1));
  std::vector<Piece::Point> points;
  for (const double input : inputs)
    points.push_back({shape.isByInput ? input : input - middle + kLead, shape.factor(input)});
  return {std::move(points), isEach, chord, shape.isByInput ? 24 : 8};
}

CurveTables makeTables(const CurveShape &shape) {
  CurveTables tables;
  const int lowest = std::ilogb(shape.offset) - 1;
  for (unsigned byte = 0; byte < tables.values.size(); ++byte) {
    const LowByte sum = lowByte(byte, lowest);
    // Sums below the offset lie in steps of half the length.
    const double before = sum.number == shape.offset ? sum.step / 4 : sum.step / 2;
    const Piece piece = pieceOf(shape, sum.number, before, sum.step / 2);
    const bool isFirst = sum.number == shape.offset / 2;
    const bool isLast = sum.number == 2 * shape.offset - sum.step;
    tables.values[byte] = isFirst  ? bf16Bits(shape.low)
                          : isLast ? bf16Bits(shape.high)
                                   : piece.value;
    tables.slopes[byte] = isFirst || isLast ? uint16_t{0} : piece.slope;
  }
  return tables;
}

const CurveTables &tablesOf(Curve curve) {
  static const auto kTables = [] {
    std::array<CurveTables, kNumCurves> tables;
    for (size_t i = 0; i < tables.size(); ++i)
      tables[i] = makeTables(shapeOf(static_cast<Curve>(i)));
    return tables;
  }();
  return kTables[static_cast<size_t>(curve)];
}

} // namespace

uint32_t functionScratch(const Chip &chip, const Extents &shape) {
  return kTensors * alignedBytes(chip, shape, true) + kTables * kTableBytes;
}

uint32_t curveScratch(const Chip &chip, Curve curve, const Extents &shape) {
  const uint32_t tensors = shapeOf(curve).isByInput ? 2 : 3;
  return tensors * alignedBytes(chip, shape, true) + curveTableBytes();
}

uint32_t curveTableBytes() { return 2 * kTableBytes; }

Expected<void> loadCurveTables(Builder &builder, Curve curve, uint32_t address) {
  const CurveTables &tables = tablesOf(curve);
  if (Expected<void> done = loadTable(builder, tables.values, address); !done)
    return done;
  return loadTable(builder, tables.slopes, address + kTableBytes);
}

Expected<void> emitCurve(Builder &builder, Curve curve, const FunctionOperands &operands) {
  const CurveShape &shape = shapeOf(curve);
  const CurveTables &tables = tablesOf(curve);
  Steps steps(builder, operands);
  const uint32_t values = steps.table(tables.values), slopes = steps.table(tables.slopes);
  const LocalTensor sum = steps.tensor(), part = steps.tensor();
  const LocalTensor &input = operands.input, &result = operands.result;
  const auto addOffset = [&](const LocalTensor &limited) {
    steps.run("max", limited, input, -shape.offset / 2);
    steps.run("min", limited, limited, shape.offset * 127 / 128);
    steps.run("add", sum, limited, shape.offset);
  };
  if (shape.isByInput) {
    addOffset(sum);
    steps.look(part, sum, slopes);
    const bool isMadeThere =
        !shape.isTimesInput && result.isAligned(builder.chip()) && result.address != input.address;
    const LocalTensor &made = isMadeThere ? result : sum;
    steps.look(made, sum, values);
    // Slopes at both ends are 0, so that nothing comes of inputs beyond.
    steps.run("mac", made, input, part);
    if (shape.isTimesInput)
      steps.run("mul", result, input, made);
    else if (!isMadeThere)
      steps.run("copy", result, made, Elements(uint16_t{0}));
  } else {
    const LocalTensor rest = steps.tensor();
    addOffset(rest);
    steps.run("sub", part, sum, shape.offset + kLead);
    steps.run("sub", rest, rest, part);
    steps.look(part, sum, slopes);
    steps.run("mul", rest, rest, part);
    steps.look(sum, sum, values);
    // One rounding of x T + x S (x - x[i]).
    steps.run("mul", result, rest, input);
    steps.run("mac", result, sum, input);
  }
  if (shape.isUnit) {
    steps.run("max", result, result, -1);
    steps.run("min", result, result, 1);
  }
  return steps.done();
}

//===--- Powers -------------------------------------------------------------===//

namespace {

/// The exponent of the power of two that an upper byte stands for; the rest is from 1/2 to 2.
int upperExponent(unsigned byte) { return 2 * static_cast<int>(byte & 0x7F) - kBias + 1; }
constexpr int kLowest = -1;

struct PowerTables {
  Table upper, lower;
  /// What `lower` loses by rounding.
  Table rest;
};
PowerTables powerTables(double exponent) {
  PowerTables tables;
  for (unsigned byte = 0; byte < tables.upper.size(); ++byte) {
    const bool isNegative = byte >> 7 != 0;
    const double factor = std::exp2(exponent * upperExponent(byte));
    tables.upper[byte] = bf16Bits(isNegative ? -factor : factor);
    const double exact = std::pow(lowByte(byte, kLowest).number, exponent);
    tables.lower[byte] = bf16Bits(exact);
    tables.rest[byte] = bf16Bits(exact - valueOf(tables.lower[byte]));
  }
  // Of 0.
  tables.upper[0] = tables.upper[0x80] = exponent < 0 ? kLargestBf16 : uint16_t{0};
  return tables;
}

} // namespace

static Expected<void> emitPowers(Builder &builder, Power power, const FunctionOperands &operands,
                                 const LocalTensor *rest) {
  static const std::array<PowerTables, 3> kTables = {powerTables(-1), powerTables(0.5),
                                                     powerTables(-0.5)};
  const PowerTables &tables = kTables[static_cast<size_t>(power)];
  Steps steps(builder, operands);
  const uint32_t uppers = steps.table(tables.upper), lowers = steps.table(tables.lower);
  const LocalTensor index = steps.tensor(), left = steps.tensor(), right = steps.tensor();
  steps.upperBytes(index, operands.input);
  steps.look(left, index, uppers);
  const LocalTensor indices = steps.indices(index);
  steps.look(right, indices, lowers);
  // The result may be the input.
  if (rest) {
    const LocalTensor lost = steps.tensor();
    steps.look(lost, indices, steps.table(tables.rest));
    steps.run("mul", *rest, left, lost);
  }
  steps.run("mul", operands.result, left, right);
  return steps.done();
}

Expected<void> emitPower(Builder &builder, Power power, const FunctionOperands &operands) {
  return emitPowers(builder, power, operands, nullptr);
}
Expected<void> emitPowerWithRest(Builder &builder, Power power, const FunctionOperands &operands,
                                 const LocalTensor &rest) {
  return emitPowers(builder, power, operands, &rest);
}

//===--- Exponentials, logarithms -------------------------------------------===//

namespace {

/// ln 2 in two parts, the first of which has 8 bits: its products with even numbers up to 128 are
/// multiples of 2^-7, and exact beside numbers of 1 and more.
constexpr double kLn2High = 177.0 / 256, kLn2Low = std::numbers::ln2 - kLn2High;

} // namespace

Expected<void> emitExponential(Builder &builder, const FunctionOperands &operands) {
  // Powers of two are added to the exponent, so results stay normal numbers.
  constexpr double kLeast = -86, kMost = 88.5;
  // In steps of 4 from 512 on, which count backwards from k = 124, and of 1/32 from 4 on; of 1/16
  // from 8 on.
  constexpr double kFirst = 512, kCount = 636, kFine = 6;
  constexpr int kMostExponent = 124;
  // A step is two units of the upper byte.
  constexpr uint16_t kOfStep = 0xFE;
  static const auto kFactors = [] {
    std::array<Table, 2> tables;
    for (unsigned byte = 0; byte < tables[0].size(); ++byte) {
      const double factor = std::ldexp(std::exp(lowByte(byte, 2).number - kFine), kMostExponent);
      tables[0][byte] = bf16Bits(factor);
      tables[1][byte] = bf16Bits(factor - valueOf(tables[0][byte]));
    }
    return tables;
  }();
  Steps steps(builder, operands);
  const uint32_t high = steps.table(kFactors[0]), low = steps.table(kFactors[1]);
  const LocalTensor rest = steps.tensor(), sum = steps.tensor(), count = steps.tensor(),
                    near = steps.tensor();
  steps.run("max", rest, operands.input, kLeast);
  steps.run("min", rest, rest, kMost);
  // The larger of both fills a tensor with one number.
  steps.run("max", sum, rest, kCount);
  steps.run("mac", sum, rest, -std::numbers::log2e);
  steps.run("max", sum, sum, kFirst);
  // -k
  steps.run("sub", count, sum, kCount);
  steps.run("mac", rest, count, kLn2High);
  // Which multiple of 1/32 is near, and what is exactly left of x.
  steps.run("copy", near, rest, Elements(uint16_t{0}));
  steps.run("mac", near, count, kLn2Low);
  steps.run("add", near, near, kFine);
  const LocalTensor &result = operands.result;
  steps.run("sub", result, near, kFine);
  steps.run("sub", rest, rest, result);
  steps.run("mac", rest, count, kLn2Low);
  steps.look(count, near, low);
  steps.look(near, near, high);
  steps.run("mul", rest, rest, near);
  steps.run("add", rest, rest, count);
  steps.run("add", rest, near, rest);
  // The upper bytes are numbers of 16 bits with zeros.
  steps.run("mul", near, near, 0.0);
  steps.addToUpperBytes(rest, near, sum, kOfStep);
  steps.run("copy", result, rest, Elements(uint16_t{0}));
  return steps.done();
}

Expected<void> emitLogarithm(Builder &builder, const FunctionOperands &operands) {
  constexpr double kOfZero = -0x1p126;
  static const auto kTables = [] {
    std::array<Table, 2> tables;
    for (unsigned byte = 0; byte < tables[0].size(); ++byte) {
      tables[0][byte] = bf16Bits(upperExponent(byte));
      tables[1][byte] = bf16Bits(std::log(lowByte(byte, kLowest).number));
    }
    tables[0][0] = tables[0][0x80] = bf16Bits(kOfZero);
    return tables;
  }();
  Steps steps(builder, operands);
  const uint32_t uppers = steps.table(kTables[0]), lowers = steps.table(kTables[1]);
  const LocalTensor index = steps.tensor(), count = steps.tensor(), sum = steps.tensor();
  steps.upperBytes(index, operands.input);
  steps.look(count, index, uppers);
  steps.look(sum, steps.indices(index), lowers);
  steps.run("mac", sum, count, kLn2Low);
  steps.run("mac", sum, count, kLn2High);
  steps.run("copy", operands.result, sum, Elements(uint16_t{0}));
  return steps.done();
}

} // namespace tpuc::cv18xx
