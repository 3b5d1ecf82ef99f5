//===- LutSynthesis.cpp - Finding arithmetic that gives a table----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/LutSynthesis.h"
#include "tpuc/Target/BM1684X/Kernels/LeastError.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace tpuc::bm1684x {

namespace {

/// How a number is brought to 16 bits: factor / 2^shift.
struct Scaled {
  int32_t factor = 0;
  int32_t shift = 0;
};

/// The closest to `number` with a factor of less than 2^bits, the shift at most `mostShift`.
std::optional<Scaled> scaled(double number, int bits, int32_t mostShift = 31) {
  const double limit = std::ldexp(1, bits) - 1;
  for (int32_t shift = mostShift; shift >= 0; --shift)
    if (std::abs(std::round(std::ldexp(number, shift))) <= limit)
      return Scaled{static_cast<int32_t>(std::round(std::ldexp(number, shift))), shift};
  return std::nullopt;
}

/// Distances from a middle, the nearest first.
constexpr std::array kNear = {0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32};
constexpr int32_t kFarthest = 32;

constexpr int32_t kFractionBits = 7;
constexpr int32_t kWordBits = 15;
constexpr int32_t kMostShift = 31;

/// What a polynomial is of: u, min(u, 0) or |u|.
enum class Bend : uint8_t { None, Below, Absolute };

/// P(w) and a line, in integers: w is u bent, cut off at `limit` and moved to its middle, t =
/// w / 2^scaleBits.
struct Polynomial {
  Bend bend = Bend::None;
  std::optional<int32_t> limit;
  int32_t scaleBits = 0;
  /// Of the inner sums, and of the last one.
  int32_t innerBits = 0, lastBits = 0;
  /// The factor of w in the first product.
  Scaled top;
  /// Coefficients of t^1, t^2, ... without that of the highest degree.
  std::vector<int32_t> inner;
  int32_t constant = 0;
  std::optional<Scaled> line;
  /// Whether no sum of both leaves 16 bits.
  bool addsInPlace = false;
};

class Fitter {
public:
  Fitter(const TableBytes &table, DataType input, int32_t zero)
      : table(table), input(input), zero(zero) {
    for (size_t byte = 0; byte < table.size(); ++byte) {
      const auto stored = isSigned(input) ? static_cast<int32_t>(static_cast<int8_t>(byte))
                                          : static_cast<int32_t>(byte);
      u[byte] = stored - zero;
      most = std::max(most, std::abs(stored - zero));
      target[byte] = static_cast<int8_t>(table[byte]);
    }
    const auto [least, greatest] = std::ranges::minmax(target);
    lowest = least;
    highest = greatest;
  }

  void tryBytes();
  void tryLines();
  void tryTwoLines();
  void tryHardSwish();
  void tryPolynomials();
  std::optional<std::vector<LutStep>> best() const { return found; }

private:
  Fit fit(const std::vector<Column> &columns, unsigned rounds) const;
  Column hardSwish(double width) const;
  std::pair<double, Fit> fitHardSwish() const;
  std::vector<std::optional<LutStep>> linesThroughZero(bool isBelow) const;
  bool tryHardSwishOf(double width, double slope, double offset);
  int32_t middleOf(std::optional<int32_t> limit) const;
  Column bent(Bend bend, std::optional<int32_t> limit) const;
  std::vector<Column> columnsOf(Bend bend, std::optional<int32_t> limit, size_t degree) const;
  std::vector<std::optional<int32_t>> limits() const;
  bool tryPolynomialsOf(Bend bend, std::optional<int32_t> limit);
  std::optional<Polynomial> inIntegers(Bend bend, std::optional<int32_t> limit,
                                       const Fit &fit) const;
  std::vector<LutStep> stepsOf(const Polynomial &polynomial) const;
  size_t numWrong(const Polynomial &polynomial) const;
  void improve(Polynomial &polynomial) const;
  bool consider(std::vector<LutStep> steps);
  int64_t fewestCycles() const {
    return found ? cyclesOfSteps(*found, input) : std::numeric_limits<int64_t>::max();
  }
  /// u of 16 bits, or the input where that is the same.
  int32_t addCentred(std::vector<LutStep> &steps) const;

  const TableBytes &table;
  DataType input;
  int32_t zero;
  Column u{}, target{};
  int32_t most = 0;
  double lowest = 0, highest = 0;
  std::optional<std::vector<LutStep>> found;
};

Fit Fitter::fit(const std::vector<Column> &columns, unsigned rounds) const {
  return fitLeastError(columns, target, rounds);
}

/// Keeps `steps` if they give the table, corrected where few entries are wrong, in fewer cycles
/// than what is known. Whether they do without a correction.
bool Fitter::consider(std::vector<LutStep> steps) {
  const TableBytes given = evaluateSteps(steps, input);
  std::vector<size_t> wrong;
  for (size_t byte = 0; byte < given.size() && wrong.size() <= kMostCorrections; ++byte)
    if (given[byte] != table[byte])
      wrong.push_back(byte);
  if (wrong.size() > kMostCorrections)
    return false;
  for (size_t byte : wrong) {
    const auto last = static_cast<int32_t>(steps.size());
    const auto difference = static_cast<int8_t>(table[byte] - given[byte]);
    steps.push_back({.op = ArithOp::SelectEqual,
                     .left = 0,
                     .constant = static_cast<int32_t>(u[byte]) + zero,
                     .chosen = difference,
                     .type = DataType::I8});
    steps.push_back({.op = ArithOp::AddSat, .left = last, .right = last + 1, .type = DataType::I8});
  }
  if (cyclesOfSteps(steps, input) < fewestCycles() && evaluateSteps(steps, input) == table)
    found = std::move(steps);
  return wrong.empty();
}

int32_t Fitter::addCentred(std::vector<LutStep> &steps) const {
  if (zero == 0)
    return 0;
  steps.push_back({.op = ArithOp::SubSat, .left = 0, .constant = zero, .type = DataType::I16});
  return 1;
}

/// Cuts the last result off where the table does and the type does not.
static std::vector<LutStep> cutOff(std::vector<LutStep> steps, double lowest, double highest) {
  const auto limit = [&](ArithOp op, double bound) {
    steps.push_back({.op = op,
                     .left = static_cast<int32_t>(steps.size()),
                     .constant = static_cast<int32_t>(bound),
                     .type = DataType::I8});
  };
  if (lowest > INT8_MIN)
    limit(ArithOp::Max, lowest);
  if (highest < INT8_MAX)
    limit(ArithOp::Min, highest);
  return steps;
}

void Fitter::tryLines() {
  constexpr double kMostError = 1;
  Column ones;
  ones.fill(1);
  const Fit line = fit({u, ones}, 60);
  if (line.error > kMostError)
    return;
  const double slope = line.coefficients[0];
  // Around the input's own zero.
  const double offset = line.coefficients[1] - slope * zero;
  const auto considerBoth = [&](const std::vector<LutStep> &steps) {
    if (consider(steps))
      return true;
    return consider(cutOff(steps, lowest, highest));
  };
  for (const int bits : {7, kWordBits}) {
    const std::optional<Scaled> factor = scaled(slope, bits);
    for (const int near : kNear)
      for (const Rounding rounding : {Rounding::HalfUp, Rounding::HalfAway}) {
        if (!factor || std::abs(factor->factor + near) >= 1 << bits)
          continue;
        if (considerBoth({{.op = ArithOp::MulSat,
                           .constant = factor->factor + near,
                           .shift = factor->shift,
                           .rounding = rounding,
                           .type = DataType::I8}}))
          return;
      }
  }
  // Neither the product nor the constant may leave 16 bits.
  constexpr double kMostInput = 256;
  int fractionBits = kFractionBits;
  while (fractionBits > 0 && std::ldexp(std::max(std::abs(slope) * kMostInput, std::abs(offset)),
                                        fractionBits) > INT16_MAX)
    --fractionBits;
  const std::optional<Scaled> factor = scaled(std::ldexp(slope, fractionBits), kWordBits);
  const double middle = std::round(std::ldexp(offset, fractionBits));
  if (!factor || std::abs(middle) > INT16_MAX - kFarthest)
    return;
  for (const int near : kNear)
    for (const int moved : kNear)
      for (const Rounding rounding : {Rounding::HalfUp, Rounding::HalfAway})
        if (std::abs(factor->factor + near) <= INT16_MAX &&
            considerBoth({{.constant = factor->factor + near, .shift = factor->shift},
                          {.op = ArithOp::AddSat,
                           .left = 1,
                           .constant = static_cast<int32_t>(middle) + moved,
                           .shift = fractionBits,
                           .rounding = rounding,
                           .type = DataType::I8}}))
          return;
}

/// The products that give the entries on one side of 0, those of few bits first; nothing where the
/// input itself is what they are.
std::vector<std::optional<LutStep>> Fitter::linesThroughZero(bool isBelow) const {
  const auto isHere = [&](size_t byte) { return isBelow ? u[byte] < 0 : u[byte] >= 0; };
  // The slopes that round to every entry lie between these.
  double least = -INFINITY, most = INFINITY;
  bool isInput = input == DataType::I8;
  for (size_t byte = 0; byte < u.size(); ++byte) {
    if (!isHere(byte))
      continue;
    isInput &= target[byte] == u[byte];
    if (u[byte] == 0 || target[byte] == INT8_MIN || target[byte] == INT8_MAX)
      continue;
    const auto [low, high] =
        std::minmax({(target[byte] - 0.5) / u[byte], (target[byte] + 0.5) / u[byte]});
    least = std::max(least, low);
    most = std::min(most, high);
  }
  if (isInput)
    return {std::nullopt};
  std::vector<std::optional<LutStep>> found;
  if (!(least < most) || std::isinf(least) || std::isinf(most))
    return found;
  for (const int bits : {7, kWordBits}) {
    const std::optional<Scaled> factor = scaled((least + most) / 2, bits);
    for (const int near : kNear)
      for (const Rounding rounding : {Rounding::HalfUp, Rounding::HalfAway}) {
        if (!factor || std::abs(factor->factor + near) >= 1 << bits)
          continue;
        const LutStep step{.op = ArithOp::MulSat,
                           .constant = factor->factor + near,
                           .shift = factor->shift,
                           .rounding = rounding,
                           .type = DataType::I8};
        const TableBytes given = evaluateSteps({step}, input);
        bool isGiven = true;
        for (size_t byte = 0; byte < u.size() && isGiven; ++byte)
          isGiven = !isHere(byte) || given[byte] == table[byte];
        if (isGiven)
          found.emplace_back(step);
      }
    if (!found.empty())
      return found;
  }
  return found;
}

/// Around the input's own zero, which is 0: the larger or the smaller of two products.
void Fitter::tryTwoLines() {
  if (zero != 0)
    return;
  const std::vector<std::optional<LutStep>> below = linesThroughZero(/*isBelow=*/true);
  const std::vector<std::optional<LutStep>> above = linesThroughZero(/*isBelow=*/false);
  for (const std::optional<LutStep> &left : below)
    for (const std::optional<LutStep> &right : above)
      for (const ArithOp op : {ArithOp::Max, ArithOp::Min}) {
        std::vector<LutStep> steps;
        const auto add = [&](const std::optional<LutStep> &step) {
          if (!step)
            return int32_t{0};
          steps.push_back(*step);
          return static_cast<int32_t>(steps.size());
        };
        const int32_t first = add(left);
        const int32_t second = add(right);
        steps.push_back({.op = op, .left = first, .right = second, .type = DataType::I8});
        if (consider(steps))
          return;
      }
}

/// u clip(u / width + 1, 0, 2)
Column Fitter::hardSwish(double width) const {
  Column column;
  for (size_t x = 0; x < u.size(); ++x)
    column[x] = u[x] * std::clamp(u[x] / width + 1, 0.0, 2.0);
  return column;
}

/// The width, and factors of that column and of 1.
std::pair<double, Fit> Fitter::fitHardSwish() const {
  constexpr double kFirst = 2, kLast = 3500, kStep = 1.08;
  Column ones;
  ones.fill(1);
  std::pair<double, Fit> best{1, {}};
  const auto look = [&](double width, unsigned rounds) {
    Fit made = fit({hardSwish(width), ones}, rounds);
    if (made.error < best.second.error)
      best = {width, std::move(made)};
  };
  for (double width = kFirst; width < kLast; width *= kStep)
    look(width, 5);
  for (double step = 0.04; step > 0.0004; step /= 2) {
    const double width = best.first;
    look(width * (1 + step), 30);
    look(width / (1 + step), 30);
  }
  return best;
}

/// Saturation cuts off at both ends, and no product leaves 16 bits:
///   r = saturate(u * 2^15 / width), v = u * factor
///   result = (v * 2^15 + v * r) / 2^shift + c
bool Fitter::tryHardSwishOf(double width, double slope, double offset) {
  constexpr int32_t kHalf = 1 << 15;
  const std::optional<Scaled> ratio = scaled(kHalf / width, kWordBits);
  const double reach = 2 * std::abs(slope) * most;
  const int32_t bits = std::min(kFractionBits, static_cast<int32_t>(std::log2(kHalf / reach)));
  // The largest v of 16 bits.
  const double whole = std::ldexp(slope, bits - kWordBits);
  const auto narrowed = static_cast<int32_t>(std::log2(INT16_MAX / (std::abs(whole) * most)));
  const std::optional<Scaled> factor = scaled(std::ldexp(whole, narrowed), kWordBits);
  if (!ratio || !factor || bits < 0 || narrowed < 0 || narrowed > kMostShift)
    return false;
  std::vector<LutStep> steps;
  const int32_t centred = addCentred(steps);
  const auto next = [&] { return static_cast<int32_t>(steps.size()); };
  steps.push_back({.left = centred, .constant = ratio->factor, .shift = ratio->shift});
  const int32_t bent = next();
  steps.push_back({.left = centred, .constant = factor->factor, .shift = factor->shift});
  const size_t multiplied = steps.size() - 1;
  steps.push_back({.op = ArithOp::MultiplyAdd,
                   .left = next(),
                   .right = bent,
                   .addend = next(),
                   .addendShift = kWordBits,
                   .shift = narrowed});
  steps.push_back({.op = ArithOp::AddSat, .left = next(), .shift = bits, .type = DataType::I8});
  constexpr int32_t kMostMoved = 4;
  for (const int near : kNear) {
    steps[multiplied].constant = factor->factor + near;
    for (const int moved : kNear) {
      steps.back().constant = static_cast<int32_t>(std::round(std::ldexp(offset, bits))) + moved;
      if (std::abs(steps[multiplied].constant) <= INT16_MAX && std::abs(moved) <= kMostMoved &&
          consider(steps))
        return true;
    }
  }
  return false;
}

/// Bytes as they are: lines end in signed ones.
void Fitter::tryBytes() {
  if (input == DataType::U8)
    consider({{.op = ArithOp::Max, .constant = 0, .type = DataType::U8}});
}

void Fitter::tryHardSwish() {
  constexpr double kMostError = 0.55;
  const auto [width, made] = fitHardSwish();
  if (made.error > kMostError || std::abs(made.coefficients[1]) > INT8_MAX + 1)
    return;
  constexpr double kStep = 1e-4;
  for (const int near : kNear)
    if (tryHardSwishOf(width * (1 + near * kStep), made.coefficients[0], made.coefficients[1]))
      return;
}

/// The middle of |u|, cut off: around it, coefficients are smaller.
int32_t Fitter::middleOf(std::optional<int32_t> limit) const {
  return std::min(most, limit.value_or(most)) / 2;
}

Column Fitter::bent(Bend bend, std::optional<int32_t> limit) const {
  Column column = u;
  for (double &value : column) {
    if (bend == Bend::Below)
      value = std::min(value, 0.0);
    if (bend == Bend::Absolute)
      value = std::min<double>(std::abs(value), limit.value_or(most)) - middleOf(limit);
  }
  return column;
}

/// 1, t, ... t^degree, and the line, where t = w / 2^scaleBits.
static int32_t scaleBitsOf(const Column &column) {
  double most = 1;
  for (double value : column)
    most = std::max(most, std::abs(value));
  return static_cast<int32_t>(std::ceil(std::log2(most)));
}

std::vector<Column> Fitter::columnsOf(Bend bend, std::optional<int32_t> limit,
                                      size_t degree) const {
  const Column w = bent(bend, limit);
  const int32_t scaleBits = scaleBitsOf(w);
  std::vector<Column> columns(1);
  columns[0].fill(1);
  for (size_t i = 0; i < degree; ++i) {
    Column next = columns.back();
    for (size_t x = 0; x < next.size(); ++x)
      next[x] *= std::ldexp(w[x], -scaleBits);
    columns.push_back(next);
  }
  if (bend == Bend::None)
    return columns;
  columns.push_back(u);
  for (double &value : columns.back())
    value = bend == Bend::Absolute ? std::max(value, 0.0) : value;
  return columns;
}

/// Where a function of |u| may be taken as constant (or nowhere), the closest fits first.
std::vector<std::optional<int32_t>> Fitter::limits() const {
  constexpr size_t kDegree = 5, kMostLimits = 4;
  constexpr unsigned kRounds = 25;
  constexpr int32_t kParts = 16, kFirst = 3, kFewest = 4;
  std::vector<std::pair<double, std::optional<int32_t>>> found;
  const auto look = [&](std::optional<int32_t> limit) {
    found.emplace_back(fit(columnsOf(Bend::Absolute, limit, kDegree), kRounds).error, limit);
  };
  look(std::nullopt);
  for (int32_t part = kFirst; part < kParts; ++part)
    look(std::max(most * part / kParts, kFewest));
  std::ranges::stable_sort(found, {}, [](const auto &entry) { return entry.first; });
  std::vector<std::optional<int32_t>> limits;
  for (size_t i = 0; i < kMostLimits; ++i)
    limits.push_back(found[i].second);
  return limits;
}

/// Coefficients in as many bits as sums of 16 bits allow.
std::optional<Polynomial> Fitter::inIntegers(Bend bend, std::optional<int32_t> limit,
                                             const Fit &fit) const {
  constexpr int32_t kFewestBits = 4, kMostBits = 14;
  const size_t degree = fit.coefficients.size() - (bend == Bend::None ? 1 : 2);
  Polynomial made;
  made.bend = bend;
  made.limit = limit;
  const std::vector<Column> columns = columnsOf(bend, limit, degree);
  made.scaleBits = scaleBitsOf(bent(bend, limit));
  double sum = 0;
  for (size_t i = 1; i <= degree; ++i)
    sum += std::abs(fit.coefficients[i]);
  // What the last sums reach.
  double reach = std::abs(fit.coefficients[0]);
  double wholeReach = 0;
  for (size_t x = 0; x < u.size(); ++x) {
    double inner = 0;
    for (size_t i = 1; i <= degree; ++i)
      inner += fit.coefficients[i] * columns[i][x];
    reach = std::max(reach, std::abs(inner));
    const double line = bend == Bend::None ? 0 : fit.coefficients.back() * columns.back()[x];
    wholeReach = std::max(wholeReach, std::abs(inner + line));
    // Sums that saturate belong to results that do.
    if (target[x] != INT8_MIN && target[x] != INT8_MAX)
      reach = std::max({reach, std::abs(line), std::abs(inner + line)});
  }
  const auto bitsFor = [](double most) {
    return static_cast<int32_t>(std::floor(std::log2(INT16_MAX / std::max(most, 1e-3))));
  };
  made.innerBits = std::min(bitsFor(sum), kMostBits);
  made.lastBits = std::min({bitsFor(reach + 1), kMostBits, made.innerBits + made.scaleBits});
  if (made.innerBits < kFewestBits || made.lastBits < kFewestBits)
    return std::nullopt;
  const std::optional<Scaled> top =
      scaled(std::ldexp(fit.coefficients[degree], made.innerBits - made.scaleBits), kWordBits);
  if (!top)
    return std::nullopt;
  made.top = *top;
  for (size_t i = 1; i < degree; ++i)
    made.inner.push_back(
        static_cast<int32_t>(std::round(std::ldexp(fit.coefficients[i], made.innerBits))));
  made.constant = static_cast<int32_t>(std::round(std::ldexp(fit.coefficients[0], made.lastBits)));
  if (bend == Bend::None)
    return made;
  made.addsInPlace = bitsFor(wholeReach + 1) >= made.lastBits;
  made.line = scaled(std::ldexp(fit.coefficients.back(), made.lastBits), kWordBits);
  return made.line ? std::optional(made) : std::nullopt;
}

std::vector<LutStep> Fitter::stepsOf(const Polynomial &polynomial) const {
  std::vector<LutStep> steps;
  const auto add = [&](const LutStep &step) {
    steps.push_back(step);
    return static_cast<int32_t>(steps.size());
  };
  const int32_t centred = addCentred(steps);
  const DataType type = zero == 0 ? input : DataType::I16;
  int32_t w = centred;
  if (polynomial.bend == Bend::Below)
    w = add({.op = ArithOp::Min, .left = centred, .constant = 0, .type = type});
  if (polynomial.bend == Bend::Absolute) {
    const DataType absolute = type == DataType::I8 ? DataType::U8 : type;
    w = add({.op = ArithOp::Abs, .left = centred, .type = absolute});
    if (polynomial.limit)
      w = add({.op = ArithOp::Min, .left = w, .constant = *polynomial.limit, .type = absolute});
    w = add({.op = ArithOp::SubSat,
             .left = w,
             .constant = middleOf(polynomial.limit),
             .type = absolute == DataType::U8 ? DataType::I8 : DataType::I16});
  }
  const int32_t lastShift = polynomial.scaleBits + polynomial.innerBits - polynomial.lastBits;
  int32_t sum = add({.left = w, .constant = polynomial.top.factor, .shift = polynomial.top.shift});
  for (size_t i = polynomial.inner.size(); i-- > 0;) {
    if (polynomial.inner[i] != 0)
      sum = add({.op = ArithOp::AddSat, .left = sum, .constant = polynomial.inner[i]});
    sum = add({.left = sum, .right = w, .shift = i == 0 ? lastShift : polynomial.scaleBits});
  }
  if (polynomial.line) {
    int32_t line = centred;
    if (polynomial.bend == Bend::Absolute)
      line = add({.op = ArithOp::Max, .left = centred, .constant = 0, .type = type});
    const auto [factor, shift] = *polynomial.line;
    if (polynomial.addsInPlace) {
      sum = add({.op = ArithOp::MultiplyAdd,
                 .left = line,
                 .constant = factor,
                 .addend = sum,
                 .addendShift = shift,
                 .shift = shift});
    } else {
      line = add({.left = line, .constant = factor, .shift = shift});
      sum = add({.op = ArithOp::AddSat, .left = sum, .right = line});
    }
  }
  add({.op = ArithOp::AddSat,
       .left = sum,
       .constant = polynomial.constant,
       .shift = polynomial.lastBits,
       .type = DataType::I8});
  return steps;
}

size_t Fitter::numWrong(const Polynomial &polynomial) const {
  const TableBytes given = evaluateSteps(stepsOf(polynomial), input);
  size_t wrong = 0;
  for (size_t byte = 0; byte < given.size(); ++byte)
    wrong += given[byte] == table[byte] ? 0 : 1;
  return wrong;
}

/// Moves one constant after the other as long as fewer entries are wrong.
void Fitter::improve(Polynomial &polynomial) const {
  constexpr unsigned kRounds = 4;
  std::vector<int32_t *> constants = {&polynomial.constant, &polynomial.top.factor};
  for (int32_t &coefficient : polynomial.inner)
    constants.push_back(&coefficient);
  if (polynomial.line)
    constants.push_back(&polynomial.line->factor);
  size_t least = numWrong(polynomial);
  for (unsigned round = 0; round < kRounds && least > 0; ++round) {
    const size_t before = least;
    for (int32_t *constant : constants) {
      const int32_t middle = *constant;
      int32_t best = middle;
      for (const int near : kNear) {
        *constant = middle + near;
        if (std::abs(*constant) > INT16_MAX)
          continue;
        if (const size_t wrong = numWrong(polynomial); wrong < least) {
          least = wrong;
          best = *constant;
        }
      }
      *constant = best;
    }
    if (least == before)
      return;
  }
}

/// Whether one is found that needs no correction.
bool Fitter::tryPolynomialsOf(Bend bend, std::optional<int32_t> limit) {
  constexpr double kMostError = 0.52;
  constexpr size_t kMostDegree = 6, kMostWrong = 24;
  constexpr unsigned kFirstRounds = 8, kRounds = 60;
  const auto isFar = [&](size_t degree) {
    return fit(columnsOf(bend, limit, degree), kFirstRounds).error > 2 * kMostError;
  };
  // Where the highest degree is not close, lower ones are not.
  if (isFar(kMostDegree))
    return false;
  for (size_t degree = 2; degree <= kMostDegree; ++degree) {
    if (isFar(degree))
      continue;
    const Fit made = fit(columnsOf(bend, limit, degree), kRounds);
    if (made.error > kMostError)
      continue;
    std::optional<Polynomial> polynomial = inIntegers(bend, limit, made);
    if (!polynomial || numWrong(*polynomial) > kMostWrong)
      continue;
    improve(*polynomial);
    if (consider(stepsOf(*polynomial)))
      return true;
  }
  return false;
}

void Fitter::tryPolynomials() {
  for (const Bend bend : {Bend::None, Bend::Below})
    if (tryPolynomialsOf(bend, std::nullopt))
      return;
  for (const std::optional<int32_t> limit : limits())
    if (tryPolynomialsOf(Bend::Absolute, limit))
      return;
}

std::optional<std::vector<LutStep>> synthesize(const TableBytes &table, DataType input,
                                               int32_t inputZero) {
  constexpr int64_t kCyclesOfLookup = 64;
  Fitter fitter(table, input, inputZero);
  fitter.tryBytes();
  fitter.tryLines();
  if (!fitter.best())
    fitter.tryTwoLines();
  if (!fitter.best())
    fitter.tryHardSwish();
  if (!fitter.best())
    fitter.tryPolynomials();
  std::optional<std::vector<LutStep>> steps = fitter.best();
  return steps && cyclesOfSteps(*steps, input) < kCyclesOfLookup ? steps : std::nullopt;
}

} // namespace

std::optional<std::vector<LutStep>> synthesizeLut(const TableBytes &table, DataType input,
                                                  int32_t inputZero) {
  // A deployment compiles the same tables again and again, with other layers beside them.
  constexpr size_t kMostKept = 4096;
  static std::mutex mutex;
  static std::map<std::tuple<TableBytes, DataType, int32_t>, std::optional<std::vector<LutStep>>>
      kept;
  const std::tuple key(table, input, inputZero);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = kept.find(key); known != kept.end())
      return known->second;
  }
  std::optional<std::vector<LutStep>> made = synthesize(table, input, inputZero);
  const std::lock_guard lock(mutex);
  if (kept.size() >= kMostKept)
    kept.clear();
  return kept.try_emplace(key, std::move(made)).first->second;
}

} // namespace tpuc::bm1684x
