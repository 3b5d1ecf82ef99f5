//===- OpTable.h - What is known of some classes of ops -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `TypeSwitch` that can be asked which ops it knows: the predicate "is there a form of it?" and
// the function that makes the form read the same rows, and tests go through all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_OPTABLE_H
#define TPUC_DIALECT_TOP_OPTABLE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <cassert>
#include <type_traits>
#include <utility>

namespace tpuc {

/// A value for each of some classes of ops.
template <typename Value> class OpTable {
public:
  /// Gives each of `Ops`, which have none yet, a value.
  template <typename... Ops> OpTable &add(Value value) {
    (insert(mlir::TypeID::get<Ops>(), value), ...);
    return *this;
  }

  /// The value of the class of `op`; null if it has none.
  const Value *find(mlir::Operation *op) const { return find(op->getName()); }
  const Value *find(mlir::OperationName name) const {
    auto found = values.find(name.getTypeID());
    return found == values.end() ? nullptr : &found->second;
  }

private:
  void insert(mlir::TypeID op, const Value &value) {
    const bool isNew = values.try_emplace(op, value).second;
    assert(isNew && "an op with two rows");
    (void)isNew;
  }

  llvm::DenseMap<mlir::TypeID, Value> values;
};

/// Calls `callable`, a function without state, with an op of class `Op`.
template <typename Op, typename Callable, typename Result, typename... Args>
Result callOn(mlir::Operation *op, Args... args) {
  static_assert(std::is_empty_v<Callable>, "a lambda that captures nothing");
  return Callable{}(mlir::cast<Op>(op), std::forward<Args>(args)...);
}

template <typename Signature> class OpFunctions;

/// A function for each of some classes of ops, which is called with the op and `Args`.
template <typename Result, typename... Args> class OpFunctions<Result(Args...)> {
public:
  using Function = Result (*)(mlir::Operation *, Args...);

  /// Gives each of `Ops` the function `callable`, which has no state and takes any of them.
  template <typename... Ops, typename Callable> OpFunctions &add(Callable /*callable*/) {
    (functions.template add<Ops>(&callOn<Ops, Callable, Result, Args...>), ...);
    return *this;
  }

  /// The function of `op`; null if there is none.
  Function find(mlir::Operation *op) const { return find(op->getName()); }
  Function find(mlir::OperationName name) const {
    const Function *found = functions.find(name);
    return found ? *found : nullptr;
  }

private:
  OpTable<Function> functions;
};

} // namespace tpuc

#endif // TPUC_DIALECT_TOP_OPTABLE_H
