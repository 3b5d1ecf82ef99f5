//===- tpuc-opt.cpp - Runs passes over a module, one at a time if you like --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantDialect.h"
#include "tpuc/Dialect/Quant/Transforms/Passes.h"
#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::shape::ShapeDialect, mlir::tensor::TensorDialect,
                  tpuc::quant::QuantDialect, tpuc::top::TopDialect, tpuc::tpu::TpuDialect>();
  mlir::registerTransformsPasses();
  tpuc::quant::registerQuantTransforms();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "tpuc-opt\n", registry));
}
