//===- Diagnostics.cpp - MLIR's diagnostics as errors of one line ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/Diagnostics.h"

#include "mlir/IR/Location.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;

/// `m.mlir:3:10` for a place in a text, `layer 'conv1'` for an op of a network.
static std::string describe(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return fmt::format("{}:{}:{}", place.getFilename().str(), place.getLine(), place.getColumn());
  if (auto name = location->findInstanceOf<NameLoc>())
    return fmt::format("layer '{}'", name.getName().str());
  return "module";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !first)
          first = Error{describe(diagnostic.getLocation()), diagnostic.str(), ""};
        if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
          noted.push_back(diagnostic.str());
        return success();
      }) {}

tl::unexpected<Error> DiagnosticCollector::error(std::string where, std::string found,
                                                 std::string expected) const {
  if (first)
    return tl::unexpected<Error>(*first);
  return makeError(std::move(where), std::move(found), std::move(expected));
}
