//===- ModuleDialect.cpp - What a module says about its network ------------------ ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ModuleDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "tpuc/Dialect/Top/ModuleDialect.cpp.inc"

using namespace mlir;
using namespace tpuc;
using top::ModuleDialect;

void ModuleDialect::initialize() {}

static bool isCount(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}

/// Whether `attribute` lists the ends of pieces, each behind the one before.
static bool areEnds(Attribute attribute) {
  auto ends = dyn_cast<ArrayAttr>(attribute);
  if (!ends || ends.empty() || !llvm::all_of(ends, isCount))
    return false;
  int64_t last = 0;
  for (auto end : ends.getAsRange<IntegerAttr>()) {
    if (end.getInt() <= last)
      return false;
    last = end.getInt();
  }
  return true;
}

/// Whether the functions of a module say possible things of the one sub-network that each is.
static LogicalResult verifySubNets(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    const Attribute id = function->getAttr("subnet_id");
    const Attribute mode = function->getAttr("subnet_mode");
    if (!id && !mode)
      continue;
    auto text = dyn_cast_or_null<StringAttr>(mode);
    if (!isCount(id) || !text || (text.getValue() != "TPU" && text.getValue() != "CPU"))
      return function.emitOpError("has wrong subnet_id and subnet_mode; expected both, a number "
                                  "from 0 on and TPU or CPU");
  }
  return success();
}

LogicalResult ModuleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const StringRef name = attribute.getName().getValue();
  const Attribute value = attribute.getValue();
  const auto isOneOf = [&](std::initializer_list<StringRef> names) {
    return llvm::is_contained(names, name);
  };
  const auto isWrong = [&](const char *expected) {
    return op->emitOpError() << name << " is " << value << "; expected " << expected;
  };
  const bool isText = isOneOf({NameAttrHelper::getNameStr(), PlatformAttrHelper::getNameStr(),
                               WeightFileAttrHelper::getNameStr(),
                               WeightSha256AttrHelper::getNameStr(), StateAttrHelper::getNameStr(),
                               ChipAttrHelper::getNameStr(), ModeAttrHelper::getNameStr()});
  const bool isNumber =
      isOneOf({FLOPsAttrHelper::getNameStr(), CoeffAddrAttrHelper::getNameStr(),
               CoeffSizeAttrHelper::getNameStr(), NeuronAddrAttrHelper::getNameStr(),
               NeuronSizeAttrHelper::getNameStr(), InputAddrAttrHelper::getNameStr(),
               InputSizeAttrHelper::getNameStr(), OutputAddrAttrHelper::getNameStr(),
               OutputSizeAttrHelper::getNameStr(), PoolAddrAttrHelper::getNameStr(),
               PoolLocalAttrHelper::getNameStr()});
  const bool isFlag = name == AsymmetricAttrHelper::getNameStr();
  const bool isPool = name == PoolPiecesAttrHelper::getNameStr();
  if (!isText && !isNumber && !isFlag && !isPool)
    return success();
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitOpError() << "has " << name << "; expected it on builtin.module";
  if (isText && !isa<StringAttr>(value))
    return isWrong("a string");
  if (isNumber && !isCount(value))
    return isWrong("an i64, at least 0");
  if (isFlag && !isa<BoolAttr>(value))
    return isWrong("true or false");
  if (isPool && !areEnds(value))
    return isWrong("i64 that ascend, above 0");
  if (isPool && !op->hasAttr(PoolLocalAttrHelper::getNameStr()))
    return op->emitOpError() << "has " << name << " without " << PoolLocalAttrHelper::getNameStr()
                             << "; expected both";
  return name == StateAttrHelper::getNameStr() ? verifySubNets(module) : success();
}
