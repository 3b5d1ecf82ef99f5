//===- QuantizeTable.h - Layers that are to be in another precision ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_QUANTIZETABLE_H
#define TPUC_CONVERSION_TOPTOTPU_QUANTIZETABLE_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/QuantScheme.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tpuc {

/// The text file of `--quantize_table`: a line NAME MODE for each layer that is not to be in the
/// network's scheme, NAME as in a calibration table; lines from # on are comments.
struct QuantizeTable {
  struct Entry {
    std::string name;
    /// Without zero points: where those are is the network's business.
    QuantScheme mode;
    int64_t line;
  };
  std::vector<Entry> entries;

  /// Errors name `path` and the line: fields that are missing or too many, a mode that there is
  /// not, a name that stands twice with different modes.
  static Expected<QuantizeTable> read(const std::string &path);
  static Expected<QuantizeTable> parse(std::string_view text, const std::string &path);

  /// The modes by name, without those of `inputs`. Errors name `path` and the line: what is among
  /// neither `names` nor `inputs`.
  Expected<std::map<std::string, QuantScheme>> modes(const std::vector<std::string> &names,
                                                     const std::set<std::string> &inputs,
                                                     const std::string &path) const;
};

/// A line of such a table.
std::string quantizeTableLine(const std::string &name, const QuantScheme &mode);

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_QUANTIZETABLE_H
