//===- OpKernels.h - The kernels that compute an op on the BM1684X --*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"

#include <functional>
#include <vector>

namespace tpuc::bm1684x::backend {

/// A kernel and what it is to work on.
struct Kernel {
  /// The scratch that it wants, in bytes of each lane; an error says what it cannot do.
  std::function<Expected<uint32_t>()> scratch;
  std::function<Expected<void>(Builder &)> emit;
};
using Kernels = Expected<std::vector<Kernel>>;

/// The kernel of two functions of the family `params`.
template <auto scratch, auto emit, typename Params> Kernel makeKernel(Params params) {
  return {[params] { return scratch(params); },
          [params](Builder &builder) { return emit(builder, params); }};
}
template <auto scratch, auto emit, typename Params> Kernels one(Params params) {
  return std::vector<Kernel>{makeKernel<scratch, emit>(std::move(params))};
}

/// The same of a family that needs no scratch: `check` says what it cannot do.
template <auto check, auto emit, typename Params> Kernels oneChecked(Params params) {
  Kernel kernel{[params]() -> Expected<uint32_t> {
                  if (Expected<void> checked = check(params); !checked)
                    return propagate(checked);
                  return 0;
                },
                [params](Builder &builder) { return emit(builder, params); }};
  return std::vector<Kernel>{std::move(kernel)};
}

/// How ops of one class are computed. `hasKernel` and `kernelsOf` read the same row.
struct KernelRule {
  Kernels (*make)(mlir::Operation *op, const codegen::TiledOp &tiled);
  /// Whether `make` is meant for `op`, whatever its tiles.
  bool (*takes)(mlir::Operation *op);
  /// Errors (without `where`) say which tensors `make` cannot take.
  Expected<void> (*check)(const codegen::TiledOp &tiled);
};

/// Rules that share what they take and check; `add` makes one of a function of the op and its
/// tile, without state.
class KernelTable {
public:
  explicit KernelTable(bool (*takes)(mlir::Operation *),
                       Expected<void> (*check)(const codegen::TiledOp &))
      : takes(takes), check(check) {}

  template <typename... Ops, typename Make> KernelTable &add(Make /*make*/) {
    (rules.template add<Ops>({&callOn<Ops, Make, Kernels, const codegen::TiledOp &>, takes, check}),
     ...);
    return *this;
  }
  /// The rows behind it are for ops that `condition` takes.
  KernelTable &where(bool (*condition)(mlir::Operation *)) {
    takes = condition;
    return *this;
  }
  /// The rows behind it are for tensors that `checked` takes.
  KernelTable &with(Expected<void> (*checked)(const codegen::TiledOp &)) {
    check = checked;
    return *this;
  }

  /// The rule for `op`; null if there is none.
  const KernelRule *find(mlir::Operation *op) const {
    const KernelRule *rule = rules.find(op);
    return rule && rule->takes(op) ? rule : nullptr;
  }
  /// Whether it has a rule for some ops of this name.
  bool names(mlir::OperationName op) const { return rules.find(op); }

private:
  bool (*takes)(mlir::Operation *);
  Expected<void> (*check)(const codegen::TiledOp &);
  OpTable<KernelRule> rules;
};

/// `KernelTable` for all ops of its classes, and all tensors.
inline bool takesAll(mlir::Operation *) { return true; }
inline Expected<void> checkNothing(const codegen::TiledOp &) { return {}; }

/// The kernels that compute `tiled`, to be run one after the other; all share its scratch. Errors
/// (without `where`) say what none of them can do.
Kernels kernelsOf(const codegen::TiledOp &tiled);

/// Whether `kernelsOf` has a rule for the op.
bool hasKernel(mlir::Operation *op);

/// Whether there is a rule for some ops of this name.
bool hasKernelFor(mlir::OperationName op);

//===--- For the kernels of integers --------------------------------------===//

/// Pixels that are repeated, of any type.
Kernels upsampleKernels(const codegen::TiledOp &tiled);

/// The taps of the rows and columns of a tile, counted in the tile of the input.
struct ResizeTaps {
  std::vector<ResizeTap> rows, columns;
};
Expected<ResizeTaps> resizeTapsOf(tpu::InterpOp op, const codegen::TiledOp &tiled);

/// The matrices of one product of a batch.
struct MatrixOperands {
  LocalTensor left, right, output;
};
std::vector<MatrixOperands> matricesOf(const codegen::TiledOp &tiled);

/// Tells `attention` its operands and heads; gives the factor of the scores. Errors: what is more
/// than attention alone.
Expected<double> setHeads(AttentionOperands &attention, tpu::ScaleDotProductAttentionOp op,
                          const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_OPKERNELS_H
