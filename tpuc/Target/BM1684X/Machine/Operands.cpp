//===- Operands.cpp - What memory a command reads and writes --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Operands.h"

#include "tpuc/Target/Common/Check.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684x {

Extents layoutStrides(Layout layout, const Extents &shape, unsigned bytes, uint64_t address) {
  return bm168x::layoutStrides(kLocalMemory, layout, shape, bytes, address);
}

View localView(uint64_t address, Prec prec, const Extents &shape, Layout layout) {
  return bm168x::localView(kLocalMemory, address, prec, shape, layout);
}

ByteRange touchedBytes(const View &view) { return bm168x::touchedBytes(kLocalMemory, view); }

namespace {

/// What the functions below share: the command and the fields of its result.
struct Reader {
  const Command &command;
  OperandList list;

  int64_t value(Field field) const { return static_cast<int64_t>(command.get(field)); }
  bool isImmediate(Field field) const { return command.get(field) != 0; }

  void result(const View &view, bool isRead = false) { list.addResult(Role::Res0, view, isRead); }
  View view(Field address, Prec prec, const Extents &shape, Layout layout = Layout::Aligned) const {
    return localView(command.get(address), prec, shape, layout);
  }
  View strided(Field address, Prec prec, const Extents &shape, Field mode,
               const Extents &explicit_) {
    auto layout = static_cast<Layout>(command.get(mode));
    if (layout != Layout::Explicit)
      return view(address, prec, shape, layout);
    return {command.get(address), prec, shape, explicit_, true};
  }
  Extents strides(Field n, Field c, Field h, Field w) const {
    return extentsOf(command, n, c, h, w);
  }
};

void convOperands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  Prec resPrec = command.as<Prec>(Field::Res0Prec);
  Extents res = resultShape(command);
  int64_t ic = r.value(Field::Opd0C);
  Extents in = {res[0], ic, r.value(Field::Opd0H), r.value(Field::Opd0W)};
  // Short commands have no h and w strides; there, h follows from w.
  Extents strides = r.strides(Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr);
  r.list.add(Role::Opd0, r.strided(Field::Opd0Addr, prec, in, Field::Opd0Str, strides));
  if (!r.isImmediate(Field::Opd1Const)) {
    int64_t slot = alignUp(ic, channelBlock(prec)) * r.value(Field::Opd1H) * r.value(Field::Opd1W);
    r.list.add(Role::Opd1,
               {command.get(Field::Opd1Addr), prec, {1, res[1], 1, slot}, {0, slot, 0, 1}, true});
  }
  bool isRequant = command.operation().sub != 0;
  if (!r.isImmediate(Field::Opd2Const)) {
    Prec parameter = isFloatPrec(prec) ? Prec::F32 : isRequant ? Prec::I16 : Prec::I8;
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, parameter, {1, res[1], 1, 1}, Layout::Compact));
  }
  // With a built-in requantization opd3 is the shift.
  if (!r.isImmediate(Field::Opd3Const) && (isFloatPrec(prec) || !isRequant))
    r.list.add(Role::Opd3, r.view(Field::Opd3Addr, prec, {1, ic, 1, 2}, Layout::Compact));
  bool adds = command.get(Field::ResAdd) != 0;
  if (adds && isFloatPrec(prec) && resPrec != Prec::F32) {
    // The old result is read as f32 whatever is written.
    Operand old{Role::Res1, r.view(Field::Res0Addr, Prec::F32, res)};
    r.list.add(Role::Res1, old.view);
  }
  r.result(r.view(Field::Res0Addr, resPrec, res), adds);
}

void pordOperands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  unsigned sub = command.operation().sub;
  bool isDepthwise = sub == 0 || sub == 2;
  Extents res = resultShape(command);
  Extents in = {res[0], res[1], r.value(Field::Opd0H), r.value(Field::Opd0W)};
  r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, in));
  if (isDepthwise && !r.isImmediate(Field::Opd1Const))
    r.list.add(Role::Opd1,
               r.view(Field::Opd1Addr, prec,
                      {1, res[1], r.value(Field::Opd1H), r.value(Field::Opd1W)}, Layout::Compact));
  if (isDepthwise && !r.isImmediate(Field::Opd2Const))
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, isFloatPrec(prec) ? prec : Prec::I32,
                                  {1, res[1], 1, 1}, Layout::Compact));
  if (!r.isImmediate(Field::Opd3Const))
    r.list.add(Role::Opd3, r.view(Field::Opd3Addr, prec, {1, res[1], 1, 2}, Layout::Compact));
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), res));
}

void matMulOperands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  int64_t leftRows = r.value(Field::Opd0N);
  int64_t leftC = r.value(Field::Opd0C);
  int64_t leftW = r.value(Field::Opd0W);
  int64_t leftCols = (leftC - 1) * leftW + r.value(Field::Opd1W);
  bool isTransposed = command.get(Field::LeftTran) != 0;
  int64_t rows = isTransposed ? leftCols : leftRows;
  int64_t inner = isTransposed ? leftRows : leftCols;
  int64_t rightC = r.value(Field::Res0C);
  int64_t rightW = r.value(Field::Res0W);
  if (!r.isImmediate(Field::Opd0Const))
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, {leftRows, leftC, 1, leftW}));
  r.list.add(Role::Opd1, r.view(Field::Opd1Addr, prec, {inner, rightC, 1, rightW}));
  bool isRequant = command.operation().sub != 1;
  if (r.isImmediate(Field::Opd2Const)) {
  } else if (prec == Prec::I32) {
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, Prec::I8, {1, 1, 1, 1}));
  } else if (prec == Prec::F32 || isRequant) {
    // Other products of integers have no addend, whatever the operand's address says.
    Prec addend = isRequant ? Prec::I16 : Prec::F32;
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, addend, {1, rightC, 1, rightW}));
  }
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), {rows, rightC, 1, rightW}),
           command.get(Field::ResAdd) != 0);
}

void matMul2Operands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  Prec resPrec = command.as<Prec>(Field::Res0Prec);
  int64_t resC = r.value(Field::Res0C);
  int64_t resW = r.value(Field::Res0W);
  int64_t rightC = r.value(Field::Opd1C);
  int64_t rightW = r.value(Field::Opd1W);
  unsigned sub = command.operation().sub;
  bool isNN = sub == 4;
  bool isTT = sub == 6;
  int64_t inner = isNN ? rightC : rightW;
  int64_t columns = isNN ? rightW : rightC;
  Extents left = isTT ? Extents{1, inner, 1, resW} : Extents{1, resC, 1, inner};
  if (!r.isImmediate(Field::Opd0Const))
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, left));
  if (!r.isImmediate(Field::Opd1Const))
    r.list.add(Role::Opd1, r.view(Field::Opd1Addr, prec, {1, rightC, 1, rightW}));
  if (prec == Prec::I8 && !r.isImmediate(Field::Opd2Const)) {
    View zeros = isTT ? r.view(Field::Opd2Addr, prec, {1, columns, 1, 1}, Layout::Compact)
                      : r.view(Field::Opd2Addr, prec, {1, kLanes, 1, columns});
    // A row at the same place of every lane.
    if (!isTT)
      zeros.stride = {0, 0, 0, 1};
    r.list.add(Role::Opd2, zeros);
  }
  bool adds = command.get(Field::ResAdd) != 0;
  if (adds && isFloatPrec(prec) && resPrec != Prec::F32)
    r.list.add(Role::Res1, r.view(Field::Res0Addr, Prec::F32, {1, resC, 1, resW}));
  r.result(r.view(Field::Res0Addr, resPrec, {1, resC, 1, resW}), adds);
}

void arithOperands(Reader &r) {
  const Command &command = r.command;
  unsigned sub = command.operation().sub;
  Extents res = resultShape(command);
  int64_t numOperands = r.value(Field::OpdNum);
  Extents first = res;
  if (sub == 28)
    first[0] = 1;
  if (!r.isImmediate(Field::Opd0Const))
    r.list.add(
        Role::Opd0,
        r.strided(Field::Opd0Addr, command.as<Prec>(Field::Opd0Prec), first, Field::Opd0Str,
                  r.strides(Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr)));
  if (numOperands > 1 && !r.isImmediate(Field::Opd1Const))
    r.list.add(
        Role::Opd1,
        r.strided(Field::Opd1Addr, command.as<Prec>(Field::Opd1Prec), res, Field::Opd1Str,
                  r.strides(Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr)));
  if (numOperands > 2 && !r.isImmediate(Field::Opd2Const))
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, command.as<Prec>(Field::Opd2Prec),
                                  {1, res[1], 1, 1}, Layout::Compact));
  r.result(r.strided(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), res, Field::Res0Str,
                     r.strides(Field::Res0NStr, Field::Res0CStr, Field::Res0HStr, Field::Res0WStr)),
           sub == 18);
}

void requantOperands(Reader &r) {
  const Command &command = r.command;
  unsigned sub = command.operation().sub;
  Extents res = resultShape(command);
  r.list.add(Role::Opd0, r.view(Field::Opd0Addr, command.as<Prec>(Field::Opd0Prec), res));
  if (!r.isImmediate(Field::Opd1Const)) {
    int64_t columns = sub == 1 || sub == 4 ? 3 : 2;
    r.list.add(Role::Opd1, r.view(Field::Opd1Addr, Prec::I32, {1, res[1], 1, columns}));
  }
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), res));
}

void transposeOperands(Reader &r) {
  const Command &command = r.command;
  unsigned sub = command.operation().sub;
  Prec prec = command.as<Prec>(Field::Res0Prec);
  Extents res = resultShape(command);
  switch (sub) {
  case 0:
  case 1:
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, {res[0], res[3], res[2], res[1]}));
    break;
  case 2:
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, res));
    break;
  case 3:
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, {res[0], 1, res[2], res[3]}));
    break;
  default: {
    int64_t count = sub == 4 ? res[3] : res[1];
    r.list.add(Role::Opd0,
               {command.get(Field::Opd0Addr), prec, {1, 1, 1, count}, {0, 0, 0, 1}, false});
    break;
  }
  }
  if (sub == 4)
    res = {1, res[1], 1, res[3]};
  if (sub == 5)
    res = {1, res[1], 1, 1};
  Layout layout = sub == 0 ? Layout::LineAligned : sub == 5 ? Layout::Compact : Layout::Aligned;
  r.result(r.view(Field::Res0Addr, prec, res, layout));
}

/// Masks and results have all images; the data of a selection has one, which they share.
void rowCompactionOperands(Reader &r, bool isSelect) {
  const Command &command = r.command;
  const Extents res = resultShape(command);
  const int64_t images = isSelect ? 1 : res[0];
  r.list.add(Role::Opd0, r.view(Field::Opd0Addr, command.as<Prec>(Field::Opd0Prec),
                                {images, res[1], 1, r.value(Field::Opd0W)}));
  if (isSelect)
    r.list.add(Role::Opd1, r.view(Field::Opd1Addr, command.as<Prec>(Field::Opd1Prec),
                                  {res[0], res[1], 1, r.value(Field::Opd1W)}));
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), res), true);
  r.list.addResult(Role::Res1,
                   r.view(Field::Res1Addr, Prec::I16, {res[0], res[1], 1, 1}, Layout::Compact));
}

void gatherOperands(Reader &r) {
  const Command &command = r.command;
  unsigned sub = command.operation().sub;
  if (sub == 8 || sub == 9 || sub == 15 || sub == 16)
    return rowCompactionOperands(r, sub == 8 || sub == 15);
  Prec prec = command.as<Prec>(Field::Res0Prec);
  Prec indexPrec = command.as<Prec>(Field::Opd1Prec);
  Extents res = resultShape(command);
  int64_t width = r.value(Field::Opd0W);
  bool isShared = sub == 0 || sub == 1 || sub == 3;
  bool keeps = sub == 3 || sub == 6 || sub == 14;
  if (isShared) {
    int64_t height = sub == 1 ? r.value(Field::Opd0H) : 1;
    r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, {res[0], res[1], height, width}));
    int64_t pair = sub == 1 ? 2 : 1;
    r.list.add(Role::Opd1, r.view(Field::Opd1Addr, indexPrec, {1, r.value(Field::Opd1C), 1, pair},
                                  Layout::Compact));
  } else {
    Extents shape = {1, res[1], 1, width};
    View table = r.view(Field::Opd0Addr, prec, shape);
    if (command.get(Field::Opd0Str) == 4)
      table.stride = {0, 0, 0, 1};
    r.list.add(Role::Opd0, table);
    r.list.add(Role::Opd1,
               r.view(Field::Opd1Addr, indexPrec, {res[0], res[1], 1, r.value(Field::Opd1W)}));
  }
  r.result(r.view(Field::Res0Addr, prec, res), keeps);
}

void sfuOperands(Reader &r) {
  const Command &command = r.command;
  unsigned sub = command.operation().sub;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  Extents res = resultShape(command);
  r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, res));
  if (sub == 12 || sub == 13) {
    int64_t terms = r.value(Field::Opd1N);
    r.list.add(Role::Opd1,
               {command.get(Field::Opd1Addr), prec, {1, res[1], 1, terms}, {0, 0, terms, 1}, true});
  }
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec), res));
}

void linearOperands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Res0Prec);
  Extents res = resultShape(command);
  r.list.add(Role::Opd0, r.view(Field::Opd0Addr, prec, res));
  if (!r.isImmediate(Field::Opd1Const))
    r.list.add(Role::Opd1, r.view(Field::Opd1Addr, prec, {1, res[1], 1, 1}, Layout::Compact));
  if (command.operation().sub == 1 && !r.isImmediate(Field::Opd2Const))
    r.list.add(Role::Opd2, r.view(Field::Opd2Addr, prec, {1, res[1], 1, 1}, Layout::Compact));
  r.result(r.view(Field::Res0Addr, prec, res));
}

void compareOperands(Reader &r) {
  const Command &command = r.command;
  Prec prec = command.as<Prec>(Field::Opd0Prec);
  Prec chosen = command.as<Prec>(Field::Opd2Prec);
  Extents res = resultShape(command);
  auto input = [&](Role role, Field constant, Field address, Prec type, Layout layout) {
    if (!r.isImmediate(constant))
      r.list.add(role, r.view(address, type, res, layout));
  };
  input(Role::Opd0, Field::Opd0Const, Field::Opd0Addr, prec,
        static_cast<Layout>(command.get(Field::Opd0Str)));
  input(Role::Opd1, Field::Opd1Const, Field::Opd1Addr, prec,
        static_cast<Layout>(command.get(Field::Opd1Str)));
  input(Role::Opd2, Field::Opd2Const, Field::Opd2Addr, chosen, Layout::Aligned);
  input(Role::Opd3, Field::Opd3Const, Field::Opd3Addr, chosen, Layout::Aligned);
  unsigned sub = command.operation().sub;
  bool isPair = sub == 22 || sub == 25;
  r.result(r.view(Field::Res0Addr, isPair ? prec : chosen, res));
  if (isPair)
    r.list.addResult(Role::Res1, r.view(Field::Res1Addr, chosen, res));
}

void vectorOperands(Reader &r) {
  const Command &command = r.command;
  int64_t vectorC = r.value(Field::Opd0C);
  int64_t vectorW = r.value(Field::Opd0W);
  int64_t n = (vectorC - 1) * vectorW + r.value(Field::Opd1W);
  int64_t c = r.value(Field::Res0C);
  int64_t w = r.value(Field::Res0W);
  r.list.add(Role::Opd0,
             r.view(Field::Opd0Addr, command.as<Prec>(Field::Opd0Prec), {1, vectorC, 1, vectorW}));
  r.list.add(Role::Opd1, r.view(Field::Opd1Addr, command.as<Prec>(Field::Opd1Prec), {1, c, 1, w}));
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec),
                  {std::max<int64_t>(n, 0), c, 1, w}));
}

void segmentOperands(Reader &r) {
  const Command &command = r.command;
  r.result(r.view(Field::Res0Addr, command.as<Prec>(Field::Res0Prec),
                  {1, r.value(Field::Res0C), 1, r.value(Field::Res0W)}));
}

void tiuOperands(Reader &r) {
  unsigned sub = r.command.operation().sub;
  switch (r.command.operation().opcode) {
  case tiu::kConv:
    return convOperands(r);
  case tiu::kPorD:
    return pordOperands(r);
  case tiu::kMatMul:
    return sub >= 4 ? matMul2Operands(r) : matMulOperands(r);
  case tiu::kArith:
    return sub == 24 || sub == 25 ? segmentOperands(r) : arithOperands(r);
  case tiu::kRequant:
    return requantOperands(r);
  case tiu::kTranspose:
    return transposeOperands(r);
  case tiu::kScatterGather:
    return sub <= 16 ? gatherOperands(r) : void();
  case tiu::kSfu:
    return sfuOperands(r);
  case tiu::kLinear:
    return linearOperands(r);
  case tiu::kCompare:
    return compareOperands(r);
  case tiu::kVector:
    return vectorOperands(r);
  default:
    return;
  }
}

} // namespace

Expected<OperandList> operandsOf(const Command &command, const std::string &where) {
  if (std::optional<Error> error = mc::checkFields(command, where))
    return tl::unexpected<Error>(std::move(*error));
  if (command.engine() == Engine::Gdma)
    return detail::gdmaOperands(command, where);
  Reader reader{command, {}};
  tiuOperands(reader);
  for (const Operand &operand : reader.list.all())
    for (int64_t extent : operand.view.shape)
      if (extent <= 0)
        return makeError(where,
                         fmt::format("{}: {} of [{}]", command.operation().name,
                                     roleName(operand.role), fmt::join(operand.view.shape, ",")),
                         "extents of at least 1");
  return std::move(reader.list);
}

std::optional<Error> checkOperands(const OperandList &operands, const std::string &where) {
  return bm168x::checkOperands(kLocalMemory, operands, where);
}

} // namespace tpuc::bm1684x
