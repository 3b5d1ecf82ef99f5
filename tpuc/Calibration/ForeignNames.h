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

namespace tpuc {

/// The names of the tensors that the ops of another compiler's Top module make, in their order,
/// each once; weights are not among them. `text` is MLIR in its generic form with locations, as the
/// public TPU-MLIR writes it. Only that is read of it which stands on the line of an op: its name
/// in quotes, and its location, in place or by an alias (`#loc4 = loc("122_Conv")`), of one name or
/// fused of several. Errors name `path`: no op with a name.
Expected<std::vector<std::string>> readForeignNames(std::string_view text, const std::string &path);
/// The same of a file.
Expected<std::vector<std::string>> readForeignNames(const std::string &path);

/// Gives the entries of `table` the names that another compiler has for the same tensors, in its
/// order. `122_Conv` is the tensor `122`, where the table has no `122_Conv`. Entries for tensors
/// that it does not have go. Gives a note about names without an entry and entries without a name,
/// or nothing. Errors name `path`: none of the names is that of an entry.
Expected<std::string> renameEntries(CalibrationTable &table, std::span<const std::string> names,
                                    const std::string &path);

} // namespace tpuc

#endif // TPUC_CALIBRATION_FOREIGNNAMES_H
