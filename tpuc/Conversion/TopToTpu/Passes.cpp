//===- Passes.cpp - From what a network means to what a device computes -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/Passes.h"
#include "tpuc/Conversion/TopToTpu/FoldScale.h"
#include "tpuc/Conversion/TopToTpu/IntegerFusion.h"
#include "tpuc/Conversion/TopToTpu/Lowering.h"
#include "tpuc/Conversion/TopToTpu/NarrowSums.h"
#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Conversion/TopToTpu/ScaleChannels.h"
#include "tpuc/Conversion/TopToTpu/ScaleParts.h"
#include "tpuc/Conversion/TopToTpu/SortChannels.h"
#include "tpuc/Dialect/Quant/QuantTypes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Target/Registry.h"
#include "tpuc/Target/SchemeHint.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

#include <fmt/format.h>
#include <set>

namespace tpuc {
#define GEN_PASS_DEF_CHIPASSIGN
#define GEN_PASS_DEF_CONVERTTOPTOTPU
#define GEN_PASS_DEF_STRIPIOQUANT
#define GEN_PASS_DEF_CHIPTPUOPTIMIZE
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tpuc/Conversion/TopToTpu/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

/// The chip of a module. Errors: none was assigned, or one that there is not.
Expected<const TargetInfo *> targetOf(ModuleOp module) {
  auto chip = module->getAttrOfType<StringAttr>("module.chip");
  if (!chip || chip.getValue() == "ALL")
    return makeError("module", "is compiled for no chip", "--chip-assign first");
  return lookupTarget(chip.getValue().str());
}

struct ChipAssignPass : tpuc::impl::ChipAssignBase<ChipAssignPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Expected<const TargetInfo *> target = lookupTarget(chip);
    if (!target) {
      module.emitError(target.error().message());
      return signalPassFailure();
    }
    module->setAttr("module.chip", StringAttr::get(&getContext(), (*target)->name));
  }
};

struct ConvertTopToTpuPass : tpuc::impl::ConvertTopToTpuBase<ConvertTopToTpuPass> {
  using Base::Base;

  ConvertTopToTpuPass(const ConvertTopToTpuOptions &options,
                      std::shared_ptr<RoundedFilters> filters)
      : Base(options), filters(std::move(filters)) {}

  std::shared_ptr<RoundedFilters> filters;

  /// What `table` says, by layer. It may name a layer by any of its tensors, as calibration tables
  /// do. Those list inputs, too; what reads an input says how it is stored, so that nothing becomes
  /// of their lines but a remark.
  Expected<std::map<std::string, QuantScheme>> layerModes(func::FuncOp main,
                                                          const QuantizeTable &table) {
    std::vector<std::string> names;
    std::map<std::string, std::string> layers;
    std::set<std::string> inputs;
    for (Operation &op : main.front().without_terminator()) {
      if (isa<top::InputOp>(op))
        inputs.insert(layerName(&op));
      if (op.hasTrait<traits::Structural>())
        continue;
      names.push_back(layerName(&op));
      layers.emplace(names.back(), names.back());
      if (auto plain = op.getAttrOfType<StringAttr>(top::kPlainName);
          plain && layers.emplace(plain.str(), names.back()).second)
        names.push_back(plain.str());
      for (auto [name, result] : llvm::zip_equal(tensorNames(&op), op.getResults()))
        if (top::isPresent(result) && layers.emplace(name, layerName(&op)).second)
          names.push_back(name);
    }
    auto modes = table.modes(names, inputs, qtable);
    if (!modes)
      return modes;
    std::map<std::string, QuantScheme> byLayer;
    for (const QuantizeTable::Entry &entry : table.entries) {
      if (!modes->contains(entry.name)) {
        getOperation().emitRemark(
            fmt::format("{}:{}: '{}' is an input, which is stored as its readers "
                        "need it",
                        qtable.getValue(), entry.line, entry.name));
        continue;
      }
      const std::string &layer = layers.at(entry.name);
      auto [place, isNew] = byLayer.emplace(layer, modes->at(entry.name));
      if (!isNew && place->second != modes->at(entry.name))
        return makeError(qtable + ":" + std::to_string(entry.line),
                         "'" + entry.name + "' is of the layer '" + layer +
                             "', which stands here a second time",
                         "one mode for each layer");
    }
    return byLayer;
  }

  Expected<PlanOptions> planOptions(func::FuncOp main, const TargetInfo &target) {
    PlanOptions options;
    std::optional<QuantScheme> scheme = parseScheme(mode, asymmetric);
    if (!scheme)
      return makeError("mode", "'" + mode + "'" + schemeHint(mode.getValue()), schemeChoices());
    options.scheme = *scheme;
    options.avoidF16Overflow = avoidF16Overflow;
    options.isStrict = strict;
    options.onIntegers.insert(onIntegers.begin(), onIntegers.end());
    for (const std::string &layer : fasterInF16)
      options.faster[layer] = schemes::kF16;
    for (const std::string &layer : fasterInF32)
      options.faster[layer] = schemes::kF32;
    options.floatOutputs = floatOutputs;
    if (Expected<void> checked = checkScheme(target, *scheme); !checked)
      return propagate(checked);
    // No op of the tpu dialect is stored so; chips that have it compile the Top module itself.
    if (scheme->isQuantized() && bitWidth(scheme->activation) != 8)
      return makeError("mode", schemeName(*scheme) + " has no form in the tpu dialect",
                       "model_deploy, which compiles it for chips that have it");
    if (qtable.empty())
      return options;
    Expected<QuantizeTable> table = QuantizeTable::read(qtable);
    if (!table)
      return propagate(table);
    Expected<std::map<std::string, QuantScheme>> exceptions = layerModes(main, *table);
    if (!exceptions)
      return propagate(exceptions);
    for (const QuantizeTable::Entry &entry : table->entries)
      if (!hasScheme(target, entry.mode))
        return makeError(qtable + ":" + std::to_string(entry.line),
                         "mode " + schemeName(entry.mode),
                         "a precision that " + std::string(target.name) + " has");
    options.exceptions = std::move(*exceptions);
    for (auto &exception : options.exceptions)
      exception.second.zeroPoint = asymmetric;
    return options;
  }

  /// Whether an op of the network has a result whose elements have one of these types.
  template <typename... Types> static bool gives(func::FuncOp main) {
    return main
        .walk([](Operation *op) {
          const auto fits = [](Type type) { return isa<Types...>(getElementTypeOrSelf(type)); };
          return llvm::any_of(op->getResultTypes(), fits) ? WalkResult::interrupt()
                                                          : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether neither calibration nor a source that is quantized says how any tensor is stored, and
  /// there are floats of which something should.
  static bool lacksRanges(func::FuncOp main) {
    return !gives<quant::CalibratedQuantizedType, quant::UniformQuantizedType>(main) &&
           gives<FloatType>(main);
  }

  /// Lowered weights go to a file of their own; until that is written they are in memory.
  Expected<void> renameWeights(ModuleOp module, const PlanOptions &options,
                               const TargetInfo &target) {
    auto *dialect = getContext().getLoadedDialect<top::TopDialect>();
    Expected<std::shared_ptr<top::WeightStore>> store = dialect->weights(module);
    if (!store)
      return propagate(store);
    auto name = module->getAttrOfType<StringAttr>("module.name");
    const std::string file = (name ? name.getValue().str() : std::string("network")) + "_" +
                             std::string(target.name) + "_" + modeName(options.scheme) +
                             "_tpu_weight.npz";
    dialect->setWeights(file, *store);
    module->setAttr("module.weight_file", StringAttr::get(&getContext(), file));
    // Of the file before; whoever writes the new one states its own.
    module->removeAttr(top::kWeightDigest);
    return {};
  }

  Expected<void> convert(ModuleOp module) {
    Expected<const TargetInfo *> target = targetOf(module);
    if (!target)
      return propagate(target);
    Expected<func::FuncOp> network = top::mainFunction(module);
    if (!network)
      return propagate(network);
    func::FuncOp main = *network;
    if (phaseOf(module) == Phase::Lower)
      return makeError("module", "is lowered already", "a module of top ops");
    Expected<PlanOptions> options = planOptions(main, **target);
    if (!options)
      return propagate(options);
    if (options->scheme.isQuantized() && lacksRanges(main) && !gives<Float32Type>(main))
      return makeError("module", "floats of 16 or 64 bits only", "--widen-floats first");
    if (options->scheme.isQuantized() && lacksRanges(main))
      return makeError("module", "no tensor has a range",
                       "a calibration table for " + schemeName(options->scheme) +
                           " (run_calibration makes it)");
    if (options->integers())
      if (Expected<void> scaled = scaleParts(main, StoragePlan(main, **target, *options), *options);
          !scaled)
        return propagate(scaled);
    if (options->integers() && (*target)->requant.strategy == RequantStrategy::SharedShift)
      if (Expected<void> sorted =
              sortChannels(main, **target, StoragePlan(main, **target, *options), *options);
          !sorted)
        return propagate(sorted);
    if (Expected<void> scaled =
            scaleChannels(main, **target, StoragePlan(main, **target, *options), *options);
        !scaled)
      return propagate(scaled);
    StoragePlan plan(main, **target, *options);
    if (!keepScale)
      foldScale(main, **target, plan);
    if (Expected<void> renamed = renameWeights(module, *options, **target); !renamed)
      return renamed;
    Lowering lowering(main, **target, plan);
    lowering.interpolatesPictures = interpolatePictures;
    lowering.isForCycles = forCycles;
    lowering.filters = filters.get();
    if (Expected<void> lowered = lowering.run(); !lowered)
      return lowered;
    Builder builder(&getContext());
    setPhase(module, Phase::Lower);
    module->setAttr("module.mode", builder.getStringAttr(schemeName(options->scheme)));
    module->setAttr("module.asymmetric", builder.getBoolAttr(asymmetric));
    return {};
  }

  void runOnOperation() override {
    if (Expected<void> done = convert(getOperation()); !done) {
      getOperation().emitError(done.error().message());
      signalPassFailure();
    }
  }
};

struct StripIoQuantPass : tpuc::impl::StripIoQuantBase<StripIoQuantPass> {
  using Base::Base;

  /// An input whose readers all store it in another type. It is given as its source stores it:
  /// where the network has other integers of that scale, these are made of it. Bytes of pictures
  /// stay what they are. Of several types, floats count on a chip that has no others, and integers
  /// are made of these.
  static void stripInput(top::InputOp input, bool hasF32) {
    auto stated = input->getAttrOfType<TypeAttr>(kSourceType);
    input->removeAttr(kSourceType);
    if (input.getOutput().use_empty() || tpu::isQuantized(input.getOutput()))
      return;
    SmallVector<tpu::CastOp> casts;
    for (Operation *user : input.getOutput().getUsers()) {
      casts.push_back(dyn_cast<tpu::CastOp>(user));
      if (!casts.back())
        return;
    }
    const auto isOfFloats = [](tpu::CastOp cast) { return !tpu::isQuantized(cast.getOutput()); };
    tpu::CastOp first = *std::max_element(casts.begin(), casts.end(), [&](auto left, auto right) {
      return isOfFloats(left) < isOfFloats(right);
    });
    const auto isLikeFirst = [&](tpu::CastOp cast) {
      return cast.getOutput().getType() == first.getOutput().getType();
    };
    if (!llvm::all_of(casts, isLikeFirst) && (hasF32 || !isOfFloats(first)))
      return;
    const auto stored = mlir::cast<RankedTensorType>(first.getOutput().getType());
    quant::UniformQuantizedType wanted = tpu::quantizedType(stored);
    auto source = stated ? dyn_cast<quant::UniformQuantizedType>(stated.getValue())
                         : quant::UniformQuantizedType();
    const bool isOther = wanted && source && source != wanted && source.getStorage().width == 8 &&
                         source.getScale() == wanted.getScale();
    const TensorType given = isOther ? TensorType(stored).clone(source) : TensorType(stored);
    input.getInput().setType(given);
    input.getOutput().setType(given);
    Value value = input.getOutput();
    if (isOther) {
      OpBuilder builder(input.getContext());
      builder.setInsertionPointAfter(input);
      OperationState state(first.getLoc(), tpu::RequantIntOp::getOperationName(), value, stored);
      // A factor of 1.
      state.addAttribute("multiplier", builder.getI64ArrayAttr(1));
      state.addAttribute("rshift", builder.getI64ArrayAttr(0));
      value = builder.create(state)->getResult(0);
    }
    for (tpu::CastOp cast : llvm::make_filter_range(casts, isLikeFirst)) {
      cast.getOutput().replaceAllUsesWith(value);
      if (cast != first)
        cast.erase();
    }
    first.erase();
  }

  /// An output, however often it is given, that is stored in another type before.
  static void stripOutput(tpu::CastOp cast) {
    const auto stored = dyn_cast<OpResult>(cast.getInput());
    const bool isOnlyGiven = llvm::all_of(
        cast->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
    if (!stored || !isOnlyGiven)
      return;
    // What is given now has the output's name; inputs keep their own.
    if (!isa<top::InputOp>(stored.getOwner()))
      renameTensor(stored, layerName(cast));
    cast.getOutput().replaceAllUsesWith(cast.getInput());
    cast.erase();
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    const Expected<const TargetInfo *> target = targetOf(getOperation());
    const bool hasF32 = !target || hasScheme(**target, schemes::kF32);
    if (quantInput)
      for (auto input : llvm::to_vector(main.front().getOps<top::InputOp>()))
        stripInput(input, hasF32);
    for (auto input : main.front().getOps<top::InputOp>())
      input->removeAttr(kSourceType);
    if (quantOutput) {
      llvm::SetVector<Operation *> casts;
      for (Value value : main.front().getTerminator()->getOperands())
        if (auto cast = value.getDefiningOp<tpu::CastOp>())
          casts.insert(cast);
      for (Operation *cast : casts)
        stripOutput(tpu::CastOp(cast));
    }
    top::updateFunctionType(main);
  }
};

/// Whether the network, or a body, gives what `cast` makes.
bool isGiven(tpu::CastOp cast) {
  return llvm::any_of(cast->getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

struct ChipTpuOptimizePass : tpuc::impl::ChipTpuOptimizeBase<ChipTpuOptimizePass> {
  using Base::Base;
  void runOnOperation() override {
    // In one block, so that the first stands before all readers of the others.
    llvm::DenseMap<std::tuple<Block *, Value, Type>, tpu::CastOp> made;
    getOperation().walk([&](tpu::CastOp cast) {
      tpu::CastOp &first = made[{cast->getBlock(), cast.getInput(), cast.getOutput().getType()}];
      if (!first) {
        first = cast;
      } else if (!isGiven(cast)) {
        cast.getOutput().replaceAllUsesWith(first.getOutput());
      } else if (!isGiven(first)) {
        // The one that stays is the output, which has its name.
        cast->moveBefore(first);
        first.getOutput().replaceAllUsesWith(cast.getOutput());
        first = cast;
      }
    });
    // Their steps are in f32, and scale sums of integers, which takes commands of their own.
    const Expected<const TargetInfo *> target = targetOf(getOperation());
    if (!target || (*target)->requant.strategy == RequantStrategy::OwnCommand)
      computeOnIntegers(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    markNarrowSums(getOperation());
  }
};

} // namespace

void tpuc::addLowering(OpPassManager &manager, const LoweringOptions &options) {
  manager.addPass(createChipAssign({options.chip}));
  if (!options.calibrationTable.empty())
    manager.addPass(createImportCalibrationTable({options.calibrationTable,
                                                  options.scheme.zeroPoint, /*clip=*/true,
                                                  /*covariances=*/!options.forCycles}));
  manager.addPass(createFoldPreprocess({options.withoutFolds}));
  const bool isNarrow =
      options.scheme.activation == DataType::F16 || options.scheme.activation == DataType::BF16;
  manager.addPass(createChipTopOptimize({!options.scheme.isQuantized(), isNarrow}));
  const ConvertTopToTpuOptions conversion = {
      schemeName(options.scheme),
      options.scheme.zeroPoint,
      options.quantizeTable,
      options.avoidF16Overflow,
      options.strict,
      options.onIntegers,
      options.fasterInF16,
      options.fasterInF32,
      options.floatOutputs && !options.quantOutput,
      llvm::is_contained(options.withoutFolds, "fold-scale"),
      llvm::is_contained(options.withoutFolds, kResizeByProducts),
      options.forCycles};
  manager.addPass(std::make_unique<ConvertTopToTpuPass>(conversion, options.filters));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createStripIoQuant({options.quantInput, options.quantOutput}));
  manager.addPass(createChipTpuOptimize());
}

void tpuc::registerTopToTpu(DialectRegistry &) { registerTpucTopToTpuPasses(); }
