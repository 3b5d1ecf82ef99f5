//===- OpKinds.h - Ops that take the same time ----------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_OPKINDS_H
#define TPUC_CODEGEN_GROUP_OPKINDS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>

namespace tpuc::codegen {

/// Numbers of kinds of ops, which are the same in all contexts. Several threads may ask at once.
class KindNumbers {
public:
  /// The number of the kind that `content` describes, counted from 0 in the order in which kinds
  /// are met.
  int64_t of(llvm::StringRef content);

private:
  std::mutex mutex;
  /// By hashes.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t> numbers;
};

/// Gives ops numbers that are equal for ops of one kind, about which a chip says the same
/// (`Backend::layoutOf` and all that asks for a cost): those with the same name, attributes and
/// types, whose operands come from ops of the same names and attributes. Constants of one element
/// also have the same value; of others the elements do not count. Several threads may ask at once.
/// All ops are of one context.
class OpKinds {
public:
  explicit OpKinds(std::shared_ptr<KindNumbers> numbers = std::make_shared<KindNumbers>())
      : numbers(std::move(numbers)) {}

  /// The number of the kind of `op`.
  int64_t of(mlir::Operation *op);
  /// The same of an op that may be changed or erased before it is asked for again.
  int64_t ofChanging(mlir::Operation *op);
  /// Ops may be changed or erased before they are asked for again. Kinds keep their numbers.
  void forgetOps();

private:
  std::shared_ptr<KindNumbers> numbers;
  std::mutex mutex;
  llvm::DenseMap<mlir::Operation *, int64_t> known;
  /// By the places of names, attributes and types in the context.
  llvm::StringMap<int64_t> seen;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_OPKINDS_H
