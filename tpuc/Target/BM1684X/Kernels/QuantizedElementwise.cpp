//===- QuantizedElementwise.cpp - Arithmetic and tables of quantized integers===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Broadcast.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

uint32_t sumBytes(const LocalTensor &output, DataType type = DataType::I32) {
  return laneBytes(type, output.shape, Layout::Aligned, output.startLane);
}

Expected<void> checkByteOperand(const std::string &where, const LocalTensor &operand,
                                const LocalTensor &output) {
  if (!isByte(operand.type))
    return makeError(where, fmt::format("an operand of {}", dataTypeName(operand.type)),
                     "i8 or u8");
  return checkBroadcast(where, operand, output);
}

/// What the last addition adds where it also shifts, saturates and adds the zero point: results of
/// signed operands saturate as signed numbers, and the factor has to be a shift alone.
std::optional<int32_t> lastConstant(const QuantizedSum &sum) {
  constexpr int32_t kMostShift = 31;
  const Requantize &factor = sum.requantize;
  if (factor.multiplier != 1 || factor.shift < 0 || factor.shift > kMostShift ||
      !isSigned(sum.output.type))
    return std::nullopt;
  const int64_t constant = sum.constant + (int64_t{factor.zeroPoint} << factor.shift);
  if (constant < INT32_MIN || constant > INT32_MAX)
    return std::nullopt;
  return static_cast<int32_t>(constant);
}

/// Whether a constant is added on its own.
bool addsConstant(const QuantizedSum &sum) { return sum.constant != 0 && !lastConstant(sum); }

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedSum &sum) {
  if (Expected<void> fits = checkByteTensor(where, "output", sum.output); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkRequantize(where, sum.requantize); !fits)
    return propagate(fits);
  if (sum.inputs.empty() || sum.inputs.size() != sum.multipliers.size())
    return makeError(
        where,
        fmt::format("{} inputs and {} multipliers", sum.inputs.size(), sum.multipliers.size()),
        "as many, at least one");
  uint32_t needed = (addsConstant(sum) ? 2 : 1) * sumBytes(sum.output);
  for (size_t i = 0; i < sum.inputs.size(); ++i) {
    if (Expected<void> fits = checkByteOperand(where, sum.inputs[i], sum.output); !fits)
      return propagate(fits);
    if (sum.multipliers[i] < INT16_MIN || sum.multipliers[i] > INT16_MAX)
      return makeError(where, fmt::format("a multiplier of {}", sum.multipliers[i]),
                       fmt::format("{} to {}", INT16_MIN, INT16_MAX));
    needed += broadcastBytes(sum.inputs[i], sum.output);
  }
  return needed;
}

} // namespace

Expected<uint32_t> quantizedSumScratch(const QuantizedSum &sum) {
  return checkedScratch("sum", sum);
}

Expected<void> emitQuantizedSum(Builder &builder, const QuantizedSum &sum) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), sum);
  if (Expected<void> fits = checkScratch(builder.layer(), sum.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{sum.scratch.address};
  auto take = [&] { return space.take(DataType::I32, sum.output.shape, sum.output.startLane); };
  LocalTensor sums = take();
  for (size_t i = 0; i < sum.inputs.size(); ++i) {
    LocalTensor input = broadcastTo(builder, sum.inputs[i], sum.output, space);
    const Immediate multiplier = immediate(DataType::I16, sum.multipliers[i]);
    if (i == 0)
      addArith(builder, ArithOp::Mul, sums, input, multiplier);
    else
      addMultiplyAdd(builder, sums, input, multiplier);
  }
  if (const std::optional<int32_t> constant = lastConstant(sum)) {
    addShiftedArith(builder, ArithOp::AddSat, sum.output, sums, immediate(DataType::I32, *constant),
                    -sum.requantize.shift, Rounding::HalfUp);
    addCutOff(builder, sum.output, sum.requantize.lowest, sum.requantize.highest);
    return {};
  }
  if (addsConstant(sum)) {
    // In the place of an operand it would take twice the time.
    LocalTensor next = take();
    addArith(builder, ArithOp::Add, next, sums, immediate(DataType::I32, sum.constant));
    sums = next;
  }
  addRequantize(builder, sum.output, sums, sum.requantize);
  return {};
}

namespace {

/// How an operand lies without its zero point.
LocalTensor centredAs(const LocalTensor &operand, int32_t zero) {
  return zero == 0
             ? operand
             : localTensor(DataType::I16, operand.shape, 0, Layout::Aligned, operand.startLane);
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedProduct &product) {
  if (Expected<void> fits = checkByteTensor(where, "output", product.output); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkRequantize(where, product.requantize); !fits)
    return propagate(fits);
  uint32_t needed = sumBytes(product.output);
  for (const auto &[operand, zero] :
       {std::pair{&product.left, product.leftZero}, std::pair{&product.right, product.rightZero}}) {
    if (Expected<void> fits = checkByteOperand(where, *operand, product.output); !fits)
      return propagate(fits);
    const LocalTensor wide = centredAs(*operand, zero);
    needed += broadcastBytes(wide, product.output);
    needed += zero == 0 ? 0 : laneBytes(wide.type, wide.shape, wide.layout, wide.startLane);
  }
  return needed;
}

/// Whether products of what the operands hold fit 16 bits.
bool isNarrow(const QuantizedProduct &product) {
  return !isTwice(product.requantize) && product.leftZero == 0 && product.rightZero == 0 &&
         (isSigned(product.left.type) || isSigned(product.right.type));
}

} // namespace

Expected<uint32_t> quantizedProductScratch(const QuantizedProduct &product) {
  return checkedScratch("product", product);
}

Expected<void> emitQuantizedProduct(Builder &builder, const QuantizedProduct &product) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), product);
  if (Expected<void> fits = checkScratch(builder.layer(), product.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{product.scratch.address};
  const LocalTensor &output = product.output;
  // Before it is repeated.
  auto centred = [&](const LocalTensor &operand, int32_t zero) {
    LocalTensor wide = centredAs(operand, zero);
    if (zero != 0) {
      wide = space.take(wide.type, wide.shape, wide.startLane);
      addArith(builder, ArithOp::Sub, wide, operand, immediate(DataType::I16, zero));
    }
    return broadcastTo(builder, wide, output, space);
  };
  LocalTensor sums =
      space.take(isNarrow(product) ? DataType::I16 : DataType::I32, output.shape, output.startLane);
  LocalTensor left = centred(product.left, product.leftZero);
  LocalTensor right = centred(product.right, product.rightZero);
  addArith(builder, ArithOp::Mul, sums, left, right);
  addRequantize(builder, output, sums, product.requantize);
  return {};
}

namespace {

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedLeakyRelu &relu) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &relu.input}, std::pair{"output", &relu.output}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return propagate(fits);
  if (relu.input.shape != relu.output.shape || relu.input.startLane != relu.output.startLane)
    return makeError(where,
                     fmt::format("[{}] to [{}]", fmt::join(relu.input.shape, ","),
                                 fmt::join(relu.output.shape, ",")),
                     "equal shapes and lanes");
  for (const Requantize *factor : {&relu.positive, &relu.negative})
    if (Expected<void> fits = checkRequantize(where, *factor); !fits)
      return propagate(fits);
  return 2 * sumBytes(relu.output, DataType::I16) + 2 * sumBytes(relu.output, relu.output.type);
}

} // namespace

Expected<uint32_t> quantizedLeakyReluScratch(const QuantizedLeakyRelu &relu) {
  return checkedScratch("leaky ReLU", relu);
}

Expected<void> emitQuantizedLeakyRelu(Builder &builder, const QuantizedLeakyRelu &relu) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), relu);
  if (Expected<void> fits = checkScratch(builder.layer(), relu.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{relu.scratch.address};
  const LocalTensor &output = relu.output;
  auto take = [&](DataType type) { return space.take(type, output.shape, output.startLane); };
  LocalTensor centred = take(DataType::I16);
  LocalTensor part = take(DataType::I16);
  LocalTensor positive = take(output.type);
  LocalTensor negative = take(output.type);
  const Immediate zero = immediate(DataType::I16, 0);
  addArith(builder, ArithOp::Sub, centred, relu.input, immediate(DataType::I16, relu.inputZero));
  addArith(builder, ArithOp::Max, part, centred, zero);
  addRequantize(builder, positive, part, relu.positive);
  addArith(builder, ArithOp::Min, part, centred, zero);
  if (relu.parameterAddress)
    addRequantize(builder, negative, part, *relu.parameterAddress);
  else
    addRequantize(builder, negative, part, relu.negative);
  // One of both is the zero point, and bytes wrap around.
  const int32_t zeroPoint = relu.positive.zeroPoint;
  if (zeroPoint != 0)
    addArith(builder, ArithOp::Sub, negative.as(DataType::I8), negative.as(DataType::I8),
             Immediate{DataType::I8, static_cast<uint32_t>(zeroPoint) & 255});
  addArith(builder, ArithOp::Add, output.as(DataType::I8), positive.as(DataType::I8),
           negative.as(DataType::I8));
  return {};
}

namespace {

constexpr unsigned kGatherByElement = 5;
constexpr uint64_t kOneTable = 4;

Expected<void> checkLookup(const std::string &where, const TableLookup &lookup) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &lookup.input}, std::pair{"output", &lookup.output}})
    if (Expected<void> fits = checkByteTensor(where, name, *tensor); !fits)
      return fits;
  const Extents &shape = lookup.input.shape;
  if (shape != lookup.output.shape || lookup.input.startLane != lookup.output.startLane)
    return makeError(
        where,
        fmt::format("[{}] to [{}]", fmt::join(shape, ","), fmt::join(lookup.output.shape, ",")),
        "equal shapes and lanes");
  return {};
}

void addLookup(Builder &builder, const LocalTensor &output, const LocalTensor &input,
               uint32_t table) {
  Command command =
      Command::make(*findCommandOp(Engine::Tiu, tiu::kScatterGather, kGatherByElement));
  const Extents &shape = output.shape;
  constexpr int64_t kTableLength = 256;
  setFields(builder, command,
            {{Field::Res0N, shape[0]},
             {Field::Res0C, shape[1]},
             {Field::Res0H, 1},
             {Field::Res0W, shape[2] * shape[3]},
             {Field::Opd0H, 1},
             {Field::Opd0W, kTableLength},
             {Field::Opd1C, shape[1]},
             {Field::Opd1W, shape[2] * shape[3]},
             {Field::Res0Addr, output.tiuAddress()},
             {Field::Opd0Addr, output.startLane * kLaneBytes + table},
             {Field::Opd1Addr, input.tiuAddress()}});
  command.set(Field::Opd0Str, kOneTable);
  command.set(Field::Res0Prec, Prec::I8).set(Field::Opd0Prec, Prec::I8);
  command.set(Field::Opd1Prec, Prec::I8);
  builder.add(command);
}

} // namespace

Expected<void> checkTableLookup(const TableLookup &lookup) { return checkLookup("table", lookup); }

Expected<void> emitTableLookup(Builder &builder, const TableLookup &lookup) {
  if (Expected<void> fits = checkLookup(builder.layer(), lookup); !fits)
    return fits;
  const Extents &shape = lookup.input.shape;
  if (shape[2] * shape[3] <= kMostFlatPart) {
    addLookup(builder, lookup.output, lookup.input, lookup.tableAddress);
    return {};
  }
  // Images beyond the fields go in pieces.
  std::vector<LocalTensor> inputs = flatParts(lookup.input, kMostFlatPart);
  std::vector<LocalTensor> outputs = flatParts(lookup.output, kMostFlatPart);
  for (size_t i = 0; i < inputs.size(); ++i)
    addLookup(builder, outputs[i], inputs[i], lookup.tableAddress);
  return {};
}

std::vector<uint8_t> tableByByte(std::span<const uint8_t> byNumber, bool isSigned) {
  std::vector<uint8_t> table(byNumber.begin(), byNumber.end());
  if (isSigned)
    std::rotate(table.begin(), table.begin() + 128, table.end());
  return table;
}

} // namespace tpuc::bm1684x
