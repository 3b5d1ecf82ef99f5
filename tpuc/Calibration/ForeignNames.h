//===- ForeignNames.h - What another compiler calls a network's tensors -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_FOREIGNNAMES_H
#define TPUC_CALIBRATION_FOREIGNNAMES_H

#include "tpuc/Calibration/CalibrationTable.h"

#include <unordered_map>

namespace tpuc {

/// A tensor of another compiler's module.
struct ForeignTensor {
  std::string name;
  /// Its type as the module states it, such as `tensor<1x8x4x4xf32>`; empty where its op makes
  /// several.
  std::string type;
  /// The tensor whose elements are moved to it, by an op that does nothing else; empty of others.
  std::string movedFrom = {};
};

/// The tensors that the ops of another compiler's Top module make, in their order, each name once;
/// weights are not among them. `text` is MLIR in its generic form with locations, as the public
/// TPU-MLIR writes it. Only that is read of it which stands on the line of an op: its name in
/// quotes, its first operand, the type behind its last arrow, and its location, in place or by an
/// alias (`#loc4 = loc("122_Conv")`), of one name or fused of several. Errors name `path`: no op
/// with a name.
Expected<std::vector<ForeignTensor>> readForeignNames(std::string_view text,
                                                      const std::string &path);
/// The same of a file.
Expected<std::vector<ForeignTensor>> readForeignNames(const std::string &path);

/// Gives the entries of `table` the names that another compiler has for the same tensors, in its
/// order. `122_Conv` is the tensor `122`, where the table has no `122_Conv`. Compilers that fold a
/// norm into a convolution may name the result after either. So tensors without an entry get those
/// that lie between the same neighbours, where as many without a name lie there, and `types` (of
/// the entries, by their names) has the same types in the same order.
///
/// What still has none and is moved from another tensor takes over the entry of that.
///
/// Entries for tensors that it does not have go. Gives a note about names without an entry and
/// entries without a name, or nothing. Errors name `path`: none of the names is that of an entry.
Expected<std::string> renameEntries(CalibrationTable &table, std::span<const ForeignTensor> tensors,
                                    const std::unordered_map<std::string, std::string> &types,
                                    const std::string &path);

} // namespace tpuc

#endif // TPUC_CALIBRATION_FOREIGNNAMES_H
