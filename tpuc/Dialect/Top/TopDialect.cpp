//===- TopDialect.cpp - The top dialect -----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Support/Folders.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "tpuc/Dialect/Top/TopDialect.cpp.inc"
#include "tpuc/Dialect/Top/TopFamilies.inc"

using namespace tpuc;
using namespace tpuc::top;

Expected<std::shared_ptr<WeightStore>> TopDialect::weights(mlir::ModuleOp module) {
  // A module may lie in another, as sub-networks do: the outermost that names a file counts.
  mlir::StringAttr file;
  mlir::StringAttr digest;
  for (mlir::Operation *op = module; op; op = op->getParentOp())
    if (auto attribute = op->getAttrOfType<mlir::StringAttr>("module.weight_file")) {
      file = attribute;
      digest = op->getAttrOfType<mlir::StringAttr>(kWeightDigest);
    }
  llvm::StringRef name = file ? file.getValue() : "";
  std::lock_guard lock(mutex);
  std::shared_ptr<WeightStore> &store = stores[name];
  if (store)
    return store;
  if (name.empty()) {
    store = std::make_shared<WeightStore>();
    return store;
  }
  if (mustLieBelow && !isBelow(name.str(), weightFolder))
    return makeError("module.weight_file",
                     "'" + name.str() + "' is outside the folder of the module",
                     "a file in it, or --allow_outside");
  llvm::SmallString<256> path(name);
  if (llvm::sys::path::is_relative(name) && !weightFolder.empty()) {
    llvm::SmallString<256> beside(weightFolder);
    llvm::sys::path::append(beside, name);
    // Where there is neither, the one beside the module is what is missing.
    if (mustLieBelow || llvm::sys::fs::exists(beside) || !llvm::sys::fs::exists(name))
      path = beside;
  }
  Expected<std::shared_ptr<WeightStore>> opened =
      WeightStore::open(path.str().str(), digest ? digest.getValue() : "");
  if (!opened)
    return propagate(opened);
  store = *opened;
  return store;
}

void TopDialect::setWeights(llvm::StringRef file, std::shared_ptr<WeightStore> store) {
  std::lock_guard lock(mutex);
  stores[file] = std::move(store);
}

void TopDialect::setWeightFolder(llvm::StringRef folder, bool mustLieBelow) {
  std::lock_guard lock(mutex);
  weightFolder = folder.str();
  this->mustLieBelow = mustLieBelow;
}
