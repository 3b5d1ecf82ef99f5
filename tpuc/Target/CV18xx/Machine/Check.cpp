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

  /// `raw` is the command itself, with the fields that no operand has.
  std::optional<Error> tiu(const Command &raw, const TiuCommand &command);
  std::optional<Error> dma(const Command &raw, const DmaCommand &command);

private:
  /// Texts are made where they are needed, as most commands are right.
  template <typename Found, typename Expected>
  void require(bool condition, const Found &found, const Expected &expected) {
    if (!condition && !problem)
      problem = Error{where, textOf(found), textOf(expected)};
  }
  template <typename Text> static std::string textOf(const Text &text) {
    if constexpr (std::is_invocable_v<Text>)
      return textOf(text());
    else
      return std::string(text);
  }
  /// A field that no operation gives a meaning, or not this one.
  void requireUnused(const Command &raw, std::initializer_list<Field> fields);
  void requireLayout(const Operand &operand, std::string_view name, Layout layout);
  void checkUnused(const Command &raw, const TiuCommand &command);
  void checkLookup(const TiuCommand &command);
  void checkShapes(const TiuCommand &command);
  void checkStrides(const TiuCommand &command);
  void checkPlanes(const Planes &planes, std::string_view name);
  void checkLanes(const TiuCommand &command, const TiuViews &views);
  void checkSigns(const TiuCommand &command);
  void checkPartials(const Command &raw, const TiuCommand &command);
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
  require(planes.count < 2 || planes.stride != 0, "planes that lie on each other", "a distance");
  for (uint32_t i = 0; i < planes.count; ++i) {
    const View view = planes.plane(i);
    for (const uint32_t extent : view.shape)
      require(
          extent != 0, [&] { return fmt::format("{} without elements", name); },
          "extents of 1 and more");
    if (problem)
      return;
    require(
        view.count() <= kMostElements,
        [&] { return fmt::format("{} of {} elements", name, view.count()); },
        [&] { return fmt::format("at most {}", kMostElements); });
    require(
        view.lane < chip.lanes, [&] { return fmt::format("{} in lane {}", name, view.lane); },
        [&] { return fmt::format("a lane below {}", chip.lanes); });
    const uint64_t slot = (uint64_t{view.lane} + view.shape[1] - 1) / chip.lanes;
    const uint64_t end = view.offset + (view.shape[0] - 1) * view.strides[0] +
                         slot * view.strides[1] + (view.shape[2] - 1) * view.strides[2] +
                         (view.shape[3] - 1) * view.strides[3] + view.bytes;
    require(
        end <= kLaneBytes, [&] { return fmt::format("{} up to byte {} of its lanes", name, end); },
        [&] { return fmt::format("at most {}", kLaneBytes); });
  }
}

void Checker::requireUnused(const Command &raw, std::initializer_list<Field> fields) {
  for (const Field field : fields) {
    const mc::FieldInfo &info = raw.table().field(field);
    require(
        !raw.has(field) || raw.get(field) == info.preset,
        [&] { return fmt::format("{}={}", info.name, raw.get(field)); },
        [&] { return fmt::format("{}", info.preset); });
  }
}

void Checker::requireLayout(const Operand &operand, std::string_view name, Layout layout) {
  constexpr std::string_view kNames[] = {"aligned", "compact", "channel", "strides"};
  require(
      operand.layout == layout,
      [&] {
        return fmt::format("{}_layout={}", name, kNames[static_cast<size_t>(operand.layout)]);
      },
      [&] { return std::string(kNames[static_cast<size_t>(layout)]); });
}

/// The functional model asserts some, and takes others otherwise than their names say.
void Checker::checkUnused(const Command &raw, const TiuCommand &command) {
  // The runtime numbers the groups of 16 bytes itself, on top of what it finds.
  constexpr std::array kGroups = {Field::Group0, Field::Group1, Field::Group2, Field::Group3,
                                  Field::Group4, Field::Group5, Field::Group6};
  for (size_t i = 0; i < kGroups.size(); ++i)
    require(
        raw.get(kGroups[i]) == 0 || raw.get(kGroups[i]) == i,
        [&] { return fmt::format("group{}={}", i, raw.get(kGroups[i])); },
        [&] { return fmt::format("0 or {}", i); });
  requireUnused(raw, {Field::En, Field::Keep, Field::SameStrides, Field::LeftTransposed,
                      Field::Mdsum, Field::FpRound, Field::Opd0Const, Field::Opd2Const});
  for (const Field field : {Field::Relu, Field::Res0Narrow, Field::Opd0Narrow, Field::Opd1Narrow})
    require(
        raw.get(field) <= 1,
        [&] { return fmt::format("{}={}", raw.table().field(field).name, raw.get(field)); },
        "0 or 1");
  require(!command.isBf16 || !command.isDouble, "double=1 of BF16", "integers");
  const bool isElementwise = command.type == tiu::kElementwise;
  if (!isElementwise)
    requireUnused(raw, {Field::Lookup});
  if (command.type != tiu::kConv && command.type != tiu::kPool)
    requireUnused(raw, {Field::InsX, Field::InsY, Field::InsXLast, Field::InsYLast, Field::DilX,
                        Field::DilY, Field::PadTop, Field::PadBottom, Field::PadLeft,
                        Field::PadRight, Field::Double});
  // Only the shift of elements goes on with what it cuts off.
  const bool isShift = isElementwise && command.function == Function::Shift;
  require(
      command.roundsUp != isShift, [&] { return fmt::format("round={:d}", command.roundsUp); },
      [&] { return fmt::format("{:d}", !isShift); });
  require(!command.isBf16 || !command.hasRequant, "a multiplier on BF16", "none");
}

/// A table of 256 values in every lane, for tensors without gaps.
void Checker::checkLookup(const TiuCommand &command) {
  requireLayout(command.res0, "res0", Layout::Aligned);
  requireLayout(command.opd0, "opd0", Layout::Aligned);
  requireLayout(command.opd1, "opd1", Layout::Aligned);
  const Extents table =
      command.isBf16 ? Extents{1, chip.lanes, 32, 8} : Extents{1, chip.lanes, 16, 16};
  require(command.opd1.shape == table, "a table of another shape",
          [&] { return fmt::format("{}", fmt::join(table, " x ")); });
  const bool isSigned = command.isBf16;
  require(command.res0.isSigned == isSigned && command.opd0.isSigned == isSigned &&
              command.opd1.isSigned == isSigned && command.opd2.isSigned,
          "a lookup with other signs", isSigned ? "all signed" : "opd2 signed alone");
  require(
      command.numOperands == 2,
      [&] { return fmt::format("a lookup of {} operands", command.numOperands); }, "2");
  // The third operand, which it has not, may be wide of integers: vendors' files say so.
  require(command.res0.isNarrow && command.opd0.isNarrow && command.opd1.isNarrow &&
              (command.opd2.isNarrow || !command.isBf16),
          "wide values in a lookup", "narrow ones");
  require(!command.hasRelu, "relu on what a table holds", "none");
  const uint64_t bytes = uint64_t{256} * command.elementBytes();
  const TiuViews views = viewsOf(chip, command);
  const View &result = views.res0.view;
  const uint64_t end = result.offset + result.shape[0] * result.strides[0];
  require(views.opd1.view.lane == 0 &&
              (views.opd1.view.offset + bytes <= result.offset || end <= views.opd1.view.offset),
          "a table that the result overwrites, or that begins in another lane",
          "one of its own, from the first lane on");
}

/// Operands of elementwise commands have the result's shape, repeated by strides of 0.
void Checker::checkShapes(const TiuCommand &command) {
  const auto same = [&](const Operand &operand, std::string_view name) {
    require(
        operand.shape == command.res0.shape,
        [&] { return fmt::format("{} of {}", name, fmt::join(operand.shape, " x ")); },
        [&] { return fmt::format("{}, as the result", fmt::join(command.res0.shape, " x ")); });
  };
  same(command.opd0, "opd0");
  if (command.numOperands >= 2 && command.function != Function::Lookup)
    same(command.opd1, "opd1");
  require(!command.isBf16 ||
              (command.opd0.isNarrow && command.opd1.isNarrow && command.res0.isNarrow),
          "planes of BF16 elements", "one of each");
}

/// Values of BF16 lie at even distances.
void Checker::checkStrides(const TiuCommand &command) {
  if (!command.isBf16)
    return;
  const auto even = [&](const Operand &operand, std::string_view name) {
    if (operand.layout == Layout::Strides && !operand.isConst)
      for (const uint32_t stride : operand.strides)
        require(
            stride % 2 == 0, [&] { return fmt::format("a stride of {} of {}", stride, name); },
            "an even number");
  };
  even(command.res0, "res0");
  even(command.opd0, "opd0");
  if (command.numOperands >= 2)
    even(command.opd1, "opd1");
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
  require(
      command.res0.isSigned == (isSigned || isSubtraction),
      [&] { return fmt::format("res0_sign={:d}", command.res0.isSigned); },
      [&] { return fmt::format("{:d}, as the operands have it", isSigned || isSubtraction); });
  require(
      command.shiftSigned == command.res0.isSigned,
      [&] { return fmt::format("shift_signed={:d}", command.shiftSigned); },
      "the sign of the result");
  require(!command.hasRelu || (command.res0.isSigned && command.res0.isNarrow),
          "relu on an unsigned or a wide result", "a signed result of 8 bits");
}

void Checker::checkPartials(const Command &raw, const TiuCommand &command) {
  require((!command.storesPartial && !command.addsPartial) ||
              command.res0.planeStride % kEuBytes == 0,
          "planes of partial sums at odd places", "multiples of 16 bytes");
  if (!command.storesPartial)
    return;
  require(!command.hasRelu && !command.hasRequant && command.shift == 0 && command.numOperands == 2,
          "partial sums with relu, bias, shift or multiplier", "sums only");
  const uint64_t early = raw.get(Field::PreExe);
  require(
      early <= 1 || command.type != tiu::kConv,
      [&] { return fmt::format("pre_exe={} of partial sums", early); }, "at most 1");
}

static bool isExtremeOf(PoolFunction pool) {
  return pool == PoolFunction::Max || pool == PoolFunction::Min;
}

void Checker::checkWindow(const TiuCommand &command) {
  const Extents &in = command.opd0.shape;
  const Extents &out = command.res0.shape;
  require(in[2] != 0 && in[3] != 0 && out[2] != 0 && out[3] != 0 && command.opd1.shape[2] != 0 &&
              command.opd1.shape[3] != 0,
          "a window without elements", "extents of 1 and more");
  require(command.dilationY <= 15 && command.dilationX <= 15, "a dilation of 16", "at most 15");
  require(command.strideY != 0 && command.strideX != 0, "a stride of 0", "1 and more");
  require(command.insertY <= 14 && command.insertX <= 14, "15 inserted values", "at most 14");
  require(
      in[0] == out[0], [&] { return fmt::format("{} inputs and {} results", in[0], out[0]); },
      "as many");
  if (problem)
    return;
  const auto places = [&](uint64_t padded, uint32_t taps, uint32_t dilation, uint32_t stride) {
    const uint64_t window = uint64_t{taps - 1} * dilation + 1;
    return padded < window ? 0 : (padded - window) / stride + 1;
  };
  const uint64_t tall =
      places(command.paddedHeight(), command.opd1.shape[2], command.dilationY, command.strideY);
  const uint64_t wide =
      places(command.paddedWidth(), command.opd1.shape[3], command.dilationX, command.strideX);
  // Files of TPU-MLIR pad maxima by more than their windows reach.
  const bool mayBeFewer = command.type == tiu::kPool && isExtremeOf(command.pool);
  require((tall == out[2] && wide == out[3]) || (mayBeFewer && tall >= out[2] && wide >= out[3]),
          [&] { return fmt::format("{} x {} results", out[2], out[3]); },
          [&] { return fmt::format("{} x {}, as many as the window has places", tall, wide); });
  for (const uint32_t extent : {in[1], in[2], in[3], out[1], out[2], out[3]})
    require(
        extent <= kMostWindowExtent,
        [&] { return fmt::format("a window over {} elements", extent); },
        [&] { return fmt::format("at most {}", kMostWindowExtent); });
  require(command.insertLastY <= 14 && command.insertLastX <= 14, "15 values inserted last",
          "at most 14");
  const uint64_t taps = uint64_t{command.opd1.shape[2]} * command.opd1.shape[3] *
                        (command.type == tiu::kConv ? in[1] : 1);
  require(
      taps * out[3] <= kMostTaps, [&] { return fmt::format("{} taps of a row", taps * out[3]); },
      [&] { return fmt::format("at most {}", kMostTaps); });
  require(command.isBf16 || command.res0.isNarrow || command.addsPartial || command.storesPartial,
          "a wide result of a window", "one of 8 bits");
}

/// The functional model finds the upper bytes of integer biases by the number of channels.
void Checker::checkBias(const TiuCommand &command) {
  // With multipliers there are parameters, if no bias.
  if (command.numOperands == 3 || command.hasRequant)
    require(command.opd2.shape == Extents{1, command.res0.shape[1], 1, 1} &&
                command.opd2.layout == Layout::PerChannel,
            "a bias of another shape or layout",
            [&] { return fmt::format("one for each of {} channels", command.res0.shape[1]); });

  const bool hasBias = !command.hasRequant && command.numOperands == 3;
  require(!hasBias || !command.opd2.isNarrow, "a narrow bias", "two planes");
  // The chip takes the distance from the channels, whatever the field says.
  const uint32_t slots = (command.res0.shape[1] + chip.lanes - 1) / chip.lanes;
  const uint32_t distance = command.isBf16 ? 2 * slots : slots;
  require(
      !hasBias || command.opd2.planeStride == distance,
      [&] {
        return fmt::format("further bytes of biases {} bytes behind the first ones",
                           command.opd2.planeStride);
      },
      [&] { return fmt::format("{}", distance); });
}

void Checker::checkConv(const TiuCommand &command) {
  checkWindow(command);
  require(
      command.opd1.shape[0] == command.opd0.shape[1] &&
          command.opd1.shape[1] == command.res0.shape[1],
      [&] {
        return fmt::format("weights of {} and {} channels", command.opd1.shape[0],
                           command.opd1.shape[1]);
      },
      [&] { return fmt::format("{} and {}", command.opd0.shape[1], command.res0.shape[1]); });
  checkBias(command);
  requireLayout(command.res0, "res0", Layout::Strides);
  requireLayout(command.opd0, "opd0", Layout::Aligned);
  requireLayout(command.opd1, "opd1", Layout::Compact);
  // Whether there is a third operand or not.
  require(command.opd2.layout != Layout::Strides, "opd2_layout=strides", "another");
  require(
      command.opd2.shape[1] <= kMostWindowExtent,
      [&] { return fmt::format("opd2 of {} channels", command.opd2.shape[1]); },
      [&] { return fmt::format("at most {}", kMostWindowExtent); });
  require(command.opd0.isNarrow && command.opd1.isNarrow, "wide operands of a convolution",
          "narrow ones");
  require(!command.accumulates, "a convolution that adds to its result", "partial sums");
  require(
      command.res0.strides[0] % kEuBytes == 0,
      [&] { return fmt::format("images {} bytes apart", command.res0.strides[0]); },
      "a multiple of 16");
  require(!command.isBf16 || command.insertValue == 0, "a value between those of BF16", "0");
  require(
      !command.isDouble || (command.opd0.shape[1] >= 4 && command.opd0.shape[1] % 2 == 0),
      [&] { return fmt::format("double=1 with {} channels", command.opd0.shape[1]); },
      "an even number from 4 on");
  require(!command.isDouble || command.opd1.address % 2 == 0, "double=1 with odd weights",
          "an even opd1_addr");
}

/// Whether windows read what is inserted between and around the input.
static bool hasPlacesBeside(const TiuCommand &command) {
  return (command.insertY | command.insertX | command.insertLastY | command.insertLastX |
          command.padTop | command.padBottom | command.padLeft | command.padRight) != 0;
}

void Checker::checkPool(const TiuCommand &command) {
  checkWindow(command);
  require(
      command.opd0.shape[1] == command.res0.shape[1],
      [&] {
        return fmt::format("{} and {} channels", command.opd0.shape[1], command.res0.shape[1]);
      },
      "as many");
  checkBias(command);
  const bool isDepthwise = command.pool == PoolFunction::Depthwise;
  require(command.res0.layout == command.opd0.layout &&
              (command.res0.layout == Layout::Aligned ||
               (isDepthwise && command.res0.layout == Layout::Strides)),
          "input and result of a pool in other layouts",
          isDepthwise ? "both aligned, or both with strides" : "both aligned");
  requireLayout(command.opd1, "opd1", Layout::Aligned);
  require(command.opd2.layout != Layout::Strides, "opd2_layout=strides", "another");
  require(isDepthwise || !command.hasRelu, "relu on a pool", "none");
  require(isDepthwise || command.opd1.planeStride % kEuBytes == 0, "opd1_str_b at an odd place",
          "a multiple of 16");
  require(isDepthwise || (command.opd2.isSigned && command.opd0.isNarrow && command.opd1.isNarrow),
          "a pool with opd2_sign=0 or wide operands", "opd2_sign=1 and narrow ones");
  const bool isAverage = command.pool == PoolFunction::Average;
  require(isDepthwise || isAverage ||
              (command.shift == 0 && !command.hasRequant && !command.hasRelu),
          "a maximum or minimum that is scaled", "none");
  if (isDepthwise)
    require(command.opd1.isSigned && command.opd2.isSigned &&
                (command.res0.layout != Layout::Strides || command.res0.strides[0] % kEuBytes == 0),
            "filters without a sign, or images at odd places", "1, and multiples of 16 bytes");
  require(!isExtremeOf(command.pool) || command.numOperands == 1, "a maximum of two operands",
          "one");
  require(!isExtremeOf(command.pool) || command.res0.isSigned == command.opd0.isSigned,
          "a maximum or minimum with another sign than its input", "the same");
  if (isDepthwise)
    require(
        command.opd1.shape[0] == 1 && command.opd1.shape[1] == command.res0.shape[1],
        [&] {
          return fmt::format("{} filters of {} channels", command.opd1.shape[0],
                             command.opd1.shape[1]);
        },
        [&] { return fmt::format("one of {}", command.res0.shape[1]); });
  const bool isExtreme = isExtremeOf(command.pool);
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
  require(!command.isBf16 || command.insertValue == 0 || isExtreme || !hasPlacesBeside(command),
          "a value beside those of BF16", "0");
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
  require(
      command.opd1.shape[3] != 0 && command.opd1.shape[3] <= left[3],
      [&] { return fmt::format("a last piece of {} columns", command.opd1.shape[3]); },
      [&] { return fmt::format("1 to {}", left[3]); });
  require(
      command.opd1.shape[0] == columns,
      [&] { return fmt::format("{} rows of the right matrix", command.opd1.shape[0]); },
      [&] { return fmt::format("{}, the columns of the left one", columns); });
  require(
      command.res0.shape[0] == left[0],
      [&] { return fmt::format("{} rows", command.res0.shape[0]); },
      [&] { return fmt::format("{}", left[0]); });
  require(!command.opd0.isConst && !command.opd1.isConst, "a matrix that is an immediate",
          "local memory");
  requireLayout(command.res0, "res0", Layout::Aligned);
  requireLayout(command.opd0, "opd0", Layout::Aligned);
  requireLayout(command.opd1, "opd1", Layout::Aligned);
  requireLayout(command.opd2, "opd2", Layout::Aligned);
  require(left[2] == 1 && command.opd1.shape[2] == 1 && command.res0.shape[2] == 1,
          "a matrix with rows in rows", "an extent of 1 along h");
  require(command.opd0.isNarrow && command.opd1.isNarrow && !command.opd2.isNarrow,
          "planes of a matrix", "one of the operands, several of the bias");
  require(
      command.opd1.shape[1] == command.res0.shape[1],
      [&] { return fmt::format("{} pieces of {}", command.opd1.shape[1], command.res0.shape[1]); },
      "as many of the right matrix as of the result");
  const Extents &bias = command.opd2.shape;
  require(bias[0] == 1, [&] { return fmt::format("opd2_n={}", bias[0]); }, "1");
  const View result = viewOf(chip, 0, command.res0.shape, command.elementBytes(), Layout::Aligned);
  require((!command.addsPartial && !command.storesPartial) ||
              command.res0.planeStride == result.shape[0] * result.strides[0],
          "planes of partial sums that do not follow each other", "all rows of one, then the next");
  require(command.numOperands < 3 ||
              (command.opd2.planeStride != 0 && command.opd2.planeStride % kEuBytes == 0),
          "planes of a bias at odd places", "multiples of 16 bytes from 16 on");
  require(command.numOperands < 3 ||
              (bias[0] == 1 && bias[2] == 1 &&
               bias[1] * bias[3] == command.res0.shape[1] * command.res0.shape[3]),
          "a bias of another shape", "one row as long as the result's");
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
  checkShapes(command);
  const bool takesRelu = function == Function::Mul || function == Function::Mac ||
                         function == Function::Add || function == Function::Sub;
  require(takesRelu || !command.hasRelu, "relu on a comparison or a copy", "none");
  if (function == Function::Lookup)
    return checkLookup(command);
  requireLayout(command.res0, "res0", Layout::Strides);
  requireLayout(command.opd0, "opd0", Layout::Strides);
  requireLayout(command.opd1, "opd1", Layout::Strides);
  checkStrides(command);
  const unsigned wanted = function == Function::Copy ? 1 : 2;
  require(
      command.numOperands == wanted,
      [&] { return fmt::format("{} operands", command.numOperands); },
      [&] { return fmt::format("{}", wanted); });
  if (command.isBf16)
    return;
  const bool isWide = function == Function::Add || function == Function::Sub;
  const bool hasPlainSign =
      function == Function::Max || function == Function::Min || function == Function::GreaterEqual;
  require(!hasPlainSign || command.opd0.isSigned == command.opd1.isSigned,
          "operands of a comparison with other signs", "the same");
  require(!isWide || (!command.opd0.isNarrow && !command.opd1.isNarrow), "narrow operands of a sum",
          "two planes of each");
  require(function != Function::Shift || (!command.opd0.isNarrow && command.opd1.isNarrow),
          "a shift of narrow values, or by wide ones", "two planes, by one");
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
    require(
        amount >= -16 && amount <= 16, [&] { return fmt::format("a shift by {}", amount); },
        "-16 to 16");
  }
  if (function == Function::Shift)
    require(!command.roundsUp && command.res0.isSigned && command.opd0.isSigned &&
                command.opd1.isSigned,
            "a shift that rounds or has no sign", "round=0, and signs of all");
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

std::optional<Error> Checker::tiu(const Command &raw, const TiuCommand &command) {
  require(command.numOperands >= 1, "no operands", "1 to 3");
  checkUnused(raw, command);
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
    checkPartials(raw, command);
  // What the model makes of larger ones depends on where in a row a value lies.
  require(
      command.isBf16 || command.shift < 32,
      [&] { return fmt::format("a shift by {}", command.shift); }, "at most 31");
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
  require(
      lane < chip.lanes, [&] { return fmt::format("{} in lane {}", name, lane); },
      [&] { return fmt::format("a lane below {}", chip.lanes); });
  if (command.isGeneral) {
    const uint64_t end = side.address + command.src.strideN;
    require(
        end <= uint64_t{chip.lanes} * kLaneBytes,
        [&] { return fmt::format("{} up to byte {}", name, end); },
        [&] { return fmt::format("at most {}", uint64_t{chip.lanes} * kLaneBytes); });
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
      return require(
          false, [&] { return fmt::format("{} without elements", name); }, "extents of 1 and more");
  const uint64_t slot = (lane + shape[1] - 1) / chip.lanes;
  const uint64_t end = side.address % kLaneBytes + (shape[0] - 1) * side.strideN +
                       slot * side.strideC + (shape[2] - 1) * side.strideH +
                       uint64_t{shape[3]} * side.bytes;
  require(
      end <= kLaneBytes, [&] { return fmt::format("{} up to byte {} of its lanes", name, end); },
      [&] { return fmt::format("at most {}", kLaneBytes); });
}

/// Streams are moved as they lie in global memory; the engine's own have no biases.
void Checker::checkCompressed(const DmaCommand &command) {
  const bool loads = command.direction == Direction::Load;
  require(command.move == Move::Copy && (loads || command.direction == Direction::Store),
          "compressed values", "a load or a store");
  require(loads || command.srcBf16 == command.dstBf16, "a conversion before compression",
          "one type");
  require(loads || !command.isMatrix, "a compressed store of a matrix", "a tensor");
  require(!command.isMatrix || command.srcBf16 == command.dstBf16,
          "a matrix that is converted while it is unpacked", "one type");
  require((!command.srcBf16 && !command.dstBf16) || !command.compressSigned,
          "compress_signed=1 of BF16", "0");
  require(!command.srcBf16 || command.dstBf16, "BF16 that becomes int8 while it is unpacked",
          "BF16");
  require(
      loads || (command.bias0 == (command.srcBf16 ? 127 : 0) && command.bias1 == 0 &&
                (command.srcBf16 || !command.zeroGuard)),
      [&] { return fmt::format("biases of {} and {}", command.bias0, command.bias1); },
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
    require(command.srcBf16 == command.dstBf16 || command.srcBf16 != loads,
            "a matrix that is converted in the other direction", "BF16 in local memory");
    const Extents &whole = loads ? src : dst;
    const Extents &pieces = loads ? dst : src;
    const uint64_t columns = whole[3];
    require(
        src[0] == whole[1] && src[2] == 1 && dst[2] == 1,
        [&] { return fmt::format("{} rows of pieces with {} rows each", src[0], src[2]); },
        [&] { return fmt::format("{} rows of one", whole[1]); });
    require(
        whole[1] != 0 && columns != 0 && pieces[3] != 0 &&
            columns <= uint64_t{pieces[1]} * pieces[3] &&
            columns > (uint64_t{pieces[1]} - 1) * pieces[3],
        [&] { return fmt::format("{} columns", columns); },
        [&] { return fmt::format("as many as {} pieces of {} take", pieces[1], pieces[3]); });
    return;
  }
  const uint64_t moved = count(dst);
  require(
      moved != 0 && moved <= kMost, [&] { return fmt::format("{} elements", moved); }, "1 to 2^32");
  if (command.move == Move::Fill)
    return require(command.srcBf16 == command.dstBf16, "a number of another type", "one type");
  require(
      count(src) == moved, [&] { return fmt::format("{} elements for {}", count(src), moved); },
      "as many");
}

/// Other transposes than that of n and c move bytes only, each in one direction.
void Checker::checkTranspose(const DmaCommand &command) {
  const Extents &src = command.src.shape;
  const Extents &dst = command.dst.shape;
  if (command.move != Move::Transpose)
    return require(
        command.transpose == Transpose::NC,
        [&] {
          return fmt::format("transpose_mode={} of a copy",
                             static_cast<unsigned>(command.transpose));
        },
        "0");
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
              command.dst.strideN % kEuBytes == 0 && command.dst.address % kEuBytes == 0,
          "packed pixels", [&] {
            return fmt::format("a load of {} channels with dense rows and aligned channels",
                               channels);
          });
}

std::optional<Error> Checker::dma(const Command &raw, const DmaCommand &command) {
  requireUnused(raw, {Field::Valid});
  if (command.isGeneral) {
    require(!command.isMatrix && command.move == Move::Copy && !command.isCompressed,
            "a linear copy that changes something", "none");
    require(command.srcBf16 == command.dstBf16, "a linear copy that converts", "one type");
    require(command.direction != Direction::Local, "a linear copy in local memory",
            "one from or to global memory");
    checkSide(command, command.src, "src");
    checkSide(command, command.dst, "dst");
    return problem;
  }
  checkTranspose(command);
  for (const DmaCommand::Side *side : {&command.src, &command.dst})
    require(!side->isLocal || side->bytes != 2 ||
                (side->strideN % 2 == 0 && side->strideC % 2 == 0 && side->strideH % 2 == 0),
            "odd strides of BF16 in local memory", "even ones");
  require(!command.lutIndex || !command.lutBase, "index and base of a table at once",
          "one of them");
  // What the engine stores of BF16 may be bytes, and what it loads of bytes BF16.
  const bool leaves = command.direction == Direction::Store;
  require(command.srcBf16 == command.dstBf16 ||
              (command.move == Move::Copy && command.direction != Direction::Global &&
               (command.direction == Direction::Local || command.srcBf16 == leaves)),
          "a conversion in this direction", "bytes in global memory, BF16 in lanes");
  require(command.move == Move::Copy || command.direction == Direction::Load || leaves,
          "a fill or a transpose within a memory", "a load or a store");
  const bool converts = command.direction == Direction::Local && command.srcBf16 != command.dstBf16;
  if (command.lutIndex || command.lutBase || converts) {
    const auto endOf = [&](const DmaCommand::Side &side) {
      const uint64_t slots = (side.address / kLaneBytes + side.shape[1] - 1) / chip.lanes;
      return side.address % kLaneBytes + (side.shape[0] - 1) * side.strideN + slots * side.strideC +
             (side.shape[2] - 1) * side.strideH + uint64_t{side.shape[3]} * side.bytes;
    };
    require(endOf(command.src) <= command.dst.address % kLaneBytes ||
                endOf(command.dst) <= command.src.address % kLaneBytes,
            "converted values over what they are made of", "another place");
  }
  if (command.lutIndex || command.lutBase || command.move == Move::Transpose) {
    const DmaCommand::Side &to = command.dst;
    const uint64_t slots = to.isLocal ? (to.shape[1] + chip.lanes - 1) / chip.lanes : to.shape[1];
    const uint64_t row = uint64_t{to.shape[3]} * to.bytes;
    const uint64_t channel = to.shape[2] == 1 ? row : to.strideH * to.shape[2];
    const uint64_t image = slots == 1 ? channel : to.strideC * slots;
    require((to.shape[2] == 1 || to.strideH >= row) && (slots == 1 || to.strideC >= channel) &&
                (to.shape[0] == 1 || to.strideN >= image) && to.address % to.bytes == 0,
            "values that lie on each other, or at an odd byte", "a place for each");
  }
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
  return command.engine() == Engine::Tiu ? checker.tiu(command, readTiu(chip, command))
                                         : checker.dma(command, readDma(chip, command));
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
