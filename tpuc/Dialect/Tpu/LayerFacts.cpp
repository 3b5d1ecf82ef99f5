//===- LayerFacts.cpp - What passes say about layers ----------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/LayerFacts.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include "mlir/IR/BuiltinTypes.h"

#include "tpuc/Dialect/Tpu/LayerFacts.cpp.inc"

using namespace mlir;
using namespace tpuc;

/// An attribute that `op` has, by the interface that declares it; null for other ops.
template <typename Interface, typename Attribute>
static Attribute factOf(Operation *op, Attribute (Interface::*get)()) {
  auto known = dyn_cast<Interface>(op);
  return known ? (known.*get)() : Attribute();
}

static std::optional<int64_t> numberOf(IntegerAttr attribute) {
  return attribute ? std::optional(attribute.getInt()) : std::nullopt;
}

//===--- Sub-networks -----------------------------------------------------===//

bool tpu::isSubNetMode(StringAttr mode) {
  return mode.getValue() == kOnTpu || mode.getValue() == kOnCpu;
}

int64_t tpu::subNetOf(Operation *op) {
  return numberOf(factOf(op, &SubNetInterface::getSubnetIdAttr)).value_or(0);
}

LogicalResult tpu::verifySubNet(Operation *op) {
  auto layer = cast<SubNetInterface>(op);
  const StringAttr mode = layer.getSubnetModeAttr();
  if (!layer.getSubnetIdAttr() != !mode)
    return op->emitOpError("has only one of subnet_id and subnet_mode; expected both or none");
  if (layer.getSubnetReasonAttr() && (!mode || mode.getValue() != kOnCpu))
    return op->emitOpError("has a subnet_reason; expected it on layers of the CPU only");
  return success();
}

//===--- Groups -----------------------------------------------------------===//

ArrayRef<tpu::GroupNumber> tpu::groupNumbers() {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
  static constexpr GroupNumber kNumbers[] = {
      {"out_addr"},       {"out_size"},      {"buffers", 1},
      {"buffer_addr"},    {"buffer_size"},   {"id"},
      {"stage", 0, 2},    {"step", kAny},    {"first_step", kAny},
      {"eu_align", 0, 1}, {"resident", 0, 1}};
  return kNumbers;
}

std::string tpu::sectionBegins(StringRef axis) { return (axis + "_idx").str(); }
std::string tpu::sectionSizes(StringRef axis) { return (axis + "_slice").str(); }

/// The numbers of an array of 64-bit integers; none if it is another attribute.
static std::optional<SmallVector<int64_t>> numbersOf(Attribute attribute) {
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!array || !llvm::all_of(array, [](Attribute each) {
        auto number = dyn_cast<IntegerAttr>(each);
        return number && number.getType().isSignlessInteger(64);
      }))
    return std::nullopt;
  return llvm::map_to_vector(array.getAsRange<IntegerAttr>(),
                             [](IntegerAttr each) { return each.getInt(); });
}

static LogicalResult verifyGroupNumber(Operation *op, DictionaryAttr info,
                                       const tpu::GroupNumber &expected) {
  auto number = info.getAs<IntegerAttr>(expected.name);
  if (!number || !number.getType().isSignlessInteger(64))
    return op->emitOpError("ginfo has no number ") << expected.name;
  if (number.getInt() >= expected.least && number.getInt() <= expected.most)
    return success();
  InFlightDiagnostic error = op->emitOpError("ginfo has ")
                             << expected.name << " = " << number.getInt() << "; expected ";
  if (expected.most == std::numeric_limits<int64_t>::max())
    return error << "at least " << expected.least;
  return error << expected.least << " to " << expected.most;
}

static LogicalResult verifySections(Operation *op, DictionaryAttr info, StringRef axis) {
  const auto begins = numbersOf(info.get(tpu::sectionBegins(axis)));
  const auto sizes = numbersOf(info.get(tpu::sectionSizes(axis)));
  if (!begins || !sizes || begins->empty() || begins->size() != sizes->size())
    return op->emitOpError("ginfo has no sections along ")
           << axis << "; expected as many in " << tpu::sectionBegins(axis) << " as in "
           << tpu::sectionSizes(axis) << ", at least 1";
  if (begins->front() < 0 || !llvm::is_sorted(*begins))
    return op->emitOpError("ginfo has sections along ")
           << axis << " out of order; expected " << tpu::sectionBegins(axis) << " to ascend from 0";
  if (llvm::any_of(*sizes, [](int64_t size) { return size < 1; }))
    return op->emitOpError("ginfo has an empty section along ")
           << axis << "; expected each of " << tpu::sectionSizes(axis) << " to be at least 1";
  return success();
}

static LogicalResult verifyPartSteps(Operation *op, Attribute attribute) {
  const auto steps = numbersOf(attribute);
  if (!isa<tpu::ConcatOp>(op))
    return op->emitOpError("ginfo has part_steps; expected them on tpu.Concat only");
  if (!steps || steps->size() != op->getNumOperands())
    return op->emitOpError("ginfo has other part_steps than one for each of the ")
           << op->getNumOperands() << " operands";
  for (int64_t step : *steps)
    if (step < -1)
      return op->emitOpError("ginfo has ") << step << " in part_steps; expected at least -1";
  return success();
}

LogicalResult tpu::verifyTiles(Operation *op) {
  const DictionaryAttr info = cast<TiledInterface>(op).getGinfoAttr();
  if (!info)
    return success();
  if (!isa_and_nonnull<GroupOp>(op->getParentOp()))
    return op->emitOpError("has ginfo; expected it in the body of a tpu.Group only");
  for (const GroupNumber &number : groupNumbers())
    if (failed(verifyGroupNumber(op, info, number)))
      return failure();
  for (StringRef axis : kGroupAxes)
    if (failed(verifySections(op, info, axis)))
      return failure();
  const Attribute parts = info.get(kPartSteps);
  if (parts && failed(verifyPartSteps(op, parts)))
    return failure();
  const Attribute order = info.get(kChannelsInnermost);
  if (order && !isa<UnitAttr>(order))
    return op->emitOpError("ginfo has a value of ") << kChannelsInnermost << "; expected none";
  // All that must be there is: what else there is, nobody reads.
  if (info.size() !=
      groupNumbers().size() + 2 * std::size(kGroupAxes) + (parts ? 1 : 0) + (order ? 1 : 0))
    return op->emitOpError("ginfo has entries that nobody knows; expected those of tpu.Group");
  return success();
}

LogicalResult tpu::verifySchedule(Operation *op) {
  auto item = cast<ScheduledInterface>(op);
  if (item.getPoolTimesAttr() && !item.getTimeAttr())
    return op->emitOpError("has pool_times without time; expected both");
  return success();
}

//===--- How tensors lie --------------------------------------------------===//

bool tpu::readsPixelRow(Operation *op) {
  auto layer = dyn_cast<PixelRowInterface>(op);
  return layer && layer.getFromRow();
}

bool tpu::givesPixelRow(Operation *op) {
  auto layer = dyn_cast<PixelRowInterface>(op);
  return layer && layer.getInRow();
}

std::optional<int64_t> tpu::storedRows(Operation *op) {
  return numberOf(factOf(op, &StoredRowsInterface::getStoredRowsAttr));
}

std::optional<int64_t> tpu::storedTurned(Operation *op) {
  return numberOf(factOf(op, &StoredTurnedInterface::getStoredTurnedAttr));
}

/// Whether a tensor [n, c, ...] has one pixel, of one image.
static bool isOnePixel(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() > 1 &&
         tensor.getNumElements() == tensor.getDimSize(1);
}

LogicalResult tpu::verifyPixelRows(Operation *op) {
  if (readsPixelRow(op) && !isOnePixel(op->getOperand(0).getType()))
    return op->emitOpError("has from_row, but reads ")
           << op->getOperand(0).getType() << "; expected one pixel";
  if (givesPixelRow(op) && !isOnePixel(op->getResult(0).getType()))
    return op->emitOpError("has in_row, but gives ")
           << op->getResult(0).getType() << "; expected one pixel";
  return success();
}

/// The ops that read `value`, through what stores it in a group and gives it behind.
static void addReaders(Value value, SmallVectorImpl<Operation *> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tpu::StoreOp>(user) && user->getNumResults() == 1)
      addReaders(user->getResult(0), readers);
    else if (auto group = isa<tpu::YieldOp>(user) ? dyn_cast<tpu::GroupOp>(user->getParentOp())
                                                  : tpu::GroupOp())
      addReaders(group->getResult(use.getOperandNumber()), readers);
    else
      readers.push_back(user);
  }
}

/// The op that makes `value`, through groups that it is stored in; null for an argument.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto group = dyn_cast_or_null<tpu::GroupOp>(op)) {
    const auto number = cast<OpResult>(value).getResultNumber();
    return makerOf(group.getBody().front().getTerminator()->getOperand(number));
  }
  return isa_and_nonnull<tpu::StoreOp>(op) ? makerOf(op->getOperand(0)) : op;
}

/// An error unless `count` divides the channels of the result [n, c, ...] of `op`.
static LogicalResult verifyDivides(Operation *op, StringRef name, int64_t count) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (type && type.hasStaticShape() && type.getRank() > 1 && type.getDimSize(1) % count == 0)
    return success();
  return op->emitOpError() << name << " is " << count << ", which does not divide the channels of "
                           << op->getResult(0).getType();
}

LogicalResult tpu::verifyStoredRows(Operation *op) {
  const std::optional<int64_t> rows = storedRows(op);
  if (!rows)
    return success();
  if (failed(verifyDivides(op, "stored_rows", *rows)))
    return failure();
  SmallVector<Operation *> readers;
  addReaders(op->getResult(0), readers);
  // Readers are checked later than what they read: their attributes may be missing.
  for (Operation *reader : readers)
    if (!isa<UnpackRowsOp>(reader) || numberOf(reader->getAttrOfType<IntegerAttr>("rows")) != *rows)
      return op->emitOpError("has stored_rows = ")
             << *rows << ", but " << reader->getName()
             << " reads it; expected tpu.UnpackRows of as many rows only";
  return success();
}

LogicalResult tpu::verifyStoredTurned(Operation *op) {
  const std::optional<int64_t> groups = storedTurned(op);
  if (!groups)
    return success();
  const bool isConvolution = isa<ConvOp, DeconvOp>(op);
  if (isConvolution && failed(verifyDivides(op, "stored_turned", *groups)))
    return failure();
  if (!isConvolution) {
    Operation *maker = makerOf(op->getOperand(0));
    // Rows are put below each other by the same transfer.
    if (auto rows = dyn_cast_or_null<UnpackRowsOp>(maker))
      maker = makerOf(rows.getInput());
    if (!maker || isa<PermuteOp>(maker) || storedTurned(maker) != groups)
      return op->emitOpError("has stored_turned = ")
             << *groups << ", but reads what is stored in another order";
  }
  if (isa<PermuteOp>(op))
    return success();
  SmallVector<Operation *> readers;
  addReaders(op->getResult(0), readers);
  if (storedRows(op))
    for (Operation *rows : std::exchange(readers, {}))
      addReaders(rows->getResult(0), readers);
  for (Operation *reader : readers)
    if (!isa<PermuteOp, ReshapeOp>(reader) || storedTurned(reader) != groups)
      return op->emitOpError("has stored_turned = ")
             << *groups << ", but " << reader->getName()
             << " reads it; expected the tpu.Permute, or a tpu.Reshape in front of it, only";
  return success();
}
