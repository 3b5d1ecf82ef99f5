//===- Normalization.cpp - Norms over h and w------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/BitExactMath.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/QuantizedRows.h"
#include "tpuc/Target/BM1684X/Kernels/Reduction.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/WindowSums.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// The same row in every lane, or one element per channel.
bool isRow(const Extents &parameter, const Extents &input) {
  return parameter == Extents{1, kLanes, input[2], input[3]};
}

bool isRowOf(const std::optional<LocalTensor> &parameter, const Normalization &norm) {
  return parameter && isRow(parameter->shape, norm.input.shape);
}

/// Whether commands with operands of channels serve, one of them for each image. They save a pass,
/// and each image has five of them.
bool isByImages(const Normalization &norm) {
  if (norm.overWidth)
    return false;
  constexpr int64_t kCyclesOfImage = 125, kPerCycle = kEuBytes / 4;
  const Extents &shape = norm.input.shape;
  const int64_t pass = shape[0] * ceilDiv(norm.input.startLane + shape[1], kLanes) *
                       ceilDiv(shape[2] * shape[3], kPerCycle);
  return (shape[0] - 1) * kCyclesOfImage <= pass;
}

/// What is made of an input. All is F32.
struct NormPlan {
  LocalTensor input;
  std::array<LocalTensor, 2> full;
  std::array<LocalTensor, 2> means; ///< [n,c,1,1], with overWidth [n,c,h,1], Aligned
  /// Of each image [1,c,1,1] Compact, as commands read operands of channels.
  std::vector<LocalTensor> negative, factors, addends;
  LocalTensor folded;
  std::array<LocalTensor, 2> parameters; ///< gamma and beta, where they are not F32.
};

/// What is one after the other in each lane.
LocalTensor takeChannels(const LocalTensor &like, ScratchAllocator &space) {
  const Extents shape = {1, like.shape[1], 1, 1};
  const uint32_t at = space.bytes(laneBytes(DataType::F32, shape, Layout::Compact, like.startLane));
  return localTensor(DataType::F32, shape, at, Layout::Compact, like.startLane);
}

NormPlan planOf(const Normalization &norm, ScratchAllocator &space) {
  NormPlan plan;
  const Extents &shape = norm.input.shape;
  const uint32_t lane = norm.input.startLane;
  const bool isWide = norm.input.type != DataType::F32;
  plan.input = isWide ? space.take(DataType::F32, shape, lane) : norm.input;
  plan.input.layout = Layout::Aligned;
  plan.full[0] = space.take(DataType::F32, shape, lane);
  // Steps take turns between two places: the copy of the input may be the second.
  plan.full[1] = plan.input;
  if (!isWide && (!isByImages(norm) || (isRowOf(norm.gamma, norm) && norm.beta)))
    plan.full[1] = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.means)
    tensor =
        space.take(DataType::F32, {shape[0], shape[1], norm.overWidth ? shape[2] : 1, 1}, lane);
  for (int64_t n = 0; isByImages(norm) && n < shape[0]; ++n)
    for (std::vector<LocalTensor> *each : {&plan.negative, &plan.factors, &plan.addends})
      each->push_back(takeChannels(norm.input, space));
  plan.folded = takeWindowScratch({plan.input, plan.means[0], norm.overWidth, false, 1}, space);
  const std::optional<LocalTensor> *given[] = {&norm.gamma, &norm.beta};
  for (size_t i = 0; i < 2; ++i)
    if (*given[i] && (*given[i])->type != DataType::F32)
      plan.parameters[i] = space.take(DataType::F32, (*given[i])->shape, (*given[i])->startLane);
  return plan;
}

Expected<void> checkParameter(const std::string &where, const std::optional<LocalTensor> &parameter,
                              const LocalTensor &input) {
  if (!parameter)
    return {};
  bool isScalar = parameter->shape == Extents{1, input.shape[1], 1, 1} &&
                  parameter->startLane == input.startLane;
  bool isInAllLanes = isRow(parameter->shape, input.shape) && parameter->startLane == 0;
  const bool fits = parameter->type == input.type || parameter->type == DataType::F32;
  if (!fits || !(isScalar || isInAllLanes))
    return makeError(where,
                     fmt::format("a parameter [{}] {}", fmt::join(parameter->shape, ","),
                                 dataTypeName(parameter->type)),
                     fmt::format("[1,64,{},{}] or [1,{},1,1] of {} or f32", input.shape[2],
                                 input.shape[3], input.shape[1], dataTypeName(input.type)));
  return checkLayout(where, "a parameter", *parameter, Layout::Aligned);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Normalization &norm) {
  const LocalTensor &in = norm.input;
  const LocalTensor &out = norm.output;
  for (const auto &[name, tensor] : {std::pair{"input", &in}, std::pair{"output", &out}}) {
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return propagate(fits);
    if (Expected<void> fits = checkLayout(where, name, *tensor, Layout::Aligned); !fits)
      return propagate(fits);
  }
  if (in.shape != out.shape || in.type != out.type || in.startLane != out.startLane)
    return makeError(where,
                     fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","),
                                 dataTypeName(in.type), fmt::join(out.shape, ","),
                                 dataTypeName(out.type)),
                     "equal shapes, types and lanes");
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (Expected<void> fits = checkParameter(where, *parameter, in); !fits)
      return propagate(fits);
  if (norm.overWidth && (norm.centers || norm.beta))
    return makeError(where, "rows over w with a mean or an addend", "the root of the mean square");
  ScratchAllocator space;
  planOf(norm, space);
  return space.next;
}

/// The parameter in F32.
LocalTensor widened(Builder &builder, const LocalTensor &given, const LocalTensor &copy) {
  if (given.type == DataType::F32)
    return given;
  addCast(builder, copy, given);
  return copy;
}

/// The parameter in F32, repeated to the shape of `like`.
LocalTensor parameterFor(Builder &builder, const LocalTensor &given, const LocalTensor &copy,
                         const LocalTensor &like) {
  LocalTensor parameter = widened(builder, given, copy);
  if (isRow(given.shape, like.shape)) {
    parameter = repeatedOverLanes(parameter, like.shape[1]);
    parameter.startLane = like.startLane;
  }
  return repeated(parameter, like.shape);
}

/// The commands of a norm.
class NormSteps {
public:
  NormSteps(Builder &builder, const Normalization &norm, const NormPlan &plan)
      : builder(builder), norm(norm), plan(plan), shape(norm.input.shape),
        share(1.0 / static_cast<double>((norm.overWidth ? 1 : shape[2]) * shape[3])) {}

  void run();

private:
  bool isWide() const { return norm.output.type == DataType::F32; }
  LocalTensor image(const LocalTensor &tensor, int64_t n) const { return tensor.slice(0, n, 1); }
  void takeParameters();
  void addMeans();
  LocalTensor addSquares();
  void addNormalized(const LocalTensor &to);
  void addImage(int64_t n, const LocalTensor &to);

  Builder &builder;
  const Normalization &norm;
  const NormPlan &plan;
  const Extents &shape;
  double share;
  /// A factor and an addend of channels.
  std::array<std::optional<LocalTensor>, 2> channels;
  /// What is still to be done with rows.
  std::vector<std::pair<ArithOp, LocalTensor>> rows;
};

void NormSteps::run() {
  if (plan.input.type != norm.input.type)
    addCast(builder, plan.input, norm.input);
  takeParameters();
  const LocalTensor squares = addSquares();
  const auto &[variance, factor] = plan.means;
  addWindowSum(builder, {squares, variance, norm.overWidth, false, share}, plan.folded);
  addLinear(builder, variance, variance, 1, norm.epsilon);
  addRsqrt(builder, factor, variance);
  // Without a copy of the input there may be only one place.
  const size_t first = isByImages(norm) || !norm.centers ? 0 : 1;
  const auto placeOf = [&](size_t step) {
    return step == rows.size() && isWide() ? norm.output : plan.full[(first + step) % 2];
  };
  LocalTensor value = placeOf(0);
  addNormalized(value);
  for (size_t i = 0; i < rows.size(); ++i) {
    const LocalTensor next = placeOf(i + 1);
    addArith(builder, rows[i].first, next, value, rows[i].second);
    value = next;
  }
  if (!isWide())
    addCast(builder, norm.output, value);
}

void NormSteps::takeParameters() {
  const std::pair<ArithOp, const std::optional<LocalTensor> *> given[] = {
      {ArithOp::Mul, &norm.gamma}, {ArithOp::Add, &norm.beta}};
  for (size_t i = 0; i < 2; ++i) {
    const auto &[op, parameter] = given[i];
    if (!*parameter)
      continue;
    // Addends of channels come behind a row of factors, too.
    const bool isOfChannels = isByImages(norm) && !isRowOf(*parameter, norm) && rows.empty();
    if (isOfChannels)
      channels[i] = widened(builder, **parameter, plan.parameters[i]);
    else
      rows.emplace_back(op, parameterFor(builder, **parameter, plan.parameters[i], plan.full[0]));
  }
}

/// The sums or means of images. Those of 16 bits are products with ones, which add up F32.
void NormSteps::addMeans() {
  constexpr int64_t kMostTerms = 65535;
  const bool isProduct =
      norm.input.type != DataType::F32 && shape[0] == 1 && shape[2] * shape[3] <= kMostTerms;
  if (!isProduct)
    return addWindowSum(builder, {plan.input, plan.means[0], false, false, share}, plan.folded);
  addOnesProduct(builder, plan.means[0], norm.input);
  addLinear(builder, plan.means[0], plan.means[0], share, 0);
}

/// The squares of what is normalized.
LocalTensor NormSteps::addSquares() {
  if (!norm.centers) {
    addArith(builder, ArithOp::Mul, plan.full[0], plan.input, plan.input);
    return plan.full[0];
  }
  addMeans();
  if (!isByImages(norm)) {
    addArith(builder, ArithOp::Sub, plan.full[0], plan.input, repeated(plan.means[0], shape));
    addArith(builder, ArithOp::Mul, plan.full[1], plan.full[0], plan.full[0]);
    return plan.full[1];
  }
  for (int64_t n = 0; n < shape[0]; ++n) {
    const LocalTensor &negative = plan.negative[static_cast<size_t>(n)];
    addArith(builder, ArithOp::Mul, negative, image(plan.means[0], n),
             immediate(DataType::F32, -1));
    addSquaredSum(builder, image(plan.full[0], n), image(plan.input, n), negative);
  }
  return plan.full[0];
}

void NormSteps::addNormalized(const LocalTensor &to) {
  if (isByImages(norm)) {
    for (int64_t n = 0; n < shape[0]; ++n)
      addImage(n, to);
    return;
  }
  const LocalTensor &centred = norm.centers ? plan.full[0] : plan.input;
  addArith(builder, ArithOp::Mul, to, centred, repeated(plan.means[1], shape));
}

/// (x - m) f = x f + (-m f), with the parameters of channels in f and in what is added.
void NormSteps::addImage(int64_t n, const LocalTensor &to) {
  const auto index = static_cast<size_t>(n);
  const LocalTensor factor = image(plan.means[1], n);
  const LocalTensor &factors = plan.factors[index];
  const LocalTensor &addends = plan.addends[index];
  if (channels[0])
    addArith(builder, ArithOp::Mul, factors, factor, *channels[0]);
  else
    addUnaryArith(builder, ArithOp::Copy, factors, factor);
  Term added = immediate(DataType::F32, 0);
  if (norm.centers) {
    addArith(builder, ArithOp::Mul, addends, factors, plan.negative[index]);
    added = addends;
  }
  if (channels[1]) {
    addArith(builder, ArithOp::Add, addends, added, *channels[1]);
    added = addends;
  }
  addChannelLinear(builder, image(to, n), image(plan.input, n), factors, added);
}

} // namespace

Expected<uint32_t> normalizationScratch(const Normalization &norm) {
  return checkedScratch("normalization", norm);
}

Expected<void> emitNormalization(Builder &builder, const Normalization &norm) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), norm);
  if (Expected<void> fits = checkScratch(builder.layer(), norm.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{norm.scratch.address};
  NormPlan plan = planOf(norm, space);
  NormSteps(builder, norm, plan).run();
  return {};
}

//===--- Of integers ------------------------------------------------------===//

namespace {

struct IntegerNormPlan {
  std::array<LocalTensor, 2> full; ///< F32 as all others
  std::array<LocalTensor, 4> rows;
  LocalTensor folded;
};

IntegerNormPlan planOf(const QuantizedNormalization &norm, ScratchAllocator &space) {
  IntegerNormPlan plan;
  const Extents &shape = norm.input.shape;
  const uint32_t lane = norm.input.startLane;
  for (LocalTensor &tensor : plan.full)
    tensor = space.take(DataType::F32, shape, lane);
  for (LocalTensor &tensor : plan.rows)
    tensor = space.take(DataType::F32, {shape[0], shape[1], 1, 1}, lane);
  plan.folded = takeWindowScratch({plan.full[0], plan.rows[0], false, false, 1}, space);
  return plan;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedNormalization &norm) {
  const LocalTensor &in = norm.input;
  const LocalTensor &out = norm.output;
  if (Expected<void> fits = checkByteTensor(where, "input", in); !fits)
    return propagate(fits);
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
  if (in.shape != out.shape || out.type != DataType::F32 || in.startLane != out.startLane ||
      in.shape[2] * in.shape[3] > steps::kLongestNorm)
    return makeError(
        where,
        fmt::format("[{}] {} to [{}] {}", fmt::join(in.shape, ","), dataTypeName(in.type),
                    fmt::join(out.shape, ","), dataTypeName(out.type)),
        fmt::format("equal shapes and lanes, to f32, rows of at most {}", steps::kLongestNorm));
  for (const std::optional<LocalTensor> *parameter : {&norm.gamma, &norm.beta})
    if (Expected<void> fits = checkParameter(where, *parameter, out); !fits)
      return propagate(fits);
  ScratchAllocator space;
  planOf(norm, space);
  return space.next;
}

/// (x - mean) / deviation to full[1]: the steps that the op states, in their order.
void addStandardized(Builder &builder, const QuantizedNormalization &norm,
                     const IntegerNormPlan &plan) {
  const Extents &shape = norm.input.shape;
  const auto count = static_cast<double>(shape[2] * shape[3]);
  const double share = 1 / count;
  const auto &[f0, f1] = plan.full;
  const auto &[r0, r1, r2, r3] = plan.rows;
  LocalTensor input = norm.input;
  input.layout = Layout::Aligned;
  addCast(builder, f0, input);
  addWindowSum(builder, {f0, r0, false, false, 1}, plan.folded);
  addLinear(builder, r1, r0, share, 0);
  addCast(builder, r2, r1, Rounding::HalfToEven);
  addArith(builder, ArithOp::Sub, f1, f0, repeated(r2, shape));
  // What is left of the sum, and its share.
  addLinear(builder, r1, r2, count, 0);
  addArith(builder, ArithOp::Sub, r3, r0, r1);
  addLinear(builder, r1, r3, share, 0);
  addArith(builder, ArithOp::Mul, f0, f1, f1);
  addWindowSum(builder, {f0, r0, false, false, 1}, plan.folded);
  addArith(builder, ArithOp::Mul, r2, r3, r1);
  addArith(builder, ArithOp::Sub, r3, r0, r2);
  addLinear(builder, r0, r3, share, norm.epsilon / (norm.scale * norm.scale));
  addRsqrt(builder, r2, r0, steps::kRootSteps);
  addArith(builder, ArithOp::Mul, r3, r1, r2);
  addArith(builder, ArithOp::Mul, f0, f1, repeated(r2, shape));
  addArith(builder, ArithOp::Sub, f1, f0, repeated(r3, shape));
}

} // namespace

Expected<uint32_t> quantizedNormalizationScratch(const QuantizedNormalization &norm) {
  return checkedScratch("normalization", norm);
}

Expected<void> emitQuantizedNormalization(Builder &builder, const QuantizedNormalization &norm) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), norm);
  if (Expected<void> fits = checkScratch(builder.layer(), norm.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{norm.scratch.address};
  const IntegerNormPlan plan = planOf(norm, space);
  addStandardized(builder, norm, plan);
  const auto &[f0, f1] = plan.full;
  const auto parameter = [&](const LocalTensor &given) {
    return parameterFor(builder, given, given, norm.output);
  };
  LocalTensor value = f1;
  if (norm.gamma) {
    value = norm.beta ? f0 : norm.output;
    addArith(builder, ArithOp::Mul, value, f1, parameter(*norm.gamma));
  }
  if (norm.beta)
    addArith(builder, ArithOp::Add, norm.output, value, parameter(*norm.beta));
  else if (!norm.gamma)
    addUnaryArith(builder, ArithOp::Copy, norm.output, f1);
  return {};
}

} // namespace tpuc::bm1684x
