//===- OpKnowledgeTest.cpp - Every op is known, or is said not to be ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traits, interfaces and tables of ops (see OpTraits.h, OpTable.h) say nothing of an op that was
// forgotten. So each test goes through all ops: one that nothing is known of has to stand in the
// list below the question, and one that stands there must not be known.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Tpu/MirroredOp.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/ElementwiseForm.h"
#include "tpuc/Target/BM1684X/Codegen/Moves.h"
#include "tpuc/Target/BM1684X/Codegen/OpKernels.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace tpuc;
using mlir::OperationName;

namespace {

/// Ops that a question does not concern, by their names without the dialect.
struct Others {
  const char *why;
  std::vector<llvm::StringRef> ops;
};

class OpKnowledge : public testing::Test {
protected:
  OpKnowledge() { context.loadDialect<top::TopDialect, tpu::TpuDialect>(); }

  std::vector<mlir::RegisteredOperationName> opsOf(llvm::StringRef dialect) {
    std::vector<mlir::RegisteredOperationName> ops;
    for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
      if (op.getDialectNamespace() == dialect)
        ops.push_back(op);
    return ops;
  }

  /// Expects that every op of `dialect` `isKnown` or is one of `others`, and not both.
  void expectAll(llvm::StringRef dialect, llvm::function_ref<bool(OperationName)> isKnown,
                 const std::vector<Others> &others) {
    llvm::StringSet<> unknown;
    for (const Others &group : others)
      for (llvm::StringRef op : group.ops)
        EXPECT_TRUE(unknown.insert(op).second) << op.str() << " is listed twice";
    for (mlir::RegisteredOperationName op : opsOf(dialect)) {
      const bool isListed = unknown.erase(op.stripDialect());
      EXPECT_TRUE(isListed || isKnown(op))
          << op.getStringRef().str()
          << " is forgotten: give it what this test asks for, or list it";
      EXPECT_FALSE(isListed && isKnown(op))
          << op.getStringRef().str() << " is listed as unknown, and is known";
    }
    for (const auto &entry : unknown)
      ADD_FAILURE() << dialect.str() << "." << entry.getKey().str() << " is no op";
  }

  mlir::MLIRContext context;
};

template <template <typename> class... Traits> bool hasAny(OperationName op) {
  return (op.hasTrait<Traits>() || ...);
}

} // namespace

/// How an op takes numbers of 16 bits: lifting and lowering go by it.
TEST_F(OpKnowledge, NumbersOf16Bits) {
  const auto isKnown = [](OperationName op) {
    return hasAny<traits::Structural, traits::MovesElements, traits::ReadsElementTypes,
                  traits::ComputesInF32, traits::Pointwise, traits::Product>(op);
  };
  expectAll(
      "top", isKnown,
      {{"new numbers of several places, each rounded once",
        {"Arg",       "AvgPool",   "BatchNorm",       "CausalConv",   "Col2Im",  "CumSum",
         "Einsum",    "GRU",       "GroupNorm",       "InstanceNorm", "Interp",  "LRN",
         "LSTM",      "LayerNorm", "LinearAttention", "LpPool",       "MaxPool", "MeanVarianceNorm",
         "Normalize", "PixelNorm", "RMSNorm",         "RNN",          "Reduce",  "Rope",
         "Scale",     "Softmax",   "Upsample"}},
       {"elements of operands, or numbers that have no error",
        {"Concat", "Hardmax", "OneHot", "Pad", "ScatterElements", "ScatterND", "TensorScatter"}},
       {"integers alone", {"ConvInteger", "LSTMInteger", "MatMulInteger", "Shape", "Size"}}});
}

/// What is computed on stored integers of 8 bits.
TEST_F(OpKnowledge, StoredIntegers) {
  const auto isKnown = [](OperationName op) {
    return hasAny<traits::Structural, traits::Tabulated>(op) ||
           op.hasInterface<top::IntegerFormInterface>();
  };
  expectAll(
      "top", isKnown,
      {{"functions whose values a table of 256 numbers holds badly",
        {"Arccos", "Arccosh", "Arcsin", "Arcsinh", "Arctanh", "Ceil", "Cosh", "Exp", "Floor", "Log",
         "Reciprocal", "Round", "Rsqrt", "Sinh", "Sqrt", "Tan"}},
       {"functions of several tensors without a form",
        {"ClipTensor", "Div", "Mean", "Mod", "Pow", "Pow2", "PowConst", "Where"}},
       {"booleans, bits and types",
        {"BitCast", "BitShift", "BitwiseBinary", "BitwiseNot", "Cast", "IsInf", "IsNaN",
         "LogicalBinary", "LogicalNot"}},
       {"norms, attention and cells, whose sums need floats",
        {"BatchNorm", "BatchNormTrain", "CausalConv", "GRU", "GroupNorm", "InstanceNorm", "LRN",
         "LSTM", "LayerNorm", "LinearAttention", "MeanVarianceNorm", "Normalize", "PixelNorm",
         "RMSNorm", "RNN", "Rope", "Scale", "ScaleDotProductAttention", "Softmax"}},
       {"coordinates, indices, counts and shapes",
        {"AffineGrid", "Arg", "DetectionOutput", "FrcnDetection", "GridSampler", "Hardmax", "Nms",
         "NonZero", "ObjectDetection", "OneHot", "Proposal", "Range", "RetinaFaceDetection",
         "RoiAlign", "RoiPool", "Shape", "Size", "YoloDetection"}},
       {"rare movement",
        {"CenterCropPad", "Col2Im", "Compress", "ConstantFill", "EyeLike", "MaxPoolWithMask",
         "MaxUnpool", "ScatterElements", "ScatterND", "TensorScatter", "TopK", "Trilu", "Unique"}},
       {"rare sums and products", {"CumProd", "CumSum", "DeformConv2D", "Det", "Einsum", "LpPool"}},
       {"signals", {"CosineWindow", "DFT", "MelWeightMatrix", "STFT"}},
       {"networks that were quantized before",
        {"ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeRows",
         "LSTMInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", "QuantizeLinear"}},
       {"operators of users", {"Custom"}},
       {"control flow", {"If", "Loop", "Scan", "Yield"}}});
}

/// A trait of a top op is one of its mirrored.
TEST_F(OpKnowledge, TwinsKnowTheSame) {
  const auto traitsOf = [](OperationName op) {
    return std::vector<bool>{
        op.hasTrait<traits::Structural>(),        op.hasTrait<traits::Parameter>(),
        op.hasTrait<traits::ViewLike>(),          op.hasTrait<traits::Pointwise>(),
        op.hasTrait<traits::MovesElements>(),     op.hasTrait<traits::Product>(),
        op.hasTrait<traits::NonNegative>(),       op.hasTrait<traits::KeepsSign>(),
        op.hasTrait<traits::KeepsCommonSign>(),   op.hasTrait<traits::ComputesInF32>(),
        op.hasTrait<traits::ReadsElementTypes>(), op.hasTrait<traits::Tabulated>(),
        op.hasTrait<traits::FusibleActivation>()};
  };
  for (mlir::RegisteredOperationName op : opsOf("top")) {
    const std::optional<OperationName> mirrored = tpu::mirrorOf(op);
    EXPECT_TRUE(mirrored || op.hasTrait<traits::Structural>()) << op.getStringRef().str();
    if (mirrored)
      EXPECT_EQ(traitsOf(op), traitsOf(*mirrored)) << op.getStringRef().str();
  }
}

/// What the interpreter can do to the elements of another kernel's result.
TEST_F(OpKnowledge, StepsBehindKernels) {
  const auto isKnown = [](OperationName op) {
    return !op.hasTrait<traits::Pointwise>() || hasElementwiseForm(op);
  };
  expectAll("top", isKnown,
            {{"functions of one number that have a kernel of their own", {"Arccos",
                                                                          "Arccosh",
                                                                          "Arcsin",
                                                                          "Arcsinh",
                                                                          "Arctan",
                                                                          "Arctanh",
                                                                          "Ceil",
                                                                          "Celu",
                                                                          "Cos",
                                                                          "Cosh",
                                                                          "Elu",
                                                                          "Floor",
                                                                          "Log",
                                                                          "Round",
                                                                          "Selu",
                                                                          "Shrink",
                                                                          "Sign",
                                                                          "Sin",
                                                                          "Sinh",
                                                                          "Softplus",
                                                                          "Softsign",
                                                                          "Tan",
                                                                          "ThresholdedRelu"}},
             {"functions of several numbers that have one",
              {"ClipTensor", "Mean", "Mod", "Pow", "Pow2", "PowConst"}},
             {"booleans, bits and types",
              {"BitCast", "BitShift", "BitwiseBinary", "BitwiseNot", "Cast", "Compare",
               "CompareConst", "Copy", "IsInf", "IsNaN", "LogicalBinary", "LogicalNot", "Where"}}});
}

/// What is computed in local memory can be cut into slices.
TEST_F(OpKnowledge, KernelsHaveSlices) {
  for (mlir::RegisteredOperationName op : opsOf("tpu"))
    if (bm1684x::backend::hasKernelFor(op))
      EXPECT_TRUE(codegen::hasTileModel(op)) << op.getStringRef().str();
}

/// What the BM1684X computes, moves or sees as it lies.
TEST_F(OpKnowledge, OnBM1684X) {
  const auto isKnown = [&](OperationName op) {
    if (bm1684x::backend::hasKernelFor(op) || op.hasTrait<traits::ViewLike>())
      return true;
    mlir::Operation *made =
        mlir::Operation::create(mlir::OperationState(mlir::UnknownLoc::get(&context), op));
    const bool isMove = bm1684x::backend::isMove(made);
    made->destroy();
    return isMove;
  };
  expectAll("tpu", isKnown,
            {{"functions that the host computes",
              {"Arccos", "Arccosh", "Arcsin", "Arcsinh", "Arctan", "Arctanh", "Det", "IsInf",
               "IsNaN", "Mod", "Pow2", "Tan"}},
             {"what is divided into ops with kernels, where it can be",
              {"ClipTensor", "GroupNorm", "LRN", "Mean", "Normalize", "Pow", "PowConst", "ScaleLut",
               "ScatterElements", "ScatterND", "Trilu"}},
             {"what is part of the form of a group, or seen as it lies",
              {"Copy", "Group", "Load", "Store", "Unpack", "UnpackRows"}},
             {"operators of users", {"Custom"}},
             {"control flow", {"If", "Loop", "Scan", "Yield"}},
             {"the interpreter's", {"RoundTo"}},
             {"what else the host computes, or earlier passes replace",
              {"Arg",
               "BatchNorm",
               "CumProd",
               "Einsum",
               "Hardmax",
               "MeanVarianceNorm",
               "OneHot",
               "Rope",
               "Scale",
               "TensorScatter",
               "AffineGrid",
               "BatchNormTrain",
               "BitCast",
               "BitShift",
               "BitwiseBinary",
               "BitwiseNot",
               "CausalConv",
               "Col2Im",
               "Compress",
               "ConstantFill",
               "ConvInteger",
               "CosineWindow",
               "DFT",
               "DeformConv2D",
               "DequantizeLinear",
               "DetectionOutput",
               "DynamicQuantizeLinear",
               "DynamicQuantizeRows",
               "EyeLike",
               "FrcnDetection",
               "GatherElements",
               "GatherND",
               "GridSampler",
               "LSTMInteger",
               "LinearAttention",
               "LpPool",
               "MatMulInteger",
               "MaxPoolWithMask",
               "MaxUnpool",
               "MelWeightMatrix",
               "Nms",
               "NonZero",
               "ObjectDetection",
               "Preprocess",
               "Proposal",
               "QLinearConv",
               "QLinearMatMul",
               "QuantizeLinear",
               "Range",
               "RetinaFaceDetection",
               "ReverseSequence",
               "RoiAlign",
               "RoiPool",
               "STFT",
               "Shape",
               "ShuffleChannel",
               "Size",
               "TopK",
               "Unique",
               "YoloDetection"}}});
}
