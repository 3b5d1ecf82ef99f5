//===- Passes.cpp - What only these chips gain by -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Codegen/Passes.h"
#include "tpuc/Codegen/Backends.h"
#include "tpuc/Codegen/Decompose/Decompositions.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/ResizeTaps.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/CV18xx/Codegen/Moves.h"
#include "tpuc/Target/CV18xx/Codegen/RecurrentOps.h"
#include "tpuc/Target/CV18xx/Codegen/SlicedOps.h"
#include "tpuc/Target/CV18xx/Codegen/TensorLayout.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::cv18xx::backend {

// Not the machine's.
using mlir::Operation;

namespace {

/// The shift that a convolution has behind its multiplier.
constexpr int64_t kFirstShift = 31;

/// The factor of averages that all have as many elements; none for others.
std::optional<int64_t> onlyFactor(tpu::AvgPoolOp op) {
  const auto type = tpu::quantizedType(op.getInput());
  const auto multipliers = op->getAttrOfType<ArrayAttr>("multiplier");
  const auto shifts = op->getAttrOfType<ArrayAttr>("rshift");
  if (!type || type.getStorage().width != 8 || !tpu::isQuantized(op.getOutput()) || !multipliers ||
      !shifts || multipliers.size() != shifts.size() || op.getKernelShape().size() != 2 ||
      op.getAutoPad() != "NOTSET" || op.getCeilMode())
    return std::nullopt;
  const bool isPadded = op.getPads() && llvm::any_of(top::toInts(*op.getPads()),
                                                     [](int64_t pad) { return pad != 0; });
  if (isPadded && !op.getCountIncludePad())
    return std::nullopt;
  if (top::toInts(shifts).back() != kFirstShift)
    return std::nullopt;
  // Of several the last is that of whole windows.
  return top::toInts(multipliers).back();
}

Expected<void> averageToConv(tpu::AvgPoolOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  const int64_t channels = OpMaker::dimsOf(op.getInput())[1];
  const SmallVector<int64_t> kernel = top::toInts(op.getKernelShape());
  Tensor ones(DataType::I8, Shape{channels, 1, kernel[0], kernel[1]});
  std::ranges::fill(ones.mutableData<int8_t>(), int8_t{1});
  NamedAttrList attributes;
  for (const char *name : {"kernel_shape", "strides", "pads", "dilations", "do_relu", "relu_limit"})
    if (Attribute value = op->getAttr(name))
      attributes.set(name, value);
  OpBuilder &builder = maker.builder;
  attributes.set(kFilterOfOnes, builder.getUnitAttr());
  attributes.set("group", builder.getI64IntegerAttr(channels));
  attributes.set("multiplier", builder.getI64ArrayAttr(*onlyFactor(op)));
  attributes.set("rshift", builder.getI64ArrayAttr(0));
  attributes.set("quant_mode",
                 builder.getStringAttr(requantModeName(kernels::fixedPointMode(false))));
  const Value made =
      maker.make(tpu::ConvOp::getOperationName(), "sum", op.getOutput().getType(),
                 {op.getInput(), maker.weight(ones, "ones"), maker.none()}, attributes);
  maker.replace(0, made);
  op.erase();
  return {};
}

/// Whether a reduction is the mean of whole pictures.
bool isMeanOfPictures(tpu::ReduceOp op, const Backend &) {
  const std::optional<llvm::SmallBitVector> reduced = dimsReducedBy(op);
  if (op.getMode() != "ReduceMean" || !reduced || reduced->size() != 4 || reduced->count() != 2 ||
      !reduced->test(2) || !reduced->test(3))
    return false;
  return OpMaker::isFloat(op.getInput()) || tpu::isQuantized(op.getInput());
}

/// The pool of everything, which says the same.
Expected<void> meanToPool(tpu::ReduceOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  const ArrayRef<int64_t> dims = OpMaker::dimsOf(op.getInput());
  const RankedTensorType type = OpMaker::typeOf(op.getOutput());
  NamedAttrList attributes;
  attributes.set("kernel_shape", maker.builder.getI64ArrayAttr(dims.drop_front(2)));
  for (const char *name : {"multiplier", "rshift", "round_mode"})
    if (Attribute value = op->getAttr(name))
      attributes.set(name, value);
  const Value pool = maker.make(tpu::AvgPoolOp::getOperationName(), "mean",
                                Type(type.clone(ArrayRef<int64_t>{dims[0], dims[1], 1, 1})),
                                op.getInput(), attributes);
  maker.replace(0, type.getRank() == 4 ? pool : maker.reshaped(pool, type.getShape(), "rows"));
  op.erase();
  return {};
}

struct AverageToConv : PassWrapper<AverageToConv, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AverageToConv)

  StringRef getArgument() const override { return "average-to-conv"; }
  StringRef getDescription() const override {
    return "Compute averages of integers as depthwise convolutions";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<top::TopDialect, tpu::TpuDialect>();
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return signalPassFailure();
    const auto wants = [](tpu::AvgPoolOp op, const Backend &) {
      return onlyFactor(op).has_value();
    };
    Expected<void> done = rewriteOps<tpu::ReduceOp>(module, *backend, isMeanOfPictures, meanToPool);
    if (done)
      done = rewriteOps<tpu::AvgPoolOp>(module, *backend, wants, averageToConv);
    if (!done) {
      module.emitError(done.error().message());
      signalPassFailure();
    }
  }
};

/// Whether each pixel is the mean of a block of two by two.
bool halvesPictures(tpu::InterpOp op, const Backend &) {
  const ArrayRef<int64_t> from = OpMaker::dimsOf(op.getInput());
  const ArrayRef<int64_t> to = OpMaker::dimsOf(op.getOutput());
  if (from.size() != 4 || from.take_front(2) != to.take_front(2) ||
      !OpMaker::isFloat(op.getInput()))
    return false;
  for (unsigned index = 0; index < 2; ++index) {
    const int64_t extent = from[2 + index], count = to[2 + index];
    if (extent != 2 * count)
      return false;
    const Expected<std::vector<InputTaps>> taps = resizeTaps(op, index, {0, count}, {0, extent});
    if (!taps)
      return false;
    for (auto [place, each] : llvm::enumerate(*taps)) {
      const auto first = 2 * static_cast<int64_t>(place);
      if (each.first != first || each.second != first + 1 || each.secondWeight != 0.5)
        return false;
    }
  }
  return true;
}

/// One command for both axes, which takes pictures in parts.
Expected<void> halvesToPool(tpu::InterpOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  NamedAttrList attributes;
  for (const char *name : {"kernel_shape", "strides"})
    attributes.set(name, maker.builder.getI64ArrayAttr({2, 2}));
  maker.replace(0, maker.make(tpu::AvgPoolOp::getOperationName(), "mean", op.getOutput().getType(),
                              op.getInput(), attributes));
  op.erase();
  return {};
}

struct ResizeToPool : PassWrapper<ResizeToPool, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResizeToPool)

  StringRef getArgument() const override { return "resize-to-pool"; }
  StringRef getDescription() const override {
    return "Compute pictures of half the size as means of four pixels";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpu::TpuDialect>();
  }
  void runOnOperation() override {
    if (failed(rewriteOps<tpu::InterpOp>(getOperation(), halvesPictures, halvesToPool)))
      signalPassFailure();
  }
};

/// The elements of an axis that constant indices name: every `step`-th from `begin` on.
struct Progression {
  int64_t begin = 0, step = 1, count = 1;
};

std::optional<Progression> progressionOf(tpu::GatherOp op) {
  const std::optional<top::Dims> given = top::constantInts(op.getIndices());
  if (!given || given->empty())
    return std::nullopt;
  const size_t axis = OpMaker::frontAxis(op.getAxis(), op.getInput());
  const int64_t extent = OpMaker::dimsOf(op.getInput())[axis];
  SmallVector<int64_t> indices;
  for (const int64_t index : *given)
    indices.push_back(index < 0 ? index + extent : index);
  Progression made{.begin = indices[0], .count = std::ssize(indices)};
  if (made.count > 1)
    made.step = indices[1] - indices[0];
  for (auto [place, index] : llvm::enumerate(indices))
    if (index < 0 || index >= extent ||
        index != made.begin + static_cast<int64_t>(place) * made.step)
      return std::nullopt;
  return made.step > 0 ? std::optional(made) : std::nullopt;
}

Expected<void> gatherToSlice(tpu::GatherOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  const Progression elements = *progressionOf(op);
  const auto axis = static_cast<int64_t>(OpMaker::frontAxis(op.getAxis(), op.getInput()));
  const Value part = maker.sliced(op.getInput(), axis, elements.begin,
                                  (elements.count - 1) * elements.step + 1, "part", elements.step);
  maker.replace(0, maker.reshaped(part, OpMaker::dimsOf(op.getOutput()), "shaped"));
  op.erase();
  return {};
}

struct GatherToSlice : PassWrapper<GatherToSlice, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GatherToSlice)

  StringRef getArgument() const override { return "gather-to-slice"; }
  StringRef getDescription() const override {
    return "Move what constant indices name as parts of tensors";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<top::TopDialect, tpu::TpuDialect>();
  }
  void runOnOperation() override {
    const auto wants = [](tpu::GatherOp op, const Backend &) {
      return !OpMaker::constantOf(op.getInput()) && progressionOf(op).has_value();
    };
    if (failed(rewriteOps<tpu::GatherOp>(getOperation(), wants, gatherToSlice)))
      signalPassFailure();
  }
};

/// The constant with finite numbers in the place of infinite ones; none where all are finite.
std::optional<Tensor> finiteNumbers(top::WeightOp op) {
  // Sums of several are finite, too, and e to the power of it is 0.
  constexpr float kLarge = 0x1p100F;
  if (storageDataType(op.getOutput().getType()) != DataType::BF16)
    return std::nullopt;
  Expected<Tensor> read = op.read();
  if (!read)
    return std::nullopt;
  Tensor numbers = convert(*read, DataType::F32);
  bool isChanged = false;
  for (float &number : numbers.mutableData<float>())
    if (std::isinf(number)) {
      number = std::copysign(kLarge, number);
      isChanged = true;
    }
  return isChanged ? std::optional(convert(numbers, DataType::BF16)) : std::nullopt;
}

struct FiniteConstants : PassWrapper<FiniteConstants, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FiniteConstants)

  StringRef getArgument() const override { return "finite-constants"; }
  StringRef getDescription() const override {
    return "Replace infinite numbers of constants by 2^100 with their sign";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<top::TopDialect, tpu::TpuDialect>();
  }
  void runOnOperation() override {
    SmallVector<top::WeightOp> constants;
    getOperation().walk([&](top::WeightOp op) { constants.push_back(op); });
    for (top::WeightOp op : constants)
      if (const std::optional<Tensor> numbers = finiteNumbers(op)) {
        SmallVector<OpOperand *> uses;
        for (OpOperand &use : op->getUses())
          uses.push_back(&use);
        for (OpOperand *use : uses)
          replaceWeight(*use, *numbers, "_finite");
      }
  }
};

struct MoveThroughLanes : PassWrapper<MoveThroughLanes, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveThroughLanes)

  StringRef getArgument() const override { return "move-through-lanes"; }
  StringRef getDescription() const override {
    return "Exchange dimensions in local memory where that takes less time";
  }
  void runOnOperation() override {
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    const Chip *chip = findChip(backend->info().name);
    getOperation().walk([&](Operation *op) {
      if (!chip || !isMove(op))
        return;
      if (const Expected<Place> place = backend->placeOf(op); place && *place == Place::Global)
        planMove(*chip, op);
    });
  }
};

/// Whether a product of computed matrices has a form that no command knows.
bool isTurnedProduct(tpu::MatMulOp op, const Backend &) {
  return hasComputedMatrix(op) && OpMaker::isFloat(op.getInput()) &&
         OpMaker::isFloat(op.getOutput()) && OpMaker::dimsOf(op.getInput()).size() >= 2 &&
         (op.getLeftTranspose() || !isa<NoneType>(op.getBias().getType()));
}

/// The left matrix is turned in front, and the bias added behind.
Expected<void> turnLeft(tpu::MatMulOp op, const Backend &backend) {
  OpMaker maker(op, backend);
  Value left = op.getInput();
  NamedAttrList attributes(op->getAttrDictionary());
  if (op.getLeftTranspose()) {
    const auto rank = static_cast<int64_t>(OpMaker::dimsOf(left).size());
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    left = maker.permuted(left, order, "left_turned");
    attributes.set("left_transpose", maker.builder.getBoolAttr(false));
  }
  const bool hasBias = !isa<NoneType>(op.getBias().getType());
  if (hasBias)
    attributes = OpMaker::withoutActivation(attributes);
  Value made = maker.make(tpu::MatMulOp::getOperationName(), "product",
                          Type(OpMaker::typeOf(op.getOutput())),
                          {left, op.getRight(), maker.none()}, attributes);
  if (hasBias)
    made = maker.makeLike<tpu::AddOp>("sum", {made, op.getBias()},
                                      OpMaker::activationOf(op->getAttrDictionary()));
  maker.replace(0, made);
  op.erase();
  return {};
}

struct TurnLeft : PassWrapper<TurnLeft, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TurnLeft)

  StringRef getArgument() const override { return "turn-left"; }
  StringRef getDescription() const override {
    return "Turn left matrices and add biases apart from products of computed matrices";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<top::TopDialect, tpu::TpuDialect>();
  }
  void runOnOperation() override {
    if (failed(rewriteOps<tpu::MatMulOp>(getOperation(), isTurnedProduct, turnLeft)))
      signalPassFailure();
  }
};

/// Whether F32 holds what BF16 holds, too, and nobody reads it but casts.
bool makesBytesFloat(tpu::DtypeCastOp op) {
  const auto from = storageDataType(op.getInput().getType());
  return storageDataType(op.getOutput().getType()) == DataType::F32 &&
         (from == DataType::Bool || from == DataType::U8 || from == DataType::I8) &&
         !tpu::isQuantized(op.getInput()) && llvm::all_of(op->getUsers(), [](Operation *user) {
           auto cast = dyn_cast<tpu::CastOp>(user);
           return cast && (tpu::isQuantized(cast.getOutput()) ||
                           storageDataType(cast.getOutput().getType()) == DataType::BF16);
         });
}

struct NarrowCasts : PassWrapper<NarrowCasts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowCasts)

  StringRef getArgument() const override { return "narrow-casts"; }
  StringRef getDescription() const override {
    return "Make BF16 instead of F32 of truth values and bytes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpu::TpuDialect>();
  }
  void runOnOperation() override {
    SmallVector<tpu::DtypeCastOp> casts;
    getOperation().walk([&](tpu::DtypeCastOp op) {
      if (makesBytesFloat(op))
        casts.push_back(op);
    });
    for (tpu::DtypeCastOp op : casts) {
      const Type number = BFloat16Type::get(op.getContext());
      op.getOutput().setType(cast<RankedTensorType>(op.getOutput().getType()).clone(number));
      op.setTo(number);
      for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
        auto cast = mlir::cast<tpu::CastOp>(user);
        const bool isOutput = llvm::any_of(cast->getUsers(), [](Operation *reader) {
          return reader->hasTrait<OpTrait::IsTerminator>();
        });
        if (cast.getOutput().getType() != op.getOutput().getType())
          continue;
        if (isOutput) {
          OpBuilder builder(cast);
          cast.replaceAllUsesWith(
              builder.create<tpu::CopyOp>(cast.getLoc(), cast.getOutput().getType(), op.getOutput())
                  .getOutput());
        } else {
          cast.replaceAllUsesWith(op.getOutput());
        }
        cast.erase();
      }
    }
  }
};

struct SliceSums : PassWrapper<SliceSums, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SliceSums)

  StringRef getArgument() const override { return "slice-sums"; }
  StringRef getDescription() const override {
    return "Compute products of which no tile fits the lanes by parts of their sums";
  }
  void runOnOperation() override {
    const std::unique_ptr<Backend> backend = backendOrEmit(getOperation());
    if (!backend)
      return signalPassFailure();
    const Chip *chip = findChip(backend->info().name);
    getOperation().walk([&](Operation *op) {
      const bool isProduct = isa<tpu::ConvOp, tpu::MatMulOp>(op);
      if (!chip || !(isProduct || isCell(op)) || fittingPlaceOf(op, *backend))
        return;
      if (isProduct)
        planSlices(*chip, op);
      else
        planStream(*chip, op);
    });
  }
};

} // namespace

ArrayRef<OptionalPass> ownPasses() {
  static constexpr OptionalPass kPasses[] = {
      {Stage::Divide,
       []() -> std::unique_ptr<Pass> { return std::make_unique<FiniteConstants>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<NarrowCasts>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<TurnLeft>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<GatherToSlice>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<AverageToConv>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<ResizeToPool>(); }},
      {Stage::Divide, []() -> std::unique_ptr<Pass> { return std::make_unique<SliceSums>(); }},
      {Stage::Refine,
       []() -> std::unique_ptr<Pass> { return std::make_unique<MoveThroughLanes>(); }},
  };
  return kPasses;
}

} // namespace tpuc::cv18xx::backend
