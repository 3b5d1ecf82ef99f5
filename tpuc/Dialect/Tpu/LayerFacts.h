//===- LayerFacts.h - What passes say about layers ----------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interfaces of LayerFacts.td, what checks them, and questions to ops of any kind.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_LAYERFACTS_H
#define TPUC_DIALECT_TPU_LAYERFACTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace tpuc::tpu {

/// The names of attributes, where lists of them are made and for messages.
inline constexpr llvm::StringLiteral kSubNetId = "subnet_id";
inline constexpr llvm::StringLiteral kSubNetMode = "subnet_mode";
inline constexpr llvm::StringLiteral kSubNetReason = "subnet_reason";
inline constexpr llvm::StringLiteral kGroupInfo = "ginfo";
inline constexpr llvm::StringLiteral kTime = "time";
inline constexpr llvm::StringLiteral kPoolTimes = "pool_times";
inline constexpr llvm::StringLiteral kFromRow = "from_row";
inline constexpr llvm::StringLiteral kInRow = "in_row";
inline constexpr llvm::StringLiteral kLutSteps = "steps";

/// The values of `subnet_mode`.
inline constexpr llvm::StringLiteral kOnTpu = "TPU";
inline constexpr llvm::StringLiteral kOnCpu = "CPU";

/// An entry of `ginfo` that is one number, and which numbers it may be.
struct GroupNumber {
  llvm::StringLiteral name;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};
/// All of them.
llvm::ArrayRef<GroupNumber> groupNumbers();
/// The entry of `ginfo` for the parts of a concatenation.
inline constexpr llvm::StringLiteral kPartSteps = "part_steps";
/// That for slices of c which follow each other, where it is there.
inline constexpr llvm::StringLiteral kChannelsInnermost = "c_inner";
/// The names of the axes that ops are cut along, and the entries of `ginfo` for such an axis: where
/// its sections begin, and how long they are.
inline constexpr llvm::StringLiteral kGroupAxes[] = {"n", "c", "d", "h", "w"};
std::string sectionBegins(llvm::StringRef axis);
std::string sectionSizes(llvm::StringRef axis);

/// How many numbers `tpu.Lut` has for each of its steps.
inline constexpr size_t kLutStepNumbers = 10;

bool isSubNetMode(mlir::StringAttr mode);

/// Errors of `op` unless what the attributes of an interface say is possible.
llvm::LogicalResult verifySubNet(mlir::Operation *op);
llvm::LogicalResult verifyTiles(mlir::Operation *op);
llvm::LogicalResult verifySchedule(mlir::Operation *op);
llvm::LogicalResult verifyPixelRows(mlir::Operation *op);
llvm::LogicalResult verifyStoredRows(mlir::Operation *op);
llvm::LogicalResult verifyStoredTurned(mlir::Operation *op);

/// The number of the sub-network that `op` is a layer of; 0 where it does not say one.
int64_t subNetOf(mlir::Operation *op);
/// Whether the first operand, or the result, of `op` is one pixel that lies as a row.
bool readsPixelRow(mlir::Operation *op);
bool givesPixelRow(mlir::Operation *op);
/// How many rows `op` stores below each other that are channels of its result; none: it has none.
std::optional<int64_t> storedRows(mlir::Operation *op);
/// How many groups of channels are turned where the result of `op` is stored; none: it is not.
std::optional<int64_t> storedTurned(mlir::Operation *op);

} // namespace tpuc::tpu

#include "tpuc/Dialect/Tpu/LayerFacts.h.inc"

#endif // TPUC_DIALECT_TPU_LAYERFACTS_H
