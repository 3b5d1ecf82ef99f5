//===- IntegerRangesTest.cpp - Every integer attribute has its range -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TableGen refuses an integer attribute without a range. These tests go through all ops: each range
// is kept, and those that allow any integer stand in a list with the reason.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/AttentionOps.h"
#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/ControlOps.h"
#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/CustomOps.h"
#include "tpuc/Dialect/Top/DetectionOps.h"
#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/MovementOps.h"
#include "tpuc/Dialect/Top/NormOps.h"
#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Dialect/Top/PreprocessOps.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/RecurrentOps.h"
#include "tpuc/Dialect/Top/ReduceOps.h"
#include "tpuc/Dialect/Top/ResizeOps.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Support/Sizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gmock/gmock.h>
#include <set>

using namespace tpuc;
using namespace tpuc::top;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Row {
  std::string op;
  IntegerRange range;
};

/// The rows of all ops, and the ops themselves.
class Tables {
public:
  Tables() {
    // Each list is what TableGen wrote for a family.
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/AttentionOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/BinaryOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/ControlOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/ConvolutionOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/CustomOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/DetectionOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/IndexOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/MatrixOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/MovementOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/NormOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/PoolOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/PreprocessOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/QuantizeOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/RecurrentOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/ReduceOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/ResizeOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/ShapeOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/SignalOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/StructureOps.cpp.inc"
        >();
    visit<
#define GET_OP_LIST
#include "tpuc/Dialect/Top/UnaryOps.cpp.inc"
        >();
  }

  std::vector<Row> rows;
  std::set<std::string> ops;

private:
  template <typename... Ops> void visit() { (add<Ops>(), ...); }

  template <typename Op> void add() {
    static_assert(Op::template hasTrait<ChecksRanges>());
    ops.insert(Op::getOperationName().str());
    for (const IntegerRange &range : Op::integerRanges())
      rows.push_back({Op::getOperationName().str(), range});
  }
};

bool isFree(const IntegerRange &range) { return range.most == Count::kMost; }

class IntegerRangesTest : public testing::Test {
protected:
  IntegerRangesTest() { context.loadDialect<TopDialect>(); }

  /// What is said of an op `row.op` whose attribute is `value`; empty if it is within its range.
  std::string verify(const Row &row, mlir::Attribute value) {
    std::string error;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
    mlir::OperationState state(mlir::UnknownLoc::get(&context), row.op);
    state.addAttribute(row.range.attribute, value);
    mlir::Operation *op = mlir::Operation::create(state);
    const bool isFine = mlir::succeeded(verifyIntegers(op, row.range));
    op->destroy();
    EXPECT_EQ(isFine, error.empty()) << error;
    return error;
  }

  mlir::MLIRContext context;
  Tables tables;
};

TEST_F(IntegerRangesTest, AllOpsAreVisited) {
  std::set<std::string> registered;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "top")
      registered.insert(name.getStringRef().str());
  EXPECT_EQ(tables.ops, registered);
  EXPECT_GT(tables.rows.size(), 130u);
}

TEST_F(IntegerRangesTest, ValuesOutsideAreNamed) {
  mlir::Builder build(&context);
  for (const Row &row : tables.rows) {
    SCOPED_TRACE(row.op + "." + row.range.attribute.str());
    for (const int64_t fine : {row.range.least, row.range.most}) {
      EXPECT_EQ(verify(row, build.getI64IntegerAttr(fine)), "");
      EXPECT_EQ(verify(row, build.getI64ArrayAttr({fine, fine})), "");
    }
    if (isFree(row.range)) {
      EXPECT_EQ(verify(row, build.getI64IntegerAttr(std::numeric_limits<int64_t>::min())), "");
      continue;
    }
    for (const int64_t wrong : {row.range.least - 1, row.range.most + 1}) {
      const std::string alone = verify(row, build.getI64IntegerAttr(wrong));
      EXPECT_THAT(alone, HasSubstr(row.range.attribute.str() + " is " + std::to_string(wrong)));
      EXPECT_THAT(alone, HasSubstr("; expected "));
      EXPECT_THAT(verify(row, build.getI64ArrayAttr({row.range.least, wrong})),
                  HasSubstr("has an entry " + std::to_string(wrong)));
    }
  }
}

/// What divides is never 0, and products of two counts fit in 63 bits.
TEST_F(IntegerRangesTest, DivisorsArePositive) {
  const std::set<std::string> divisors = {
      "kernel_shape", "strides",     "dilations",    "group",       "offset_group",
      "num_groups",   "q_num_heads", "kv_num_heads", "hidden_size", "block_h",
      "block_w",      "scale_h",     "scale_w",      "p",           "size"};
  std::set<std::string> found;
  for (const Row &row : tables.rows)
    if (divisors.contains(row.range.attribute.str())) {
      found.insert(row.range.attribute.str());
      EXPECT_EQ(row.range.least, 1) << row.op << "." << row.range.attribute.str();
      EXPECT_LT(row.range.most, int64_t(1) << 31) << row.op << "." << row.range.attribute.str();
    }
  EXPECT_EQ(found, divisors);
}

TEST_F(IntegerRangesTest, FreeIntegersHaveReasons) {
  std::vector<std::string> free;
  for (const Row &row : tables.rows)
    if (isFree(row.range))
      free.push_back(row.op.substr(4) + "." + row.range.attribute.str());
  std::sort(free.begin(), free.end());
  EXPECT_THAT(free, ElementsAre("EyeLike.k",     // Diagonals outside hold nothing.
                                "Shape.end",     // Places outside count as the nearest end.
                                "Shape.start",   // The same.
                                "Slice.ends",    // The same.
                                "Slice.offset",  // The same.
                                "Slice.steps",   // A long one takes one element; 0 is refused.
                                "Trilu.diagonal" // As for EyeLike.
                                ));
}

TEST_F(IntegerRangesTest, AxesAreThoseOfTheOperand) {
  mlir::Builder build(&context);
  auto type = mlir::RankedTensorType::get({2, 3}, build.getF32Type());
  mlir::OperationState made(build.getUnknownLoc(), "top.None", {}, mlir::TypeRange(type), {});
  mlir::Operation *operand = mlir::Operation::create(made);
  for (const Row &row : tables.rows) {
    if (row.range.axisOf != 0)
      continue;
    SCOPED_TRACE(row.op + "." + row.range.attribute.str());
    const int64_t least = -2 - row.range.more;
    const int64_t most = 1 + row.range.behind;
    for (int64_t axis = least - 1; axis <= most + 1; ++axis) {
      std::string error;
      mlir::ScopedDiagnosticHandler handler(
          &context, [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
      mlir::OperationState state(build.getUnknownLoc(), row.op, operand->getResults(), {}, {});
      state.addAttribute(row.range.attribute, build.getI64IntegerAttr(axis));
      mlir::Operation *op = mlir::Operation::create(state);
      const bool isInside = axis >= least && axis <= most;
      EXPECT_EQ(mlir::succeeded(verifyIntegers(op, row.range)), isInside) << axis;
      if (!isInside)
        EXPECT_THAT(error, HasSubstr(row.range.attribute.str() + " " + std::to_string(axis) +
                                     " does not exist; expected " + std::to_string(least) + " to " +
                                     std::to_string(most)));
      op->destroy();
    }
  }
  operand->destroy();
}

TEST_F(IntegerRangesTest, ResultsAreTensorsThatCouldBe) {
  mlir::Builder build(&context);
  auto verify = [&](std::vector<int64_t> dims) {
    std::string error;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
    auto type = mlir::RankedTensorType::get(dims, build.getF32Type());
    mlir::OperationState state(build.getUnknownLoc(), "top.None", {}, mlir::TypeRange(type), {});
    mlir::Operation *op = mlir::Operation::create(state);
    EXPECT_EQ(mlir::succeeded(verifySizes(op)), error.empty());
    op->destroy();
    return error;
  };
  EXPECT_EQ(verify({1 << 20, 1 << 18}), "");
  EXPECT_THAT(verify({1 << 20, 1 << 19}),
              HasSubstr("result #0 takes 2 TiB of memory; expected at most 1 TiB"));
  EXPECT_THAT(verify({int64_t(1) << 62, int64_t(1) << 62, 4}),
              HasSubstr("extent of 4611686018427387904"));
  EXPECT_THAT(verify({1 << 20, 1 << 20, 1 << 20, 1 << 20}), HasSubstr("at least 8 EiB"));
  EXPECT_THAT(verify({1, 1, 1, 1, 1, 1, 1, 1, 1}),
              HasSubstr("has 9 dimensions; expected at most 8"));
}

} // namespace
