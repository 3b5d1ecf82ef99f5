//===- Elementwise.cpp - Element-wise operations of two floats on the BM1684 ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Kernels/Elementwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684 {

namespace {

bool repeatsOverLanes(const LocalTensor &operand, const LocalTensor &output) {
  return operand.shape[1] == 1 && output.shape[1] > 1;
}

Extents inAllLanes(const LocalTensor &operand) {
  return {operand.shape[0], kLanes, operand.shape[2], operand.shape[3]};
}

} // namespace

Expected<void> checkBroadcast(const std::string &where, const LocalTensor &operand,
                              const LocalTensor &output) {
  bool fits = operand.type == DataType::F32;
  for (size_t axis = 0; axis < 4; ++axis)
    fits &= operand.shape[axis] == output.shape[axis] || operand.shape[axis] == 1;
  // Where it is repeated, a convolution reads it from any lane.
  fits &= repeatsOverLanes(operand, output) || operand.startLane == output.startLane;
  if (!fits)
    return makeError(where,
                     fmt::format("an operand [{}] {} for [{}] {}", fmt::join(operand.shape, ","),
                                 dataTypeName(operand.type), fmt::join(output.shape, ","),
                                 dataTypeName(output.type)),
                     "f32 in the same lane, and extents that are equal or 1");
  return {};
}

uint32_t broadcastBytes(const LocalTensor &operand, const LocalTensor &output) {
  if (!repeatsOverLanes(operand, output))
    return 0;
  return laneBytes(operand.type, inAllLanes(operand)) + kOnesBytes;
}

LocalTensor broadcastTo(Builder &builder, const LocalTensor &operand, const LocalTensor &output,
                        ScratchAllocator &space) {
  if (!repeatsOverLanes(operand, output))
    return operand.shape == output.shape ? operand : repeated(operand, output.shape);
  LocalTensor copies = space.take(operand.type, inAllLanes(operand));
  addBroadcast(builder, copies, operand, space.bytes(kOnesBytes));
  copies.startLane = output.startLane;
  copies = repeated(copies, output.shape);
  return copies;
}

namespace {

constexpr ArithOp kOps[] = {ArithOp::Add, ArithOp::Sub, ArithOp::Mul,
                            ArithOp::Max, ArithOp::Min, ArithOp::Div};

Expected<uint32_t> checkedScratch(const std::string &where, const Binary &binary) {
  uint32_t needed = 0;
  size_t numTensors = 0;
  if (binary.output.type != DataType::F32)
    return makeError(where, fmt::format("output of {}", dataTypeName(binary.output.type)), "f32");
  for (const BinaryOperand *operand : {&binary.left, &binary.right}) {
    const auto *tensor = std::get_if<LocalTensor>(operand);
    if (!tensor)
      continue;
    ++numTensors;
    if (Expected<void> fits = checkBroadcast(where, *tensor, binary.output); !fits)
      return propagate(fits);
    needed += broadcastBytes(*tensor, binary.output);
  }
  if (numTensors == 0)
    return makeError(where, "two numbers", "at least one tensor");
  return needed;
}

Term termOf(Builder &builder, const BinaryOperand &operand, const LocalTensor &output,
            ScratchAllocator &space) {
  const auto *tensor = std::get_if<LocalTensor>(&operand);
  if (!tensor)
    return number(std::get<double>(operand));
  return broadcastTo(builder, *tensor, output, space);
}

} // namespace

Expected<uint32_t> binaryScratch(const Binary &binary) { return checkedScratch("sum", binary); }

Expected<void> emitBinary(Builder &builder, const Binary &binary) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), binary.scratch, checkedScratch(builder.layer(), binary));
      !fits)
    return fits;
  ScratchAllocator space{binary.scratch.address};
  const Term left = termOf(builder, binary.left, binary.output, space);
  Term right = termOf(builder, binary.right, binary.output, space);
  ArithOp op = kOps[static_cast<size_t>(binary.kind)];
  // A division by a number is a product.
  if (const auto *divisor = std::get_if<double>(&binary.right);
      divisor && binary.kind == BinaryKind::Div) {
    op = ArithOp::Mul;
    right = number(1 / *divisor);
  }
  addArith(builder, op, binary.output, left, right);
  addActivation(builder, binary.output, binary.activation);
  return {};
}

namespace {

Binary productOf(const PRelu &prelu, uint32_t address) {
  LocalTensor products = localTensor(DataType::F32, prelu.input.shape, address, Layout::Aligned,
                                     prelu.input.startLane);
  const uint32_t behind =
      address + laneBytes(DataType::F32, products.shape, Layout::Aligned, products.startLane);
  return {.kind = BinaryKind::Mul,
          .left = prelu.input,
          .right = prelu.slope,
          .output = products,
          .activation = {},
          .scratch = {behind, prelu.scratch.address + prelu.scratch.bytes - behind}};
}

Expected<uint32_t> checkedScratch(const std::string &where, const PRelu &prelu) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &prelu.input}, std::pair{"output", &prelu.output}})
    if (Expected<void> fits = checkRegular(where, name, *tensor); !fits)
      return propagate(fits);
  const Binary product = productOf(prelu, 0);
  Expected<uint32_t> bytes = checkedScratch(where, product);
  return bytes ? Expected<uint32_t>(product.scratch.address + *bytes) : bytes;
}

} // namespace

Expected<uint32_t> preluScratch(const PRelu &prelu) { return checkedScratch("prelu", prelu); }

Expected<void> emitPRelu(Builder &builder, const PRelu &prelu) {
  if (Expected<void> fits =
          checkScratch(builder.layer(), prelu.scratch, checkedScratch(builder.layer(), prelu));
      !fits)
    return fits;
  const Binary product = productOf(prelu, prelu.scratch.address);
  if (Expected<void> done = emitBinary(builder, product); !done)
    return done;
  addCompareSelect(builder, prelu.output, prelu.input, number(0), prelu.input, product.output);
  return {};
}

} // namespace tpuc::bm1684
