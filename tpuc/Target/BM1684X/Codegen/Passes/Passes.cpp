//===- Passes.cpp - What only BM1684X gains by ------------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XBackend.h"

namespace tpuc::bm1684x::backend {
#define GEN_PASS_DEF_SUMSTOCONV
#define GEN_PASS_DEF_MERGEGROUPS
#define GEN_PASS_DEF_GEMVTOCONV
#define GEN_PASS_DEF_LUTTOARITH
#define GEN_PASS_DEF_PACKROWS
#define GEN_PASS_DEF_TRANSPOSEINGROUPS
#define GEN_PASS_DEF_FOLDTRANSPOSEINTOSTORE
#define GEN_PASS_DEF_GATHERROWS
#define GEN_PASS_DEF_PERMUTEBYTRANSPOSES
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h.inc"
} // namespace tpuc::bm1684x::backend

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

namespace {

/// A pass of this folder. Base is what TableGen writes for it. Modules for other chips are refused,
/// and what `rewrite` finds wrong is said at the module.
template <template <typename> typename Base, Expected<void> (*rewrite)(ModuleOp, const Backend &)>
struct OwnPass : Base<OwnPass<Base, rewrite>> {
  void runOnOperation() override {
    if (failed(run(this->getOperation())))
      this->signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    const std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return failure();
    if (const StringRef chip = backend->info().name; chip != StringRef(kChipName))
      return module.emitError() << "--" << this->getArgument() << ": module.chip " << chip
                                << "; expected " << StringRef(kChipName);
    if (Expected<void> done = rewrite(module, *backend); !done)
      return module.emitError(done.error().message());
    return success();
  }
};

template struct OwnPass<impl::SumsToConvBase, sumsToConv>;
template struct OwnPass<impl::MergeGroupsBase, mergeGroups>;
template struct OwnPass<impl::GemvToConvBase, gemvToConv>;
template struct OwnPass<impl::LutToArithBase, lutToArith>;
template struct OwnPass<impl::PackRowsBase, packRows>;
template struct OwnPass<impl::TransposeInGroupsBase, transposeInGroups>;
template struct OwnPass<impl::FoldTransposeIntoStoreBase, foldTransposeIntoStore>;
template struct OwnPass<impl::GatherRowsBase, gatherRows>;
template struct OwnPass<impl::PermuteByTransposesBase, permuteByTransposes>;

} // namespace

ArrayRef<OptionalPass> ownPasses() {
  static constexpr OptionalPass kPasses[] = {
      {Stage::Divide, [] { return createSumsToConv(); }},
      {Stage::Divide, [] { return createMergeGroups(); }},
      {Stage::Divide, [] { return createGemvToConv(); }},
      // What a table takes counts where rows become channels.
      {Stage::Refine, [] { return createLutToArith(); }},
      {Stage::Refine, [] { return createPackRows(); }},
      {Stage::Refine, [] { return createTransposeInGroups(); }},
      {Stage::Refine, [] { return createFoldTransposeIntoStore(); }},
      // What a store permutes costs nothing.
      {Stage::Refine, [] { return createGatherRows(); }},
      {Stage::Refine, [] { return createPermuteByTransposes(); }},
  };
  return kPasses;
}

} // namespace tpuc::bm1684x::backend
