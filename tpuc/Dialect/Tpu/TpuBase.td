//===- TpuBase.td - The tpu dialect and what its ops share -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_TPUBASE
#define TPUC_DIALECT_TPU_TPUBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tpuc/Dialect/Top/TopBase.td"
include "tpuc/Dialect/Tpu/LayerFacts.td"

def Tpu_Dialect : Dialect {
  let name = "tpu";
  let cppNamespace = "::tpuc::tpu";
  let summary = "A network as a device computes it: storage types, no framework";
  let description = [{
    Tpu ops state what a tensor processor computes. Every value has the type in which it is stored
    (f32, f16, bf16, 8- to 32-bit integers or `!quant.uniform`), and every change of type is an op
    of its own. What a lowered network has besides tpu ops are `top.Input`, `top.Weight` and
    `top.None`.

    An op of the same name as one of the top dialect takes the same operands and attributes.

    * On f32 it computes the same, to the bit.
    * On f16 and bf16 the operands are widened to f32, and each element of the f32 result is rounded
      once to the type in which it is stored, to the nearest, ties to even. Biases may be f32.
    * On `!quant.uniform` values it computes with the stored integers as the op says. Ops that only
      move or select elements take and give the same scale and zero point.

    An integer result is `saturate(scaled + zero point)`: `scaled` stands for `x * multiplier /
    2^rshift` (a negative `rshift` is a left shift), where x is the integer that the op states, exact
    and within 32 bits, and `saturate` takes the nearest integer that the stored type allows.
    `quant_mode` says how it is scaled, without it as `MultiplierShift`:

    | quant_mode | scaled |
    | --- | --- |
    | MultiplierShift | `x * multiplier / 2^rshift`, exact, then rounded once by `round_mode` |
    | OnlyShift | `x / 2^rshift`, rounded by `round_mode`; `multiplier` is not read |
    | TFLite, TFLite_LShift | h = `x * multiplier / 2^31`, rounded half up and saturated to 32 bits; then `h / 2^rshift`, rounded half away from zero. For a negative `rshift` h is taken of `x * 2^-rshift`, saturated to 32 bits |
    | QDM | the same with both rounded half away from zero; `rshift` is not negative |

    `round_mode` is HalfUp (to the nearest, halves towards plus infinity) unless it says HalfDown
    (halves towards minus infinity), HalfToEven, HalfAwayFromZero, TowardsZero, Down or Up.

    With `do_relu` the result is at least the zero point, and unless `relu_limit` is negative at most
    `saturate(round(relu_limit / scale) + zero point)`, the quotient in f64, halves away from zero.

    Passes of the code generator say more about layers. This changes nothing of what an op means, and
    every pass that rewrites a layer has to keep what still holds. It is checked behind each pass.

    | attribute | of | meaning |
    | --- | --- | --- |
    | `subnet_id`, `subnet_mode` | layers, groups | the number of the sub-network, and who computes it: TPU or CPU |
    | `subnet_reason` | layers of the CPU | why the chip does not compute it |
    | `ginfo` | ops of a `tpu.Group` | how it is computed in slices |
    | `time` | groups, layers that move data in global memory | the unit of time in which it begins |
    | `pool_times` | the first of these in a sub-network | when each piece of the resident constants is loaded; -1: never |
    | `from_row`, `in_row` | convolutions, casts | the operand, or the result, is one pixel that lies as a row of all channels, not over lanes |
    | `stored_rows` | convolutions, element-wise ops | so many rows lie side by side as channels; the result is stored as the only reader has it, a `tpu.UnpackRows` |
    | `stored_turned` | convolutions, and reshapes and a permute behind | the convolution's result is stored as the permute has it, in so many groups of channels |
  }];
  let dependentDialects = ["::tpuc::top::TopDialect"];
  // The manual's form: attributes in {...}, not in <{...}>.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// Registers the ops of one family; each family's generated code calls it.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
  }];
}

class Tpu_Op<string mnemonic, list<Trait> traits = []> : Op<Tpu_Dialect, mnemonic, traits>;

/// An operand that may be left out.
def Tpu_OptionalTensor : AnyTypeOf<[AnyTensor, NoneType]>;

/// The op is one of the top dialect on stored values: it is as valid as that one.
def Tpu_MirroredTrait : NativeOpTrait<"MirrorsTop"> { let cppNamespace = "::tpuc::tpu"; }
/// See TpuTraits.h.
def Tpu_CombinationTrait : NativeOpTrait<"Combining"> { let cppNamespace = "::tpuc::tpu"; }
def Tpu_RequantTrait : NativeOpTrait<"Requantizing"> { let cppNamespace = "::tpuc::tpu"; }

/// How a requantization rounds; left out: HalfUp.
def Tpu_RoundMode : OptionalAttr<StrAttr>;
/// How sums become stored integers; left out in floating-point forms.
defvar Tpu_Requantization = (ins OptionalAttr<I64ArrayAttr>:$multiplier,
                                 OptionalAttr<I64ArrayAttr>:$rshift,
                                 OptionalAttr<StrAttr>:$quant_mode,
                                 Tpu_RoundMode:$round_mode);

/// What is known of an op of the top dialect, and so of the op that mirrors it.
class Tpu_KnowledgeOf<Op top> {
  list<Trait> traits = !filter(known, top.traits, !isa<Top_OpTrait>(known));
}

/// What passes may say about the op that mirrors one of the top dialect, besides what they may
/// about every layer.
class Tpu_FactsOf<Op top> {
  bit isPointwise =
      !not(!empty(!filter(known, top.traits, !eq(!cast<string>(known), "Top_Pointwise"))));
  list<Trait> traits = !if(isPointwise, [Tpu_StoredRowsInterface], []<Trait>);
  dag arguments = !if(isPointwise, Tpu_StoredRowsFacts, (ins));
}

/// An op with the operands, attributes, results, traits and text of one of the top dialect.
class Tpu_MirroredOp<Op top, dag extra = (ins), string integers = "", string mnemonic = top.opName,
                 list<Trait> traits = []>
    : Tpu_Op<mnemonic, !listconcat(traits, Tpu_KnowledgeOf<top>.traits, [Pure, Tpu_MirroredTrait],
                                   Tpu_FactsOf<top>.traits, Tpu_LayerInterfaces)> {
  let summary = top.summary;
  let description =
      !subst("\"top." # top.opName # "\"", "\"tpu." # mnemonic # "\"", top.description) # integers;
  let arguments = !con(top.arguments, extra, Tpu_FactsOf<top>.arguments, Tpu_LayerFacts);
  let results = top.results;
}

/// One with a form on integers that ends in a requantization.
class Tpu_RequantizingOp<Op top, string integers>
    : Tpu_MirroredOp<top, Tpu_Requantization, integers, top.opName, [Tpu_RequantTrait]>;

/// A product, whose sums become stored integers or floats.
class Tpu_ProductOp<Op top, string integers, dag extra = (ins), list<Trait> traits = []>
    : Tpu_MirroredOp<top, !con(Tpu_Requantization, (ins OptionalAttr<F64ArrayAttr>:$dequant_scale),
                               extra),
                 integers # [{ With `dequant_scale` in their place the result is of floats:
    `f32(sum) * f32(dequant_scale[c])`, both roundings to the nearest, ties to even, then limited by
    `do_relu`, then rounded to the stored type.
  }], top.opName, !listconcat(traits, [Tpu_RequantTrait])>;

/// One with sub-networks.
class Tpu_ControlOp<Op top, list<Trait> traits = []>
    : Tpu_Op<top.opName, !listconcat(traits, Tpu_KnowledgeOf<top>.traits,
                                     [RecursiveMemoryEffects, SingleBlock, Tpu_SubNetInterface])> {
  let summary = top.summary;
  let description = !subst("\"top.", "\"tpu.", top.description);
  let arguments = !con(top.arguments, Tpu_SubNetFacts);
  let regions = top.regions;
  let results = top.results;
}

#endif // TPUC_DIALECT_TPU_TPUBASE
