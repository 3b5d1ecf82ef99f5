//===- TableFit.cpp - Finding arithmetic that gives a table----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/TableFit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpuc::bm1684x {

namespace {

using Column = std::array<double, 256>;

/// Coefficients of columns, and the greatest error of their sum.
struct Fit {
  std::vector<double> coefficients;
  double error = std::numeric_limits<double>::infinity();
};

/// Solves the symmetric system of `size` rows by elimination; false where it is singular.
bool solve(std::vector<std::vector<double>> &rows) {
  const size_t size = rows.size();
  for (size_t i = 0; i < size; ++i) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
        [&](const auto &a, const auto &b) { return std::abs(a[i]) < std::abs(b[i]); });
    std::swap(rows[i], *pivot);
    if (rows[i][i] == 0)
      return false;
    for (size_t j = 0; j < size; ++j) {
      const double factor = j == i ? 0 : rows[j][i] / rows[i][i];
      for (size_t k = i; k <= size && factor != 0; ++k)
        rows[j][k] -= factor * rows[i][k];
    }
  }
  for (size_t i = 0; i < size; ++i)
    rows[i][size] /= rows[i][i];
  return true;
}

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

  void tryLines();
  void tryHardSwish();
  std::optional<std::vector<TableStep>> best() const { return found; }

private:
  Fit fit(const std::vector<Column> &columns, unsigned rounds) const;
  Column hardSwish(double width) const;
  std::pair<double, Fit> fitHardSwish() const;
  bool tryHardSwishOf(double width, double slope, double offset);
  bool consider(std::vector<TableStep> steps);
  int64_t fewestCycles() const {
    return found ? cyclesOfSteps(*found, input) : std::numeric_limits<int64_t>::max();
  }
  /// u of 16 bits, or the input where that is the same.
  int32_t addCentred(std::vector<TableStep> &steps) const;

  const TableBytes &table;
  DataType input;
  int32_t zero;
  Column u{}, target{};
  int32_t most = 0;
  double lowest = 0, highest = 0;
  std::optional<std::vector<TableStep>> found;
};

/// The least greatest error, by weights that grow where the error is large (Lawson). Beyond the
/// least and greatest entry results are cut off.
Fit Fitter::fit(const std::vector<Column> &columns, unsigned rounds) const {
  Fit best;
  Column weights;
  weights.fill(1);
  const size_t size = columns.size();
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<std::vector<double>> rows(size, std::vector<double>(size + 1));
    for (size_t i = 0; i < size; ++i)
      for (size_t x = 0; x < target.size(); ++x) {
        const double weighted = weights[x] * columns[i][x];
        for (size_t j = 0; j < size; ++j)
          rows[i][j] += weighted * columns[j][x];
        rows[i][size] += weighted * target[x];
      }
    if (!solve(rows))
      return best;
    double greatest = 0;
    double sum = 0;
    for (size_t x = 0; x < target.size(); ++x) {
      double value = 0;
      for (size_t i = 0; i < size; ++i)
        value += rows[i][size] * columns[i][x];
      const bool isCutOff =
          (value > target[x] && target[x] == highest) || (value < target[x] && target[x] == lowest);
      const double error = isCutOff ? 0 : std::abs(value - target[x]);
      greatest = std::max(greatest, error);
      // What is cut off now may not be with the next coefficients.
      weights[x] *= std::max(error, 0.01);
      sum += weights[x];
    }
    if (greatest < best.error) {
      best = {.coefficients = {}, .error = greatest};
      for (const std::vector<double> &row : rows)
        best.coefficients.push_back(row[size]);
    }
    for (double &weight : weights)
      weight /= sum;
  }
  return best;
}

/// Keeps `steps` if they give the table, corrected where few entries are wrong, in fewer cycles
/// than what is known. Whether they do without a correction.
bool Fitter::consider(std::vector<TableStep> steps) {
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

int32_t Fitter::addCentred(std::vector<TableStep> &steps) const {
  if (zero == 0)
    return 0;
  steps.push_back({.op = ArithOp::SubSat, .left = 0, .constant = zero, .type = DataType::I16});
  return 1;
}

/// Cuts the last result off where the table does and the type does not.
static std::vector<TableStep> cutOff(std::vector<TableStep> steps, double lowest, double highest) {
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
  const auto considerBoth = [&](const std::vector<TableStep> &steps) {
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
    look(width, 10);
  for (double step = 0.04; step > 0.0004; step /= 2) {
    const double width = best.first;
    look(width * (1 + step), 60);
    look(width / (1 + step), 60);
  }
  return best;
}

/// Multiplied so that saturation cuts off at both ends, u / width has 16 bits; that it is moved to
/// positive numbers costs a sum that wraps around:
///   r = saturate(u * 2^15 / width) + 2^15, as U16
///   result = (u * r >> s) * k + c
bool Fitter::tryHardSwishOf(double width, double slope, double offset) {
  constexpr int32_t kHalf = 1 << 15;
  const std::optional<Scaled> ratio = scaled(kHalf / width, kWordBits);
  // u * r fills 16 bits.
  int32_t narrowed = 16;
  while (narrowed > 0 && int64_t{most} << (17 - narrowed) <= kHalf)
    --narrowed;
  const std::optional<Scaled> factor = scaled(std::ldexp(2 * slope, narrowed - 16), kWordBits);
  if (!ratio || !factor)
    return false;
  std::vector<TableStep> steps;
  const int32_t centred = addCentred(steps);
  const auto next = [&] { return static_cast<int32_t>(steps.size()); };
  steps.push_back({.left = centred, .constant = ratio->factor, .shift = ratio->shift});
  steps.push_back({.op = ArithOp::Add, .left = next(), .constant = -kHalf, .type = DataType::U16});
  steps.push_back({.left = centred, .right = next(), .shift = narrowed});
  steps.push_back({.left = next(), .constant = factor->factor});
  TableStep &last = steps.back();
  for (const int near : kNear) {
    last.constant = factor->factor + near;
    if (std::abs(last.constant) > INT16_MAX)
      continue;
    last.shift = factor->shift;
    last.type = DataType::I8;
    if (std::abs(offset) < 0.2 && consider(steps))
      return true;
    last.shift = factor->shift - kFractionBits;
    last.type = DataType::I16;
    if (last.shift < 0)
      continue;
    for (const int moved : kNear) {
      std::vector<TableStep> whole = steps;
      whole.push_back(
          {.op = ArithOp::AddSat,
           .left = next(),
           .constant = static_cast<int32_t>(std::round(std::ldexp(offset, kFractionBits))) + moved,
           .shift = kFractionBits,
           .type = DataType::I8});
      if (std::abs(moved) <= 4 && consider(whole))
        return true;
    }
  }
  return false;
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

} // namespace

std::optional<std::vector<TableStep>> fitTable(const TableBytes &table, DataType input,
                                               int32_t inputZero) {
  constexpr int64_t kCyclesOfLookup = 64;
  Fitter fitter(table, input, inputZero);
  fitter.tryLines();
  if (!fitter.best())
    fitter.tryHardSwish();
  std::optional<std::vector<TableStep>> steps = fitter.best();
  return steps && cyclesOfSteps(*steps, input) < kCyclesOfLookup ? steps : std::nullopt;
}

} // namespace tpuc::bm1684x
