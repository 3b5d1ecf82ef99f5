//===- SelectOps.cpp - Kernels of comparisons and choices -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/SelectOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// Tensors of BF16 that a kernel may keep beside its operands: each operand as BF16, and two of the
/// result's shape.
constexpr uint32_t kRooms = 5;

/// Two numbers of BF16 with one between, which are the same where it is one of them.
struct Neighbours {
  float below = 0, above = 0;
};

Neighbours neighboursOf(double number) {
  const auto single = static_cast<float>(number);
  return {roundToFormat<DataType::BF16>(single, RoundingMode::Down),
          roundToFormat<DataType::BF16>(single, RoundingMode::Up)};
}

enum class Relation : uint8_t { Equal, NotEqual, Greater, GreaterOrEqual, Less, LessOrEqual };

Relation relationOf(StringRef mode) {
  return llvm::StringSwitch<Relation>(mode)
      .Case("Equal", Relation::Equal)
      .Case("NotEqual", Relation::NotEqual)
      .Case("Greater", Relation::Greater)
      .Case("GreaterOrEqual", Relation::GreaterOrEqual)
      .Case("Less", Relation::Less)
      .Default(Relation::LessOrEqual);
}

/// The relation with the operands exchanged.
Relation mirrored(Relation relation) {
  switch (relation) {
  case Relation::Greater:
    return Relation::Less;
  case Relation::GreaterOrEqual:
    return Relation::LessOrEqual;
  case Relation::Less:
    return Relation::Greater;
  case Relation::LessOrEqual:
    return Relation::GreaterOrEqual;
  default:
    return relation;
  }
}

/// Commands on truth values; the first that fails is kept.
class Selection {
public:
  explicit Selection(const Site &site)
      : site(site), next(static_cast<uint32_t>(site.tiled.scratchAddress)) {
    keep(site.result(), result);
  }

  LocalTensor tensor(const Extents &shape) {
    const LocalTensor made = alignedTensor(site.chip(), next, shape, true);
    next += alignedBytes(site.chip(), shape, true);
    return made;
  }
  LocalTensor room() { return tensor(result.shape); }

  /// Operand `index` in BF16, with the result's shape.
  LocalTensor numbers(unsigned index) {
    const TensorLayout &layout = layoutOf(site.tiled, index);
    LocalTensor from;
    keep(site.operand(index), from);
    if (layout.isBf16 || problem)
      return spreadOver(from);
    if (layout.form == Form::EveryLane)
      from.shape[1] = site.chip().lanes;
    LocalTensor to = tensor(from.shape);
    emit([&] { return emitConversion(site.builder, from, to, isSigned(layout.type)); });
    if (layout.form == Form::EveryLane)
      to.shape[1] = 1;
    return spreadOver(to);
  }
  /// The same, or the number that it is.
  Elements numbersOrOne(unsigned index) {
    if (layoutOf(site.tiled, index).form == Form::Absent)
      return bf16Of(*numberOf(site.op(), index));
    return numbers(index);
  }

  void run(std::string_view name, const LocalTensor &to, const LocalTensor &left,
           const Elements &right) {
    emit([&] {
      return emitElements(site.builder, {.name = name, .result = to, .left = left, .right = right});
    });
  }
  /// to = 1 - from
  void negate(const LocalTensor &to, const LocalTensor &from) {
    run("mul", to, from, bf16Of(-1));
    run("add", to, to, bf16Of(1));
  }
  /// to = left > right: what is left of the larger one is 2^-126 at least, or nothing. Nothing here
  /// is infinite and negative, of which the chip would not know the sign.
  void greater(const LocalTensor &to, const Elements &left, const Elements &right) {
    const auto *first = std::get_if<LocalTensor>(&left);
    run("max", to, first ? *first : std::get<LocalTensor>(right), first ? right : left);
    run("sub", to, to, right);
    run("mul", to, to, bf16Of(0x1p127));
    run("min", to, to, bf16Of(1));
  }
  void relate(const LocalTensor &to, Relation relation, const Elements &left,
              const Elements &right) {
    switch (relation) {
    case Relation::Greater:
      return greater(to, left, right);
    case Relation::Less:
      return greater(to, right, left);
    case Relation::GreaterOrEqual:
      greater(to, right, left);
      return negate(to, to);
    case Relation::LessOrEqual:
      greater(to, left, right);
      return negate(to, to);
    default:
      break;
    }
    const LocalTensor less = room();
    greater(to, left, right);
    greater(less, right, left);
    run("add", to, to, less);
    if (relation == Relation::Equal)
      negate(to, to);
  }
  /// All elements of a tensor become one truth value, whatever `any` has.
  void fill(const LocalTensor &to, const LocalTensor &any, bool value) {
    run("mul", to, any, bf16Of(0));
    if (value)
      run("add", to, to, bf16Of(1));
  }
  /// The result, of numbers that are cut to integers.
  void give(const LocalTensor &from) {
    const DataType type = layoutOf(site.tiled, site.op()->getNumOperands()).type;
    emit([&] {
      return emitConversion(site.builder, from, result, isSigned(type), /*truncates=*/true);
    });
  }
  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

  LocalTensor result;

private:
  LocalTensor spreadOver(LocalTensor tensor) const {
    for (size_t axis = 0; axis < 4; ++axis)
      if (tensor.shape[axis] != result.shape[axis]) {
        tensor.strides[axis] = 0;
        tensor.shape[axis] = result.shape[axis];
      }
    return tensor;
  }
  void keep(Expected<LocalTensor> tensor, LocalTensor &to) {
    if (tensor)
      to = *tensor;
    else if (!problem)
      problem = tensor.error();
  }
  void emit(llvm::function_ref<Expected<void>()> command) {
    if (problem)
      return;
    if (Expected<void> emitted = command(); !emitted)
      problem = emitted.error();
  }

  const Site &site;
  uint32_t next;
  std::optional<Error> problem;
};

/// Types that a transfer converts to BF16 without loss.
Expected<void> checkTypes(const Site &site) {
  for (unsigned index = 0; index <= site.op()->getNumOperands(); ++index) {
    const TensorLayout &layout = layoutOf(site.tiled, index);
    if (layout.form == Form::Absent)
      continue;
    if (layout.type != DataType::BF16 && layout.type != DataType::I8 &&
        layout.type != DataType::U8 && layout.type != DataType::Bool)
      return makeError("", "elements of " + std::string(dataTypeName(layout.type)),
                       "bf16, bytes or truth values");
  }
  return {};
}

bool isTruth(const Site &site, unsigned index) {
  return layoutOf(site.tiled, index).type == DataType::Bool;
}

} // namespace

Expected<void> emitOf(tpu::CompareOp op, const Site &site) {
  if (Expected<void> checked = checkTypes(site); !checked)
    return checked;
  Selection selection(site);
  const Elements left = selection.numbersOrOne(0), right = selection.numbersOrOne(1);
  if (!std::holds_alternative<LocalTensor>(left) && !std::holds_alternative<LocalTensor>(right))
    return makeError("", "two constants that are compared", "one that is computed");
  const LocalTensor truths = selection.room();
  selection.relate(truths, relationOf(op.getMode()), left, right);
  selection.give(truths);
  return selection.done();
}

Expected<void> emitOf(tpu::CompareConstOp op, const Site &site) {
  if (Expected<void> checked = checkTypes(site); !checked)
    return checked;
  const double number = op.getConstVal().convertToDouble();
  if (!std::isfinite(number))
    return makeError("", "a comparison with " + std::to_string(number), "a finite number");
  Selection selection(site);
  const LocalTensor input = selection.numbers(0), truths = selection.room();
  const Relation mode = relationOf(op.getMode());
  const Relation relation = op.getInversed() ? mirrored(mode) : mode;
  const Neighbours neighbours = neighboursOf(number);
  if (neighbours.below == neighbours.above)
    selection.relate(truths, relation, input, bf16Of(number));
  else if (relation == Relation::Equal || relation == Relation::NotEqual)
    selection.fill(truths, input, relation == Relation::NotEqual);
  else if (relation == Relation::Greater || relation == Relation::GreaterOrEqual)
    selection.greater(truths, input, bf16Of(neighbours.below));
  else
    selection.greater(truths, bf16Of(neighbours.above), input);
  selection.give(truths);
  return selection.done();
}

/// x c + y (1 - c), of which one product is 0.
Expected<void> emitOf(tpu::WhereOp, const Site &site) {
  if (Expected<void> checked = checkTypes(site); !checked)
    return checked;
  Selection selection(site);
  const LocalTensor truths = selection.numbers(0), others = selection.room();
  selection.negate(others, truths);
  const bool isBf16 = site.isBf16();
  const LocalTensor made = isBf16 ? selection.result : selection.room();
  const auto add = [&](std::string_view name, unsigned index, const LocalTensor &factor) {
    selection.run(name, made, factor, selection.numbersOrOne(index));
  };
  add("mul", 1, truths);
  add("mac", 2, others);
  if (!isBf16)
    selection.give(made);
  return selection.done();
}

Expected<void> emitOf(tpu::LogicalNotOp, const Site &site) {
  if (!isTruth(site, 0) || !isTruth(site, 1))
    return makeError("", "the negation of numbers", "truth values");
  Selection selection(site);
  const LocalTensor input = selection.numbers(0), made = selection.room();
  selection.negate(made, input);
  selection.give(made);
  return selection.done();
}

Expected<void> emitOf(tpu::LogicalBinaryOp op, const Site &site) {
  if (!isTruth(site, 0) || !isTruth(site, 1) || !isTruth(site, 2))
    return makeError("", "numbers that are joined as truth values", "truth values");
  Selection selection(site);
  const LocalTensor left = selection.numbers(0), right = selection.numbers(1);
  const LocalTensor made = selection.room();
  if (op.getMode() == "And")
    selection.run("mul", made, left, right);
  else if (op.getMode() == "Or")
    selection.run("max", made, left, right);
  else
    selection.relate(made, Relation::NotEqual, left, right);
  selection.give(made);
  return selection.done();
}

/// Between truth values, bytes and BF16.
Expected<void> emitOf(tpu::DtypeCastOp, const Site &site) {
  if (Expected<void> checked = checkTypes(site); !checked)
    return checked;
  if (tpu::quantizedType(site.op()->getOperand(0)) || tpu::quantizedType(site.op()->getResult(0)))
    return makeError("", "a cast of stored integers", "numbers");
  Selection selection(site);
  const LocalTensor input = selection.numbers(0);
  if (isTruth(site, 1) && !isTruth(site, 0)) {
    const LocalTensor made = selection.room();
    selection.relate(made, Relation::NotEqual, input, bf16Of(0));
    selection.give(made);
    return selection.done();
  }
  if (site.isBf16()) {
    selection.run("copy", selection.result, input, uint16_t{0});
    return selection.done();
  }
  selection.give(input);
  return selection.done();
}

bool isSelection(Operation *op) {
  return isa<tpu::CompareOp, tpu::CompareConstOp, tpu::WhereOp, tpu::LogicalNotOp,
             tpu::LogicalBinaryOp, tpu::DtypeCastOp>(op);
}

int64_t scratchOfSelection(const Chip &chip, Operation *op, const Extents &result) {
  return isSelection(op) ? int64_t{kRooms} * alignedBytes(chip, result, true) : 0;
}

} // namespace tpuc::cv18xx::backend
