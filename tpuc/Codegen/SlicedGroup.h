//===- SlicedGroup.h - A group slice by slice ------------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SLICEDGROUP_H
#define TPUC_CODEGEN_SLICEDGROUP_H

#include "tpuc/Codegen/PlanInfo.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

#include <memory>

namespace tpuc::codegen {

/// A group as it is emitted: read from its ops and their attributes, or taken from its plan before
/// there are any.
class SlicedGroup {
public:
  struct Layer;

  /// A tensor that the group keeps in local memory, and its slices.
  struct Held {
    GroupInfo info = {};
    bool isLoaded = false;
    /// Of each slice of the group: how many others were in its place before.
    llvm::SmallVector<int64_t> versions = {};
    /// The concatenation that it is part of, and as which operand.
    const Layer *container = nullptr;
    unsigned part = 0;

    bool isNew(size_t slice) const { return slice == 0 || versions[slice] != versions[slice - 1]; }
  };

  /// A layer, and where its operands come from.
  struct Layer : Held {
    mlir::Operation *op = nullptr;
    SliceModel model = {};
    /// Null for operands that are not loaded.
    llvm::SmallVector<const Held *> operands = {};
    bool isJoin = false;
  };

  /// What is loaded, for which operand of which layer.
  struct Load : Held {
    /// What it is in global memory.
    mlir::Value source;
    const Layer *reader = nullptr;
    unsigned operand = 0;
  };

  struct Store {
    /// None where there is only a plan.
    mlir::Operation *op = nullptr;
    /// What it is in global memory.
    mlir::Value target;
    const Layer *maker = nullptr;
    int64_t step = 0;
  };

  /// Errors name the layer: what is not as --layer-group and --address-assign leave it.
  static Expected<std::unique_ptr<SlicedGroup>> read(tpu::GroupOp op, const Backend &backend);
  /// What `read` gives once the plan has become ops.
  static std::unique_ptr<SlicedGroup> take(const GroupPlan &plan, const PoolPlace &pool,
                                           const Backend &backend);

  int64_t period() const { return static_cast<int64_t>(layers.size()); }
  size_t numSlices() const { return numbers.size(); }

  /// One layer, or one load, on one slice. Errors name the layer: slices that do not hold what it
  /// reads.
  Expected<SlicedOp> sliced(const Layer &layer, size_t slice) const;
  SlicedOp sliced(const Load &load, size_t slice) const;
  /// A concatenation that brings one part to its lanes.
  Expected<SlicedOp> slicedPart(const Layer &join, unsigned operand, size_t slice) const;

  std::vector<std::unique_ptr<Load>> loads;
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<Store> stores;

private:
  explicit SlicedGroup(const Backend &backend) : backend(backend) {}

  Expected<void> readMember(mlir::Operation *member);
  Expected<void> connect(Layer &layer, Company company);
  void connectOperand(Layer &layer, unsigned index, Held *held);
  void countSlices();
  void setVersions(Held &held) const;
  LocalSlice at(const Held &held, size_t slice) const;

  const Backend &backend;
  llvm::SmallVector<SectionCounts> numbers;
  llvm::DenseMap<mlir::Value, Held *> holders;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_SLICEDGROUP_H
