//===- AttentionSteps.cpp - Attention on floats as products and a softmax ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/AttentionMasks.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Support/Convert.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

enum Operand : unsigned { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };
enum Result : unsigned { kOutput, kPresentKey, kPresentValue, kScores };
/// Which of the scores are a result.
enum ScoresMode : uint64_t { kProduct, kCapped, kBiased, kSoftmax };

/// The most negative number of a type.
double lowestOf(DataType type) {
  if (type == DataType::F16)
    return -65504;
  return type == DataType::BF16 ? -0x1.FEp127 : std::numeric_limits<float>::lowest();
}

/// A number as it is in `type`.
double roundedTo(DataType type, double number) {
  const Tensor exact = Tensor::of<float>(Shape({1}), {static_cast<float>(number)});
  return convert(convert(exact, type), DataType::F32).data<float>()[0];
}

/// Whether every step of the softmax rounds to a type of 16 bits.
bool roundsSoftmax(tpu::ScaleDotProductAttentionOp op) {
  const Type element = OpMaker::typeOf(op.getQuery()).getElementType();
  return !op.getSoftmaxType().value_or(element).isF32();
}

/// The elements of scores.
Type scoreElementOf(tpu::ScaleDotProductAttentionOp op) {
  const Type element = OpMaker::typeOf(op.getQuery()).getElementType();
  return roundsSoftmax(op) ? element : Float32Type::get(op.getContext());
}

/// Whether no key is hidden from any query.
bool hidesNothing(tpu::ScaleDotProductAttentionOp op) {
  return isa<NoneType>(op.getMask().getType()) && !op.getIsCausal() &&
         static_cast<int64_t>(op.getLeftWindow()) < 0 &&
         static_cast<int64_t>(op.getRightWindow()) < 0;
}

/// Makes the ops that an attention stands for, in the order in which it rounds. Where the softmax
/// is F32 beside operands of 16 bits, scores are F32 from the product on, and never round.
class AttentionSteps {
public:
  AttentionSteps(OpMaker &maker, tpu::ScaleDotProductAttentionOp op)
      : maker(maker), op(op), builder(maker.builder), scoreElement(scoreElementOf(op)),
        type(*storageDataType(scoreElement)),
        isWide(scoreElement != OpMaker::typeOf(op.getQuery()).getElementType()),
        hidden(hasScheme(maker.backend.info(), schemes::kF32) ? kHidden : kFiniteHidden) {}

  void run() {
    query = heads(kQuery, op.getQNumHeads(), "query");
    key = present(kKey, "key");
    value = present(kValue, "value");
    const SmallVector<int64_t> dims(OpMaker::dimsOf(query));
    const int64_t keyHeads = OpMaker::dimsOf(key)[1];
    rows = dims[2];
    columns = OpMaker::dimsOf(key)[2];
    const double scale =
        op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(double(dims[3]));
    // Queries that share the head of a key stand below each other.
    const SmallVector<int64_t> shared = {dims[0], keyHeads, dims[1] / keyHeads * rows, dims[3]};
    const Value left = maker.reshaped(scaled("query_scaled", query, scale), shared, "query_rows");
    const Value right =
        maker.permuted(scaled("key_scaled", key, scale), {0, 1, 3, 2}, "key_turned");
    Value scores = product("scores", left, right, scoreElement);
    if (isWide)
      scores = byNumber<tpu::MulConstOp>("scores_scaled", scores, scale);
    scores = maker.reshaped(scores, {dims[0], dims[1], rows, columns}, "score_rows");
    scores = masked(capped(scores));
    Value weights = softmax(scores);
    const bool givesWeights = givesScores(kSoftmax);
    if (sees && givesWeights)
      weights = maker.makeLike<tpu::MulOp>("weights", {weights, sees});
    expose(kSoftmax, weights);
    finish(weights, shared, givesWeights);
  }

private:
  bool isGiven(Result index) { return !isa<NoneType>(op->getResult(index).getType()); }
  bool isPresent(Operand index) { return !isa<NoneType>(op->getOperand(index).getType()); }
  bool givesScores(ScoresMode mode) { return isGiven(kScores) && op.getScoresMode() == mode; }

  /// Queries or keys, each by the root of the scale; wide scores are scaled themselves.
  Value scaled(StringRef what, Value of, double scale) {
    return isWide ? of : byNumber<tpu::MulConstOp>(what, of, roundedTo(type, std::sqrt(scale)));
  }

  /// The means of the values. Rows that see no key have none (`isHidden`: their weights are 0).
  void finish(Value weights, ArrayRef<int64_t> shared, bool isHidden) {
    const SmallVector<int64_t> dims(OpMaker::dimsOf(query));
    weights = maker.reshaped(weights, {shared[0], shared[1], shared[2], columns}, "weight_rows");
    Value output = meansOf(weights);
    output = maker.reshaped(output, {dims[0], dims[1], rows, OpMaker::dimsOf(value)[3]}, "heads");
    if (sees && !isHidden)
      output = maker.makeLike<tpu::MulOp>("seen", {output, sees});
    if (op.getQNumHeads())
      output = maker.permuted(output, {0, 2, 1, 3}, "rows");
    maker.replace(kOutput, maker.finished(output, kOutput));
  }

  /// Weights times values. Wide weights are two numbers of 16 bits, so that they do not round.
  Value meansOf(Value weights) {
    const Type element = OpMaker::typeOf(value).getElementType();
    if (!isWide)
      return product("product", weights, value, element);
    const Value narrow = maker.converted(weights, element, "narrow_weights");
    const Value rest = maker.makeLike<tpu::SubOp>("weights_rest", {weights, maker.widened(narrow)});
    return maker.makeLike<tpu::AddOp>(
        "product", {product("first_product", narrow, value, scoreElement),
                    product("second_product", maker.converted(rest, element, "narrow_rest"), value,
                            scoreElement)});
  }

  /// An operand as [B, heads, rows, width].
  Value heads(Operand index, std::optional<uint64_t> count, StringRef what) {
    const Value operand = op->getOperand(index);
    if (!count)
      return operand;
    const ArrayRef<int64_t> dims = OpMaker::dimsOf(operand);
    const auto number = static_cast<int64_t>(*count);
    return maker.permuted(maker.reshaped(operand, {dims[0], dims[1], number, dims[2] / number},
                                         what.str() + "_split"),
                          {0, 2, 1, 3}, what.str() + "_heads");
  }

  /// Keys or values behind those of the past.
  Value present(Operand index, StringRef what) {
    const bool isKey = index == kKey;
    const Operand past = isKey ? kPastKey : kPastValue;
    const Result result = isKey ? kPresentKey : kPresentValue;
    Value all = heads(index, op.getKvNumHeads(), what);
    if (isPresent(past))
      all = maker.joined({op->getOperand(past), all}, 2, what.str() + "_all");
    if (isGiven(result))
      maker.replace(result, maker.makeLike<tpu::CopyOp>(what.str() + "_present", all));
    return all;
  }

  template <typename Op> Value byNumber(StringRef what, Value of, double number) {
    NamedAttrList attributes;
    attributes.set("const_val", builder.getF64FloatAttr(number));
    return maker.makeLike<Op>(what, of, attributes);
  }

  Value product(StringRef what, Value left, Value right, Type element) {
    SmallVector<int64_t> dims(OpMaker::dimsOf(left));
    dims.back() = OpMaker::dimsOf(right).back();
    return maker.make(tpu::MatMulOp::getOperationName(), what,
                      Type(RankedTensorType::get(dims, element)), {left, right, maker.none()}, {});
  }

  /// The largest, or the sum, of each row.
  Value reduced(StringRef what, StringRef mode, Value scores) {
    SmallVector<int64_t> dims(OpMaker::dimsOf(scores));
    dims.back() = 1;
    NamedAttrList attributes;
    attributes.set("axes", builder.getI64ArrayAttr(3));
    attributes.set("mode", builder.getStringAttr(mode));
    return maker.make<tpu::ReduceOp>(what, dims, {scores, maker.none()}, attributes);
  }

  /// In F32, or step by step where each rounds to a type of 16 bits.
  Value softmax(Value scores) {
    if (roundsSoftmax(op) && type == DataType::F16) {
      const Value most = reduced("largest", "ReduceMax", scores);
      const Value powers = maker.makeLike<tpu::ExpOp>(
          "powers", maker.makeLike<tpu::SubOp>("distances", {scores, most}));
      // A sum rounds once.
      const Value total = reduced("total", "ReduceSum", maker.widened(powers));
      const Value narrow = maker.make(
          tpu::CastOp::getOperationName(), "total_rounded",
          Type(OpMaker::typeOf(total).clone(OpMaker::typeOf(scores).getElementType())), total, {});
      return maker.makeLike<tpu::DivOp>("softmax", {powers, narrow});
    }
    NamedAttrList axis;
    axis.set("axis", builder.getI64IntegerAttr(3));
    return maker.makeLike<tpu::SoftmaxOp>("softmax", scores, axis);
  }

  Value capped(Value scores) {
    expose(kProduct, scores);
    const double cap = op.getSoftcap().convertToDouble();
    if (cap != 0) {
      scores = byNumber<tpu::DivConstOp>("cap_divided", scores, cap);
      scores =
          byNumber<tpu::MulConstOp>("capped", maker.makeLike<tpu::TanhOp>("cap_tanh", scores), cap);
    }
    expose(kCapped, scores);
    return scores;
  }

  /// What hides keys is -inf, or finite on chips without F32. Of a row of nothing else the softmax
  /// is 0, but no kernel subtracts -inf from itself: it becomes the lowest number, and `sees` says
  /// which rows see a key.
  Value masked(Value scores) {
    bool mayHideAll = false;
    if (isPresent(kMask)) {
      const Value numbers = maskNumbers(maker, op, scoreElement, hidden);
      scores = maker.makeLike<tpu::AddOp>("masked", {scores, numbers});
      mayHideAll = mayHideRows(numbers, hidden);
    }
    if (const std::optional<Tensor> places = hiddenPlaces(op, hidden)) {
      scores =
          maker.makeLike<tpu::AddOp>("biased", {scores, maker.weight(*places, "places", scores)});
      // Together they may hide what neither does.
      mayHideAll |= isPresent(kMask) || hidesRows(*places, hidden);
    }
    expose(kBiased, scores);
    if (!mayHideAll)
      return scores;
    const double lowest = hidden == kHidden ? lowestOf(type) : double(hidden) / 2;
    sees = seeingRows(scores, lowest);
    return byNumber<tpu::MaxConstOp>("limited", scores, lowest);
  }

  /// 1 for rows with a score that is not -inf, 0 for others: [B, H, Q, 1].
  Value seeingRows(Value scores, double lowest) {
    const Value most = reduced("most", "ReduceMax", scores);
    NamedAttrList comparison;
    comparison.set("mode", builder.getStringAttr("GreaterOrEqual"));
    comparison.set("const_val", builder.getF64FloatAttr(lowest));
    const Value isSeen =
        maker.make(tpu::CompareConstOp::getOperationName(), "is_seen",
                   Type(OpMaker::typeOf(most).clone(builder.getI1Type())), most, comparison);
    return maker.converted(isSeen, OpMaker::typeOf(scores).getElementType(), "sees");
  }

  /// Gives the users of the scores those of this stage, if they want them.
  void expose(ScoresMode mode, Value scores) {
    if (givesScores(mode))
      maker.replace(kScores,
                    maker.finished(maker.makeLike<tpu::CopyOp>("exposed", scores), kScores));
  }

  OpMaker &maker;
  tpu::ScaleDotProductAttentionOp op;
  OpBuilder &builder;
  Type scoreElement;
  DataType type; ///< Of scores
  bool isWide;
  float hidden; ///< What is added to the scores of hidden keys.
  Value query, key, value;
  int64_t rows = 0, columns = 0;
  /// 0 for rows that see no key, 1 for others; null if all see some.
  Value sees;
};

} // namespace

bool codegen::decomposeAttention(OpMaker &maker) {
  auto op = dyn_cast<tpu::ScaleDotProductAttentionOp>(maker.op);
  if (!op || !isa<NoneType>(op->getOperand(kLengths).getType()))
    return false;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()) && !staticType(operand))
      return false;
  const size_t rank = op.getQNumHeads() ? 3 : 4;
  for (unsigned index : {kQuery, kKey, kValue})
    if (!OpMaker::isFloat(op->getOperand(index)) ||
        OpMaker::dimsOf(op->getOperand(index)).size() != rank)
      return false;
  const Type element = OpMaker::typeOf(op.getQuery()).getElementType();
  if (const Type softmax = op.getSoftmaxType().value_or(element);
      !softmax.isF32() && softmax != element)
    return false;
  // Sums of bf16 that round after each addition are left to the host, but where all keys count.
  // Chips without F32 know no other sums.
  if (roundsSoftmax(op) && element.isBF16() && !hidesNothing(op) &&
      hasScheme(maker.backend.info(), schemes::kF32))
    return false;
  if (Value mask = op.getMask(); !isa<NoneType>(mask.getType()))
    if (storageDataType(mask.getType()) != DataType::Bool && !OpMaker::isFloat(mask))
      return false;
  // Without F32, infinite numbers have no sign: what is given, or comes, with them is the host's.
  const bool isOfComputedNumbers = !isa<NoneType>(op.getMask().getType()) &&
                                   storageDataType(op.getMask().getType()) != DataType::Bool &&
                                   !OpMaker::constantOf(op.getMask());
  const bool givesScores = !isa<NoneType>(op->getResult(kScores).getType());
  if (!hasScheme(maker.backend.info(), schemes::kF32) &&
      (isOfComputedNumbers || (givesScores && !hidesNothing(op))))
    return false;
  AttentionSteps(maker, op).run();
  return true;
}
