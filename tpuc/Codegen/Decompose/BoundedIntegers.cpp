//===- BoundedIntegers.cpp - Arithmetic of integers in floats or words ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/Extremes.h"
#include "tpuc/Codegen/Decompose/RoundedFloats.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct Bounds {
  int64_t least, most;
};

bool isInteger(Value value) {
  const std::optional<DataType> type = storageDataType(value.getType());
  return type == DataType::I32 || type == DataType::I64;
}

/// Only moves elements: of its first operand, to its only result.
bool isMove(Operation *op) {
  return op->getNumResults() == 1 &&
         (op->hasTrait<traits::ViewLike>() || isa<tpu::PermuteOp, tpu::SliceOp, tpu::ExpandOp>(op));
}

bool isOutput(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); });
}

bool has64Bits(Value value) { return storageDataType(value.getType()) == DataType::I64; }

/// Sums and products of integers of known bounds, in the chip's widest floats beside the integers.
/// Of others, where nothing but the lowest 32 bits is read: in these, which are exact in them.
class BoundedIntegers {
public:
  explicit BoundedIntegers(const Backend &backend)
      : backend(backend), hasF32(hasScheme(backend.info(), schemes::kF32)),
        mostExact(hasF32 ? OpMaker::kMostExact : kMostByte) {}

  void visit(Operation *op);
  /// Has `main` give integers of 32 bits where those of 64 are there in floats.
  void narrowOutputs(func::FuncOp main);
  /// Erases what nothing reads any more.
  void clean(func::FuncOp main);

private:
  /// BF16 has all integers below 2^8, and bytes hold them.
  static constexpr int64_t kMostByte = 255;

  bool isExact(const Bounds &bounds) const {
    return bounds.least >= -mostExact && bounds.most <= mostExact;
  }
  Type floatType(OpBuilder &builder) const {
    return hasF32 ? Type(builder.getF32Type()) : Type(builder.getBF16Type());
  }
  Value weight(OpMaker &maker, const Tensor &numbers, StringRef what) const {
    return hasF32 ? maker.weight(numbers, what)
                  : maker.weight(tpuc::convert(numbers, DataType::BF16), what);
  }
  std::optional<Bounds> boundsOf(Value value) const;
  std::optional<Bounds> arithmeticBounds(Operation *op) const;
  std::optional<Bounds> quotientBounds(Operation *op) const;
  std::optional<Bounds> joinedBounds(tpu::ConcatOp op) const;
  std::optional<Bounds> boundsOfResult(Operation *op) const;
  Value real(Value value, OpMaker &maker);
  bool isComputed(Operation *op) const;
  void compute(Operation *op);
  Value quotientOrRest(Operation *op, Value number, OpMaker &maker);
  void visitArg(tpu::ArgOp op);
  void visitTopK(tpu::TopKOp op);
  void readReal(Operation *op);
  bool isReadInWords(Value value);
  bool isOfWords(Operation *op);
  Value word(Value value, OpMaker &maker);
  Operation *inWords(Operation *op);
  void computeInWords(Operation *op);
  void readWord(Operation *op);
  bool isReadAsFloats(Value value);
  bool isOfRoundedFloats(Operation *op);
  std::optional<RoundedFloats> rounded(Value value, OpMaker &maker);
  void computeRounded(Operation *op);

  const Backend &backend;
  const bool hasF32;
  /// The largest integer up to which sums and products are exact.
  const int64_t mostExact;
  llvm::DenseMap<Value, Bounds> known;
  /// The same numbers in floats, and what they are modulo 2^32.
  llvm::DenseMap<Value, Value> reals, words;
  llvm::DenseMap<Value, bool> readInWords, readAsFloats;
  /// Numbers without known bounds in F32, which are off by something if they are large.
  llvm::DenseMap<Value, RoundedFloats> roundedNumbers;
  llvm::DenseSet<Operation *> replaced;
};

/// Of numbers that name rows of a table: others end the network with an error.
std::optional<Bounds> boundsOfPlaces(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto gather = dyn_cast<tpu::GatherOp>(user);
        gather && gather.getIndices() == value &&
        OpMaker::typeOf(gather.getInput()).getRank() > 0) {
      const size_t axis = OpMaker::frontAxis(gather.getAxis(), gather.getInput());
      const int64_t rows = OpMaker::dimsOf(gather.getInput())[axis];
      if (!ShapedType::isDynamic(rows))
        return Bounds{-rows, rows - 1};
    }
    auto cast = dyn_cast<tpu::DtypeCastOp>(user);
    const bool isSame = user->hasTrait<traits::ViewLike>() ||
                        (cast && cast.getFromBit() == 0 && isInteger(cast.getOutput()));
    if (!isSame || user->getOperand(0) != value)
      continue;
    if (const std::optional<Bounds> found = boundsOfPlaces(user->getResult(0)))
      return found;
  }
  return std::nullopt;
}

std::optional<Bounds> BoundedIntegers::boundsOf(Value value) const {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (storageDataType(value.getType()) == DataType::Bool)
    return Bounds{0, 1};
  const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value);
  if (!numbers)
    return isInteger(value) ? boundsOfPlaces(value) : std::nullopt;
  if (numbers->empty())
    return std::nullopt;
  return Bounds{*std::ranges::min_element(*numbers), *std::ranges::max_element(*numbers)};
}

/// What all elements of a constant are, if they are one number.
std::optional<int64_t> sameInteger(Value value) {
  const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value);
  if (!numbers || numbers->empty() || !llvm::all_equal(*numbers))
    return std::nullopt;
  return numbers->front();
}

/// Of whole numbers of 0 and more by a constant. floor((x + 0.5) * (1 / c)) is the quotient: the
/// product is off by less than x / c * 2^-22, and half a c-th away from the next integer.
std::optional<Bounds> BoundedIntegers::quotientBounds(Operation *op) const {
  constexpr int64_t kMostDividend = 1 << 21;
  const std::optional<Bounds> bounds = boundsOf(op->getOperand(0));
  const std::optional<int64_t> divisor = sameInteger(op->getOperand(1));
  if (!hasF32 || !bounds || bounds->least < 0 || bounds->most > kMostDividend || !divisor ||
      *divisor < 1 || *divisor > kMostDividend)
    return std::nullopt;
  if (isa<tpu::ModOp>(op))
    return Bounds{0, std::min(bounds->most, *divisor - 1)};
  auto quotient = cast<tpu::DivOp>(op);
  if (quotient.getDoRelu() || quotient.getMultiplier() != 1 || quotient.getRshift() != 0)
    return std::nullopt;
  return Bounds{bounds->least / *divisor, bounds->most / *divisor};
}

std::optional<Bounds> BoundedIntegers::joinedBounds(tpu::ConcatOp op) const {
  if (op.getDoRelu())
    return std::nullopt;
  Bounds all{mostExact, -mostExact};
  for (Value operand : op->getOperands()) {
    const std::optional<Bounds> bounds = boundsOf(operand);
    if (!bounds)
      return std::nullopt;
    all = {std::min(all.least, bounds->least), std::max(all.most, bounds->most)};
  }
  return all;
}

/// Of numbers that are all exact, so that nothing overflows here.
std::optional<Bounds> BoundedIntegers::arithmeticBounds(Operation *op) const {
  const auto isPlain = [&](StringRef name) {
    auto flag = op->getAttrOfType<BoolAttr>(name);
    return !flag || !flag.getValue();
  };
  SmallVector<Bounds> operands;
  for (Value operand : op->getOperands().take_front(isa<tpu::CumSumOp>(op) ? 1 : 2)) {
    const std::optional<Bounds> bounds = boundsOf(operand);
    if (!bounds || !isExact(*bounds))
      return std::nullopt;
    operands.push_back(*bounds);
  }
  if (auto sum = dyn_cast<tpu::CumSumOp>(op)) {
    const int64_t terms = OpMaker::typeOf(sum.getInput()).getNumElements();
    return Bounds{std::min<int64_t>(operands[0].least, 0) * terms,
                  std::max<int64_t>(operands[0].most, 0) * terms};
  }
  if (op->getNumOperands() != 2 || !isPlain("do_relu") || !isPlain("is_reverse"))
    return std::nullopt;
  const auto [a, b] = std::pair(operands[0], operands[1]);
  if (isa<tpu::AddOp>(op))
    return Bounds{a.least + b.least, a.most + b.most};
  if (isa<tpu::SubOp>(op)) {
    // What is left of a number without its rest is not negative.
    auto rest = op->getOperand(1).getDefiningOp<tpu::ModOp>();
    if (rest && rest->getOperand(0) == op->getOperand(0) && b.least >= 0)
      return Bounds{0, a.most};
    return Bounds{a.least - b.most, a.most - b.least};
  }
  const std::array<int64_t, 4> ends = {a.least * b.least, a.least * b.most, a.most * b.least,
                                       a.most * b.most};
  return Bounds{*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
}

std::optional<Bounds> BoundedIntegers::boundsOfResult(Operation *op) const {
  if (isMove(op))
    return boundsOf(op->getOperand(0));
  if (auto cast = dyn_cast<tpu::DtypeCastOp>(op))
    return cast.getFromBit() == 0 ? boundsOf(cast.getInput()) : std::nullopt;
  if (isa<tpu::CumSumOp, tpu::AddOp, tpu::SubOp, tpu::MulOp>(op))
    return arithmeticBounds(op);
  if (isa<tpu::ModOp, tpu::DivOp>(op))
    return quotientBounds(op);
  if (auto concat = dyn_cast<tpu::ConcatOp>(op))
    return joinedBounds(concat);
  return std::nullopt;
}

/// The numbers of `value` in F32, of which bounds are known.
Value BoundedIntegers::real(Value value, OpMaker &maker) {
  if (Value made = reals.lookup(value))
    return made;
  if (auto cast = value.getDefiningOp<tpu::DtypeCastOp>();
      cast && cast.getFromBit() == 0 && boundsOf(cast.getInput())) {
    replaced.insert(cast);
    return reals[value] = real(cast.getInput(), maker);
  }
  const std::string what = "real_" + std::to_string(reals.size());
  if (const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value)) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
    Tensor tensor(DataType::F32, Shape(std::span(dims.data(), dims.size())));
    std::ranges::transform(*numbers, tensor.mutableData<float>().begin(),
                           [](int64_t number) { return static_cast<float>(number); });
    return weight(maker, tensor, what);
  }
  return reals[value] = maker.converted(value, floatType(maker.builder), what);
}

/// Whether `op`, of known bounds, is to be computed in floats: where the chip has no kernel for it,
/// or beside operands that are.
bool BoundedIntegers::isComputed(Operation *op) const {
  const auto isReal = [&](Value operand) { return reals.contains(operand); };
  if (isa<tpu::ConcatOp>(op))
    return llvm::any_of(op->getOperands(), isReal);
  return isa<tpu::CumSumOp, tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::ModOp, tpu::DivOp>(op) &&
         (llvm::any_of(op->getOperands(), isReal) || !backend.placeOf(op));
}

/// Of `number`, what quotientBounds says.
Value BoundedIntegers::quotientOrRest(Operation *op, Value number, OpMaker &maker) {
  const auto divisor = static_cast<double>(*sameInteger(op->getOperand(1)));
  const Value centred = maker.withConst<tpu::AddConstOp>("centred", number, 0.5);
  const Value scaled = maker.withConst<tpu::MulConstOp>("divided", centred, 1 / divisor);
  const Value quotient = maker.makeLike<tpu::FloorOp>("quotient", scaled);
  if (isa<tpu::DivOp>(op))
    return quotient;
  return maker.makeLike<tpu::SubOp>(
      "rest", {number, maker.withConst<tpu::MulConstOp>("whole", quotient, divisor)});
}

/// The place of an extreme: the first or last of those where the element is that extreme. Where
/// none is, as beside NaN, the last or first of all.
void BoundedIntegers::visitArg(tpu::ArgOp op) {
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (dims.empty())
    return;
  const size_t axis = OpMaker::frontAxis(op.getAxis(), op.getInput());
  const int64_t count = dims[axis];
  const bool hasValues = !isa<NoneType>(op.getValues().getType()) && !op.getValues().use_empty();
  const bool isOfFloats = OpMaker::isFloat(op.getInput());
  const std::optional<Bounds> bounds = boundsOf(op.getInput());
  if (!(isOfFloats || (isInteger(op.getInput()) && bounds && isExact(*bounds))) || hasValues ||
      count > mostExact || backend.placeOf(op))
    return;
  OpMaker maker(op, backend);
  const Value numbers = isOfFloats ? op.getInput() : real(op.getInput(), maker);
  Value place = extremesOf(maker, numbers,
                           {.axis = axis,
                            .placeType = floatType(maker.builder),
                            .isLargest = op.getMode() == "ArgMax",
                            .isLast = op.getSelectLastIndex()})
                    .places;
  if (!op.getKeepdims())
    place = maker.reshaped(place, OpMaker::dimsOf(op.getIndices()), "place_alone");
  known.try_emplace(op.getIndices(), Bounds{0, count - 1});
  reals[op.getIndices()] = place;
  replaced.insert(op);
}

/// The first elements in order, as many as are found one by one in less time than the host takes.
void BoundedIntegers::visitTopK(tpu::TopKOp op) {
  constexpr int64_t kMostRounds = 16;
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  if (dims.empty() || backend.placeOf(op))
    return;
  const size_t axis = OpMaker::frontAxis(op.getAxis(), op.getInput());
  const int64_t count = OpMaker::dimsOf(op.getValues())[axis];
  const bool isStored = tpu::isQuantized(op.getInput());
  if (!(isStored ? hasF32 : OpMaker::isFloat(op.getInput())) || count > kMostRounds ||
      dims[axis] > mostExact)
    return;
  OpMaker maker(op, backend);
  Value numbers = op.getInput();
  if (isStored)
    numbers =
        maker.make(tpu::CastOp::getOperationName(), "numbers",
                   Type(OpMaker::typeOf(numbers).clone(floatType(maker.builder))), numbers, {});
  const Extremes found = extremesOf(
      maker, numbers,
      {.axis = axis, .placeType = floatType(maker.builder), .isLargest = op.getLargest()}, count);
  if (!op.getValues().use_empty())
    maker.replace(0, maker.finished(found.numbers, 0));
  known.try_emplace(op.getIndices(), Bounds{0, dims[axis] - 1});
  reals[op.getIndices()] = found.places;
  replaced.insert(op);
}

/// The same op on floats.
void BoundedIntegers::compute(Operation *op) {
  OpMaker maker(op, backend);
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : operands)
    if (isInteger(operand) && !(isa<tpu::CumSumOp>(op) && &operand != operands.begin()))
      operand = real(operand, maker);
  replaced.insert(op);
  if (isa<tpu::ModOp, tpu::DivOp>(op)) {
    reals[op->getResult(0)] = quotientOrRest(op, operands[0], maker);
    return;
  }
  const Type type = OpMaker::typeOf(op->getResult(0)).clone(floatType(maker.builder));
  reals[op->getResult(0)] = maker.make(op->getName().getStringRef(), "in_floats", TypeRange(type),
                                       operands, NamedAttrList(op->getAttrs()));
}

/// What reads numbers that are there in F32 reads these, where it can.
void BoundedIntegers::readReal(Operation *op) {
  OpMaker maker(op, backend);
  const unsigned index = isa<tpu::GatherOp, tpu::GatherNDOp>(op) ? 1 : 0;
  const Value value = op->getNumOperands() > index ? reals.lookup(op->getOperand(index)) : Value();
  if (!value)
    return;
  if (index == 1) {
    op->setOperand(1, word(op->getOperand(1), maker));
    return;
  }
  if (auto cast = dyn_cast<tpu::DtypeCastOp>(op); cast && cast.getFromBit() == 0) {
    Value result = cast.getOutput();
    if (isInteger(result)) {
      reals[result] = value;
      replaced.insert(op);
    } else if (result.getType() == value.getType()) {
      // An output has a name of its own.
      if (isOutput(result))
        maker.replace(0, maker.makeLike<tpu::CopyOp>("numbers", value));
      else
        result.replaceAllUsesWith(value);
      replaced.insert(op);
    }
  } else if (isMove(op)) {
    SmallVector<Value> operands(op->getOperands());
    operands[0] = value;
    const Type type = OpMaker::typeOf(op->getResult(0)).clone(floatType(maker.builder));
    const Value moved = maker.make(op->getName().getStringRef(), "in_floats", TypeRange(type),
                                   operands, NamedAttrList(op->getAttrs()));
    reals[op->getResult(0)] = moved;
    replaced.insert(op);
  }
}

/// Whether nothing but the lowest 32 bits of `value` is read: by indices, whose others repeat the
/// sign, by narrower integers, and in turn by what is computed of words.
bool BoundedIntegers::isReadInWords(Value value) {
  if (auto found = readInWords.find(value); found != readInWords.end())
    return found->second;
  const bool isSo = llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    const unsigned index = use.getOperandNumber();
    if (isa<tpu::GatherOp, tpu::GatherNDOp>(user))
      return index == 1;
    if (auto cast = dyn_cast<tpu::DtypeCastOp>(user))
      return cast.getFromBit() == 0 && isInteger(cast.getOutput()) &&
             (!has64Bits(cast.getOutput()) || isReadInWords(cast.getOutput()));
    return isMove(user) ? index == 0 && isReadInWords(user->getResult(0)) : isOfWords(user);
  });
  return readInWords[value] = isSo;
}

/// Whether `op` is a sum or product of 64-bit integers of which nothing but words is read.
bool BoundedIntegers::isOfWords(Operation *op) {
  constexpr StringRef kChanges[] = {"do_relu", "is_reverse", "exclusive", "reverse"};
  const auto isSet = [&](StringRef name) {
    auto flag = op->getAttrOfType<BoolAttr>(name);
    return flag && flag.getValue();
  };
  return isa<tpu::CumSumOp, tpu::AddOp, tpu::SubOp, tpu::MulOp>(op) && op->getNumOperands() == 2 &&
         llvm::none_of(kChanges, isSet) && !backend.placeOf(op) && has64Bits(op->getResult(0)) &&
         llvm::all_of(op->getOperands().take_front(isa<tpu::CumSumOp>(op) ? 1 : 2), has64Bits) &&
         isReadInWords(op->getResult(0));
}

/// What the numbers of `value` are modulo 2^32.
Value BoundedIntegers::word(Value value, OpMaker &maker) {
  if (Value made = words.lookup(value))
    return made;
  const Type type = maker.builder.getI32Type();
  const std::string what = "word_" + std::to_string(words.size());
  if (const std::optional<SmallVector<int64_t>> numbers = top::constantInts(value)) {
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(value);
    Tensor tensor(DataType::I32, Shape(std::span(dims.data(), dims.size())));
    std::ranges::transform(*numbers, tensor.mutableData<int32_t>().begin(),
                           [](int64_t number) { return static_cast<int32_t>(number); });
    return maker.weight(tensor, what);
  }
  auto widening = value.getDefiningOp<tpu::DtypeCastOp>();
  if (widening && storageDataType(widening.getInput().getType()) == DataType::I32) {
    replaced.insert(widening);
    return words[value] = widening.getInput();
  }
  const Value number = reals.lookup(value);
  return words[value] = maker.converted(number ? number : value, type, what);
}

/// The same op on words; null where the chip does not have it.
Operation *BoundedIntegers::inWords(Operation *op) {
  OpMaker maker(op, backend);
  SmallVector<Value> operands = {word(op->getOperand(0), maker)};
  NamedAttrList attributes(op->getAttrs());
  if (auto sum = dyn_cast<tpu::CumSumOp>(op)) {
    if (!sum.getAxis()) {
      const auto axes = top::constantInts(sum.getAxisTensor());
      if (!axes || axes->size() != 1)
        return nullptr;
      attributes.set("axis", maker.builder.getI64IntegerAttr(axes->front()));
    }
    operands.push_back(maker.none());
  } else {
    operands.push_back(word(op->getOperand(1), maker));
  }
  const Type type = OpMaker::typeOf(op->getResult(0)).clone(maker.builder.getI32Type());
  const Value made =
      maker.make(op->getName().getStringRef(), "in_words", TypeRange(type), operands, attributes);
  if (!fittingPlaceOf(made.getDefiningOp(), backend)) {
    made.getDefiningOp()->erase();
    return nullptr;
  }
  words[op->getResult(0)] = made;
  replaced.insert(op);
  return made.getDefiningOp();
}

void BoundedIntegers::computeInWords(Operation *op) { inWords(op); }

/// Whether `value` is read by casts to floats alone, and by what is computed so in turn.
bool BoundedIntegers::isReadAsFloats(Value value) {
  if (auto found = readAsFloats.find(value); found != readAsFloats.end())
    return found->second;
  const bool isSo = !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto cast = dyn_cast<tpu::DtypeCastOp>(user))
      return cast.getFromBit() == 0 && OpMaker::isFloat(cast.getOutput());
    return isMove(user) ? isReadAsFloats(user->getResult(0)) : isOfRoundedFloats(user);
  });
  return readAsFloats[value] = isSo;
}

/// Whether `op` is a sum or product of 64-bit integers that become floats in the end.
bool BoundedIntegers::isOfRoundedFloats(Operation *op) {
  // A running sum is a product with a triangle of so many terms.
  constexpr int64_t kMostTerms = 1024;
  if (!isa<tpu::CumSumOp, tpu::AddOp, tpu::SubOp, tpu::MulOp>(op) || !hasF32 ||
      op->getNumOperands() != 2 || backend.placeOf(op) || !has64Bits(op->getResult(0)) ||
      !llvm::all_of(op->getOperands().take_front(isa<tpu::CumSumOp>(op) ? 1 : 2), has64Bits))
    return false;
  constexpr StringRef kChanges[] = {"do_relu", "is_reverse", "exclusive", "reverse"};
  const auto isSet = [&](StringRef name) {
    auto flag = op->getAttrOfType<BoolAttr>(name);
    return flag && flag.getValue();
  };
  if (auto sum = dyn_cast<tpu::CumSumOp>(op);
      sum && llvm::any_of(OpMaker::dimsOf(sum.getInput()),
                          [](int64_t extent) { return extent > kMostTerms; }))
    return false;
  return llvm::none_of(kChanges, isSet) && isReadAsFloats(op->getResult(0));
}

/// `value` in F32; none of 64 bits that are not known.
std::optional<RoundedFloats> BoundedIntegers::rounded(Value value, OpMaker &maker) {
  if (auto found = roundedNumbers.find(value); found != roundedNumbers.end())
    return found->second;
  if (const std::optional<Bounds> bounds = boundsOf(value); bounds && isExact(*bounds))
    return RoundedFloats{real(value, maker), static_cast<double>(mostExact), 0};
  auto widening = value.getDefiningOp<tpu::DtypeCastOp>();
  if (!widening || widening.getFromBit() != 0 ||
      storageDataType(widening.getInput().getType()) != DataType::I32)
    return std::nullopt;
  replaced.insert(widening);
  return roundedNumbers[value] =
             roundedWords(maker.converted(widening.getInput(), maker.builder.getF32Type(),
                                          "rounded_" + std::to_string(roundedNumbers.size())));
}

/// The same op on floats and on words. Where the floats are small, the words are the integers.
void BoundedIntegers::computeRounded(Operation *op) {
  OpMaker maker(op, backend);
  SmallVector<Value> operands(op->getOperands());
  SmallVector<RoundedFloats, 2> numbers;
  for (Value &operand : MutableArrayRef(operands).take_front(isa<tpu::CumSumOp>(op) ? 1 : 2)) {
    const std::optional<RoundedFloats> number = rounded(operand, maker);
    if (!number)
      return;
    numbers.push_back(*number);
    operand = number->number;
  }
  std::optional<RoundedFloats> made = roundedResult(op, numbers);
  if (!made || !inWords(op))
    return;
  const Value result = op->getResult(0);
  const Type type = OpMaker::typeOf(result).clone(floatType(maker.builder));
  const Value rough = maker.make(op->getName().getStringRef(), "in_floats", TypeRange(type),
                                 operands, NamedAttrList(op->getAttrs()));
  made->number = exactWhereSmall(maker, rough, words[result]);
  roundedNumbers[result] = *made;
  reals[result] = made->number;
}

/// What reads numbers of which there are words reads these.
void BoundedIntegers::readWord(Operation *op) {
  const bool isGather = isa<tpu::GatherOp, tpu::GatherNDOp>(op);
  if (!isGather && !isa<tpu::DtypeCastOp>(op) && !isMove(op))
    return;
  OpOperand &operand = op->getOpOperand(isGather ? 1 : 0);
  const Value value = words.lookup(operand.get());
  if (!value || reals.contains(operand.get()) || !isReadInWords(operand.get()))
    return;
  if (isGather)
    return operand.set(value);
  replaced.insert(op);
  if (isa<tpu::DtypeCastOp>(op)) {
    Value result = op->getResult(0);
    if (has64Bits(result))
      words[result] = value;
    else if (isOutput(result))
      OpMaker(op, backend).replace(0, OpMaker(op, backend).makeLike<tpu::CopyOp>("numbers", value));
    else
      result.replaceAllUsesWith(value);
    return;
  }
  OpMaker maker(op, backend);
  SmallVector<Value> operands(op->getOperands());
  operands[0] = value;
  const Type type = OpMaker::typeOf(op->getResult(0)).clone(maker.builder.getI32Type());
  words[op->getResult(0)] = maker.make(op->getName().getStringRef(), "in_words", TypeRange(type),
                                       operands, NamedAttrList(op->getAttrs()));
}

void BoundedIntegers::visit(Operation *op) {
  const auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || (type.hasStaticShape() && type.getNumElements() > 0);
  };
  if (!llvm::all_of(op->getOperands(), isStatic) || !llvm::all_of(op->getResults(), isStatic))
    return;
  readReal(op);
  readWord(op);
  if (auto arg = dyn_cast<tpu::ArgOp>(op))
    return visitArg(arg);
  if (auto best = dyn_cast<tpu::TopKOp>(op))
    return visitTopK(best);
  if (op->getNumResults() != 1 || !isInteger(op->getResult(0)))
    return;
  const std::optional<Bounds> bounds = boundsOfResult(op);
  if (bounds && isExact(*bounds)) {
    known.try_emplace(op->getResult(0), *bounds);
    if (isComputed(op))
      compute(op);
  } else if (isOfWords(op)) {
    computeInWords(op);
  } else if (isOfRoundedFloats(op)) {
    computeRounded(op);
  }
}

void BoundedIntegers::narrowOutputs(func::FuncOp main) {
  Operation *end = main.front().getTerminator();
  llvm::DenseMap<Value, Value> narrowed;
  for (OpOperand &operand : end->getOpOperands()) {
    const Value value = operand.get();
    const Value number = reals.lookup(value);
    // Those of 32 bits are there already, unless the chip has no such integers.
    if (!number || (!has64Bits(value) && hasF32))
      continue;
    Value &made = narrowed[value];
    if (!made) {
      OpMaker maker(value.getDefiningOp(), backend);
      maker.builder.setInsertionPoint(end);
      Value narrow = number;
      if (!hasF32) {
        // The bytes are the lowest ones of the integers.
        const std::optional<Bounds> bounds = boundsOf(value);
        if (!bounds || bounds->least < 0)
          continue;
        narrow =
            maker.converted(number, maker.builder.getIntegerType(8, /*isSigned=*/false), "bytes");
      }
      made = maker.converted(narrow, maker.builder.getI32Type(), "narrow");
      const auto result = cast<OpResult>(value);
      made.getDefiningOp()->setLoc(NameLoc::get(
          maker.builder.getStringAttr(tensorNames(result.getOwner())[result.getResultNumber()])));
    }
    operand.set(made);
  }
  top::updateFunctionType(main);
}

void BoundedIntegers::clean(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
    if (replaced.contains(&op) && op.use_empty())
      op.erase();
}

} // namespace

void codegen::computeBoundedIntegers(func::FuncOp main, const Backend &backend) {
  BoundedIntegers integers(backend);
  for (Operation &op : llvm::make_early_inc_range(main.front().without_terminator()))
    integers.visit(&op);
  integers.narrowOutputs(main);
  integers.clean(main);
}
