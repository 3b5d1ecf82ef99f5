//===- LutToArith.cpp - Tables as sequences of arithmetic------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/LutToArith.h"
#include "tpuc/Support/Rounding.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

constexpr size_t kBytes = 256;

/// `value` in the low bits of a type.
int32_t wrapped(int32_t value, DataType type) {
  switch (type) {
  case DataType::I8:
    return static_cast<int8_t>(value);
  case DataType::U8:
    return static_cast<uint8_t>(value);
  case DataType::U16:
    return static_cast<uint16_t>(value);
  default:
    return static_cast<int16_t>(value);
  }
}

bool isCompared(ArithOp op) {
  return op == ArithOp::Max || op == ArithOp::Min || op == ArithOp::SelectEqual;
}

bool saturates(ArithOp op) {
  return op == ArithOp::MulSat || op == ArithOp::AddSat || op == ArithOp::SubSat;
}

/// The type of the constant of a step whose left operand is of type `left`.
DataType constantType(const LutStep &step, DataType left) {
  if (isCompared(step.op))
    return left;
  // Of two operands of 8 bits the sum would saturate.
  if (step.op == ArithOp::MultiplyAdd)
    return DataType::I16;
  return step.constant >= INT8_MIN && step.constant <= INT8_MAX ? DataType::I8 : DataType::I16;
}

DataType typeOf(const std::vector<LutStep> &steps, int32_t value, DataType input) {
  return value == 0 ? input : steps[static_cast<size_t>(value) - 1].type;
}

/// One value for each byte of the input. Results of products and sums fit 32 bits.
using Values = std::array<int32_t, kBytes>;

template <typename Function>
void forEach(Values &result, const Values &a, const Values &b, Function function) {
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = function(a[i], b[i]);
}

/// value / 2^shift for each value, rounded.
void shiftAll(Values &values, int32_t shift, Rounding rounding) {
  if (shift == 0)
    return;
  // What searches try most is worth a loop of its own.
  const int64_t half = int64_t{1} << (shift - 1);
  for (int32_t &value : values)
    value = static_cast<int32_t>(
        rounding == Rounding::HalfUp
            ? (value + half) >> shift
            : roundingShift(int64_t{value}, shift, static_cast<RoundingMode>(rounding)));
}

/// Products that are added to shifted values need more than 32 bits.
Values multipliedAndAdded(const LutStep &step, const Values &a, const Values &b,
                          const Values &addend) {
  Values result;
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t sum = (int64_t{addend[i]} << step.addendShift) + int64_t{a[i]} * b[i];
    const int64_t rounded =
        roundingShift(sum, step.shift, static_cast<RoundingMode>(step.rounding));
    result[i] = static_cast<int16_t>(rounded);
  }
  return result;
}

Values resultOf(const LutStep &step, const Values &a, const Values &b) {
  Values exact;
  switch (step.op) {
  case ArithOp::MulSat:
    forEach(exact, a, b, [](int32_t x, int32_t y) { return x * y; });
    break;
  case ArithOp::SubSat:
    forEach(exact, a, b, [](int32_t x, int32_t y) { return x - y; });
    break;
  case ArithOp::Max:
    forEach(exact, a, b, [](int32_t x, int32_t y) { return std::max(x, y); });
    return exact;
  case ArithOp::Min:
    forEach(exact, a, b, [](int32_t x, int32_t y) { return std::min(x, y); });
    return exact;
  case ArithOp::Abs:
    forEach(exact, a, b, [&](int32_t x, int32_t) { return wrapped(std::abs(x), step.type); });
    return exact;
  case ArithOp::SelectEqual:
    forEach(exact, a, b, [&](int32_t x, int32_t y) { return x == y ? step.chosen : 0; });
    return exact;
  default:
    forEach(exact, a, b, [](int32_t x, int32_t y) { return x + y; });
    break;
  }
  shiftAll(exact, step.shift, step.rounding);
  if (!saturates(step.op)) {
    for (int32_t &value : exact)
      value = wrapped(value, step.type);
    return exact;
  }
  const IntegerRange range = integerRange(step.type);
  const auto lowest = static_cast<int32_t>(range.lowest);
  const auto highest = static_cast<int32_t>(range.highest);
  for (int32_t &value : exact)
    value = std::clamp(value, lowest, highest);
  return exact;
}

Expected<void> checkSteps(const std::string &where, const std::vector<LutStep> &steps) {
  if (steps.empty())
    return makeError(where, "no steps", "at least one");
  for (size_t i = 0; i < steps.size(); ++i) {
    const LutStep &step = steps[i];
    const auto last = static_cast<int32_t>(i);
    if (step.left < 0 || step.left > last || step.right < LutStep::kConstant || step.right > last)
      return makeError(where, fmt::format("step {} on {} and {}", i, step.left, step.right),
                       "earlier values");
    const bool hasAddend = step.op == ArithOp::MultiplyAdd;
    const bool isFree = std::none_of(steps.begin() + last + 1, steps.end(), [&](const auto &later) {
      return later.left == step.addend || later.right == step.addend || later.addend == step.addend;
    });
    if (hasAddend && (step.addend < 1 || step.addend > last || !isFree))
      return makeError(where, fmt::format("step {} added to {}", i, step.addend),
                       "an earlier result that nothing reads later");
    constexpr int32_t kMostShift = 31;
    if (hasAddend && (step.addendShift < 0 || step.addendShift > kMostShift))
      return makeError(where, fmt::format("a shift of {}", step.addendShift),
                       fmt::format("0 to {}", kMostShift));
    if (step.shift < 0 || step.shift > kMostShift)
      return makeError(where, fmt::format("a shift of {}", step.shift),
                       fmt::format("0 to {}", kMostShift));
    if (step.constant < INT16_MIN || step.constant > INT16_MAX)
      return makeError(where, fmt::format("a constant of {}", step.constant), "16 bits");
  }
  if (bitWidth(steps.back().type) != 8)
    return makeError(where, "a last step of more than 8 bits", "8 bits");
  return {};
}

/// Elements of each lane that are computed at once, so that scratch stays small.
int64_t mostElements(const TableArithmetic &table) {
  constexpr int64_t kMost = 8192;
  return std::min(alignUp(longestFlatPart(table.input), int64_t{kEuBytes}), kMost);
}

/// For each step but the last the place that takes its result: the first that holds no value which
/// this step or a later one reads.
std::vector<size_t> placesOf(const std::vector<LutStep> &steps) {
  std::vector<size_t> lastUse(steps.size(), 0);
  for (size_t i = 0; i < steps.size(); ++i)
    for (int32_t value : {steps[i].left, steps[i].right, steps[i].addend})
      if (value > 0)
        lastUse[static_cast<size_t>(value) - 1] = i;
  std::vector<size_t> places;
  std::vector<size_t> freeFrom;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].op == ArithOp::MultiplyAdd) {
      const size_t place = places[static_cast<size_t>(steps[i].addend) - 1];
      freeFrom[place] = std::max(lastUse[i], i) + 1;
      places.push_back(place);
      continue;
    }
    size_t place = 0;
    while (place < freeFrom.size() && freeFrom[place] > i)
      ++place;
    freeFrom.resize(std::max(freeFrom.size(), place + 1));
    freeFrom[place] = std::max(lastUse[i], i) + 1;
    places.push_back(place);
  }
  return places;
}

size_t numPlaces(const std::vector<LutStep> &steps) {
  size_t count = 0;
  for (size_t place : placesOf(steps))
    count = std::max(count, place + 1);
  return count;
}

Expected<uint32_t> checkedScratch(const std::string &where, const TableArithmetic &table) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &table.input}, std::pair{"output", &table.output}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return propagate(fits);
  const Extents &shape = table.input.shape;
  if (shape != table.output.shape || table.input.startLane != table.output.startLane)
    return makeError(
        where,
        fmt::format("[{}] to [{}]", fmt::join(shape, ","), fmt::join(table.output.shape, ",")),
        "equal shapes and lanes");
  if (Expected<void> fits = checkSteps(where, table.steps); !fits)
    return propagate(fits);
  constexpr int64_t kBytesOfElement = 2;
  return static_cast<uint32_t>(static_cast<int64_t>(numPlaces(table.steps)) * kBytesOfElement *
                               mostElements(table));
}

void addStep(Builder &builder, const LutStep &step, const LocalTensor &output,
             const LocalTensor &left, const std::optional<LocalTensor> &right) {
  if (step.op == ArithOp::Abs)
    return addUnaryArith(builder, step.op, output, left);
  const Term other =
      right ? Term(*right) : Term(immediate(constantType(step, left.type), step.constant));
  if (step.op == ArithOp::MultiplyAdd)
    addMultiplyAdd(builder, output, left, other, step.addendShift, step.shift, step.rounding);
  else if (step.op == ArithOp::SelectEqual)
    addSelect(builder, step.op, output, left, other, immediate(DataType::I8, step.chosen));
  else if (step.shift > 0)
    addShiftedArith(builder, step.op, output, left, other, -step.shift, step.rounding);
  else
    addArith(builder, step.op, output, left, other);
}

} // namespace

TableBytes evaluateSteps(const std::vector<LutStep> &steps, DataType input) {
  std::vector<Values> values(steps.size() + 1);
  for (int32_t byte = 0; byte < int32_t{kBytes}; ++byte)
    values[0][static_cast<size_t>(byte)] = wrapped(byte, input);
  Values constant{};
  for (size_t i = 0; i < steps.size(); ++i) {
    const LutStep &step = steps[i];
    const bool hasConstant = step.right == LutStep::kConstant;
    if (hasConstant)
      constant.fill(step.constant);
    const Values &left = values[static_cast<size_t>(step.left)];
    const Values &right = hasConstant ? constant : values[static_cast<size_t>(step.right)];
    values[i + 1] =
        step.op == ArithOp::MultiplyAdd
            ? multipliedAndAdded(step, left, right, values[static_cast<size_t>(step.addend)])
            : resultOf(step, left, right);
  }
  TableBytes bytes{};
  for (size_t byte = 0; byte < bytes.size(); ++byte)
    bytes[byte] = static_cast<uint8_t>(values.back()[byte]);
  return bytes;
}

int64_t cyclesOfSteps(const std::vector<LutStep> &steps, DataType input) {
  int64_t cycles = 0;
  for (const LutStep &step : steps) {
    const DataType left = typeOf(steps, step.left, input);
    const DataType right = step.op == ArithOp::Abs            ? left
                           : step.right == LutStep::kConstant ? constantType(step, left)
                                                              : typeOf(steps, step.right, input);
    cycles += std::max({byteSize(left, 1), byteSize(right, 1), byteSize(step.type, 1)});
  }
  return cycles;
}

std::vector<int64_t> numbersOf(const std::vector<LutStep> &steps) {
  std::vector<int64_t> numbers;
  for (const LutStep &step : steps)
    numbers.insert(numbers.end(),
                   {static_cast<int64_t>(step.op), step.left, step.right, step.constant,
                    step.chosen, step.shift, static_cast<int64_t>(step.rounding), step.addend,
                    step.addendShift, static_cast<int64_t>(step.type)});
  return numbers;
}

Expected<std::vector<LutStep>> stepsOf(std::span<const int64_t> numbers) {
  constexpr size_t kNumbers = LutStep::kNumbers;
  constexpr std::array kOps = {ArithOp::MulSat, ArithOp::AddSat,      ArithOp::SubSat,
                               ArithOp::Add,    ArithOp::Max,         ArithOp::Min,
                               ArithOp::Abs,    ArithOp::SelectEqual, ArithOp::MultiplyAdd};
  constexpr std::array kTypes = {DataType::I8, DataType::U8, DataType::I16, DataType::U16};
  if (numbers.size() % kNumbers != 0)
    return makeError("steps of a table", fmt::format("{} numbers", numbers.size()),
                     fmt::format("a multiple of {}", kNumbers));
  std::vector<LutStep> steps;
  for (; !numbers.empty(); numbers = numbers.subspan(kNumbers)) {
    LutStep step;
    step.op = static_cast<ArithOp>(numbers[0]);
    step.type = static_cast<DataType>(numbers[9]);
    if (std::ranges::find(kOps, step.op) == kOps.end() ||
        std::ranges::find(kTypes, step.type) == kTypes.end())
      return makeError("steps of a table",
                       fmt::format("operation {} to type {}", numbers[0], numbers[9]),
                       "those of a sequence");
    step.left = static_cast<int32_t>(numbers[1]);
    step.right = static_cast<int32_t>(numbers[2]);
    step.constant = static_cast<int32_t>(numbers[3]);
    step.chosen = static_cast<int32_t>(numbers[4]);
    step.shift = static_cast<int32_t>(numbers[5]);
    step.rounding = static_cast<Rounding>(numbers[6]);
    step.addend = static_cast<int32_t>(numbers[7]);
    step.addendShift = static_cast<int32_t>(numbers[8]);
    steps.push_back(step);
  }
  if (Expected<void> checked = checkSteps("steps of a table", steps); !checked)
    return propagate(checked);
  return steps;
}

Expected<uint32_t> tableArithmeticScratch(const TableArithmetic &table) {
  return checkedScratch("table", table);
}

Expected<void> emitTableArithmetic(Builder &builder, const TableArithmetic &table) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), table);
  if (Expected<void> fits = checkScratch(builder.layer(), table.scratch, needed); !fits)
    return fits;
  const int64_t most = mostElements(table);
  const std::vector<size_t> places = placesOf(table.steps);
  const std::vector<LocalTensor> inputs = flatParts(table.input, most);
  const std::vector<LocalTensor> outputs = flatParts(table.output, most);
  for (size_t part = 0; part < inputs.size(); ++part) {
    std::vector<LocalTensor> values = {inputs[part]};
    for (size_t i = 0; i < table.steps.size(); ++i) {
      const LutStep &step = table.steps[i];
      LocalTensor result = outputs[part];
      // What the bits of the last result stand for is the table's business; a step saturates.
      result.type = step.type;
      if (i < places.size())
        result = localTensor(step.type, result.shape,
                             table.scratch.address +
                                 static_cast<uint32_t>(places[i]) * 2 * static_cast<uint32_t>(most),
                             Layout::Aligned, result.startLane);
      std::optional<LocalTensor> right;
      if (step.right != LutStep::kConstant)
        right = values[static_cast<size_t>(step.right)];
      addStep(builder, step, result, values[static_cast<size_t>(step.left)], right);
      values.push_back(result);
    }
  }
  return {};
}

} // namespace tpuc::bm1684x
