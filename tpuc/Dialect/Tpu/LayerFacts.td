//===- LayerFacts.td - What passes say about layers -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass of the code generator tells later ones about a layer by attributes: who computes it, how
// its tensors lie, when and where it runs. Each fact is a declared attribute of the ops that may
// have it, with an interface that reads, sets and checks it. None of them changes what an op means.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_LAYERFACTS
#define TPUC_DIALECT_TPU_LAYERFACTS

include "mlir/IR/OpBase.td"

//===--- Attributes -------------------------------------------------------===//

def Tpu_NonNegative : ConfinedAttr<I64Attr, [IntNonNegative]>;
def Tpu_Positive : ConfinedAttr<I64Attr, [IntPositive]>;

def Tpu_SubNetMode
    : Attr<And<[StrAttr.predicate,
                CPred<"::tpuc::tpu::isSubNetMode(::llvm::cast<::mlir::StringAttr>($_self))">]>,
           "TPU or CPU"> {
  let storageType = StrAttr.storageType;
  let returnType = StrAttr.returnType;
  let valueType = StrAttr.valueType;
  let constBuilderCall = StrAttr.constBuilderCall;
}

/// Units of time; -1 for what is never loaded.
def Tpu_PoolTimes
    : TypedArrayAttrBase<ConfinedAttr<I64Attr, [IntMinValue<-1>]>, "units of time, or -1">;

defvar Tpu_SubNetFacts = (ins OptionalAttr<Tpu_NonNegative>:$subnet_id,
                              OptionalAttr<Tpu_SubNetMode>:$subnet_mode,
                              OptionalAttr<StrAttr>:$subnet_reason);
defvar Tpu_TimeFacts = (ins OptionalAttr<Tpu_NonNegative>:$time,
                            OptionalAttr<Tpu_PoolTimes>:$pool_times);
defvar Tpu_TileFacts = (ins OptionalAttr<DictionaryAttr>:$ginfo);
/// What each layer of a device may have.
defvar Tpu_LayerFacts = !con(Tpu_SubNetFacts, Tpu_TileFacts, Tpu_TimeFacts);

defvar Tpu_PixelRowFacts = (ins UnitAttr:$from_row, UnitAttr:$in_row);
defvar Tpu_StoredRowsFacts = (ins OptionalAttr<Tpu_Positive>:$stored_rows);
defvar Tpu_StoredTurnedFacts = (ins OptionalAttr<Tpu_Positive>:$stored_turned);

//===--- Interfaces -------------------------------------------------------===//

/// The getter and the setter of an attribute.
class Tpu_FactGetter<string name, string type, string description>
    : InterfaceMethod<description, type, "get" # name # "Attr">;
class Tpu_FactSetter<string name, string type>
    : InterfaceMethod<"Sets that.", "void", "set" # name # "Attr",
                      (ins type:$value)>;

class Tpu_FactInterface<string name, string check> : OpInterface<name> {
  let cppNamespace = "::tpuc::tpu";
  let verify = "return ::tpuc::tpu::" # check # "($_op);";
}

def Tpu_SubNetInterface : Tpu_FactInterface<"SubNetInterface", "verifySubNet"> {
  let description = [{
    A layer of a sub-network, from `--subnet-divide` on. Layers of a network that is one sub-network
    of the TPU say nothing.
  }];
  let methods = [
    Tpu_FactGetter<"SubnetId", "::mlir::IntegerAttr",
      "The number of the sub-network; they run in the order of these.">,
    Tpu_FactSetter<"SubnetId", "::mlir::IntegerAttr">,
    Tpu_FactGetter<"SubnetMode", "::mlir::StringAttr", "Who computes it, \"TPU\" or \"CPU\".">,
    Tpu_FactSetter<"SubnetMode", "::mlir::StringAttr">,
    Tpu_FactGetter<"SubnetReason", "::mlir::StringAttr",
      "Why the chip does not compute a layer of the CPU.">,
    Tpu_FactSetter<"SubnetReason", "::mlir::StringAttr">];
}

def Tpu_TiledInterface : Tpu_FactInterface<"TiledInterface", "verifyTiles"> {
  let description = [{
    An op in the body of a `tpu.Group`, from `--layer-group` on.
  }];
  let methods = [
    Tpu_FactGetter<"Ginfo", "::mlir::DictionaryAttr",
      "How it is computed in tiles; see `tpu.Group` for the entries.">,
    Tpu_FactSetter<"Ginfo", "::mlir::DictionaryAttr">];
}

def Tpu_ScheduledInterface : Tpu_FactInterface<"ScheduledInterface", "verifySchedule"> {
  let description = [{
    A group, or an op that moves data in global memory, on the line of time of its sub-network.
  }];
  let methods = [
    Tpu_FactGetter<"Time", "::mlir::IntegerAttr",
      "The unit of time in which it begins, of a group its last tile.">,
    Tpu_FactSetter<"Time", "::mlir::IntegerAttr">,
    Tpu_FactGetter<"PoolTimes", "::mlir::ArrayAttr",
      "Of the first op of a sub-network: when each piece of the pool is loaded; -1: never.">,
    Tpu_FactSetter<"PoolTimes", "::mlir::ArrayAttr">];
}

def Tpu_PixelRowInterface : Tpu_FactInterface<"PixelRowInterface", "verifyPixelRows"> {
  let description = [{
    A layer whose first operand (`from_row`) or result (`in_row`) is one pixel that lies in local
    memory as a row of all channels, not over lanes.
  }];
  let methods = [
    InterfaceMethod<"Whether the first operand is such a row.", "bool", "getFromRow">,
    InterfaceMethod<"Whether the result is such a row.", "bool", "getInRow">];
}

def Tpu_StoredRowsInterface : Tpu_FactInterface<"StoredRowsInterface", "verifyStoredRows"> {
  let description = [{
    A layer whose channels are those of several rows side by side: its result is stored as the
    `tpu.UnpackRows` has it that alone reads it.
  }];
  let methods = [
    Tpu_FactGetter<"StoredRows", "::mlir::IntegerAttr", "How many rows lie side by side.">,
    Tpu_FactSetter<"StoredRows", "::mlir::IntegerAttr">,
    InterfaceMethod<"Removes that.", "::mlir::Attribute", "removeStoredRowsAttr">];
}

def Tpu_StoredTurnedInterface : Tpu_FactInterface<"StoredTurnedInterface", "verifyStoredTurned"> {
  let description = [{
    A convolution, the reshapes behind it and the `tpu.Permute` at their end, each of which alone
    reads the one before: the convolution's result is stored as the permute has it.
  }];
  let methods = [
    Tpu_FactGetter<"StoredTurned", "::mlir::IntegerAttr",
      "How many groups of channels of each image are turned, each by itself.">,
    Tpu_FactSetter<"StoredTurned", "::mlir::IntegerAttr">];
}

defvar Tpu_LayerInterfaces = [Tpu_SubNetInterface, Tpu_TiledInterface, Tpu_ScheduledInterface];

#endif // TPUC_DIALECT_TPU_LAYERFACTS
