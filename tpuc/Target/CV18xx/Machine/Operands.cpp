//===- Operands.cpp - What a command works on -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Operands.h"

namespace tpuc::cv18xx {

namespace {

uint32_t value(const Command &command, Field field) {
  return static_cast<uint32_t>(command.get(field));
}

struct OperandFields {
  Field address, n, c, h, w, strN, strC, strH, strW, strB, layout, isSigned, isNarrow;
  std::optional<Field> isConst;
};
constexpr OperandFields kRes0Fields = {
    Field::Res0Addr,   Field::Res0N,    Field::Res0C,      Field::Res0H,    Field::Res0W,
    Field::Res0StrN,   Field::Res0StrC, Field::Res0StrH,   Field::Res0StrW, Field::Res0StrB,
    Field::Res0Layout, Field::Res0Sign, Field::Res0Narrow, std::nullopt};
constexpr OperandFields kOpd0Fields = {
    Field::Opd0Addr,   Field::Opd0N,    Field::Opd0C,      Field::Opd0H,    Field::Opd0W,
    Field::Opd0StrN,   Field::Opd0StrC, Field::Opd0StrH,   Field::Opd0StrW, Field::Opd0StrB,
    Field::Opd0Layout, Field::Opd0Sign, Field::Opd0Narrow, Field::Opd0Const};
constexpr OperandFields kOpd1Fields = {
    Field::Opd1Addr,   Field::Opd1N,    Field::Opd1C,      Field::Opd1H,    Field::Opd1W,
    Field::Opd1StrN,   Field::Opd1StrC, Field::Opd1StrH,   Field::Opd1StrW, Field::Opd1StrB,
    Field::Opd1Layout, Field::Opd1Sign, Field::Opd1Narrow, Field::Opd1Const};
constexpr OperandFields kOpd2Fields = {
    Field::Opd2Addr,   Field::Opd2N,    Field::Opd2C,      Field::Opd2H,    Field::Opd2W,
    Field::Opd2StrN,   Field::Opd2StrC, Field::Opd2StrH,   Field::Opd2StrW, Field::Opd2StrB,
    Field::Opd2Layout, Field::Opd2Sign, Field::Opd2Narrow, Field::Opd2Const};

Operand readOperand(const Command &command, const OperandFields &fields) {
  Operand made;
  made.address = value(command, fields.address);
  made.shape = {value(command, fields.n), value(command, fields.c), value(command, fields.h),
                value(command, fields.w)};
  made.strides = {value(command, fields.strN), value(command, fields.strC),
                  value(command, fields.strH), value(command, fields.strW)};
  made.planeStride = value(command, fields.strB);
  made.layout = command.as<Layout>(fields.layout);
  made.isSigned = command.get(fields.isSigned) != 0;
  made.isNarrow = command.get(fields.isNarrow) == 1;
  made.isConst = fields.isConst && command.get(*fields.isConst) != 0;
  return made;
}

uint64_t alignUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

View viewOf(const Chip &chip, uint32_t address, const Extents &shape, uint32_t bytes,
            Layout layout) {
  View view;
  view.lane = address / kLaneBytes;
  view.offset = address % kLaneBytes;
  view.shape = shape;
  view.bytes = bytes;
  const uint64_t slots = (uint64_t{view.lane} + shape[1] + chip.lanes - 1) / chip.lanes;
  const uint64_t plane = uint64_t{shape[2]} * shape[3] * bytes;
  const uint64_t row = uint64_t{shape[3]} * bytes;
  switch (layout) {
  case Layout::Aligned:
    view.strides = {alignUp(plane, kEuBytes) * slots, alignUp(plane, kEuBytes), row, bytes};
    break;
  case Layout::Compact:
  case Layout::Strides:
    view.strides = {plane * slots, plane, row, bytes};
    break;
  case Layout::PerChannel:
    view.strides = {bytes * slots, bytes, 0, 0};
    break;
  }
  return view;
}

TiuCommand readTiu(const Chip &chip, const Command &command) {
  const auto flag = [&](Field field) { return command.get(field) != 0; };
  TiuCommand made;
  made.type = value(command, Field::Type);
  made.pool = command.as<PoolFunction>(Field::Function);
  made.function = flag(Field::Lookup) ? Function::Lookup : command.as<Function>(Field::Function);
  made.numOperands = value(command, Field::Operands);
  made.isBf16 = flag(Field::Kind);
  made.hasRequant = flag(Field::Requant);
  made.hasRelu = flag(Field::Relu);
  made.accumulates = flag(Field::Accumulate);
  made.isDouble = flag(Field::Double);
  made.addsPartial = (value(command, Field::Partial) & 1) != 0;
  made.storesPartial = (value(command, Field::Partial) & 2) != 0;
  made.shift = value(command, Field::Shift);
  made.leftShift = value(command, Field::LeftShift);
  made.roundsUp = flag(Field::Round);
  made.shiftSigned = flag(Field::ShiftSigned);
  made.multiplier = value(command, Field::Multiplier);
  made.insertValue = static_cast<uint16_t>(
      value(command, chip.is183x && made.isBf16 ? Field::InsValueFp : Field::InsValue));
  made.insertY = value(command, Field::InsY);
  made.insertX = value(command, Field::InsX);
  made.insertLastY = value(command, Field::InsYLast);
  made.insertLastX = value(command, Field::InsXLast);
  made.padTop = value(command, Field::PadTop);
  made.padBottom = value(command, Field::PadBottom);
  made.padLeft = value(command, Field::PadLeft);
  made.padRight = value(command, Field::PadRight);
  made.strideY = value(command, Field::StrideY);
  made.strideX = value(command, Field::StrideX);
  made.dilationY = value(command, Field::DilY) + 1;
  made.dilationX = value(command, Field::DilX) + 1;
  made.res0 = readOperand(command, kRes0Fields);
  made.opd0 = readOperand(command, kOpd0Fields);
  made.opd1 = readOperand(command, kOpd1Fields);
  made.opd2 = readOperand(command, kOpd2Fields);
  // Two operands have 16 bits of an address; the result has the others.
  for (Operand *operand : {&made.opd1, &made.opd2})
    if (!operand->isConst)
      operand->address |= made.res0.address & 0xFF0000;
  return made;
}

DmaCommand readDma(const Chip &chip, const Command &command) {
  const auto flag = [&](Field field) { return command.get(field) != 0; };
  DmaCommand made;
  made.direction = command.as<Direction>(Field::Direction);
  made.move = command.as<Move>(Field::Function);
  made.isGeneral = flag(Field::General);
  made.isMatrix = flag(Field::Matrix);
  made.isCompressed = flag(Field::Compressed);
  made.transpose = command.as<Transpose>(Field::TransposeMode);
  made.srcBf16 = value(command, Field::SrcKind) == 2;
  made.dstBf16 = value(command, Field::DstKind) == 2;
  made.int8Signed = flag(Field::Int8Signed);
  made.truncates = flag(Field::Truncate);
  made.lutIndex = flag(Field::LutIndex);
  made.lutBase = flag(Field::LutBase);
  made.value = static_cast<uint16_t>(command.get(Field::Value));
  made.compressSigned = flag(Field::CompressSigned);
  made.zeroGuard = flag(Field::ZeroGuard);
  made.bias0 = static_cast<uint8_t>(command.get(Field::Bias0));
  made.bias1 = static_cast<uint8_t>(command.get(Field::Bias1));
  DmaCommand::Side &src = made.src;
  src.isLocal = made.direction == Direction::Store || made.direction == Direction::Local;
  src.base = value(command, Field::SrcBase);
  src.address = command.address(Field::SrcAddrLow, Field::SrcAddrHigh);
  src.shape = {value(command, Field::SrcN), value(command, Field::SrcC),
               value(command, Field::SrcH), value(command, Field::SrcW)};
  src.strideN = command.get(Field::SrcStrN);
  src.strideC = command.get(Field::SrcStrCLow) | command.get(Field::SrcStrCHigh) << 16;
  src.strideH = command.get(Field::SrcStrH);
  src.bytes = made.srcBf16 ? 2 : 1;
  src.step = src.bytes;
  if (made.move == Move::Transpose && made.transpose == Transpose::Packed3)
    src.step = 3;
  else if (made.move == Move::Transpose && made.transpose == Transpose::Packed4)
    src.step = 4;
  DmaCommand::Side &dst = made.dst;
  dst.isLocal = made.direction == Direction::Load || made.direction == Direction::Local;
  dst.base = value(command, Field::DstBase);
  dst.address = command.address(Field::DstAddrLow, Field::DstAddrHigh);
  // The result has no extent of its own for n.
  const bool swaps = made.move == Move::Transpose && made.transpose == Transpose::NC;
  dst.shape = {swaps ? src.shape[1] : src.shape[0], value(command, Field::DstC),
               value(command, Field::DstH), value(command, Field::DstW)};
  dst.strideN = command.get(Field::DstStrN);
  dst.strideC = command.get(Field::DstStrCLow) | command.get(Field::DstStrCHigh) << 16;
  dst.strideH = command.get(Field::DstStrH);
  dst.bytes = dst.step = made.dstBf16 ? 2 : 1;
  for (DmaCommand::Side *side : {&src, &dst})
    if (!side->isLocal)
      side->address -= chip.globalBase;
  return made;
}

} // namespace tpuc::cv18xx
