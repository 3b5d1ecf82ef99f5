//===- Comparisons.cpp - What comparing ops ask for -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Codegen/Comparisons.h"
#include "tpuc/Support/Float.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace tpuc::bm168x::backend {

CompareKind compareKind(StringRef mode) {
  return llvm::StringSwitch<CompareKind>(mode)
      .Case("Equal", CompareKind::Equal)
      .Case("NotEqual", CompareKind::NotEqual)
      .Case("Greater", CompareKind::Greater)
      .Case("GreaterOrEqual", CompareKind::GreaterOrEqual)
      .Case("Less", CompareKind::Less)
      .Default(CompareKind::LessOrEqual);
}

/// The comparison with the operands exchanged.
static CompareKind mirrored(CompareKind kind) {
  switch (kind) {
  case CompareKind::Greater:
    return CompareKind::Less;
  case CompareKind::GreaterOrEqual:
    return CompareKind::LessOrEqual;
  case CompareKind::Less:
    return CompareKind::Greater;
  case CompareKind::LessOrEqual:
    return CompareKind::GreaterOrEqual;
  default:
    return kind;
  }
}

namespace {

/// The numbers of a type on both sides of one, which are the same where it is one of them.
struct Neighbours {
  double below, above;
};

} // namespace

static Neighbours neighboursOf(DataType type, double number) {
  if (!isFloat(type))
    return {std::floor(number), std::ceil(number)};
  const auto single = static_cast<float>(number);
  const auto toward = [&](RoundingMode mode) -> double {
    return type == DataType::F16    ? roundToFormat<DataType::F16>(single, mode)
           : type == DataType::BF16 ? roundToFormat<DataType::BF16>(single, mode)
                                    : single;
  };
  return {toward(RoundingMode::Down), toward(RoundingMode::Up)};
}

Expected<NumberComparison> numberComparison(tpu::CompareConstOp op, DataType type) {
  const double number = op.getConstVal().convertToDouble();
  const CompareKind mode = compareKind(op.getMode());
  const CompareKind kind = op.getInversed() ? mirrored(mode) : mode;
  constexpr double kMost = 127;
  if (!isFloat(type) && byteSize(type, 1) == 1 &&
      (number > kMost || number < (isSigned(type) ? -kMost : 0)))
    return makeError("", "bytes compared with " + std::to_string(number), "at most 127");
  const Neighbours neighbours = neighboursOf(type, number);
  if (neighbours.below == neighbours.above)
    return NumberComparison{kind, number};
  switch (kind) {
  case CompareKind::Greater:
  case CompareKind::GreaterOrEqual:
    return NumberComparison{CompareKind::GreaterOrEqual, neighbours.above};
  case CompareKind::Less:
  case CompareKind::LessOrEqual:
    return NumberComparison{CompareKind::LessOrEqual, neighbours.below};
  default:
    return NumberComparison{kind, 0, kind == CompareKind::NotEqual};
  }
}

bool holdsAll(DataType to, DataType from) {
  if (from == DataType::Bool)
    return true;
  if (isSigned(from) && !isSigned(to))
    return false;
  const int64_t spare = isSigned(to) && !isSigned(from) ? 1 : 0;
  return byteSize(to, 1) >= byteSize(from, 1) + spare;
}

} // namespace tpuc::bm168x::backend
