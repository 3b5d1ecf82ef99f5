//===- Diagnostics.h - MLIR's diagnostics as errors of one line -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_DIAGNOSTICS_H
#define TPUC_DRIVER_DIAGNOSTICS_H

#include "tpuc/Support/Error.h"

#include "mlir/IR/Diagnostics.h"
#include <optional>
#include <string>
#include <vector>

namespace tpuc {

/// While it lives, keeps the first error and the remarks that are reported in `context`, and prints
/// nothing.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  /// What was reported, at its place: a layer or a line of a file; without a report, what the
  /// arguments say.
  tl::unexpected<Error> error(std::string where, std::string found,
                              std::string expected = "") const;

  /// What was remarked, in its order.
  const std::vector<std::string> &remarks() const { return noted; }

private:
  std::optional<Error> first;
  std::vector<std::string> noted;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tpuc

#endif // TPUC_DRIVER_DIAGNOSTICS_H
