//===- Integers.cpp - Element-wise operations on integers on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Functions.h"
#include "tpuc/Target/BM1684/Kernels/IntegerCommands.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

//===--- What all share ---------------------------------------------------===//

static bool isByte(DataType type) { return type == DataType::I8 || type == DataType::U8; }

/// The bounds of a type of 8 bits.
static IntegerBounds boundsOf(DataType type) {
  return type == DataType::U8 ? IntegerBounds{0, 255} : IntegerBounds{-128, 127};
}

void addBounds(Builder &builder, const LocalTensor &tensor, const IntegerBounds &bounds) {
  const IntegerBounds all = boundsOf(tensor.type);
  const auto limit = [&](ArithOp op, int64_t bound) {
    addIntegers(builder, op, tensor, tensor, immediate(tensor.type, static_cast<double>(bound)));
  };
  if (bounds.low > all.low)
    limit(ArithOp::Max, bounds.low);
  if (bounds.high < all.high)
    limit(ArithOp::Min, bounds.high);
}

Expected<void> checkBytes(const std::string &where, std::string_view name,
                          const LocalTensor &tensor) {
  if (!isByte(tensor.type) || std::ranges::min(tensor.shape) < 1)
    return makeError(
        where,
        fmt::format("{} [{}] {}", name, fmt::join(tensor.shape, ","), dataTypeName(tensor.type)),
        "i8 or u8, extents of at least 1");
  return {};
}

Expected<void> checkRegularBytes(const std::string &where, std::string_view name,
                                 const LocalTensor &tensor) {
  if (Expected<void> fits = checkBytes(where, name, tensor); !fits)
    return fits;
  if (!tensor.isRegular())
    return makeError(where, fmt::format("{} with gaps", name), "an aligned tensor");
  return {};
}

Expected<void> checkShift(const std::string &where, int64_t shift) {
  constexpr int64_t kMostShift = 31;
  if (shift < 0 || shift > kMostShift)
    return makeError(where, fmt::format("a shift to the right by {}", shift),
                     fmt::format("0 to {}", kMostShift));
  return {};
}

static Expected<void> checkMultiplier(const std::string &where, int64_t multiplier) {
  if (multiplier < -128 || multiplier > 127)
    return makeError(where, fmt::format("a multiplier of {}", multiplier), "8 bits");
  return {};
}

Expected<void> checkFactor(const std::string &where, const IntegerFactor &factor) {
  if (Expected<void> fits = checkMultiplier(where, factor.multiplier); !fits)
    return fits;
  return checkShift(where, factor.shift);
}

static constexpr int64_t kItems = 4;

static DataType typeOf(const IntegerOperand &operand) {
  const auto *tensor = std::get_if<LocalTensor>(&operand);
  return tensor ? tensor->type : std::get<IntegerNumber>(operand).type;
}

/// Errors unless `operand` can be repeated to `output` where it lies.
static Expected<void> checkBroadcast(const std::string &where, const IntegerOperand &operand,
                                     const LocalTensor &output) {
  const auto *input = std::get_if<LocalTensor>(&operand);
  if (!input)
    return {};
  if (Expected<void> fits = checkBytes(where, "operand", *input); !fits)
    return fits;
  const Extents &in = input->shape, &out = output.shape;
  const auto repeats = [&](size_t axis) { return in[axis] == out[axis] || in[axis] == 1; };
  const bool isWord = in[0] == kItems && out[0] > 1;
  const bool isInAllLanes = in[1] == kLanes && input->startLane == 0;
  if ((in[0] != out[0] && !isWord) || (in[1] != out[1] && !isInAllLanes) || !repeats(2) ||
      !repeats(3) || (input->startLane != output.startLane && !isInAllLanes))
    return makeError(
        where, fmt::format("an operand [{}] of [{}]", fmt::join(in, ","), fmt::join(out, ",")),
        "equal n and c, h and w that are equal or 1, the same lane");
  return {};
}

/// The operand in the shape of `output`, repeated where it is smaller.
static Term broadcast(const IntegerOperand &operand, const LocalTensor &output) {
  if (const auto *number = std::get_if<IntegerNumber>(&operand))
    return immediate(number->type, static_cast<double>(number->value));
  LocalTensor input = std::get<LocalTensor>(operand);
  if (input.shape == output.shape)
    return input;
  // The items of its only word meet those of each word, of which the last may have fewer.
  if (input.shape[0] != output.shape[0]) {
    input.explicitStride = input.strides();
    input.layout = Layout::Explicit;
    input.explicitStride[0] = 0;
    input.shape[0] = output.shape[0];
  }
  if (input.shape[1] != output.shape[1])
    input.startLane = output.startLane;
  return repeated(input, output.shape);
}

/// output (8 bits) = wide (16 bits, with or without sign), cut off. The place of `wide` is used.
static void addNarrowed(Builder &builder, const LocalTensor &output, const LocalTensor &wide,
                        const IntegerBounds &bounds) {
  LocalTensor from = wide;
  if (output.type == DataType::U8 && from.type == DataType::I16) {
    addIntegers(builder, ArithOp::Max, from, from, immediate(DataType::I16, 0));
    from.type = DataType::U16;
  }
  // The result has a sign where one of both has.
  const DataType zero = output.type == DataType::U8 ? DataType::U16 : DataType::I16;
  addIntegers(builder, ArithOp::Add, output, from, immediate(zero, 0));
  addBounds(builder, output, bounds);
}

/// A multiplier beside an operand of `type`: with a sign unless neither needs one.
static Immediate multiplierFor(DataType type, int64_t multiplier, bool isSigned) {
  const bool hasSign = isSigned || type == DataType::I8 || multiplier < 0;
  return immediate(hasSign ? DataType::I8 : DataType::U8, static_cast<double>(multiplier));
}

static DataType wideType(bool isSigned) { return isSigned ? DataType::I16 : DataType::U16; }

//===--- Sums -------------------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where, const IntegerSum &sum) {
  if (Expected<void> fits = checkBytes(where, "output", sum.output); !fits)
    return propagate(fits);
  if (sum.inputs.size() < 2 || sum.inputs.size() != sum.multipliers.size())
    return makeError(
        where,
        fmt::format("{} operands with {} multipliers", sum.inputs.size(), sum.multipliers.size()),
        "two or more, each with one");
  constexpr int64_t kMostSum = 32767;
  int64_t most = 0;
  for (size_t i = 0; i < sum.inputs.size(); ++i) {
    if (Expected<void> fits = checkBroadcast(where, sum.inputs[i], sum.output); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkMultiplier(where, sum.multipliers[i]); !fits)
      return propagate(fits);
    // The last product is added with more bits.
    if (most > kMostSum)
      return makeError(where, fmt::format("a sum of {} on its way", most),
                       fmt::format("{} at most", kMostSum));
    const IntegerBounds bounds = boundsOf(typeOf(sum.inputs[i]));
    most += std::abs(sum.multipliers[i]) * std::max(-bounds.low, bounds.high);
  }
  if (Expected<void> fits = checkShift(where, sum.shift); !fits)
    return propagate(fits);
  ScratchAllocator space;
  space.take(DataType::I16, sum.output.shape, sum.output.startLane);
  return space.next;
}

Expected<uint32_t> integerSumScratch(const IntegerSum &sum) { return checkedScratch("sum", sum); }

Expected<void> emitIntegerSum(Builder &builder, const IntegerSum &sum) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), sum.scratch, checkedScratch(builder.layer(), sum));
      !fits)
    return fits;
  ScratchAllocator space{sum.scratch.address};
  const LocalTensor wide = space.take(DataType::I16, sum.output.shape, sum.output.startLane);
  // Commands have one number, which a factor needs: those of the sum come last, as one.
  int64_t numbers = 0, numTensors = 0;
  for (size_t i = 0; i < sum.inputs.size(); ++i)
    if (const auto *number = std::get_if<IntegerNumber>(&sum.inputs[i]))
      numbers += number->value * sum.multipliers[i];
    else
      ++numTensors;
  int64_t done = 0;
  for (size_t i = 0; i < sum.inputs.size(); ++i) {
    const auto *input = std::get_if<LocalTensor>(&sum.inputs[i]);
    if (!input)
      continue;
    ++done;
    const bool isLast = done == numTensors && numbers == 0;
    addIntegers(builder, done == 1 ? ArithOp::Mul : ArithOp::MultiplyAdd, wide,
                broadcast(*input, sum.output),
                multiplierFor(input->type, sum.multipliers[i], /*isSigned=*/true),
                {.right = isLast ? sum.shift : 0});
  }
  if (numbers != 0)
    addIntegers(builder, ArithOp::Add, wide, wide,
                immediate(DataType::I16, static_cast<double>(numbers)), {.right = sum.shift});
  addNarrowed(builder, sum.output, wide, sum.bounds);
  return {};
}

//===--- Products ---------------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where,
                                         const IntegerMultiplication &product) {
  if (Expected<void> fits = checkBytes(where, "output", product.output); !fits)
    return propagate(fits);
  if (!std::holds_alternative<LocalTensor>(product.left) &&
      !std::holds_alternative<LocalTensor>(product.right))
    return makeError(where, "a product of two numbers", "a tensor");
  for (const IntegerOperand *operand : {&product.left, &product.right})
    if (Expected<void> fits = checkBroadcast(where, *operand, product.output); !fits)
      return propagate(fits);
  if (Expected<void> fits = checkFactor(where, product.factor); !fits)
    return propagate(fits);
  if (product.factor.multiplier < 1)
    return makeError(where, fmt::format("a multiplier of {}", product.factor.multiplier),
                     "a positive one");
  ScratchAllocator space;
  const Extents &shape = product.output.shape;
  for (DataType type : {DataType::I16, DataType::I16, DataType::I8, DataType::I8})
    space.take(type, shape, product.output.startLane);
  return space.next;
}

Expected<uint32_t> integerMultiplicationScratch(const IntegerMultiplication &product) {
  return checkedScratch("product", product);
}

Expected<void> emitIntegerMultiplication(Builder &builder, const IntegerMultiplication &product) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), product.scratch, checkedScratch(builder.layer(), product));
      !fits)
    return fits;
  const LocalTensor &output = product.output;
  const bool isSigned =
      typeOf(product.left) == DataType::I8 || typeOf(product.right) == DataType::I8;
  const DataType wide = wideType(isSigned), byte = isSigned ? DataType::I8 : DataType::U8;
  ScratchAllocator space{product.scratch.address};
  const auto take = [&](DataType type) { return space.take(type, output.shape, output.startLane); };
  const LocalTensor whole = take(wide), part = take(wide);
  const LocalTensor high = take(byte), low = take(DataType::U8);
  const auto add = [&](ArithOp op, const LocalTensor &to, const Term &a, const Term &b,
                       const IntegerShifts &shifts = {}) {
    addIntegers(builder, op, to, a, b, shifts);
  };
  // The second operand of a command may be a number.
  const bool isSwapped = std::holds_alternative<IntegerNumber>(product.left);
  const Term left = broadcast(isSwapped ? product.right : product.left, output);
  const Term right = broadcast(isSwapped ? product.left : product.right, output);
  const auto multiplier = static_cast<uint64_t>(product.factor.multiplier);
  const int64_t ownShift = product.factor.shift - std::countr_zero(multiplier);
  if (std::has_single_bit(multiplier) && ownShift >= 0) {
    add(ArithOp::Mul, whole, left, right, {.right = ownShift});
    addNarrowed(builder, output, whole, product.bounds);
    return {};
  }
  // The product of both as two bytes, which are multiplied one after the other.
  constexpr int64_t kByte = 8, kLowByte = 255;
  add(ArithOp::Mul, whole, left, right);
  if (isSigned) {
    add(ArithOp::Shift, part, whole, immediate(DataType::I16, -kByte));
  } else {
    // What has no sign is shifted as if it had one.
    add(ArithOp::Shift, part, whole, immediate(DataType::I16, -kByte));
    add(ArithOp::And, part, part, immediate(wide, kLowByte));
  }
  add(ArithOp::Add, high, part, immediate(wide, 0));
  add(ArithOp::And, part, whole, immediate(wide, kLowByte));
  add(ArithOp::Add, low, LocalTensor(part).as(DataType::U16), immediate(DataType::U16, 0));
  const Immediate factor = multiplierFor(byte, product.factor.multiplier, isSigned);
  add(ArithOp::Mul, part, high, factor);
  add(ArithOp::MultiplyAdd, part, low, factor, {.right = product.factor.shift, .left = kByte});
  addNarrowed(builder, output, part, product.bounds);
  return {};
}

//===--- Maxima -----------------------------------------------------------===//

static Expected<void> check(const std::string &where, const IntegerExtreme &extreme) {
  if (Expected<void> fits = checkBytes(where, "output", extreme.output); !fits)
    return fits;
  for (const IntegerOperand *operand : {&extreme.left, &extreme.right}) {
    if (Expected<void> fits = checkBroadcast(where, *operand, extreme.output); !fits)
      return fits;
    if (typeOf(*operand) != extreme.output.type)
      return makeError(where, fmt::format("an operand of {}", dataTypeName(typeOf(*operand))),
                       "the type of the output");
  }
  return {};
}

Expected<void> checkIntegerExtreme(const IntegerExtreme &extreme) {
  return check("maximum", extreme);
}

Expected<void> emitIntegerExtreme(Builder &builder, const IntegerExtreme &extreme) {
  if (Expected<void> fits = check(builder.layer(), extreme); !fits)
    return fits;
  const bool isSwapped = std::holds_alternative<IntegerNumber>(extreme.left);
  addIntegers(builder, extreme.isMaximum ? ArithOp::Max : ArithOp::Min, extreme.output,
              broadcast(isSwapped ? extreme.right : extreme.left, extreme.output),
              broadcast(isSwapped ? extreme.left : extreme.right, extreme.output));
  addBounds(builder, extreme.output, extreme.bounds);
  return {};
}

//===--- Other scales -----------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where,
                                         const IntegerRescaling &rescaling) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &rescaling.input}, std::pair{"output", &rescaling.output}})
    if (Expected<void> fits = checkBytes(where, name, *tensor); !fits)
      return propagate(fits);
  if (rescaling.input.shape != rescaling.output.shape ||
      rescaling.input.startLane != rescaling.output.startLane)
    return makeError(where, "an output of another shape or lane");
  if (Expected<void> fits = checkFactor(where, rescaling.factor); !fits)
    return propagate(fits);
  ScratchAllocator space;
  const LocalTensor &output = rescaling.output;
  if (rescaling.negative) {
    if (Expected<void> fits = checkFactor(where, *rescaling.negative); !fits)
      return propagate(fits);
    if (rescaling.input.type != DataType::I8 || output.type != DataType::I8)
      return makeError(where, "a factor of its own for what is below 0", "i8 to i8");
    space.take(DataType::I8, output.shape, output.startLane);
    space.take(DataType::I8, output.shape, output.startLane);
  } else if (output.type == DataType::U8) {
    space.take(DataType::I16, output.shape, output.startLane);
  }
  return space.next;
}

Expected<uint32_t> integerRescalingScratch(const IntegerRescaling &rescaling) {
  return checkedScratch("requantization", rescaling);
}

Expected<void> emitIntegerRescaling(Builder &builder, const IntegerRescaling &rescaling) {
  if (Expected<void> fits = checkScratch(builder.layer(), rescaling.scratch,
                                         checkedScratch(builder.layer(), rescaling));
      !fits)
    return fits;
  const LocalTensor &input = rescaling.input, &output = rescaling.output;
  ScratchAllocator space{rescaling.scratch.address};
  const auto take = [&](DataType type) { return space.take(type, output.shape, output.startLane); };
  const auto scale = [&](const LocalTensor &to, const LocalTensor &from,
                         const IntegerFactor &factor, bool isSigned) {
    addIntegers(builder, ArithOp::Mul, to, from,
                multiplierFor(from.type, factor.multiplier, isSigned), {.right = factor.shift});
  };
  if (rescaling.negative) {
    // Of both parts one is 0 everywhere.
    const LocalTensor above = take(DataType::I8), below = take(DataType::I8);
    const Immediate zero = immediate(DataType::I8, 0);
    addIntegers(builder, ArithOp::Max, above, input, zero);
    addIntegers(builder, ArithOp::Min, below, input, zero);
    scale(above, above, rescaling.factor, true);
    scale(below, below, *rescaling.negative, true);
    addIntegers(builder, ArithOp::Add, output, above, below);
    addBounds(builder, output, rescaling.bounds);
    return {};
  }
  if (output.type == DataType::U8) {
    const LocalTensor wide =
        take(wideType(input.type == DataType::I8 || rescaling.factor.multiplier < 0));
    scale(wide, input, rescaling.factor, false);
    addNarrowed(builder, output, wide, rescaling.bounds);
    return {};
  }
  scale(output, input, rescaling.factor, true);
  addBounds(builder, output, rescaling.bounds);
  return {};
}

//===--- Words ------------------------------------------------------------===//

/// The words of batch items 4 * word and following of a regular tensor, in parts.
static std::vector<LocalTensor> wordsOf(const LocalTensor &bytes, int64_t word) {
  LocalTensor words =
      bytes.slice(0, word * kItems, std::min(kItems, bytes.shape[0] - word * kItems))
          .as(DataType::I32);
  words.shape[0] = 1;
  return flatParts(words, kMostFlatPart);
}

static uint32_t longestPart(const LocalTensor &bytes) {
  int64_t longest = 0;
  for (const LocalTensor &part : wordsOf(bytes, 0))
    longest = std::max(longest, alignUp(part.shape[3], int64_t{kEuWords}));
  return static_cast<uint32_t>(longest * 4);
}

static Immediate wordOf(uint32_t value) { return {DataType::I32, value}; }
static Immediate shiftBy(int64_t amount) {
  return immediate(DataType::I32, static_cast<double>(amount));
}

/// Puts the low byte of the words `item` beside the items before it. `item` is lost.
static void addItem(Builder &builder, const LocalTensor &words, const LocalTensor &item,
                    int64_t number) {
  const auto to = number == 0 ? words : item;
  addArith(builder, ArithOp::And, to, item, wordOf(0xFF));
  if (number == 0)
    return;
  addArith(builder, ArithOp::Shift, item, item, shiftBy(8 * number));
  addArith(builder, ArithOp::Or, words, words, item);
}

//===--- Tables -----------------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where, const IntegerTable &lookup) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &lookup.input}, std::pair{"output", &lookup.output}})
    if (Expected<void> fits = checkRegularBytes(where, name, *tensor); !fits)
      return propagate(fits);
  if (lookup.input.shape != lookup.output.shape ||
      lookup.input.startLane != lookup.output.startLane)
    return makeError(where, "an output of another shape or lane");
  return lookup.output.shape[0] == 1 ? 0 : 2 * longestPart(lookup.output);
}

Expected<uint32_t> integerTableScratch(const IntegerTable &lookup) {
  return checkedScratch("table", lookup);
}

Expected<void> emitIntegerTable(Builder &builder, const IntegerTable &lookup) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), lookup.scratch, checkedScratch(builder.layer(), lookup));
      !fits)
    return fits;
  const int64_t images = lookup.output.shape[0];
  for (int64_t word = 0; word * kItems < images; ++word) {
    const std::vector<LocalTensor> from = wordsOf(lookup.input, word);
    const std::vector<LocalTensor> to = wordsOf(lookup.output, word);
    for (size_t i = 0; i < from.size(); ++i) {
      if (images == 1) {
        addTableLookup(builder, to[i], from[i], lookup.table);
        continue;
      }
      // The words of an input that is also the output are overwritten last.
      const LocalTensor item = from[i].at(lookup.scratch.address);
      const LocalTensor all = from[i].at(lookup.scratch.address + lookup.scratch.bytes / 2);
      for (int64_t n = 0; n < std::min(kItems, images - word * kItems); ++n) {
        if (n > 0)
          addArith(builder, ArithOp::Shift, item, from[i], shiftBy(-8 * n));
        addTableLookup(builder, item, n == 0 ? from[i] : item, lookup.table);
        addItem(builder, all, item, n);
      }
      addCopy(builder, to[i], all);
    }
  }
  return {};
}

//===--- Floats -----------------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where, const IntegerCast &cast) {
  const bool toBytes = isByte(cast.output.type);
  const LocalTensor &bytes = toBytes ? cast.output : cast.input;
  const LocalTensor &floats = toBytes ? cast.input : cast.output;
  if (Expected<void> fits = checkRegularBytes(where, "integers", bytes); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkRegular(where, "floats", floats); !fits)
    return propagate(fits);
  if (bytes.shape != floats.shape || bytes.startLane != floats.startLane)
    return makeError(where, "an output of another shape or lane");
  return toBytes ? 2 * longestPart(bytes) : 0;
}

Expected<uint32_t> integerCastScratch(const IntegerCast &cast) {
  return checkedScratch("cast", cast);
}

/// result (words) = the integers nearest to `floats` times the factor, within the bounds.
static void addNearest(Builder &builder, const IntegerCast &cast, const LocalTensor &floats,
                       const LocalTensor &result, const LocalTensor &number,
                       const LocalTensor &half) {
  // The largest float below one half with the sign of the number: what is cut off then was rounded
  // half away from zero.
  constexpr uint32_t kSign = 0x80000000, kBelowHalf = 0x3EFFFFFF;
  const LocalTensor numberBits = number.as(DataType::I32), halfBits = half.as(DataType::I32);
  addArith(builder, ArithOp::Mul, number, floats, tpuc::bm1684::number(cast.factor));
  addArith(builder, ArithOp::Min, number, number,
           tpuc::bm1684::number(static_cast<double>(cast.bounds.high)));
  addArith(builder, ArithOp::Max, number, number,
           tpuc::bm1684::number(static_cast<double>(cast.bounds.low)));
  addArith(builder, ArithOp::And, halfBits, numberBits, wordOf(kSign));
  addArith(builder, ArithOp::Or, halfBits, halfBits, wordOf(kBelowHalf));
  addArith(builder, ArithOp::Add, number, number, half);
  addSfu(builder, SfuOp::ToInt, result, number);
}

/// floats = item `n` of the words times the factor.
static void addNumbers(Builder &builder, const IntegerCast &cast, const LocalTensor &words,
                       const LocalTensor &floats, int64_t n) {
  // An unsigned byte in the low bits of 2^23 is a float of that much more.
  constexpr uint32_t kExponent = 0x4B000000;
  constexpr double kOffset = 0x1p23;
  const bool isSigned = cast.input.type == DataType::I8;
  const LocalTensor result = floats.as(DataType::I32);
  if (n > 0)
    addArith(builder, ArithOp::Shift, result, words, shiftBy(-8 * n));
  addArith(builder, ArithOp::And, result, n > 0 ? result : words, wordOf(0xFF));
  addArith(builder, ArithOp::Xor, result, result, wordOf(kExponent | (isSigned ? 0x80 : 0)));
  addArith(builder, ArithOp::Sub, floats, floats, number(kOffset + (isSigned ? 128 : 0)));
  if (cast.factor != 1)
    addArith(builder, ArithOp::Mul, floats, floats, number(cast.factor));
}

Expected<void> emitIntegerCast(Builder &builder, const IntegerCast &cast) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), cast.scratch, checkedScratch(builder.layer(), cast));
      !fits)
    return fits;
  const bool toBytes = isByte(cast.output.type);
  const LocalTensor &bytes = toBytes ? cast.output : cast.input;
  const LocalTensor &floats = toBytes ? cast.input : cast.output;
  const int64_t images = bytes.shape[0];
  for (int64_t n = 0; n < images; ++n) {
    const std::vector<LocalTensor> words = wordsOf(bytes, n / kItems);
    const std::vector<LocalTensor> image = flatParts(floats.slice(0, n, 1), kMostFlatPart);
    for (size_t i = 0; i < words.size(); ++i) {
      if (!toBytes) {
        addNumbers(builder, cast, words[i], image[i], n % kItems);
        continue;
      }
      const LocalTensor number = image[i].at(cast.scratch.address);
      const LocalTensor half = image[i].at(cast.scratch.address + cast.scratch.bytes / 2);
      const LocalTensor item = number.as(DataType::I32);
      addNearest(builder, cast, image[i], images == 1 ? words[i] : item, number, half);
      if (images > 1)
        addItem(builder, words[i], item, n % kItems);
    }
  }
  return {};
}

} // namespace tpuc::bm1684
