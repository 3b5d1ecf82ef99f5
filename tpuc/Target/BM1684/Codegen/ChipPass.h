//===- ChipPass.h - A pass over modules for the BM1684 -------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_CHIPPASS_H
#define TPUC_TARGET_BM1684_CODEGEN_CHIPPASS_H

#include "tpuc/Codegen/Backends.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Target/BM1684/Codegen/BM1684Backend.h"

namespace tpuc::bm1684::backend {

/// What `Derived::rewrite(module, backend)` does, for modules of this chip alone.
template <typename Derived>
struct ChipPass : mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<top::TopDialect, tpu::TpuDialect>();
  }
  void runOnOperation() override {
    if (mlir::failed(run(this->getOperation())))
      this->signalPassFailure();
  }

private:
  mlir::LogicalResult run(mlir::ModuleOp module) {
    const std::unique_ptr<codegen::Backend> backend = codegen::backendOrEmit(module);
    if (!backend)
      return mlir::failure();
    if (const llvm::StringRef chip = backend->info().name; chip != llvm::StringRef(kChipName))
      return module.emitError() << "--" << this->getArgument() << ": module.chip " << chip
                                << "; expected " << llvm::StringRef(kChipName);
    if (Expected<void> done = Derived::rewrite(module, *backend); !done)
      return module.emitError(done.error().message());
    return mlir::success();
  }
};

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_CHIPPASS_H
