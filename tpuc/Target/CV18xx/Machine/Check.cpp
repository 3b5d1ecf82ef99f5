//===- Check.cpp - What the chips refuse ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Common/Check.h"

#include "tpuc/Target/CV18xx/Machine/Operands.h"
#include "tpuc/Target/Common/Order.h"

#include <fmt/format.h>
#include <limits>

namespace tpuc::cv18xx {

namespace {

/// Collects the first thing that is wrong.
class Checker {
public:
  Checker(const Chip &chip, const std::string &where) : chip(chip), where(where) {}

  std::optional<Error> tiu(const TiuCommand &command);
  std::optional<Error> dma(const DmaCommand &command);

private:
  void require(bool condition, std::string found, std::string expected) {
    if (!condition && !problem)
      problem = Error{where, std::move(found), std::move(expected)};
  }
  void checkPlanes(const Planes &planes, std::string_view name);
  void checkLanes(const TiuCommand &command, const TiuViews &views);
  void checkSigns(const TiuCommand &command);
  void checkPartials(const TiuCommand &command);
  void checkWindow(const TiuCommand &command);
  void checkBias(const TiuCommand &command);
  void checkConv(const TiuCommand &command);
  void checkPool(const TiuCommand &command);
  void checkMatrix(const TiuCommand &command);
  void checkElementwise(const TiuCommand &command);
  void checkSide(const DmaCommand &command, const DmaCommand::Side &side, std::string_view name);
  void checkCompressed(const DmaCommand &command);
  void checkCounts(const DmaCommand &command);
  void checkTranspose(const DmaCommand &command);

  const Chip &chip;
  const std::string &where;
  std::optional<Error> problem;
};

/// More elements than bytes can only be the same bytes over and over.
constexpr uint64_t kMostElements = 1 << 20;
/// Values of one row of a window's result, all taps.
constexpr uint64_t kMostTaps = 1 << 24;

void Checker::checkPlanes(const Planes &planes, std::string_view name) {
  for (uint32_t i = 0; i < planes.count; ++i) {
    const View view = planes.plane(i);
    for (const uint32_t extent : view.shape)
      require(extent != 0, fmt::format("{} without elements", name), "extents of 1 and more");
    if (problem)
      return;
    require(view.count() <= kMostElements, fmt::format("{} of {} elements", name, view.count()),
            fmt::format("at most {}", kMostElements));
    require(view.lane < chip.lanes, fmt::format("{} in lane {}", name, view.lane),
            fmt::format("a lane below {}", chip.lanes));
    const uint64_t slot = (uint64_t{view.lane} + view.shape[1] - 1) / chip.lanes;
    const uint64_t end = view.offset + (view.shape[0] - 1) * view.strides[0] +
                         slot * view.strides[1] + (view.shape[2] - 1) * view.strides[2] +
                         (view.shape[3] - 1) * view.strides[3] + view.bytes;
    require(end <= kLaneBytes, fmt::format("{} up to byte {} of its lanes", name, end),
            fmt::format("at most {}", kLaneBytes));
  }
}

/// The sign of an integer result is that of any operand. The comparison of bits has none.
void Checker::checkSigns(const TiuCommand &command) {
  if (command.isBf16 ||
      (command.type == tiu::kElementwise && (command.function == Function::Lookup)))
    return;
  bool isSigned = command.opd0.isSigned;
  if (command.numOperands >= 2)
    isSigned |= command.opd1.isSigned;
  if (command.numOperands == 3)
    isSigned |= command.opd2.isSigned;
  const bool isSubtraction = command.type == tiu::kElementwise && command.function == Function::Sub;
  require(command.res0.isSigned == (isSigned || isSubtraction),
          fmt::format("res0_sign={:d}", command.res0.isSigned),
          fmt::format("{:d}, as the operands have it", isSigned || isSubtraction));
  require(command.shiftSigned == command.res0.isSigned,
          fmt::format("shift_signed={:d}", command.shiftSigned), "the sign of the result");
  require(!command.hasRelu || (command.res0.isSigned && command.res0.isNarrow),
          "relu on an unsigned or a wide result", "a signed result of 8 bits");
}

void Checker::checkPartials(const TiuCommand &command) {
  if (!command.storesPartial)
    return;
  require(!command.hasRelu && !command.hasRequant && command.shift == 0 && command.numOperands == 2,
          "partial sums with relu, bias, shift or multiplier", "sums only");
}

void Checker::checkWindow(const TiuCommand &command) {
  const Extents &in = command.opd0.shape;
  const Extents &out = command.res0.shape;
  require(in[2] != 0 && in[3] != 0 && out[2] != 0 && out[3] != 0 && command.opd1.shape[2] != 0 &&
              command.opd1.shape[3] != 0,
          "a window without elements", "extents of 1 and more");
  require(command.strideY != 0 && command.strideX != 0, "a stride of 0", "1 and more");
  require(command.insertY <= 14 && command.insertX <= 14, "15 inserted values", "at most 14");
  require(in[0] == out[0], fmt::format("{} inputs and {} results", in[0], out[0]), "as many");
  if (problem)
    return;
  const uint64_t tall = uint64_t{out[2] - 1} * command.strideY +
                        uint64_t{command.opd1.shape[2] - 1} * command.dilationY + 1;
  const uint64_t wide = uint64_t{out[3] - 1} * command.strideX +
                        uint64_t{command.opd1.shape[3] - 1} * command.dilationX + 1;
  require(tall <= command.paddedHeight() && wide <= command.paddedWidth(),
          fmt::format("windows over {} x {} values", tall, wide),
          fmt::format("at most {} x {}, with pads", command.paddedHeight(), command.paddedWidth()));
  const uint64_t taps = uint64_t{command.opd1.shape[2]} * command.opd1.shape[3] *
                        (command.type == tiu::kConv ? in[1] : 1);
  require(taps * out[3] <= kMostTaps, fmt::format("{} taps of a row", taps * out[3]),
          fmt::format("at most {}", kMostTaps));
  require(command.isBf16 || command.res0.isNarrow || command.addsPartial || command.storesPartial,
          "a wide result of a window", "one of 8 bits");
}

/// The functional model finds the upper bytes of integer biases by the number of channels.
void Checker::checkBias(const TiuCommand &command) {
  const bool hasBias = !command.isBf16 && !command.hasRequant && command.numOperands == 3;
  const uint32_t slots = (command.res0.shape[1] + chip.lanes - 1) / chip.lanes;
  require(
      !hasBias || command.opd2.planeStride == slots,
      fmt::format("upper bytes of biases {} bytes behind the lower ones", command.opd2.planeStride),
      fmt::format("{}", slots));
}

void Checker::checkConv(const TiuCommand &command) {
  checkWindow(command);
  require(
      command.opd1.shape[0] == command.opd0.shape[1] &&
          command.opd1.shape[1] == command.res0.shape[1],
      fmt::format("weights of {} and {} channels", command.opd1.shape[0], command.opd1.shape[1]),
      fmt::format("{} and {}", command.opd0.shape[1], command.res0.shape[1]));
  checkBias(command);
  require(command.res0.layout == Layout::Strides, "a result without strides",
          "res0_layout=strides");
  require(!command.isBf16 || command.insertValue == 0, "a value between those of BF16", "0");
  require(!command.isDouble || (command.opd0.shape[1] >= 4 && command.opd0.shape[1] % 2 == 0),
          fmt::format("double=1 with {} channels", command.opd0.shape[1]),
          "an even number from 4 on");
  require(!command.isDouble || command.opd1.address % 2 == 0, "double=1 with odd weights",
          "an even opd1_addr");
}

void Checker::checkPool(const TiuCommand &command) {
  checkWindow(command);
  require(command.opd0.shape[1] == command.res0.shape[1],
          fmt::format("{} and {} channels", command.opd0.shape[1], command.res0.shape[1]),
          "as many");
  checkBias(command);
  const bool isExtreme = command.pool == PoolFunction::Max || command.pool == PoolFunction::Min;
  // The functional model then reads the input as if it had the values that are to be inserted.
  require(!isExtreme || (command.insertY == 0 && command.insertX == 0 && command.insertLastY == 0 &&
                         command.insertLastX == 0),
          "values inserted into a maximum or minimum", "none, as the chip reads beyond its input");
  const bool isDilated = command.dilationY != 1 || command.dilationX != 1;
  // The functional model then computes without the dilation.
  require(!isDilated || command.pool == PoolFunction::Depthwise, "a dilated pool",
          "no dilation, which the chip ignores");
  require(!isDilated || command.isBf16 || !command.hasRequant || chip.is183x,
          "a dilated window of integers with multipliers",
          "a shift, as the chip ignores the dilation");
  require(!command.isBf16 || command.insertValue == 0 || isExtreme, "a value beside those of BF16",
          "0");
  require(command.pool != PoolFunction::Average || (!command.opd1.isSigned && command.opd1.isConst),
          "an average whose factor is signed or no immediate", "opd1_sign=0, opd1_const=1");
  require(!command.addsPartial && !command.storesPartial, "partial sums of a pool", "none");
  require(!command.accumulates, "a pool that adds to its result", "none");
}

void Checker::checkMatrix(const TiuCommand &command) {
  const Extents &left = command.opd0.shape;
  require(left[1] != 0, "a left matrix without columns", "pieces");
  if (problem)
    return;
  const uint64_t columns = uint64_t{left[1] - 1} * left[3] + command.opd1.shape[3];
  require(command.opd1.shape[3] != 0 && command.opd1.shape[3] <= left[3],
          fmt::format("a last piece of {} columns", command.opd1.shape[3]),
          fmt::format("1 to {}", left[3]));
  require(command.opd1.shape[0] == columns,
          fmt::format("{} rows of the right matrix", command.opd1.shape[0]),
          fmt::format("{}, the columns of the left one", columns));
  require(command.res0.shape[0] == left[0], fmt::format("{} rows", command.res0.shape[0]),
          fmt::format("{}", left[0]));
  require(!command.opd0.isConst && !command.opd1.isConst, "a matrix that is an immediate",
          "local memory");
  require(!command.accumulates || (!command.isBf16 && !command.res0.isNarrow),
          "a narrow sum of products", "two planes");
  require(!command.hasRequant || command.isBf16 || command.res0.isNarrow,
          "a multiplier on a wide result", "a result of 8 bits");
  require(!command.hasRequant || !command.isBf16, "a multiplier on BF16", "none");
  require(!command.accumulates || (!command.addsPartial && !command.storesPartial),
          "partial sums that are added twice", "one kind of sum");
}

void Checker::checkElementwise(const TiuCommand &command) {
  const auto function = command.function;
  const bool isBitwise =
      function == Function::And || function == Function::Or || function == Function::Xor;
  require(!command.isBf16 || (function != Function::Shift && !isBitwise), "bits of BF16 values",
          "integers");
  require(!command.addsPartial && !command.storesPartial, "partial sums of elements", "none");
  require(function != Function::Lookup || !command.opd1.isConst, "a table that is an immediate",
          "local memory");
  require(function == Function::Mac ? command.accumulates : !command.accumulates, "accumulate",
          "for mac, and for no other");
  if (command.isBf16)
    return;
  const bool isWide = function == Function::Add || function == Function::Sub;
  require(isWide || command.opd0.isNarrow || function == Function::Shift, "a wide first operand",
          "one of 8 bits");
  require(isWide || command.opd1.isNarrow, "a wide second operand", "one of 8 bits");
  require((function != Function::Max && function != Function::Min && !isBitwise &&
           function != Function::GreaterEqual && function != Function::Copy &&
           function != Function::Lookup) ||
              command.res0.isNarrow,
          "a wide result", "one of 8 bits");
  require(!isBitwise && function != Function::Copy ? true : !command.res0.isSigned, "signed bits",
          "unsigned ones");
  require(!command.hasRequant || (function == Function::Mul && command.res0.isNarrow),
          "a multiplier", "on products of 8 bits");
  if (function == Function::Shift && command.opd1.isConst) {
    const auto amount = static_cast<int8_t>(command.opd1.address & 0xFF);
    require(amount >= -16 && amount <= 16, fmt::format("a shift by {}", amount), "-16 to 16");
  }
  if (function == Function::Shift)
    require(!command.roundsUp && command.res0.isSigned, "a shift that rounds or has no sign",
            "round=0, res0_sign=1");
}

/// A lane computes with what it holds; convolutions and matrix products send their first operand to
/// all lanes.
void Checker::checkLanes(const TiuCommand &command, const TiuViews &views) {
  const uint32_t lane = views.res0.view.lane;
  const bool isSent = command.type == tiu::kConv || command.type == tiu::kMatrix;
  const bool isTable = command.type == tiu::kElementwise && command.function == Function::Lookup;
  require(views.opd0.count == 0 || isSent || views.opd0.view.lane == lane,
          "opd0 in other lanes than the result", "the same");
  require(views.opd1.count == 0 || isTable || views.opd1.view.lane == lane,
          "opd1 in other lanes than the result", "the same");
  require(views.opd2.count == 0 || views.opd2.view.lane == lane,
          "opd2 in other lanes than the result", "the same");
}

std::optional<Error> Checker::tiu(const TiuCommand &command) {
  require(command.numOperands >= 1, "no operands", "1 to 3");
  checkSigns(command);
  switch (command.type) {
  case tiu::kConv:
    checkConv(command);
    break;
  case tiu::kPool:
    checkPool(command);
    break;
  case tiu::kMatrix:
    checkMatrix(command);
    break;
  default:
    checkElementwise(command);
  }
  if (command.type != tiu::kElementwise)
    checkPartials(command);
  // What the model makes of larger ones depends on where in a row a value lies.
  require(command.isBf16 || command.hasRequant || command.shift < 32,
          fmt::format("a shift by {}", command.shift), "at most 31 without a multiplier");
  if (problem)
    return problem;
  const TiuViews views = viewsOf(chip, command);
  checkLanes(command, views);
  checkPlanes(views.opd0, "opd0");
  checkPlanes(views.opd1, "opd1");
  checkPlanes(views.opd2, "opd2");
  checkPlanes(views.res0, "res0");
  return problem;
}

void Checker::checkSide(const DmaCommand &command, const DmaCommand::Side &side,
                        std::string_view name) {
  if (!side.isLocal)
    return; // Where global memory ends is known when the command is run.
  const uint64_t lane = side.address / kLaneBytes;
  require(lane < chip.lanes, fmt::format("{} in lane {}", name, lane),
          fmt::format("a lane below {}", chip.lanes));
  if (command.isGeneral) {
    const uint64_t end = side.address + command.src.strideN;
    require(end <= uint64_t{chip.lanes} * kLaneBytes, fmt::format("{} up to byte {}", name, end),
            fmt::format("at most {}", uint64_t{chip.lanes} * kLaneBytes));
    return;
  }
  // Rows of a matrix are cut into pieces, one channel each.
  const Extents shape = {
      command.isMatrix
          ? (side.isLocal && &side == &command.dst ? command.src.shape[1] : command.dst.shape[1])
          : side.shape[0],
      side.shape[1], command.isMatrix ? 1 : side.shape[2], side.shape[3]};
  for (const uint32_t extent : shape)
    if (extent == 0)
      return require(false, fmt::format("{} without elements", name), "extents of 1 and more");
  const uint64_t slot = (lane + shape[1] - 1) / chip.lanes;
  const uint64_t end = side.address % kLaneBytes + (shape[0] - 1) * side.strideN +
                       slot * side.strideC + (shape[2] - 1) * side.strideH +
                       uint64_t{shape[3]} * side.bytes;
  require(end <= kLaneBytes, fmt::format("{} up to byte {} of its lanes", name, end),
          fmt::format("at most {}", kLaneBytes));
}

/// Streams are moved as they lie in global memory; the engine's own have no biases.
void Checker::checkCompressed(const DmaCommand &command) {
  const bool loads = command.direction == Direction::Load;
  require(command.move == Move::Copy && (loads || command.direction == Direction::Store),
          "compressed values", "a load or a store");
  require(loads || command.srcBf16 == command.dstBf16, "a conversion before compression",
          "one type");
  require(loads || !command.isMatrix, "a compressed store of a matrix", "a tensor");
  require(!command.srcBf16 || command.dstBf16, "BF16 that becomes int8 while it is unpacked",
          "BF16");
  require(loads || (command.bias0 == (command.srcBf16 ? 127 : 0) && command.bias1 == 0 &&
                    (command.srcBf16 || !command.zeroGuard)),
          fmt::format("biases of {} and {}", command.bias0, command.bias1),
          command.srcBf16 ? "127 and 0" : "0 and 0, and no zero guard");
  const DmaCommand::Side &global = loads ? command.src : command.dst;
  const Extents &shape = global.shape;
  const uint64_t row = uint64_t{shape[3]} * global.bytes;
  const bool isDense = command.isMatrix
                           ? global.strideC == row
                           : global.strideH == row && global.strideC == row * shape[2] &&
                                 global.strideN == row * shape[2] * shape[1];
  // A tensor that is loaded has its values one behind the other, whatever its strides say.
  require(isDense || (loads && !command.isMatrix), "gaps between compressed values", "none");
}

void Checker::checkCounts(const DmaCommand &command) {
  const auto count = [](const Extents &shape) {
    uint64_t product = 1;
    for (const uint32_t extent : shape)
      if (__builtin_mul_overflow(product, uint64_t{extent}, &product))
        return std::numeric_limits<uint64_t>::max();
    return product;
  };
  // Elements can lie on each other; nothing moves more than the bytes of global memory.
  constexpr uint64_t kMost = uint64_t{1} << 32;
  const Extents &src = command.src.shape;
  const Extents &dst = command.dst.shape;
  if (command.isMatrix) {
    const bool loads = command.direction == Direction::Load;
    require(loads || command.direction == Direction::Store, "a matrix that stays in its memory",
            "a load or a store");
    const Extents &whole = loads ? src : dst;
    const Extents &pieces = loads ? dst : src;
    const uint64_t columns = whole[3];
    require(whole[1] != 0 && columns != 0 && pieces[3] != 0 &&
                columns <= uint64_t{pieces[1]} * pieces[3] &&
                columns > (uint64_t{pieces[1]} - 1) * pieces[3],
            fmt::format("{} columns", columns),
            fmt::format("as many as {} pieces of {} take", pieces[1], pieces[3]));
    return;
  }
  const uint64_t moved = count(dst);
  require(moved != 0 && moved <= kMost, fmt::format("{} elements", moved), "1 to 2^32");
  if (command.move == Move::Fill)
    return;
  require(count(src) == moved, fmt::format("{} elements for {}", count(src), moved), "as many");
}

/// Other transposes than that of n and c move bytes only, each in one direction.
void Checker::checkTranspose(const DmaCommand &command) {
  const Extents &src = command.src.shape;
  const Extents &dst = command.dst.shape;
  if (command.move != Move::Transpose)
    return require(
        command.transpose == Transpose::NC,
        fmt::format("transpose_mode={} of a copy", static_cast<unsigned>(command.transpose)), "0");
  if (command.transpose == Transpose::NC)
    return require(src[1] == dst[0] && src[0] == dst[1] && src[2] == dst[2] && src[3] == dst[3],
                   "a transpose to another shape", "n and c exchanged");
  require(!command.srcBf16 && !command.dstBf16, "a transpose of BF16 within its images",
          "integers, or n and c exchanged");
  if (command.transpose == Transpose::CW)
    return require(command.direction == Direction::Store && src[1] == dst[3] && src[2] == dst[2] &&
                       src[3] == dst[1],
                   "a transpose of c and w", "a store with c and w exchanged");
  const uint32_t channels = command.transpose == Transpose::Packed3 ? 3 : 4;
  require(command.direction == Direction::Load && dst[1] == channels && src == dst &&
              command.dst.strideH == dst[3] && command.dst.strideC % kEuBytes == 0 &&
              command.dst.strideN % kEuBytes == 0,
          "packed pixels",
          fmt::format("a load of {} channels with dense rows and aligned channels", channels));
}

std::optional<Error> Checker::dma(const DmaCommand &command) {
  if (command.isGeneral) {
    require(!command.isMatrix && command.move == Move::Copy && !command.isCompressed,
            "a linear copy that changes something", "none");
    require(command.direction != Direction::Local, "a linear copy in local memory",
            "one from or to global memory");
    checkSide(command, command.src, "src");
    checkSide(command, command.dst, "dst");
    return problem;
  }
  checkTranspose(command);
  require(!command.isMatrix || command.move == Move::Copy, "a matrix that is no copy", "a copy");
  const bool hasTable = command.lutIndex || command.lutBase;
  require(!hasTable || (command.direction == Direction::Local && command.srcBf16 &&
                        command.dstBf16 && command.move == Move::Copy),
          "indices of a table", "BF16 in local memory");
  if (command.isCompressed)
    checkCompressed(command);
  checkCounts(command);
  if (problem)
    return problem;
  if (command.move != Move::Fill)
    checkSide(command, command.src, "src");
  checkSide(command, command.dst, "dst");
  return problem;
}

} // namespace

std::optional<Error> checkCommand(const Chip &chip, const Command &command,
                                  const std::string &where) {
  if (std::optional<Error> error = mc::checkFields(command, where))
    return error;
  if (command.engine() == Engine::Tiu && chip.is183x && command.operation().name == "lookup" &&
      command.get(Field::Lookup) == 0)
    return Error{where, "a lookup without its flag", "lookup=1"};
  Checker checker(chip, where);
  return command.engine() == Engine::Tiu ? checker.tiu(readTiu(chip, command))
                                         : checker.dma(readDma(chip, command));
}

std::optional<Error> checkStream(const Chip &chip, std::span<const Command> commands,
                                 const std::string &where) {
  for (size_t i = 0; i < commands.size(); ++i)
    if (std::optional<Error> error =
            checkCommand(chip, commands[i], mc::commandName(where, commands[i], i)))
      return error;
  for (const std::span<const Command> part : partsOf(commands))
    if (std::optional<Error> error = mc::checkSharedStream(part, where))
      return error;
  return std::nullopt;
}

std::vector<std::span<const Command>> partsOf(std::span<const Command> commands) {
  std::vector<std::span<const Command>> parts;
  size_t begin = 0;
  std::array<bool, 2> hasBegun{};
  for (size_t i = 0; i < commands.size(); ++i) {
    bool &seen = hasBegun[commands[i].engine().index()];
    if (commands[i].id() == 1 && seen) {
      parts.push_back(commands.subspan(begin, i - begin));
      begin = i;
      hasBegun = {};
    }
    hasBegun[commands[i].engine().index()] = true;
  }
  if (begin < commands.size())
    parts.push_back(commands.subspan(begin));
  return parts;
}

} // namespace tpuc::cv18xx
