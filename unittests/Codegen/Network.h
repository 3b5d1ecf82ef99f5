//===- Network.h - A small network for the tests of the generator ---*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_CODEGEN_NETWORK_H
#define UNITTESTS_CODEGEN_NETWORK_H

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tpuc::codegen {

/// A parsed module and its layers by name.
class Network {
public:
  explicit Network(llvm::StringRef text) : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, quant::QuantDialect, top::TopDialect,
                        tpu::TpuDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
  }

  mlir::Operation *layer(llvm::StringRef name) {
    mlir::Operation *found = nullptr;
    module->walk([&](mlir::Operation *op) {
      if (op->getNumResults() > 0 && isLayer(op) && layerName(op) == name)
        found = op;
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }

  /// Its only function.
  mlir::func::FuncOp main() { return *module->getOps<mlir::func::FuncOp>().begin(); }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tpuc::codegen

#endif // UNITTESTS_CODEGEN_NETWORK_H
