//===- LayerGroup.cpp - Layers in tiles that fit local memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Emit/ModelContents.h"
#include "tpuc/Codegen/Group/GroupBuilder.h"
#include "tpuc/Codegen/Group/GroupFile.h"
#include "tpuc/Codegen/Group/NetworkGroups.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Phase.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_LAYERGROUP
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct LayerGroupPass : codegen::impl::LayerGroupBase<LayerGroupPass> {
  using Base::Base;

  Expected<void> save(const NetworkGroups &network) {
    if (saveGroups.empty())
      return {};
    std::vector<GroupPlan> all;
    for (const SubNetGroups &part : network.parts)
      llvm::append_range(all, part.groups);
    Expected<OutputFile> file = writeGroups(all, saveGroups);
    return file ? file->commit() : propagate(file);
  }

  void build(const NetworkGroups &network, const Backend &backend) {
    Builder builder(&getContext());
    const auto mark = [](Operation *layer, tpu::GroupOp group) {
      auto from = cast<tpu::SubNetInterface>(layer);
      if (IntegerAttr id = from.getSubnetIdAttr())
        group.setSubnetIdAttr(id);
      if (StringAttr mode = from.getSubnetModeAttr())
        group.setSubnetModeAttr(mode);
    };
    for (const SubNetGroups &part : network.parts) {
      for (const ScheduleItem &item : part.items) {
        Operation *op = item.move;
        if (item.group) {
          tpu::GroupOp group = buildGroup(*item.group, network.place());
          mark(item.group->layers.front(), group);
          op = group;
        }
        auto scheduled = cast<tpu::ScheduledInterface>(op);
        scheduled.setTimeAttr(builder.getI64IntegerAttr(item.start));
        if (&item == &part.items.front() && !part.poolUnits.empty())
          scheduled.setPoolTimesAttr(builder.getI64ArrayAttr(part.poolUnits));
      }
    }
    if (network.pool.rows.bytes() == 0)
      return;
    using Module = top::ModuleDialect;
    Module::PoolLocalAttrHelper(&getContext())
        .setAttr(getOperation(), builder.getI64IntegerAttr(network.poolAddress));
    Module::PoolPiecesAttrHelper(&getContext())
        .setAttr(getOperation(), builder.getI64ArrayAttr(network.pool.rows.ends));
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    if (opt < 0 || opt > 3)
      return module.emitError() << "--layer-group: opt=" << opt.getValue() << "; expected 0 to 3";
    if (seconds < 0 || (seconds > 0 && opt != 3))
      return module.emitError() << "--layer-group: seconds=" << seconds.getValue()
                                << "; expected 0, or with opt=3 a time limit";
    std::unique_ptr<Backend> backend = backendOrEmit(module);
    if (!backend)
      return failure();
    Expected<Heuristics> heuristics = Heuristics::without(without, *backend);
    if (!heuristics)
      return module.emitError() << "--layer-group: " << heuristics.error().message();
    Expected<func::FuncOp> main = top::mainFunction(module);
    if (!main)
      return module.emitError(main.error().message());
    const GroupOptions options = {.opt = opt,
                                  .seconds = seconds,
                                  .numThreads = numThreads,
                                  .file = loadGroups,
                                  .heuristics = *heuristics};
    Expected<NetworkGroups> network = chooseGroups(*main, options, *backend);
    if (!network)
      return module.emitError(network.error().message());
    if (Expected<void> saved = save(*network); !saved)
      return module.emitError(saved.error().message());
    build(*network, *backend);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main->front())))
      if (isConstant(&op) && op.use_empty())
        op.erase();
    setPhase(module, Phase::Group);
    return success();
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
