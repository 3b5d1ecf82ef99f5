//===- LayerCycles.h - What each layer of a network takes --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_LAYERCYCLES_H
#define TPUC_DRIVER_LAYERCYCLES_H

#include "tpuc/Driver/ModelFileCheck.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace tpuc {

/// The names of the layers of `main`.
std::set<std::string> layerNames(mlir::func::FuncOp main);

/// To which layer of a network the cycles of a model file belong, each by its busier engine. A
/// layer of the file that has no name of the network belongs to the one that its name begins with.
class LayerCycles {
public:
  /// Without a file, which is null, everything takes 0.
  LayerCycles(mlir::func::FuncOp main, const ModelFileReport *file);

  int64_t of(mlir::Operation *op) const;
  /// Without its transfers.
  int64_t computeOf(mlir::Operation *op) const;
  /// Of all layers, those that belong to none of the network's too.
  int64_t total() const { return all; }

private:
  std::map<std::string, int64_t> sums, computeSums;
  int64_t all = 0;
};

} // namespace tpuc

#endif // TPUC_DRIVER_LAYERCYCLES_H
