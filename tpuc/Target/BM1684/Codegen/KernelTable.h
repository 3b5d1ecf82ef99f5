//===- KernelTable.h - From ops to the kernels that compute them -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_KERNELTABLE_H
#define TPUC_TARGET_BM1684_CODEGEN_KERNELTABLE_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Target/BM1684/Kernels/Commands.h"

#include <functional>
#include <vector>

namespace tpuc::bm1684::backend {

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

/// The tile that functions of a table are called with.
using Sliced = const codegen::TiledOp &;

/// How ops of one class are computed.
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

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_KERNELTABLE_H
