//===- Select.cpp - Comparing, choosing and converting on the BM1684 ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Select.h"
#include "tpuc/Target/BM1684/Kernels/IntegerCommands.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {

/// Batch items of bytes that share a word.
constexpr int64_t kBytesOfWord = 4;
constexpr uint32_t kLowByte = 0xFF, kLowHalf = 0xFFFF, kByteSign = 0x80, kHalfSign = 0x8000;
/// Integers in the low bits of 2^23 are floats that are so much larger.
constexpr uint32_t kExponent = 0x4B000000;
constexpr double kOffset = 0x1p23;
constexpr double kHalf = 0x1p16;

bool isOfBytes(DataType type) { return precOf(type) == Prec::I8; }
bool isOfLongs(DataType type) { return precOf(type) == Prec::I32; }

Immediate pattern(uint32_t value) { return {DataType::I32, value}; }
Immediate byPlaces(int64_t amount) { return immediate(DataType::I32, static_cast<double>(amount)); }

const LocalTensor *asTensor(const BinaryOperand &operand) {
  return std::get_if<LocalTensor>(&operand);
}

/// The words in which batch item `n` of a tensor lies, and its byte there. The only item is
/// repeated.
struct SharedItem {
  LocalTensor words;
  int64_t place = 0;
};
SharedItem sharedItem(const LocalTensor &tensor, int64_t n) {
  const int64_t own = tensor.shape[0] == 1 ? 0 : n;
  const int64_t first = own / tensor.items() * tensor.items();
  return {
      tensor.slice(0, first, 1).as(tensor.type == DataType::F32 ? DataType::F32 : DataType::I32),
      own - first};
}

/// Emits, or without a builder only counts what of local memory that takes.
class Emission {
public:
  Emission(Builder *builder, uint32_t address) : builder(builder), space{address} {}

  uint32_t next() const { return space.next; }
  LocalTensor take(DataType type, const Extents &shape, uint32_t startLane) {
    return space.take(type, shape, startLane);
  }
  LocalTensor takeLike(const LocalTensor &tensor, DataType type) {
    return take(type, tensor.shape, tensor.startLane);
  }
  void arith(ArithOp op, const LocalTensor &to, const Term &a, const Term &b) {
    if (builder)
      addArith(*builder, op, to, a, b);
  }
  void copy(const LocalTensor &to, const LocalTensor &from) {
    if (builder)
      addCopy(*builder, to, from);
  }
  void select(ArithOp op, const LocalTensor &to, const Term &a, const Term &b, uint32_t chosen) {
    if (builder)
      addSelect(*builder, op, to, a, b, pattern(chosen));
  }
  void compareSelect(const LocalTensor &to, const Term &a, const Term &b, const Term &c,
                     const Term &d) {
    if (builder)
      addCompareSelect(*builder, to, a, b, c, d);
  }
  void toInteger(const LocalTensor &to, const LocalTensor &from) {
    if (builder)
      addSfu(*builder, SfuOp::ToInt, to, from);
  }
  /// `words` in the shape of `to`, where they are, or of floats from all lanes.
  LocalTensor broadcast(const LocalTensor &words, const LocalTensor &to) {
    if (builder)
      return broadcastTo(*builder, words, to, space);
    const uint32_t bytes = broadcastBytes(words, to);
    if (bytes == 0)
      return words.shape == to.shape ? words : repeated(words, to.shape);
    const LocalTensor copies =
        take(words.type, {words.shape[0], kLanes, words.shape[2], words.shape[3]}, to.startLane);
    space.bytes(kOnesBytes);
    return repeated(copies, to.shape);
  }

  /// A byte of words as floats that have the order of the type, and no others.
  LocalTensor orderedBytes(const SharedItem &item, bool isSigned) {
    const LocalTensor ordered = takeLike(item.words, DataType::I32);
    if (item.place > 0)
      arith(ArithOp::Shift, ordered, item.words, byPlaces(-8 * item.place));
    arith(ArithOp::And, ordered, item.place > 0 ? ordered : item.words, pattern(kLowByte));
    arith(ArithOp::Xor, ordered, ordered, pattern(kExponent | (isSigned ? kByteSign : 0)));
    return ordered.as(DataType::F32);
  }
  /// The same of the upper and of the lower half of 32 bits.
  LocalTensor orderedUpper(const LocalTensor &words, bool isSigned) {
    const LocalTensor ordered = takeLike(words, DataType::I32);
    // Shifts keep the sign.
    arith(ArithOp::Shift, ordered, words, byPlaces(-16));
    arith(ArithOp::And, ordered, ordered, pattern(kLowHalf));
    arith(ArithOp::Xor, ordered, ordered, pattern(kExponent | (isSigned ? kHalfSign : 0)));
    return ordered.as(DataType::F32);
  }
  LocalTensor orderedLower(const LocalTensor &words) {
    const LocalTensor ordered = takeLike(words, DataType::I32);
    arith(ArithOp::And, ordered, words, pattern(kLowHalf));
    arith(ArithOp::Xor, ordered, ordered, pattern(kExponent));
    return ordered.as(DataType::F32);
  }

private:
  Builder *builder;
  ScratchAllocator space;
};

bool isRepeated(const LocalTensor &tensor, const LocalTensor &output) {
  return tensor.shape != output.shape;
}
bool isRepeatedOverLanes(const LocalTensor &tensor, const LocalTensor &output) {
  return tensor.shape[1] == 1 && output.shape[1] > 1;
}

//===--- Choices ----------------------------------------------------------===//

/// Words that are compared: whether `left` is greater, or equal bit by bit.
struct Condition {
  ArithOp op = ArithOp::SelectGreater;
  Term left, right;
};

class Chooser {
public:
  Chooser(const Select &select, Emission &commands) : select(select), commands(commands) {}

  /// One batch item of tensors of which some have bytes, or all of words.
  void choose(std::optional<int64_t> item);

private:
  LocalTensor partOf(const LocalTensor &tensor) const {
    return item ? sharedItem(tensor, *item).words : tensor;
  }
  DataType comparedType() const {
    const LocalTensor *tensor = asTensor(select.left);
    return tensor ? tensor->type : asTensor(select.right)->type;
  }
  Condition condition();
  Term comparedTerm(const BinaryOperand &operand);
  /// Of the difference of integers of 32 bits its sign.
  LocalTensor difference(const BinaryOperand &left, const BinaryOperand &right);
  Term half(const BinaryOperand &operand, bool isUpper);
  Term chosenTerm(const BinaryOperand &operand);
  uint32_t chosenBits(double number) const {
    return immediateBits(select.output.type, number) << 8 * place;
  }

  const Select &select;
  Emission &commands;
  std::optional<int64_t> item;
  /// Of the item in the words of the output.
  int64_t place = 0;
  LocalTensor output;
};

Term Chooser::comparedTerm(const BinaryOperand &operand) {
  const DataType type = comparedType();
  const bool isSignedByte = isOfBytes(type) && isSigned(type);
  const LocalTensor *tensor = asTensor(operand);
  if (!tensor) {
    const double value = std::get<double>(operand);
    return isOfBytes(type) ? number(kOffset + value + (isSignedByte ? kByteSign : 0))
                           : Term(immediate(type, value));
  }
  if (isOfBytes(type))
    return commands.broadcast(
        commands.orderedBytes(sharedItem(*tensor, item.value_or(0)), isSignedByte),
        output.as(DataType::F32));
  const LocalTensor whole = commands.broadcast(partOf(*tensor), output);
  if (type != DataType::F32 || !bm168x::isEquality(select.kind))
    return whole;
  // A sum with 0 makes +0 of -0.
  const LocalTensor sum = commands.takeLike(output, DataType::F32);
  commands.arith(ArithOp::Add, sum, whole, number(0));
  return sum;
}

Term Chooser::half(const BinaryOperand &operand, bool isUpper) {
  const bool hasSign = isUpper && isSigned(comparedType());
  if (const LocalTensor *tensor = asTensor(operand)) {
    const LocalTensor words = partOf(*tensor);
    return commands.broadcast(isUpper ? commands.orderedUpper(words, hasSign)
                                      : commands.orderedLower(words),
                              output.as(DataType::F32));
  }
  const double value = std::get<double>(operand), upper = std::floor(value / kHalf);
  return number(kOffset + (isUpper ? upper + (hasSign ? kHalfSign : 0) : value - upper * kHalf));
}

LocalTensor Chooser::difference(const BinaryOperand &left, const BinaryOperand &right) {
  const LocalTensor upper = commands.takeLike(output, DataType::F32);
  const LocalTensor lower = commands.takeLike(output, DataType::F32);
  commands.arith(ArithOp::Sub, upper, half(left, true), half(right, true));
  commands.arith(ArithOp::Sub, lower, half(left, false), half(right, false));
  commands.arith(ArithOp::Mul, upper, upper, number(kHalf));
  commands.arith(ArithOp::Add, upper, upper, lower);
  return upper;
}

Condition Chooser::condition() {
  const bool isEqual = bm168x::isEquality(select.kind);
  const ArithOp op = isEqual ? ArithOp::SelectEqual : ArithOp::SelectGreater;
  const bool isSwapped = bm168x::isSwapped(select.kind);
  const BinaryOperand &left = isSwapped ? select.right : select.left;
  const BinaryOperand &right = isSwapped ? select.left : select.right;
  const auto isOfAllLanes = [&](const BinaryOperand &operand) {
    const LocalTensor *tensor = asTensor(operand);
    return tensor && isRepeatedOverLanes(*tensor, output);
  };
  if (isOfLongs(comparedType()) && (!isEqual || isOfAllLanes(left) || isOfAllLanes(right)))
    return {op, difference(left, right), number(0)};
  const Term first = comparedTerm(left);
  return {op, first, comparedTerm(right)};
}

Term Chooser::chosenTerm(const BinaryOperand &operand) {
  const LocalTensor *tensor = asTensor(operand);
  if (!tensor)
    return pattern(chosenBits(std::get<double>(operand)));
  const LocalTensor words = output.as(DataType::I32);
  if (!isOfBytes(select.output.type)) {
    const LocalTensor part = partOf(*tensor);
    if (!isRepeated(part, output) && part.isRegular())
      return part;
    const LocalTensor whole = commands.takeLike(output, part.type);
    commands.copy(whole, commands.broadcast(part, output));
    return whole;
  }
  const SharedItem from = sharedItem(*tensor, item.value_or(0));
  const bool isOfAllLanes = isRepeatedOverLanes(from.words, output);
  LocalTensor source = from.words;
  int64_t byte = from.place;
  if (isOfAllLanes) {
    source = commands.orderedBytes(from, /*isSigned=*/false);
    byte = 0;
  }
  const LocalTensor whole = commands.takeLike(words, DataType::I32);
  const LocalTensor spread = commands.broadcast(source, output.as(source.type)).as(DataType::I32);
  commands.arith(ArithOp::And, whole, spread, pattern(kLowByte << 8 * byte));
  if (byte != place)
    commands.arith(ArithOp::Shift, whole, whole, byPlaces(8 * (place - byte)));
  return whole;
}

void Chooser::choose(std::optional<int64_t> which) {
  item = which;
  const SharedItem to = item ? sharedItem(select.output, *item) : SharedItem{select.output, 0};
  output = to.words;
  place = to.place;
  const bool isNegated = bm168x::isNegated(select.kind);
  const BinaryOperand &whereTrue = isNegated ? select.ifFalse : select.ifTrue;
  const BinaryOperand &whereFalse = isNegated ? select.ifTrue : select.ifFalse;
  // Items behind the first one of a word are brought into it.
  const LocalTensor words = output.as(DataType::I32);
  const LocalTensor own = place == 0 ? words : commands.takeLike(words, DataType::I32);
  const auto [op, left, right] = condition();
  if (!asTensor(whereTrue) && !asTensor(whereFalse)) {
    const uint32_t ifTrue = chosenBits(std::get<double>(whereTrue));
    const uint32_t ifFalse = chosenBits(std::get<double>(whereFalse));
    commands.select(op, own.as(DataType::F32), left, right, ifTrue ^ ifFalse);
    if (ifFalse != 0)
      commands.arith(ArithOp::Xor, own, own, pattern(ifFalse));
  } else {
    const Term ifTrue = chosenTerm(whereTrue), ifFalse = chosenTerm(whereFalse);
    const auto isWhole = [&](const Term &term) {
      const auto *tensor = std::get_if<LocalTensor>(&term);
      return !tensor || (tensor->shape == output.shape && tensor->isRegular());
    };
    if (op == ArithOp::SelectGreater && isWhole(left) && isWhole(right)) {
      commands.compareSelect(own, left, right, ifTrue, ifFalse);
    } else {
      const LocalTensor holds = commands.takeLike(output, DataType::F32);
      commands.select(op, holds, left, right, number(1).bits);
      commands.compareSelect(own, holds, number(0), ifTrue, ifFalse);
    }
  }
  if (place > 0)
    commands.arith(ArithOp::Or, words, words, own);
}

std::array<const BinaryOperand *, 4> allOperands(const Select &select) {
  return {&select.left, &select.right, &select.ifTrue, &select.ifFalse};
}

bool hasBytes(const Select &select) {
  return isOfBytes(select.output.type) ||
         std::ranges::any_of(allOperands(select), [](const auto *each) {
           const LocalTensor *tensor = asTensor(*each);
           return tensor && isOfBytes(tensor->type);
         });
}

Expected<void> checkOperand(const std::string &where, const LocalTensor &operand, DataType type,
                            const LocalTensor &output) {
  bool fits = operand.type == type;
  for (size_t axis = 0; axis < 4; ++axis)
    fits &= operand.shape[axis] == output.shape[axis] || operand.shape[axis] == 1;
  fits &= isRepeatedOverLanes(operand, output) || operand.startLane == output.startLane;
  if (!fits)
    return makeError(
        where,
        fmt::format("an operand [{}] {} for [{}]", fmt::join(operand.shape, ","),
                    dataTypeName(operand.type), fmt::join(output.shape, ",")),
        fmt::format("{} in the same lane, and extents that are equal or 1", dataTypeName(type)));
  return {};
}

/// Errors unless elements are words or bytes, and results without gaps.
Expected<void> checkElements(const std::string &where, std::string_view name,
                             const LocalTensor &tensor, bool isResult) {
  const std::optional<Prec> prec = precOf(tensor.type);
  if (!prec || *prec == Prec::I16 || tensor.type == DataType::Bool ||
      (isResult && !tensor.isRegular()))
    return makeError(where, fmt::format("{} of {}", name, dataTypeName(tensor.type)),
                     isResult ? "an aligned tensor of bytes or words" : "bytes or words");
  return {};
}

Expected<uint32_t> checkedScratch(const std::string &where, const Select &select) {
  if (Expected<void> fits = checkElements(where, "a result", select.output, true); !fits)
    return propagate(fits);
  const LocalTensor *compared =
      asTensor(select.left) ? asTensor(select.left) : asTensor(select.right);
  if (!compared)
    return makeError(where, "a comparison of two numbers", "at least one tensor");
  for (const auto &[operand, type] :
       {std::pair(&select.left, compared->type), std::pair(&select.right, compared->type),
        std::pair(&select.ifTrue, select.output.type),
        std::pair(&select.ifFalse, select.output.type)}) {
    const LocalTensor *tensor = asTensor(*operand);
    if (!tensor)
      continue;
    if (Expected<void> fits = checkElements(where, "an operand", *tensor, false); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkOperand(where, *tensor, type, select.output); !fits)
      return propagate(fits);
    const bool isChosen = operand == &select.ifTrue || operand == &select.ifFalse;
    if (isChosen && isOfLongs(type) && isRepeatedOverLanes(*tensor, select.output))
      return makeError(where, "a choice of 32-bit integers that is the same in all lanes",
                       "floats, bytes, or one for each channel");
  }
  // The last item of a word takes the most.
  Emission counted(nullptr, 0);
  std::optional<int64_t> item;
  if (hasBytes(select))
    item = std::min(select.output.shape[0], kBytesOfWord) - 1;
  Chooser(select, counted).choose(item);
  return counted.next();
}

} // namespace

Expected<uint32_t> selectScratch(const Select &select) { return checkedScratch("choice", select); }

Expected<void> emitSelect(Builder &builder, const Select &select) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), select.scratch, checkedScratch(builder.layer(), select));
      !fits)
    return fits;
  const auto choose = [&](std::optional<int64_t> item) {
    Emission commands(&builder, select.scratch.address);
    Chooser(select, commands).choose(item);
  };
  if (!hasBytes(select)) {
    choose(std::nullopt);
    return {};
  }
  for (int64_t item = 0; item < select.output.shape[0]; ++item)
    choose(item);
  return {};
}

//===--- Truth values -----------------------------------------------------===//

static Expected<uint32_t> checkedScratch(const std::string &where, const Logical &logical) {
  const LocalTensor *right = logical.right ? &*logical.right : nullptr;
  if ((logical.kind == LogicalKind::Not) != (right == nullptr))
    return makeError(where, "other operands", "one of a negation, two of others");
  for (const LocalTensor *tensor :
       {&logical.left, right ? right : &logical.left, &logical.output}) {
    if (Expected<void> fits = checkRegularBytes(where, "truth values", *tensor); !fits)
      return propagate(fits);
    if (tensor->type != DataType::U8 || tensor->shape != logical.output.shape ||
        tensor->startLane != logical.output.startLane)
      return makeError(where,
                       fmt::format("[{}] {} to [{}]", fmt::join(tensor->shape, ","),
                                   dataTypeName(tensor->type),
                                   fmt::join(logical.output.shape, ",")),
                       "u8 of one shape in the same lane");
  }
  if (logical.kind != LogicalKind::Xor)
    return 0;
  return laneBytes(DataType::U8, logical.output.shape, Layout::Aligned, logical.output.startLane);
}

Expected<uint32_t> logicalScratch(const Logical &logical) {
  return checkedScratch("truth values", logical);
}

Expected<void> emitLogical(Builder &builder, const Logical &logical) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), logical.scratch, checkedScratch(builder.layer(), logical));
      !fits)
    return fits;
  const LocalTensor &output = logical.output;
  const Immediate one = immediate(DataType::U8, 1);
  const auto add = [&](ArithOp op, const LocalTensor &to, const Term &a, const Term &b) {
    addIntegers(builder, op, to, a, b);
  };
  // Every byte but 0 is true.
  switch (logical.kind) {
  case LogicalKind::Not:
    add(ArithOp::Min, output, logical.left, one);
    add(ArithOp::Xor, output, output, one);
    break;
  case LogicalKind::And:
    add(ArithOp::Min, output, logical.left, *logical.right);
    add(ArithOp::Min, output, output, one);
    break;
  case LogicalKind::Or:
    add(ArithOp::Max, output, logical.left, *logical.right);
    add(ArithOp::Min, output, output, one);
    break;
  case LogicalKind::Xor: {
    const LocalTensor other = localTensor(DataType::U8, output.shape, logical.scratch.address,
                                          Layout::Aligned, output.startLane);
    add(ArithOp::Min, other, *logical.right, one);
    add(ArithOp::Min, output, logical.left, one);
    add(ArithOp::Xor, output, output, other);
    break;
  }
  }
  return {};
}

//===--- Other types ------------------------------------------------------===//

namespace {

void convertBytes(Emission &commands, const SharedItem &from, DataType type,
                  const LocalTensor &to) {
  const bool hasSign = isSigned(type);
  const LocalTensor floats = commands.orderedBytes(from, hasSign);
  const LocalTensor result = to.as(DataType::F32);
  commands.arith(ArithOp::Sub, result, floats, number(kOffset + (hasSign ? kByteSign : 0)));
  if (to.type != DataType::F32)
    commands.toInteger(to, result);
}

void convertLong(Emission &commands, const LocalTensor &from, const LocalTensor &to) {
  const bool hasSign = isSigned(from.type);
  const LocalTensor upper = commands.orderedUpper(from, hasSign);
  const LocalTensor lower = commands.orderedLower(from);
  commands.arith(ArithOp::Sub, upper, upper, number(kOffset + (hasSign ? kHalfSign : 0)));
  commands.arith(ArithOp::Mul, upper, upper, number(kHalf));
  commands.arith(ArithOp::Sub, lower, lower, number(kOffset));
  // Both are exact, so their sum is rounded once.
  commands.arith(ArithOp::Add, to, upper, lower);
}

void convertToBytes(Emission &commands, const LocalTensor &from, const LocalTensor &to, int64_t n) {
  const bool hasSign = isSigned(to.type);
  const SharedItem item = sharedItem(to, n);
  const LocalTensor limited = commands.takeLike(from, DataType::F32);
  const LocalTensor own = limited.as(DataType::I32);
  commands.arith(ArithOp::Max, limited, from, number(hasSign ? -128 : 0));
  commands.arith(ArithOp::Min, limited, limited, number(hasSign ? 127 : 255));
  commands.toInteger(own, limited);
  if (item.place == 0) {
    commands.arith(ArithOp::And, item.words, own, pattern(kLowByte));
    return;
  }
  commands.arith(ArithOp::And, own, own, pattern(kLowByte));
  commands.arith(ArithOp::Shift, own, own, byPlaces(8 * item.place));
  commands.arith(ArithOp::Or, item.words, item.words, own);
}

void convert(Emission &commands, const Conversion &conversion, int64_t n) {
  const LocalTensor &from = conversion.input, &to = conversion.output;
  if (isOfBytes(from.type))
    convertBytes(commands, sharedItem(from, n), from.type, to.slice(0, n, 1));
  else if (isOfBytes(to.type))
    convertToBytes(commands, from.slice(0, n, 1), to, n);
  else if (isOfLongs(from.type))
    convertLong(commands, from, to);
  else
    commands.toInteger(to, from);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Conversion &conversion) {
  const LocalTensor &from = conversion.input, &to = conversion.output;
  for (const LocalTensor *tensor : {&from, &to})
    if (Expected<void> fits = checkElements(where, "a tensor", *tensor, true); !fits)
      return propagate(fits);
  if (from.shape != to.shape || from.startLane != to.startLane)
    return makeError(where, "an output of another shape or lane");
  const bool isKnown =
      from.type == DataType::F32
          ? to.type == DataType::I32 || isOfBytes(to.type)
          : to.type == DataType::F32 || (isOfBytes(from.type) && isOfLongs(to.type));
  if (!isKnown || (to.type == DataType::U32 && from.type == DataType::I8))
    return makeError(where, fmt::format("{} as {}", dataTypeName(from.type), dataTypeName(to.type)),
                     "f32 and integers, or wider integers");
  Emission counted(nullptr, 0);
  convert(counted, conversion, 0);
  return counted.next();
}

} // namespace

Expected<uint32_t> conversionScratch(const Conversion &conversion) {
  return checkedScratch("conversion", conversion);
}

Expected<void> emitConversion(Builder &builder, const Conversion &conversion) {
  if (Expected<void> fits = checkScratch(builder.layer(), conversion.scratch,
                                         checkedScratch(builder.layer(), conversion));
      !fits)
    return fits;
  const bool hasItems = isOfBytes(conversion.input.type) || isOfBytes(conversion.output.type);
  const int64_t times = hasItems ? conversion.output.shape[0] : 1;
  for (int64_t n = 0; n < times; ++n) {
    Emission commands(&builder, conversion.scratch.address);
    convert(commands, conversion, n);
  }
  return {};
}

} // namespace tpuc::bm1684
