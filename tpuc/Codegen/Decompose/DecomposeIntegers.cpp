//===- DecomposeIntegers.cpp - Long integers by their words ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr int64_t kWordBits = 32;
constexpr double kWordCount = 4294967296.0;

bool isLong(Value value) { return storageDataType(value.getType()) == DataType::I64; }

/// An integer is high * 2^32 + low, with `high` an i32 and `low` a ui32.
struct Words {
  Value high, low;
};

/// Makes the words of integers, and what is computed of them. All names start with the word `what`.
class WordMaker {
public:
  explicit WordMaker(OpMaker &maker) : maker(maker), builder(maker.builder) {}

  std::optional<Words> wordsOf(Value value, StringRef what) {
    if (!top::constantTensor(value))
      return Words{word(value, kWordBits, what + "_high"),
                   converted(word(value, 0, what + "_low"), unsignedType(), what + "_unsigned")};
    const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value);
    if (!numbers)
      return std::nullopt;
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
    const Shape shape(std::span(dims.data(), dims.size()));
    Tensor high(DataType::I32, shape);
    Tensor low(DataType::U32, shape);
    for (auto [number, upper, lower] :
         llvm::zip_equal(*numbers, high.mutableData<int32_t>(), low.mutableData<uint32_t>())) {
      upper = static_cast<int32_t>(number >> kWordBits);
      lower = static_cast<uint32_t>(number);
    }
    return Words{maker.weight(high, (what + "_high").str()),
                 maker.weight(low, (what + "_low").str())};
  }

  /// Numbers compared, broadcast to the dimensions of `type`.
  Value compared(const Words &left, const Words &right, StringRef mode, RankedTensorType type) {
    return byWords(mode, type, [&](bool isHigh, StringRef how, StringRef what) {
      return predicate(tpu::CompareOp::getOperationName(),
                       {isHigh ? left.high : left.low, isHigh ? right.high : right.low}, how, type,
                       what);
    });
  }
  Value compared(const Words &left, int64_t right, StringRef mode, RankedTensorType type) {
    return byWords(mode, type, [&](bool isHigh, StringRef how, StringRef what) {
      return predicate(tpu::CompareConstOp::getOperationName(), isHigh ? left.high : left.low, how,
                       type, what,
                       isHigh ? static_cast<double>(right >> kWordBits)
                              : static_cast<double>(static_cast<uint32_t>(right)));
    });
  }

  /// (high + [low as i32 < 0]) * 2^32 + low as i32, in F32. The first term is 0 for what fits 32
  /// bits, which is rounded once; other numbers are within one unit in the last place.
  Value real(Value value) {
    const Value high = word(value, kWordBits, "high");
    const Value low = word(value, 0, "low");
    const Type single = builder.getF32Type();
    const Value isNegative = predicate(tpu::CompareConstOp::getOperationName(), low, "Less",
                                       OpMaker::typeOf(low), "negative", 0);
    const Value carried = maker.makeLike<tpu::AddOp>(
        "carried", {converted(high, single, "high_real"), converted(isNegative, single, "carry")});
    NamedAttrList attributes;
    attributes.set("const_val", builder.getF64FloatAttr(kWordCount));
    return maker.makeLike<tpu::AddOp>(
        "number", {maker.makeLike<tpu::MulConstOp>("scaled", carried, attributes),
                   converted(low, single, "low_real")});
  }

  Value predicate(StringRef op, ValueRange operands, StringRef mode, RankedTensorType type,
                  StringRef what, std::optional<double> number = std::nullopt) {
    NamedAttrList attributes;
    attributes.set("mode", builder.getStringAttr(mode));
    if (number)
      attributes.set("const_val", builder.getF64FloatAttr(*number));
    return maker.make(op, what, Type(type.clone(builder.getI1Type())), operands, attributes);
  }

private:
  /// `each` compares the high or the low words: the low ones count where the high ones are equal.
  Value byWords(StringRef mode, RankedTensorType type,
                llvm::function_ref<Value(bool isHigh, StringRef how, StringRef what)> each) {
    const auto joined = [&](Value first, Value second, StringRef how, StringRef what) {
      return predicate(tpu::LogicalBinaryOp::getOperationName(), {first, second}, how, type, what);
    };
    const Value low = each(false, mode, "low");
    if (mode == "Equal" || mode == "NotEqual")
      return joined(each(true, mode, "high"), low, mode == "Equal" ? "And" : "Or", "both");
    const StringRef strict = mode.starts_with("Less") ? "Less" : "Greater";
    const Value tie = joined(each(true, "Equal", "high_same"), low, "And", "tie");
    return joined(each(true, strict, "high"), tie, "Or", "both");
  }

  Type signedType() { return builder.getI32Type(); }
  Type unsignedType() { return builder.getIntegerType(kWordBits, /*isSigned=*/false); }

  Value converted(Value value, Type element, const llvm::Twine &what) {
    return cast(value, element, 0, what);
  }
  Value cast(Value value, Type element, int64_t fromBit, const llvm::Twine &what) {
    NamedAttrList attributes;
    attributes.set("to", TypeAttr::get(element));
    attributes.set("from_bit", builder.getI64IntegerAttr(fromBit));
    return maker.make(tpu::DtypeCastOp::getOperationName(), what.str(),
                      Type(OpMaker::typeOf(value).clone(element)), value, attributes);
  }
  /// The word from bit `fromBit` on, which several ops share: it is taken of what `value` is a view
  /// of, once.
  Value word(Value value, int64_t fromBit, const llvm::Twine &what) {
    Value source = value;
    for (Operation *view = source.getDefiningOp();
         view && view->hasTrait<traits::ViewLike>() && isLong(view->getOperand(0)) &&
         OpMaker::typeOf(view->getOperand(0)).hasStaticShape();
         view = source.getDefiningOp())
      source = view->getOperand(0);
    for (Operation *user : source.getUsers())
      if (auto known = dyn_cast<tpu::DtypeCastOp>(user);
          known && static_cast<int64_t>(known.getFromBit()) == fromBit &&
          known.getTo() == signedType() && known->isBeforeInBlock(maker.op))
        return maker.reshaped(known.getOutput(), OpMaker::dimsOf(value), what.str());
    return maker.reshaped(cast(source, signedType(), fromBit, what + "_word"),
                          OpMaker::dimsOf(value), what.str());
  }

  OpMaker &maker;
  OpBuilder &builder;
};

/// The integer that `number` is, if an i64 is one.
std::optional<int64_t> integerOf(double number) {
  constexpr double kEnd = 9223372036854775808.0;
  if (std::trunc(number) != number || number < -kEnd || number >= kEnd)
    return std::nullopt;
  return static_cast<int64_t>(number);
}

/// To floats and conditions.
bool castByWords(OpMaker &maker, tpu::DtypeCastOp op) {
  if (!isLong(op.getInput()) || top::constantTensor(op.getInput()))
    return false;
  WordMaker words(maker);
  if (storageDataType(op.getOutput().getType()) == DataType::Bool) {
    maker.replace(0, words.compared(*words.wordsOf(op.getInput(), "number"), 0, "NotEqual",
                                    OpMaker::typeOf(op.getOutput())));
    return true;
  }
  if (!OpMaker::isFloat(op.getOutput()))
    return false;
  maker.replace(0, maker.finished(words.real(op.getInput()), 0));
  return true;
}

bool compareByWords(OpMaker &maker, tpu::CompareOp op) {
  if (!llvm::all_of(op->getOperands(), isLong) ||
      llvm::all_of(op->getOperands(), [](Value each) { return bool(top::constantTensor(each)); }))
    return false;
  WordMaker words(maker);
  const std::optional<Words> left = words.wordsOf(op.getLhs(), "left");
  const std::optional<Words> right = words.wordsOf(op.getRhs(), "right");
  if (!left || !right)
    return false;
  maker.replace(0, words.compared(*left, *right, op.getMode(), OpMaker::typeOf(op.getOutput())));
  return true;
}

/// The same comparison with its sides exchanged.
StringRef mirrored(StringRef mode) {
  return llvm::StringSwitch<StringRef>(mode)
      .Case("Less", "Greater")
      .Case("LessOrEqual", "GreaterOrEqual")
      .Case("Greater", "Less")
      .Case("GreaterOrEqual", "LessOrEqual")
      .Default(mode);
}

bool compareByWords(OpMaker &maker, tpu::CompareConstOp op) {
  const std::optional<int64_t> number = integerOf(op.getConstVal().convertToDouble());
  if (!isLong(op.getInput()) || top::constantTensor(op.getInput()) || !number)
    return false;
  WordMaker words(maker);
  maker.replace(0, words.compared(*words.wordsOf(op.getInput(), "number"), *number,
                                  op.getInversed() ? mirrored(op.getMode()) : op.getMode(),
                                  OpMaker::typeOf(op.getOutput())));
  return true;
}

} // namespace

bool codegen::decomposeLongIntegers(OpMaker &maker) {
  if (auto cast = dyn_cast<tpu::DtypeCastOp>(maker.op))
    return castByWords(maker, cast);
  if (auto compare = dyn_cast<tpu::CompareOp>(maker.op))
    return compareByWords(maker, compare);
  auto compare = dyn_cast<tpu::CompareConstOp>(maker.op);
  return compare && compareByWords(maker, compare);
}
