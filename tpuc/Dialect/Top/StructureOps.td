//===- StructureOps.td - What a network is made of besides its layers -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_STRUCTUREOPS
#define TPUC_DIALECT_TOP_STRUCTUREOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_NoneOp : Top_Op<"None", [Pure, Top_Structural, Top_Parameter]> {
  let summary = "An operand that is left out";
  let description = [{
    Stands where an optional operand of another op has no tensor.

    Example:

    ```mlir
    %0 = "top.None"() : () -> none
    ```
  }];
  let results = (outs NoneType:$result);
}

def Top_WeightOp : Top_Op<"Weight", [Pure, Top_Structural, Top_Parameter]> {
  let summary = "A constant tensor of the network";
  let description = [{
    The tensor that the module's weight file (`module.weight_file`, an npz) holds under the name in
    the op's location. The elements are mapped when they are needed, not held in the IR.

    `weight_scale` says by which scales a source has quantized it: one, or one for each channel. Its
    integers are the elements over their scale, rounded. Where f32 holds too little of them, as of
    biases beyond 2^24, the attribute `weight_rest` has an i64 for each element that is added.

    Example:

    ```mlir
    %0 = "top.Weight"() : () -> tensor<32x16x3x3xf32> loc("filter")
    ```
  }];
  let arguments = (ins OptionalAttr<F64ArrayAttr>:$weight_scale);
  let results = (outs AnyRankedTensor:$output);
  let hasVerifier = 1;
  let extraClassDeclaration = rangeTable # [{
    /// The name in the op's location.
    ::std::string name();
    /// The tensor, as a view into the weight file where that is possible.
    ::tpuc::Expected<::tpuc::Tensor> read();
    /// The elements as f32.
    ::tpuc::Expected<::std::vector<float>> read_as_float();
    /// The bytes of the elements.
    ::tpuc::Expected<::std::vector<uint8_t>> read_as_byte();
    /// A new weight `name` that holds `tensor`, created at the builder's insertion point. A name
    /// that is taken gets a number behind it.
    static WeightOp create(::mlir::OpBuilder &builder, ::mlir::ModuleOp module,
                           ::llvm::StringRef name, ::tpuc::Tensor tensor);
    /// A new weight with the elements rounded to f16 or bf16, named like this one with `_f16` or
    /// `_bf16` behind it; the one that there is if it was made before.
    ::tpuc::Expected<WeightOp> clone_f16(::mlir::OpBuilder &builder);
    ::tpuc::Expected<WeightOp> clone_bf16(::mlir::OpBuilder &builder);
    /// Prints the generic form. The scales are printed here: networks of integers have one for each
    /// channel of each filter, and MLIR takes microseconds for each.
    static ::mlir::OperationName::PrintAssemblyFn getPrintAssemblyFn();
  }];
}

def Top_InputOp : Top_Op<"Input", [AllTypesMatch<["input", "output"]>, Top_Structural]> {
  let summary = "An input of the network, and how pictures become it";
  let description = [{
    Marks an argument of `main`, also one that nothing reads. The attributes say how a picture is turned into the tensor: scaled
    to `resize_dims` (with `keep_aspect_ratio`: padded with `pad_value`, `pad_type` "center" or
    "normal"), cut to the input's size around its centre, in the order of `pixel_format`, as
    (x - mean) * scale. Without `do_preprocess` there is no such rule.

    Example:

    ```mlir
    %1 = "top.Input"(%0) : (tensor<1x3x173x141xf32>) -> tensor<1x3x173x141xf32> loc("data")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_False:$do_preprocess,
                       OptionalAttr<StrAttr>:$pixel_format,
                       OptionalAttr<StrAttr>:$channel_format,
                       Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1>:$resize_dims,
                       OptionalAttr<BoolAttr>:$keep_aspect_ratio,
                       OptionalAttr<StrAttr>:$keep_ratio_mode,
                       Top_Between<OptionalAttr<I64Attr>, 0, 255>:$pad_value,
                       OptionalAttr<StrAttr>:$pad_type,
                       OptionalAttr<F64ArrayAttr>:$scale,
                       OptionalAttr<F64ArrayAttr>:$mean);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_STRUCTUREOPS
