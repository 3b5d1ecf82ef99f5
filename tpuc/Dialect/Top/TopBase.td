//===- TopBase.td - The top dialect and what its ops share -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TOPBASE
#define TPUC_DIALECT_TOP_TOPBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "tpuc/Dialect/Top/IntegerRanges.td"
include "tpuc/Dialect/Top/OpTraits.td"
include "tpuc/Dialect/Top/TopInterfaces.td"

def Top_Dialect : Dialect {
  let name = "top";
  let cppNamespace = "::tpuc::top";
  let summary = "A trained network as its framework means it, without a chip";
  let description = [{
    Top ops state what a network computes, in the terms of the frameworks that it came from.
    Their names, attributes and textual form are those of the TPU-MLIR manual, chapter 13:
    the generic form, attributes in braces, and the name of the tensor that an op makes as its
    location.

    ```mlir
    %0 = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("filter")
    ```

    Values are ranked or unranked tensors of any element type: plain, `!quant.calibrated` after
    calibration, or `!quant.uniform` for networks that were quantized in training. An operand that
    is left out is the result of a `top.None`.
  }];
  let dependentDialects = ["::tpuc::top::ModuleDialect"];
  // The manual's form: attributes in {...}, not in <{...}>.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// Registers the ops of one family; each family's generated code calls it.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }

    /// The weights that the ops of `module` name; opened on first use from the file in its
    /// attribute `module.weight_file`, empty where it has none. Thread safe.
    ::tpuc::Expected<::std::shared_ptr<::tpuc::top::WeightStore>> weights(::mlir::ModuleOp module);
    /// Makes `store` the weights of every module whose `module.weight_file` is `file`.
    void setWeights(::llvm::StringRef file, ::std::shared_ptr<::tpuc::top::WeightStore> store);
    /// Where relative weight files are looked for: the folder of the module's file. The working
    /// folder comes next, unless all weight files must lie in that of the module or below, links
    /// followed: `weights` gives an error then.
    void setWeightFolder(::llvm::StringRef folder, bool mustLieBelow = false);

  private:
    ::std::mutex mutex;
    ::std::string weightFolder;
    bool mustLieBelow = false;
    ::llvm::StringMap<::std::shared_ptr<::tpuc::top::WeightStore>> stores;

  public:
  }];
}

class Top_Op<string mnemonic, list<Trait> traits = []>
    : Op<Top_Dialect, mnemonic, !listconcat(traits, [Top_ChecksRanges])> {
  /// What an op that declares more has to repeat in its `extraClassDeclaration`.
  string rangeTable = Top_RangeTable<arguments>.text;
  let extraClassDeclaration = rangeTable;
  assert !empty(Top_RangeTable<arguments>.names),
         "top." # mnemonic # " has integers without a range (IntegerRanges.td): "
             # Top_RangeTable<arguments>.names;
}

/// An op that computes tensors from tensors: no side effects, shapes by inference.
class Top_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Top_Op<mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<Top_InferShapeInterface>,
        DeclareOpInterfaceMethods<Top_FlopsInterface>])>;

/// An operand or result that may be left out.
def Top_OptionalTensor : AnyTypeOf<[AnyTensor, NoneType], "tensor of any type, or none">;

// Attributes with the defaults that the manual states.
class Top_DefaultI64<int value> : DefaultValuedAttr<I64Attr, "" # value>;
class Top_DefaultF64<string value> : DefaultValuedAttr<F64Attr, value>;
def Top_False : DefaultValuedAttr<BoolAttr, "false">;
def Top_True : DefaultValuedAttr<BoolAttr, "true">;
/// Upper limit of a fused ReLU; negative: none.
def Top_ReluLimit : Top_DefaultF64<"-1.0">;

#endif // TPUC_DIALECT_TOP_TOPBASE
