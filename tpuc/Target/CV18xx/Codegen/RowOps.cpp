//===- RowOps.cpp - Kernels of softmaxes, norms, reductions ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/RowOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/CV18xx/Kernels/Elementwise.h"
#include "tpuc/Target/CV18xx/Kernels/Functions.h"
#include "tpuc/Target/CV18xx/Kernels/Windows.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// One number for each row of a tensor.
Extents rowShape(const Extents &shape) { return {shape[0], shape[1], 1, 1}; }

/// Commands on rows, the h and w of tensors; the first that fails is kept.
class Rows {
public:
  explicit Rows(const Site &site)
      : site(site), next(static_cast<uint32_t>(site.tiled.scratchAddress)) {}

  LocalTensor tensor(const Extents &shape, bool isBf16 = true) {
    const LocalTensor made = alignedTensor(site.chip(), next, shape, isBf16);
    next += alignedBytes(site.chip(), shape, isBf16);
    return made;
  }
  void run(std::string_view name, const LocalTensor &result, const LocalTensor &left,
           Elements right = uint16_t{0}) {
    keep([&] {
      return emitElements(site.builder,
                          {.name = name, .result = result, .left = left, .right = right});
    });
  }
  /// With a number for each row, or for each place of a row in every lane.
  void spread(std::string_view name, const LocalTensor &result, const LocalTensor &left,
              LocalTensor right) {
    for (size_t axis = 0; axis < 4; ++axis)
      if (right.shape[axis] != result.shape[axis]) {
        right.strides[axis] = 0;
        right.shape[axis] = result.shape[axis];
      }
    run(name, result, left, right);
  }
  /// Fills a tensor with a number for each row, or for each place of a row.
  void repeat(const LocalTensor &result, LocalTensor numbers) {
    for (size_t axis = 0; axis < 4; ++axis)
      if (numbers.shape[axis] != result.shape[axis]) {
        numbers.strides[axis] = 0;
        numbers.shape[axis] = result.shape[axis];
      }
    run("copy", result, numbers);
  }
  void maximum(const LocalTensor &result, const LocalTensor &rows) {
    keep([&] { return emitMaxPool(site.builder, poolOf(result, rows)); });
  }
  /// The sum of each row times a factor.
  void sum(const LocalTensor &result, const LocalTensor &rows, double factor) {
    const std::array<double, 2> factors = factorsOf(factor);
    keep([&] { return emitAveragePool(site.builder, poolOf(result, rows), bf16Of(factors[0])); });
    if (factors[1] != 1)
      run("mul", result, result, bf16Of(factors[1]));
  }
  void power(Power power, const LocalTensor &result, const LocalTensor &rest,
             const LocalTensor &input) {
    keep([&] { return emitPowerWithRest(site.builder, power, {result, input, next}, rest); });
  }
  void exponential(const LocalTensor &result, const LocalTensor &input) {
    keep([&] { return emitExponential(site.builder, {result, input, next}); });
  }
  void logarithm(const LocalTensor &result, const LocalTensor &input) {
    keep([&] { return emitLogarithm(site.builder, {result, input, next}); });
  }
  /// The same where pools can take it.
  LocalTensor whole(const LocalTensor &input, const LocalTensor &room) {
    if (input.isAligned(site.chip()))
      return input;
    run("copy", room, input);
    return room;
  }
  Expected<void> done() const {
    return problem ? Expected<void>(tl::unexpected<Error>(*problem)) : Expected<void>();
  }

private:
  static Pool poolOf(const LocalTensor &result, const LocalTensor &rows) {
    return {rows, result, {.kernel = {rows.shape[2], rows.shape[3]}}};
  }
  void keep(llvm::function_ref<Expected<void>()> emit) {
    if (problem)
      return;
    if (Expected<void> made = emit(); !made)
      problem = made.error();
  }

  const Site &site;
  uint32_t next;
  std::optional<Error> problem;
};

double sizeOf(const Extents &shape) { return static_cast<double>(shape[2]) * shape[3]; }

/// factor + rest = 1 / sqrt(mean of the squares - less^2 + epsilon)
void rootOfSquares(Rows &rows, const LocalTensor &factor, const LocalTensor &rest,
                   const LocalTensor &input, const LocalTensor &squares, const LocalTensor *less,
                   double epsilon) {
  const LocalTensor variance = rows.tensor(factor.shape);
  rows.run("mul", squares, input, input);
  rows.sum(variance, squares, 1 / sizeOf(input.shape));
  if (less) {
    rows.run("mul", rest, *less, *less);
    rows.run("sub", variance, variance, rest);
  }
  rows.run("add", variance, variance, bf16Of(epsilon));
  rows.power(Power::ReciprocalRoot, factor, rest, variance);
}

/// result = input * operand 1 + operand 2, of those that there are: one rounding. `input` is no
/// more.
Expected<void> finishRows(const Site &site, Rows &rows, const LocalTensor &input,
                          const LocalTensor &result) {
  std::array<std::optional<LocalTensor>, 3> given;
  for (unsigned index = 1; index < std::min(3U, site.op()->getNumOperands()); ++index) {
    if (!isGiven(site.op(), index))
      continue;
    Expected<LocalTensor> operand = site.operand(index);
    if (!operand)
      return propagate(operand);
    given[index] = *operand;
  }
  if (!given[1] && !given[2]) {
    rows.run("copy", result, input);
  } else if (!given[2]) {
    rows.spread("mul", result, input, *given[1]);
  } else if (!given[1]) {
    rows.spread("add", result, input, *given[2]);
  } else {
    rows.repeat(result, *given[2]);
    rows.spread("mac", result, input, *given[1]);
  }
  return rows.done();
}

/// (x - mean) / sqrt(variance + epsilon). The mean in BF16 is wrong by what the mean of the
/// differences says, which is taken off behind the product, too.
Expected<void> normalize(const Site &site, double epsilon) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  Rows rows(site);
  const LocalTensor centred = rows.tensor(input.shape), made = rows.tensor(input.shape);
  const Extents narrow = rowShape(input.shape);
  const LocalTensor mean = rows.tensor(narrow), factor = rows.tensor(narrow),
                    rest = rows.tensor(narrow);
  const double share = 1 / sizeOf(input.shape);
  const LocalTensor whole = rows.whole(input, made);
  rows.sum(mean, whole, share);
  rows.spread("sub", centred, whole, mean);
  rows.sum(mean, centred, share);
  rootOfSquares(rows, factor, rest, centred, made, &mean, epsilon);
  rows.run("mul", mean, mean, factor);
  rows.run("mul", mean, mean, bf16Of(-1));
  rows.repeat(made, mean);
  rows.spread("mac", made, centred, rest);
  rows.spread("mac", made, centred, factor);
  return finishRows(site, rows, made, result);
}

/// Tensors of an input's shape, and of its rows', that kernels take beside functions.
constexpr uint32_t kWide = 2, kNarrow = 5;

} // namespace

Expected<void> emitOf(tpu::SoftmaxOp op, const Site &site) {
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  const double beta = op.getBeta().convertToDouble();
  if (!(beta > 0))
    return makeError("", "a softmax of falling numbers", "a factor above 0");
  Rows rows(site);
  const LocalTensor apart = rows.tensor(input.shape), powers = rows.tensor(input.shape);
  const Extents narrow = rowShape(input.shape);
  const LocalTensor most = rows.tensor(narrow), sum = rows.tensor(narrow),
                    rest = rows.tensor(narrow);
  const LocalTensor whole = rows.whole(input, apart);
  rows.maximum(most, whole);
  rows.spread("sub", apart, whole, most);
  if (beta != 1)
    rows.run("mul", apart, apart, bf16Of(beta));
  rows.exponential(powers, apart);
  rows.sum(sum, powers, 1);
  if (op.getLog()) {
    rows.logarithm(most, sum);
    rows.spread("sub", result, apart, most);
  } else {
    rows.power(Power::Reciprocal, most, rest, sum);
    rows.spread("mul", result, powers, rest);
    rows.spread("mac", result, powers, most);
  }
  return rows.done();
}

Expected<void> emitOf(tpu::LayerNormOp op, const Site &site) {
  return normalize(site, op.getEps().convertToDouble());
}

/// One mean for each channel.
Expected<void> emitOf(tpu::InstanceNormOp op, const Site &site) {
  return normalize(site, op.getEps().convertToDouble());
}

Expected<void> emitOf(tpu::RMSNormOp op, const Site &site) {
  if (op.getNumHeads())
    return makeError("", "a norm of parts of rows", "one of whole rows");
  Expected<std::array<LocalTensor, 2>> tensors = floatsOf(site);
  if (!tensors)
    return propagate(tensors);
  const auto &[input, result] = *tensors;
  Rows rows(site);
  const LocalTensor made = rows.tensor(input.shape);
  const LocalTensor factor = rows.tensor(rowShape(input.shape)),
                    rest = rows.tensor(rowShape(input.shape));
  rootOfSquares(rows, factor, rest, input, made, nullptr, op.getEps().convertToDouble());
  rows.spread("mul", made, input, rest);
  rows.spread("mac", made, input, factor);
  return finishRows(site, rows, made, result);
}

/// The largest stored integer of each row, where both tensors have one scale.
static Expected<void> largestOfIntegers(tpu::ReduceOp op, const Site &site,
                                        const LocalTensor &result, const LocalTensor &input) {
  if (op.getMode() != "ReduceMax" ||
      tpu::quantizedType(op.getInput()) != tpu::quantizedType(op.getOutput()))
    return makeError("", "a reduction of integers", "the largest, or BF16");
  Rows rows(site);
  const LocalTensor room = rows.tensor(input.shape, false),
                    made = rows.tensor(rowShape(input.shape), false);
  rows.maximum(made, rows.whole(input, room));
  LocalTensor to = result;
  to.shape = made.shape;
  rows.run("copy", to, made);
  return rows.done();
}

Expected<void> emitOf(tpu::ReduceOp op, const Site &site) {
  const StringRef mode = op.getMode();
  Expected<LocalTensor> result = site.result();
  Expected<LocalTensor> input = site.operand(0);
  if (!result || !input)
    return result ? propagate(input) : propagate(result);
  const bool isExtremum = mode == "ReduceMax" || mode == "ReduceMin";
  if (!isExtremum && mode != "ReduceSum" && mode != "ReduceMean")
    return makeError("", "another reduction", "a sum, a mean or an extremum");
  if (!result->isBf16)
    return largestOfIntegers(op, site, *result, *input);
  Rows rows(site);
  const LocalTensor room = rows.tensor(input->shape), made = rows.tensor(rowShape(input->shape));
  if (mode == "ReduceMin") {
    rows.run("mul", room, *input, bf16Of(-1));
    rows.maximum(made, room);
    rows.run("mul", made, made, bf16Of(-1));
  } else {
    const LocalTensor whole = rows.whole(*input, room);
    if (isExtremum)
      rows.maximum(made, whole);
    else
      rows.sum(made, whole, mode == "ReduceMean" ? 1 / sizeOf(input->shape) : 1);
  }
  LocalTensor to = *result;
  to.shape = made.shape;
  rows.run("copy", to, made);
  return rows.done();
}

int64_t scratchOfRows(const Chip &chip, Operation *op, const Extents &input) {
  const bool isOfRows =
      isa<tpu::SoftmaxOp, tpu::LayerNormOp, tpu::InstanceNormOp, tpu::RMSNormOp, tpu::ReduceOp>(op);
  if (!isOfRows)
    return 0;
  const Extents narrow = rowShape(input);
  const uint32_t wide = isa<tpu::ReduceOp, tpu::RMSNormOp>(op) ? 1 : kWide;
  const Extents &ofFunction = isa<tpu::SoftmaxOp>(op) ? input : narrow;
  return int64_t{wide} * alignedBytes(chip, input, true) +
         int64_t{kNarrow} * alignedBytes(chip, narrow, true) +
         (isa<tpu::ReduceOp>(op) ? 0 : int64_t{functionScratch(chip, ofFunction)});
}

} // namespace tpuc::cv18xx::backend
