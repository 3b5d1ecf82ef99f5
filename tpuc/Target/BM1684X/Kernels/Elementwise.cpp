//===- Elementwise.cpp - Arithmetic of two operands------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Elementwise.h"
#include "tpuc/Target/BM1684X/Kernels/Broadcast.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Pieces.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

ArithOp arithOf(BinaryKind kind) {
  constexpr ArithOp kOps[] = {ArithOp::Add, ArithOp::Sub, ArithOp::Mul,
                              ArithOp::Max, ArithOp::Min, ArithOp::Div};
  return kOps[static_cast<size_t>(kind)];
}

/// Whether a number of the operation, rounded to 16 bits, would add an error of its own. The limit
/// of a maximum or minimum does not: rounded, it is what the result becomes.
bool hasLongNumber(const Binary &binary) {
  if (binary.kind == BinaryKind::Max || binary.kind == BinaryKind::Min)
    return false;
  const auto isLong = [&](const BinaryOperand &operand, bool isDivisor) {
    const auto *number = std::get_if<double>(&operand);
    return number && !holds(binary.output.type, isDivisor ? 1 / *number : *number);
  };
  return isLong(binary.left, false) || isLong(binary.right, binary.kind == BinaryKind::Div);
}

/// Whether it is computed in F32, and rounded once. The chip divides in F32 only.
bool isWidened(const Binary &binary) {
  if (binary.output.type == DataType::F32 || binary.output.type == DataType::I32)
    return false;
  const auto isWide = [](const BinaryOperand &operand) {
    const auto *tensor = std::get_if<LocalTensor>(&operand);
    return tensor && tensor->type == DataType::F32;
  };
  const bool divides =
      binary.kind == BinaryKind::Div && std::holds_alternative<LocalTensor>(binary.right);
  return divides || isWide(binary.left) || isWide(binary.right) || hasLongNumber(binary);
}

Expected<void> checkOperand(const std::string &where, const LocalTensor &operand,
                            const LocalTensor &output) {
  const bool mayBeWide = output.type != DataType::I32;
  if (operand.type != output.type && !(mayBeWide && operand.type == DataType::F32))
    return makeError(where,
                     fmt::format("an operand of {} for {}", dataTypeName(operand.type),
                                 dataTypeName(output.type)),
                     mayBeWide ? "the same type or f32" : "the same type");
  return checkBroadcast(where, operand, output);
}

Expected<void> checkIntegers(const std::string &where, const Binary &binary) {
  if (binary.kind != BinaryKind::Add && binary.kind != BinaryKind::Sub &&
      binary.kind != BinaryKind::Mul)
    return makeError(where, "integers", "a sum, a difference or a product");
  if (binary.activation.relu)
    return makeError(where, "an activation of integers", "none");
  return {};
}

/// That of the result: a float, or an integer where these can be computed.
Expected<void> checkOutput(const std::string &where, const Binary &binary) {
  if (binary.output.type == DataType::I32)
    return checkIntegers(where, binary);
  return checkFloatTensor(where, "output", binary.output);
}

uint32_t wideBytes(const LocalTensor &tensor) {
  return laneBytes(DataType::F32, tensor.shape, Layout::Aligned, tensor.startLane);
}

/// Places for what an activation reads, piece by piece; what is widened has some that are free.
uint32_t activationBytes(const Binary &binary) {
  if (!binary.activation.relu || isWidened(binary))
    return 0;
  const uint32_t bytes = largestPieceBytes(binary.output, piecesOf(binary.output, kPieceBytes));
  return binary.activation.limit < 0 ? bytes : 2 * bytes;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Binary &binary) {
  if (Expected<void> fits = checkOutput(where, binary); !fits)
    return propagate(fits);
  uint32_t needed = isWidened(binary) ? wideBytes(binary.output) : 0;
  size_t numTensors = 0;
  for (const BinaryOperand *operand : {&binary.left, &binary.right}) {
    const auto *tensor = std::get_if<LocalTensor>(operand);
    if (!tensor)
      continue;
    ++numTensors;
    if (Expected<void> fits = checkOperand(where, *tensor, binary.output); !fits)
      return propagate(fits);
    LocalTensor used = *tensor;
    if (isWidened(binary) && used.type != DataType::F32) {
      needed += wideBytes(used);
      used.type = DataType::F32;
    }
    needed += broadcastBytes(used, binary.output);
  }
  if (numTensors == 0)
    return makeError(where, "two numbers", "at least one tensor");
  return needed + activationBytes(binary);
}

Term termOf(Builder &builder, const BinaryOperand &operand, const LocalTensor &output,
            ScratchAllocator &space) {
  const auto *tensor = std::get_if<LocalTensor>(&operand);
  if (!tensor)
    return immediate(output.type, std::get<double>(operand));
  return broadcastTo(builder, *tensor, output, space);
}

/// The result of two terms of its shape, then the activation.
void addActivated(Builder &builder, const Binary &binary, ArithOp op, const Term &left,
                  const Term &right, const ScratchAllocator &space) {
  if (!binary.activation.relu)
    return addArith(builder, op, binary.output, left, right);
  const std::vector<Piece> pieces = piecesOf(binary.output, kPieceBytes);
  const uint32_t bytes = largestPieceBytes(binary.output, pieces);
  for (const Piece &piece : pieces) {
    const auto part = [&](const Term &term) -> Term {
      const auto *tensor = std::get_if<LocalTensor>(&term);
      return tensor ? Term(piece.of(*tensor)) : term;
    };
    const LocalTensor output = piece.of(binary.output);
    const LocalTensor raw =
        localTensor(output.type, output.shape, space.next, Layout::Aligned, output.startLane);
    addArith(builder, op, raw, part(left), part(right));
    addActivation(builder, output, raw, raw.at(space.next + bytes), binary.activation);
  }
}

void addBinary(Builder &builder, const Binary &binary, ScratchAllocator space) {
  Term left = termOf(builder, binary.left, binary.output, space);
  // A division by a number is a product.
  const auto *divisor = std::get_if<double>(&binary.right);
  if (binary.kind == BinaryKind::Div && divisor)
    return addActivated(builder, binary, ArithOp::Mul, left,
                        immediate(binary.output.type, 1 / *divisor), space);
  Term right = termOf(builder, binary.right, binary.output, space);
  addActivated(builder, binary, arithOf(binary.kind), left, right, space);
}

void addWidened(Builder &builder, const Binary &binary) {
  ScratchAllocator space{binary.scratch.address};
  Binary wide = binary;
  wide.activation = {};
  auto widen = [&](const LocalTensor &tensor) {
    return space.take(DataType::F32, tensor.shape, tensor.startLane);
  };
  wide.output = widen(binary.output);
  for (BinaryOperand *operand : {&wide.left, &wide.right})
    if (auto *tensor = std::get_if<LocalTensor>(operand); tensor && tensor->type != DataType::F32) {
      LocalTensor copy = widen(*tensor);
      addCast(builder, copy, *tensor);
      *tensor = copy;
    }
  addBinary(builder, wide, space);
  addCast(builder, binary.output, wide.output);
  addActivation(builder, binary.output, binary.activation);
}

} // namespace

Expected<uint32_t> binaryScratch(const Binary &binary) {
  return checkedScratch("arithmetic", binary);
}

Expected<void> emitBinary(Builder &builder, const Binary &binary) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), binary);
  if (Expected<void> fits = checkScratch(builder.layer(), binary.scratch, needed); !fits)
    return fits;
  if (isWidened(binary))
    addWidened(builder, binary);
  else
    addBinary(builder, binary, {binary.scratch.address});
  return {};
}

namespace {

/// What the slope makes of all elements, and what that product needs.
Binary productOf(const PRelu &prelu, uint32_t address) {
  LocalTensor products = prelu.output;
  products.layout = Layout::Aligned;
  const uint32_t behind =
      address + laneBytes(products.type, products.shape, Layout::Aligned, products.startLane);
  return {.kind = BinaryKind::Mul,
          .left = prelu.input,
          .right = prelu.slope,
          .output = products.at(address),
          .activation = {},
          .scratch = {behind, prelu.scratch.address + prelu.scratch.bytes - behind}};
}

Expected<uint32_t> checkedScratch(const std::string &where, const PRelu &prelu) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &prelu.input}, std::pair{"output", &prelu.output}})
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  const Binary product = productOf(prelu, 0);
  Expected<uint32_t> bytes = binaryScratch(product);
  return bytes ? Expected<uint32_t>(product.scratch.address + *bytes) : bytes;
}

} // namespace

Expected<uint32_t> preluScratch(const PRelu &prelu) { return checkedScratch("prelu", prelu); }

Expected<void> emitPRelu(Builder &builder, const PRelu &prelu) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), prelu);
  if (Expected<void> fits = checkScratch(builder.layer(), prelu.scratch, needed); !fits)
    return fits;
  const Binary product = productOf(prelu, prelu.scratch.address);
  if (Expected<void> done = emitBinary(builder, product); !done)
    return done;
  addCompareSelect(builder, CompareOp::Greater, prelu.output, prelu.input,
                   immediate(prelu.input.type, 0), prelu.input, product.output);
  return {};
}

namespace {

/// No command converts between the two 16-bit floats.
bool needsTwoCasts(const CastOp &cast) {
  auto isShort = [](DataType type) { return type == DataType::F16 || type == DataType::BF16; };
  return isShort(cast.input.type) && isShort(cast.output.type) &&
         cast.input.type != cast.output.type;
}

Expected<uint32_t> checkedScratch(const std::string &where, const CastOp &cast) {
  if (!precOf(cast.input.type) || !precOf(cast.output.type) ||
      cast.input.shape != cast.output.shape || cast.input.startLane != cast.output.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(cast.input.shape, ","),
                                 dataTypeName(cast.input.type), fmt::join(cast.output.shape, ","),
                                 dataTypeName(cast.output.type)),
                     "equal shapes and lanes, and types of at most 32 bits");
  return needsTwoCasts(cast) ? wideBytes(cast.output) : 0;
}

} // namespace

Expected<uint32_t> castScratch(const CastOp &cast) { return checkedScratch("cast", cast); }

Expected<void> emitCast(Builder &builder, const CastOp &cast) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), cast);
  if (Expected<void> fits = checkScratch(builder.layer(), cast.scratch, needed); !fits)
    return fits;
  if (cast.input.type == cast.output.type) {
    // A cast between equal floating-point types would round to integers.
    addUnaryArith(builder, ArithOp::Copy, cast.output, cast.input);
    return {};
  }
  if (!needsTwoCasts(cast)) {
    const bool truncates = cast.truncates && !isKernelFloat(cast.output.type);
    addCast(builder, cast.output, cast.input,
            truncates ? Rounding::TowardZero : Rounding::HalfToEven);
    return {};
  }
  LocalTensor wide = localTensor(DataType::F32, cast.output.shape, cast.scratch.address,
                                 Layout::Aligned, cast.output.startLane);
  addCast(builder, wide, cast.input);
  addCast(builder, cast.output, wide);
  return {};
}

} // namespace tpuc::bm1684x
