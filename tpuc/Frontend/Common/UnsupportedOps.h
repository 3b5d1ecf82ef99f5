//===- UnsupportedOps.h - The ops of a model that cannot be imported - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_COMMON_UNSUPPORTEDOPS_H
#define TPUC_FRONTEND_COMMON_UNSUPPORTEDOPS_H

#include "tpuc/Support/Error.h"

#include <map>
#include <vector>

namespace tpuc::frontend {

/// Collects what a model has and the importer has not, so that nobody has to find one after the
/// other.
class UnsupportedOps {
public:
  /// `layer` says which one it is: `node 'conv1' (Conv)`.
  void add(const std::string &op, std::string layer) { layers[op].push_back(std::move(layer)); }

  /// An error about `where` that lists each operator with its first layers, unless there is none.
  Expected<void> check(const std::string &where) const;

private:
  std::map<std::string, std::vector<std::string>> layers;
};

} // namespace tpuc::frontend

#endif // TPUC_FRONTEND_COMMON_UNSUPPORTEDOPS_H
