//===- JitModule.h - A lowered module, compiled and callable ------------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_QUANT_JITMODULE_H
#define UNITTESTS_QUANT_JITMODULE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tpuc::test {

/// A module whose functions take and give one tensor<?xT>, lowered through --lower-quant-ops and
/// MLIR's own passes to machine code.
class JitModule {
public:
  /// Null if a step fails; the reason is on stderr.
  static std::unique_ptr<JitModule> compile(llvm::StringRef source, bool saturate);

  /// Calls `function` on `numElements` elements, the bytes of `input`; the result has as many
  /// elements of `resultElementBytes` bytes.
  std::vector<uint8_t> call(llvm::StringRef function, std::vector<uint8_t> input,
                            size_t numElements, size_t resultElementBytes);

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace tpuc::test

#endif // UNITTESTS_QUANT_JITMODULE_H
