//===- Passes.cpp - What only BM1684X gains by ------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XBackend.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

ArrayRef<OptionalPass> ownPasses() {
  static constexpr OptionalPass kPasses[] = {
      {Stage::Divide, [] { return createMergeGroups(); }},
      {Stage::Divide, [] { return createGemvToConv(); }},
      // What a table takes counts where rows become channels.
      {Stage::Refine, [] { return createLutToArith(); }},
      {Stage::Refine, [] { return createPackRows(); }},
      {Stage::Refine, [] { return createFoldTransposeIntoStore(); }},
  };
  return kPasses;
}

LogicalResult checkChip(ModuleOp module, StringRef pass) {
  const std::unique_ptr<Backend> backend = backendOrEmit(module);
  if (!backend)
    return failure();
  const std::string_view chip = backend->info().name;
  if (chip != kChipName)
    return module.emitError() << "--" << pass << ": module.chip " << StringRef(chip)
                              << "; expected " << StringRef(kChipName);
  return success();
}

} // namespace tpuc::bm1684x::backend
