//===- Operands.cpp - What memory a command reads and writes --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Operands.h"

#include "tpuc/Target/Common/Check.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm1684 {

std::vector<View> Tensor::views() const {
  // Where elements stand alone they are the unit.
  if (items == 1)
    return {{offset, prec, shape, stride}};
  const int64_t words = unit / 4;
  View view{offset, Prec::I32, shape, stride};
  view.shape[0] = ceilDiv(shape[0], items);
  if (words == 1)
    return {view};
  for (int64_t &one : view.stride)
    one *= words;
  // The words of a unit follow each other, as do most units along one axis; else the first words
  // are one view, the second ones another.
  for (const size_t along : {size_t{3}, size_t{0}})
    if (stride[along] == 1) {
      view.shape[along] *= words;
      view.stride[along] = 1;
      return {view};
    }
  View second = view;
  second.address += 4;
  return {view, second};
}

const Tensor *TensorList::find(Role role) const {
  const auto found = std::ranges::find(entries, role, &Entry::role);
  return found == entries.end() ? nullptr : &found->tensor;
}

int64_t leftColumns(const Command &command) {
  return (static_cast<int64_t>(command.get(Field::Opd0C)) - 1) *
             static_cast<int64_t>(command.get(Field::Opd0W)) +
         static_cast<int64_t>(command.get(Field::Opd1W));
}

namespace {

/// The fields that say where an operand is and how it lies.
struct OperandFields {
  Field address, layout, prec;
  std::array<Field, 4> stride;
  /// Whether batch item 0 stands for all; results have no such bit.
  std::optional<Field> isRepeated = {};
};
constexpr OperandFields kRes0 = {
    Field::Res0Addr,
    Field::Res0Str,
    Field::Res0Prec,
    {Field::Res0NStr, Field::Res0CStr, Field::Res0HStr, Field::Res0WStr}};
constexpr OperandFields kOpd0 = {
    Field::Opd0Addr,
    Field::Opd0Str,
    Field::Opd0Prec,
    {Field::Opd0NStr, Field::Opd0CStr, Field::Opd0HStr, Field::Opd0WStr},
    Field::Opd0Neq1};
constexpr OperandFields kOpd1 = {
    Field::Opd1Addr,
    Field::Opd1Str,
    Field::Opd1Prec,
    {Field::Opd1NStr, Field::Opd1CStr, Field::Opd1HStr, Field::Opd1WStr},
    Field::Opd1Neq1};

class Reader {
public:
  Reader(const Command &command, const std::string &where) : command(command), where(where) {}
  Expected<TensorList> read();

private:
  int64_t get(Field field) const { return static_cast<int64_t>(command.get(field)); }
  bool has(Field field) const { return command.get(field) != 0; }
  Prec prec(Field field) const { return command.as<Prec>(field); }
  tl::unexpected<Error> wrong(std::string what, std::string expected) const {
    return makeError(where, fmt::format("{}: {}", command.operation().name, what),
                     std::move(expected));
  }

  Expected<uint64_t> offsetOf(Field address) const;
  /// A tensor of packed words in the layout that the command names.
  Expected<Tensor> packed(const OperandFields &fields, const Extents &shape);
  /// The same for windows of one channel each, which find elements where an aligned tensor has
  /// them; refuses other strides.
  Expected<Tensor> packedAsAligned(const OperandFields &fields, const Extents &shape);
  /// The same, aligned whatever the command names.
  Expected<Tensor> aligned(Field address, Prec prec, const Extents &shape);
  /// One value per channel, of `unit` bytes.
  Expected<Tensor> perChannel(Field address, Prec prec, int64_t channels);
  /// Rows whose pieces of columns lie in lanes that follow each other.
  Expected<Tensor> matrix(Field address, Prec prec, int64_t rows, int64_t pieces, int64_t width);

  Expected<void> addBias(int64_t channels);
  Expected<void> conv();
  Expected<void> weights();
  Expected<void> poolOrDepthwise();
  Expected<void> matMul();
  Expected<void> arith();
  Expected<void> lut();
  Expected<void> scalar();
  Expected<void> sfu();
  Expected<void> linear();
  Expected<void> compare();

  template <typename... Args>
  Expected<void> add(Role role, Expected<Tensor> tensor, bool isWritten, bool isSigned) {
    if (!tensor)
      return propagate(tensor);
    tensor->isSigned = isSigned;
    if (isWritten)
      list.addResult(role, *tensor);
    else
      list.add(role, *tensor);
    return {};
  }
  /// An operand that may be an immediate.
  Expected<void> addUnless(Field isConst, Role role, Expected<Tensor> tensor, bool isSigned) {
    return has(isConst) ? Expected<void>() : add(role, std::move(tensor), false, isSigned);
  }

  const Command &command;
  const std::string &where;
  TensorList list;
};

Expected<uint64_t> Reader::offsetOf(Field address) const {
  const uint64_t at = command.get(address);
  if (!kLocalMemory.contains(at))
    return wrong(fmt::format("{} {:#x}", bm168x::fieldName(address), at),
                 fmt::format("an address of local memory, {:#x} to {:#x}", kLocalBase,
                             kLocalBase + kLocalBytes));
  return at - kLocalBase;
}

Expected<Tensor> Reader::aligned(Field address, Prec type, const Extents &shape) {
  auto offset = offsetOf(address);
  if (!offset)
    return propagate(offset);
  Tensor tensor{.offset = *offset, .prec = type, .shape = shape};
  tensor.items = static_cast<uint8_t>(itemsPerWord(type));
  const int64_t slot = alignUp(shape[2] * shape[3], kEuWords);
  tensor.stride = {ceilDiv(int64_t{tensor.startLane()} + shape[1], kLanes) * slot, slot, shape[3],
                   1};
  return tensor;
}

Expected<Tensor> Reader::packed(const OperandFields &fields, const Extents &shape) {
  Expected<Tensor> tensor = aligned(fields.address, prec(fields.prec), shape);
  if (!tensor)
    return tensor;
  const auto layout = command.as<Layout>(fields.layout);
  const bool isArith = command.operation().opcode == tiu::kArith;
  if (layout != Layout::Aligned && layout != Layout::Explicit && !isArith)
    return wrong(fmt::format("{} {}", bm168x::fieldName(fields.layout), get(fields.layout)),
                 "0 or 3");
  // Element-wise operations take every layout but the aligned one from the fields.
  if (layout != Layout::Aligned)
    for (size_t i = 0; i < 4; ++i)
      tensor->stride[i] = get(fields.stride[i]);
  // Arithmetic on integers of 8 and 16 bits repeats an item; all else ignores the bit.
  if (isArith && tensor->items > 1 && fields.isRepeated && has(*fields.isRepeated)) {
    tensor->shape[0] = 1;
    tensor->stride[0] = 0;
  }
  return tensor;
}

Expected<Tensor> Reader::packedAsAligned(const OperandFields &fields, const Extents &shape) {
  Expected<Tensor> tensor = packed(fields, shape);
  const Expected<Tensor> regular = aligned(fields.address, prec(fields.prec), shape);
  if (!tensor || !regular)
    return tensor;
  const Extents steps = {ceilDiv(shape[0], tensor->items),
                         ceilDiv(int64_t{tensor->startLane()} + shape[1], kLanes), shape[2],
                         shape[3]};
  for (size_t axis = 0; axis < 4; ++axis)
    if (steps[axis] > 1 && tensor->stride[axis] != regular->stride[axis])
      return wrong(
          fmt::format("{} {}", bm168x::fieldName(fields.stride[axis]), tensor->stride[axis]),
          fmt::format("{}, as in an aligned tensor", regular->stride[axis]));
  return tensor;
}

Expected<Tensor> Reader::perChannel(Field address, Prec type, int64_t channels) {
  auto offset = offsetOf(address);
  if (!offset)
    return propagate(offset);
  Tensor tensor{.offset = *offset, .prec = type, .shape = {1, channels, 1, 1}};
  tensor.stride = {0, 1, 0, 0};
  tensor.unit = static_cast<uint8_t>(precBytes(type));
  return tensor;
}

Expected<Tensor> Reader::matrix(Field address, Prec type, int64_t rows, int64_t pieces,
                                int64_t width) {
  auto offset = offsetOf(address);
  if (!offset)
    return propagate(offset);
  Tensor tensor{.offset = *offset, .prec = type, .shape = {rows, pieces, 1, width}};
  const unsigned bytes = precBytes(type);
  const int64_t row = alignUp(width, kEuBytes / bytes);
  tensor.stride = {row * ceilDiv(int64_t{tensor.startLane()} + pieces, kLanes), row, 0, 1};
  tensor.unit = static_cast<uint8_t>(bytes);
  return tensor;
}

Expected<void> Reader::addBias(int64_t channels) {
  if (get(Field::OpdNum) != 3)
    return {};
  return add(Role::Opd2,
             perChannel(Field::Opd2Addr, isFloat(command) ? Prec::F32 : Prec::I16, channels), false,
             has(Field::Opd2Sign));
}

/// The weights of a convolution: units of some input channels, in the strides of operand 1.
Expected<void> Reader::weights() {
  const int64_t per = isFloat(command) ? 2 : 4;
  auto offset = offsetOf(Field::Opd1Addr);
  if (!offset)
    return propagate(offset);
  Tensor tensor{.offset = *offset, .prec = isFloat(command) ? Prec::F32 : Prec::I8};
  const int64_t groups = ceilDiv(get(Field::Opd0C), per);
  // Groups of input channels take the place of batches, the channels of a group that of items.
  tensor.shape = {groups * per, get(Field::Res0C), get(Field::Opd1H), get(Field::Opd1W)};
  tensor.items = static_cast<uint8_t>(per);
  tensor.unit = isFloat(command) ? 8 : 4;
  if (has(Field::Winograd)) {
    const int64_t slots = ceilDiv(int64_t{tensor.startLane()} + get(Field::Res0C), kLanes);
    tensor.stride = {slots * 16, 16, 4, 1};
  } else {
    for (size_t i = 0; i < 4; ++i)
      tensor.stride[i] = get(kOpd1.stride[i]);
  }
  return add(Role::Opd1, tensor, false, has(Field::Winograd) || has(Field::Opd1Sign));
}

Expected<void> Reader::conv() {
  const Prec type = prec(Field::Opd0Prec), result = prec(Field::Res0Prec);
  const bool isInt = type == Prec::I8 && (result == Prec::I8 || result == Prec::I16);
  if (!isInt && (type != Prec::F32 || result != Prec::F32))
    return wrong(fmt::format("{} to {}", precName(type), precName(result)),
                 "f32 to f32, or i8 to i8 or i16");
  if (isInt && has(Field::ResAdd))
    return wrong("integers added to the old result", "no res_add");
  if (!has(Field::Winograd) && command.as<Layout>(Field::Opd1Str) != Layout::Explicit)
    return wrong(fmt::format("weights in layout {}", get(Field::Opd1Str)), "opd1_str=3");
  const Extents shape = resultShape(command);
  Expected<Tensor> to = packed(kRes0, shape);
  if (to && result == Prec::I16) {
    to->unit = 8;
    to->items = 4;
    if (to->stride[3] != 1)
      return wrong(fmt::format("res0_w_str {}", to->stride[3]), "1 where results have 16 bits");
  }
  if (auto ok = add(Role::Res0, to, true, true); !ok)
    return ok;
  const Extents input = {shape[0], get(Field::Opd0C), get(Field::Opd0H), get(Field::Opd0W)};
  if (auto ok = add(Role::Opd0, packed(kOpd0, input), false, has(Field::Opd0Sign)); !ok)
    return ok;
  if (auto ok = weights(); !ok)
    return ok;
  return addBias(get(Field::Res0C));
}

Expected<void> Reader::poolOrDepthwise() {
  const Prec type = prec(Field::Opd0Prec), result = prec(Field::Res0Prec);
  const bool isMax = command.operation().sub == sub::kMaxPool;
  const bool isAverage = !isMax && has(Field::Opd1Const);
  const bool toWide = type == Prec::I8 && result == Prec::I16 && !isMax && !isAverage;
  if ((type != Prec::I8 && type != Prec::F32) || (type != result && !toWide))
    return wrong(fmt::format("{} to {}", precName(type), precName(result)),
                 "f32 or i8 to the same, or i8 to i16 in a depthwise convolution");
  const Extents shape = resultShape(command);
  Expected<Tensor> to = packedAsAligned(kRes0, shape);
  if (to && toWide) {
    to->unit = 8;
    to->items = 4;
    if (to->stride[3] != 1)
      return wrong(fmt::format("res0_w_str {}", to->stride[3]), "1 where results have 16 bits");
  }
  if (auto ok = add(Role::Res0, to, true, true); !ok)
    return ok;
  const Extents input = {shape[0], shape[1], get(Field::Opd0H), get(Field::Opd0W)};
  if (auto ok = add(Role::Opd0, packedAsAligned(kOpd0, input), false, has(Field::Opd0Sign)); !ok)
    return ok;
  if (isMax)
    return {};
  if (!isAverage) {
    Expected<Tensor> kernel = perChannel(Field::Opd1Addr, type, shape[1]);
    if (kernel) {
      kernel->shape = {1, shape[1], get(Field::Opd1H), get(Field::Opd1W)};
      kernel->stride = {0, get(Field::Opd1H) * get(Field::Opd1W), get(Field::Opd1W), 1};
    }
    if (auto ok = add(Role::Opd1, kernel, false, has(Field::Opd1Sign)); !ok)
      return ok;
  }
  // An average of integers has no bias, whatever the command says.
  return isAverage && type == Prec::I8 ? Expected<void>() : addBias(shape[1]);
}

Expected<void> Reader::matMul() {
  const Prec type = prec(Field::Opd0Prec), result = prec(Field::Res0Prec);
  const bool isInt = type == Prec::I8 && (result == Prec::I8 || result == Prec::I16);
  if (!isInt && (type != Prec::F32 || result != Prec::F32))
    return wrong(fmt::format("{} to {}", precName(type), precName(result)),
                 "f32 to f32, or i8 to i8 or i16");
  if (get(Field::Opd0C) == 0)
    return wrong("a left matrix without columns", "at least one piece");
  if (!has(Field::Opd0Const) && get(Field::Opd1W) > get(Field::Opd0W))
    return wrong(fmt::format("a last piece of {} columns", get(Field::Opd1W)),
                 fmt::format("at most the {} of the others", get(Field::Opd0W)));
  const bool isTransposed = has(Field::LeftTran);
  const int64_t stored = get(Field::Opd0N), other = leftColumns(command);
  const int64_t rows = isTransposed ? other : stored, depth = isTransposed ? stored : other;
  const int64_t pieces = get(Field::Res0C), width = get(Field::Res0W);
  if (auto ok = add(Role::Res0, matrix(Field::Res0Addr, result, rows, pieces, width), true, true);
      !ok)
    return ok;
  if (isInt && has(Field::ResAdd))
    if (auto ok = add(Role::Res1, matrix(Field::Res0Addr, Prec::I16, rows, pieces, width), false,
                      has(Field::ResAddSign));
        !ok)
      return ok;
  if (auto ok =
          addUnless(Field::Opd0Const, Role::Opd0,
                    matrix(Field::Opd0Addr, type, stored, get(Field::Opd0C), get(Field::Opd0W)),
                    has(Field::Opd0Sign));
      !ok)
    return ok;
  if (auto ok = add(Role::Opd1, matrix(Field::Opd1Addr, type, depth, pieces, width), false,
                    has(Field::Opd1Sign));
      !ok)
    return ok;
  if (get(Field::OpdNum) != 3)
    return {};
  return add(Role::Opd2, matrix(Field::Opd2Addr, isInt ? Prec::I16 : Prec::F32, 1, pieces, width),
             false, has(Field::Opd2Sign));
}

Expected<void> Reader::arith() {
  const Extents shape = resultShape(command);
  if (auto ok = add(Role::Res0, packed(kRes0, shape), true, true); !ok)
    return ok;
  if (auto ok = addUnless(Field::Opd0Const, Role::Opd0, packed(kOpd0, shape), has(Field::Opd0Sign));
      !ok)
    return ok;
  if (command.operation().sub == sub::kCopy)
    return {};
  return addUnless(Field::Opd1Const, Role::Opd1, packed(kOpd1, shape), has(Field::Opd1Sign));
}

Expected<void> Reader::lut() {
  // Indices are words, and the machine takes them by another path where they have another name.
  if (prec(Field::Opd0Prec) != Prec::F32)
    return wrong(fmt::format("opd0_prec={}", precName(prec(Field::Opd0Prec))), "f32");
  const Extents shape = resultShape(command);
  if (auto ok = add(Role::Res0, aligned(Field::Res0Addr, Prec::I32, shape), true, true); !ok)
    return ok;
  return add(Role::Opd0, aligned(Field::Opd0Addr, Prec::I32, shape), false, false);
}

Expected<void> Reader::scalar() {
  const Extents shape = resultShape(command);
  if (auto ok = add(Role::Res0, aligned(Field::Res0Addr, Prec::F32, shape), true, true); !ok)
    return ok;
  if (auto ok =
          addUnless(Field::Opd0Const, Role::Opd0, aligned(Field::Opd0Addr, Prec::F32, shape), true);
      !ok)
    return ok;
  return addUnless(Field::Opd1Const, Role::Opd1, aligned(Field::Opd1Addr, Prec::F32, shape), true);
}

Expected<void> Reader::sfu() {
  const Extents shape = resultShape(command);
  if (auto ok = add(Role::Res0, aligned(Field::Res0Addr, Prec::F32, shape), true, true); !ok)
    return ok;
  return add(Role::Opd0, aligned(Field::Opd0Addr, Prec::F32, shape), false, true);
}

Expected<void> Reader::linear() {
  if (auto ok = sfu(); !ok)
    return ok;
  const int64_t channels = get(Field::Res0C);
  if (auto ok = addUnless(Field::Opd1Const, Role::Opd1,
                          perChannel(Field::Opd1Addr, Prec::F32, channels), true);
      !ok)
    return ok;
  if (command.operation().sub != 1)
    return {};
  return addUnless(Field::Opd2Const, Role::Opd2, perChannel(Field::Opd2Addr, Prec::F32, channels),
                   true);
}

Expected<void> Reader::compare() {
  const Extents shape = resultShape(command);
  const unsigned which = command.operation().sub;
  if (which != sub::kSelect)
    if (auto ok = add(Role::Res0, aligned(Field::Res0Addr, Prec::F32, shape), true, true); !ok)
      return ok;
  if (which != sub::kMaxOnly)
    if (auto ok = add(Role::Res1, aligned(Field::Res1Addr, Prec::F32, shape), true, true); !ok)
      return ok;
  // Where a stride of operand 0 is 0, it has one element there.
  for (const auto &[axis, field] :
       {std::pair{0, Field::Opd0NStr}, {2, Field::Opd0HStr}, {3, Field::Opd0WStr}})
    if (!has(field) && shape[static_cast<size_t>(axis)] != 1)
      return wrong("an operand that is repeated", "strides of 1 in operand 0");
  const std::tuple<Role, Field, Field> operands[] = {
      {Role::Opd0, Field::Opd0Addr, Field::Opd0Const},
      {Role::Opd1, Field::Opd1Addr, Field::Opd1Const},
      {Role::Opd2, Field::Opd2Addr, Field::Opd2Const},
      {Role::Opd3, Field::Opd3Addr, Field::Opd3Const}};
  for (const auto &[role, address, isConst] : operands)
    if (auto ok = addUnless(isConst, role, aligned(address, Prec::F32, shape), true); !ok)
      return ok;
  return {};
}

Expected<TensorList> Reader::read() {
  for (const Field field : {Field::Res0Prec, Field::Opd0Prec, Field::Opd1Prec, Field::Opd2Prec})
    if (prec(field) == Prec::F16)
      return wrong(fmt::format("{}=f16", bm168x::fieldName(field)), "i8, f32, i16 or i32");
  for (const Field field : {Field::Res0HShift, Field::Res0WShift, Field::Opd0HShift,
                            Field::Opd0WShift, Field::Opd1HShift, Field::Opd1WShift})
    if (has(field))
      return wrong(fmt::format("{} {}", bm168x::fieldName(field), get(field)), "0");
  const Expected<void> done = [&]() -> Expected<void> {
    switch (command.operation().opcode) {
    case tiu::kConv:
      return conv();
    case tiu::kPorD:
      return poolOrDepthwise();
    case tiu::kMatMul:
      return matMul();
    case tiu::kArith:
      return arith();
    case tiu::kLut:
      return lut();
    case tiu::kScalar:
      return scalar();
    case tiu::kSfu:
      return sfu();
    case tiu::kLinear:
      return linear();
    case tiu::kCompare:
      return compare();
    default:
      return wrong("the operation", "one whose meaning is known (docs/bm1684.md)");
    }
  }();
  if (!done)
    return tl::unexpected(done.error());
  return std::move(list);
}

} // namespace

Expected<TensorList> tensorsOf(const Command &command, const std::string &where) {
  if (std::optional<Error> error = mc::checkFields(command, where))
    return tl::unexpected<Error>(std::move(*error));
  return Reader(command, where).read();
}

namespace {

/// Refuses tensors without elements.
Expected<OperandList> withElements(Expected<OperandList> operands, const Command &command,
                                   const std::string &where) {
  if (operands)
    for (const Operand &operand : operands->all())
      if (std::ranges::min(operand.view.shape) < 1)
        return makeError(where,
                         fmt::format("{}: {} [{}]", command.operation().name,
                                     roleName(operand.role), fmt::join(operand.view.shape, ",")),
                         "extents of at least 1");
  return operands;
}

} // namespace

Expected<OperandList> operandsOf(const Command &command, const std::string &where) {
  if (command.engine() == mc::EngineId(Engine::Gdma))
    return withElements(detail::gdmaOperands(command, where), command, where);
  const auto tensors = tensorsOf(command, where);
  if (!tensors)
    return tl::unexpected(tensors.error());
  OperandList operands;
  for (const TensorList::Entry &entry : tensors->all())
    for (const View &view : entry.tensor.views())
      if (entry.isWritten)
        // Batch items that share a word with the result's stay as they are.
        operands.addResult(entry.role, view, entry.tensor.items > 1);
      else
        operands.add(entry.role, view);
  if (command.operation().opcode == tiu::kLut) {
    // The table in L2, at a whole word.
    View table{kL2Base + (command.get(Field::Opd1Addr) & ~uint64_t{3}), Prec::I32};
    table.shape = {1, 1, static_cast<int64_t>(command.get(Field::Opd1H)), kEuWords};
    table.stride = {0, 0, kEuWords, 1};
    table.isLocal = false;
    operands.add(Role::Opd1, table);
  }
  return withElements(std::move(operands), command, where);
}

} // namespace tpuc::bm1684
