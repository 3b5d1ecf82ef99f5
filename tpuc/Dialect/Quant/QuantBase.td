//===- QuantBase.td - The quant dialect, its types and constraints -*- tablegen -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTBASE
#define TPUC_DIALECT_QUANT_QUANTBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"

def Quant_Dialect : Dialect {
  let name = "quant";
  let cppNamespace = "::tpuc::quant";
  let summary = "Quantized types, and the casts between them, floats and integers";
  let description = [{
    A quantized value is an integer in memory (the *stored* value) that stands for a real number
    (the *expressed* value). The type carries what is needed to go from one to the other:

    ```
    expressed = (stored - zeroPoint) * scale
    ```

    `quant.qcast` quantizes a float, `quant.dcast` dequantizes, `quant.scast` reinterprets between
    a quantized value and its signless storage integer. `--lower-quant-ops` turns the first two
    into arithmetic, `--strip-func-quant-types` removes quantized types from function signatures,
    and what is left, pairs of `quant.scast`, cancels under `--canonicalize`.

    ### Per layer and per axis

    A `!quant.uniform` type has one scale and zero point for all elements, or one pair for each
    index along one axis of the tensor that holds it (the channel axis).

    ```mlir
    func.func private @per_layer(tensor<4x!quant.uniform<i8:f32, 2.0:10>>)
    // Element [i, j, k] uses scale j.
    func.func private @per_axis(tensor<2x3x4x!quant.uniform<i8:f32:1, {3.0, 4.0, 5.0}>>)
    ```

    ### Integrity of per-axis types

    A type with per-axis parameters describes the tensor around it. Every op of this dialect
    verifies, and every other user has to guarantee, that

    1. it is the element type of a tensor, never of a scalar;
    2. a ranked tensor has a rank greater than the channel axis;
    3. a static size along the channel axis equals the number of scales.

    A dynamic size along the channel axis, and an unranked tensor, must obey the same rules when
    the program runs; that is not checked.
  }];
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
    void printType(mlir::Type type, mlir::DialectAsmPrinter &printer) const override;

    void registerTypes();
    /// Registers the ops of one family; each family's generated code calls it.
    template <typename... Ops> void addFamily() { addOperations<Ops...>(); }
  }];
}

//===-- Types ---------------------------------------------------------------===//

/// `key` names the type for MLIR. The spelling in IR is written by hand: both uniform types share
/// theirs.
class Quant_TypeDef<string name, string key> : TypeDef<Quant_Dialect, name> {
  let typeName = "quant." # key;
  let genVerifyDecl = 1;
}

def Quant_AnyQuantizedType : Quant_TypeDef<"AnyQuantized", "any"> {
  let summary = "`!quant.any`: quantized, by parameters that are not known yet";
  let description = [{
    ```
    `!quant.any` `<` storage (`<` min `:` max `>`)? (`:` expressed)? `>`
    ```

    Says how a value is stored and, optionally, which float type it expresses, before a scale is
    known. The casts of this dialect do not take it.

    Example:

    ```mlir
    !quant.any<i8>
    !quant.any<i8<-16:15>:f32>
    ```
  }];
  let parameters = (ins "::tpuc::quant::StorageSpec":$storage,
                        "::mlir::FloatType":$expressedType);
}

def Quant_UniformQuantizedType : Quant_TypeDef<"UniformQuantized", "uniform"> {
  let summary = "`!quant.uniform`, per layer: one scale and zero point";
  let description = [{
    ```
    `!quant.uniform` `<`
      storage (`<` min `:` max `>`)? `:` expressed `,` scale (`:` zeroPoint)?
    `>`
    ```

    * `storage`: `iN` (signed) or `uN` (unsigned), N from 1 to 32.
    * `min`, `max`: bounds of the stored value, inside the range of `storage`; without them the
      whole range. `quant.qcast` clamps to them.
    * `expressed`: f16, bf16, f32 or f64.
    * `scale`: positive, finite, and neither zero nor infinite once rounded to `expressed`.
    * `zeroPoint`: the stored value that expresses 0, inside the range of `storage` (it may lie
      outside `min`..`max`); 0 when left out.

    Example:

    ```mlir
    // Signed bytes, the whole range -128..127, zero point 0.
    !quant.uniform<i8:f32, 3.0>
    // 10 of 16 unsigned bits, zero point in the middle.
    !quant.uniform<u16<0:1023>:f32, 1.23:512>
    ```
  }];
  let parameters = (ins "::tpuc::quant::StorageSpec":$storage,
                        "::mlir::FloatType":$expressedType,
                        "::tpuc::quant::AffineParams":$params);
  let builders = [TypeBuilderWithInferredContext<(ins
      "::tpuc::quant::StorageSpec":$storage, "::mlir::FloatType":$expressedType,
      "::tpuc::quant::AffineParams":$params), [{
    return $_get(expressedType.getContext(), storage, expressedType, params);
  }]>];
  let extraClassDeclaration = [{
    double getScale() const { return getParams().scale; }
    int64_t getZeroPoint() const { return getParams().zeroPoint; }
  }];
}

def Quant_UniformQuantizedPerAxisType : Quant_TypeDef<"UniformQuantizedPerAxis", "uniform_per_axis"> {
  let summary = "`!quant.uniform`, per axis: a scale and zero point per channel";
  let description = [{
    ```
    `!quant.uniform` `<`
      storage (`<` min `:` max `>`)? `:` expressed `:` axis `,`
      `{` scale (`:` zeroPoint)? (`,` scale (`:` zeroPoint)?)* `}`
    `>`
    ```

    Elements whose index along dimension `axis` of the containing tensor is *i* use the *i*-th
    scale and zero point. The other parameters are those of the per-layer type.

    Example:

    ```mlir
    tensor<2x3x4x!quant.uniform<i8:f32:1, {3.0, 4.0, 5.0}>>
    tensor<?x?x!quant.uniform<u16:f32:0, {2.0:10, 3.0:20}>>
    ```
  }];
  let parameters = (ins "::tpuc::quant::StorageSpec":$storage,
                        "::mlir::FloatType":$expressedType,
                        "int32_t":$axis,
                        ArrayRefParameter<"::tpuc::quant::AffineParams">:$channels);
  let builders = [TypeBuilderWithInferredContext<(ins
      "::tpuc::quant::StorageSpec":$storage, "::mlir::FloatType":$expressedType,
      "int32_t":$axis, "::llvm::ArrayRef<::tpuc::quant::AffineParams>":$channels), [{
    return $_get(expressedType.getContext(), storage, expressedType, axis, channels);
  }]>];
}

def Quant_CalibratedQuantizedType : Quant_TypeDef<"CalibratedQuantized", "calibrated"> {
  let summary = "`!quant.calibrated`: a float whose range is known";
  let description = [{
    ```
    `!quant.calibrated` `<` expressed `<` min `:` max `>` `>`
    ```

    A float that calibration has seen between `min` and `max` (finite, `min` at most `max`; equal
    bounds occur where an activation never changes). The casts of this dialect do not take it:
    lowering decides which quantized type follows from the range.

    Example:

    ```mlir
    !quant.calibrated<f32<-0.998:1.2321>>
    ```
  }];
  let parameters = (ins "::mlir::FloatType":$expressedType,
                        "::tpuc::quant::FloatRange":$range);
  let builders = [TypeBuilderWithInferredContext<(ins
      "::mlir::FloatType":$expressedType, "::tpuc::quant::FloatRange":$range), [{
    return $_get(expressedType.getContext(), expressedType, range);
  }]>];
  let extraClassDeclaration = [{
    double getMin() const { return getRange().min; }
    double getMax() const { return getRange().max; }
  }];
}

//===-- Constraints of the casts --------------------------------------------===//

class Quant_ScalarOrTensorOf<Type element, string what>
    : AnyTypeOf<[element, TensorOf<[element]>], what>;

def Quant_Uniform
    : Type<CPred<"::llvm::isa<::tpuc::quant::UniformQuantizedType, "
                 "::tpuc::quant::UniformQuantizedPerAxisType>($_self)">, "!quant.uniform">;

def Quant_UniformValue
    : Quant_ScalarOrTensorOf<Quant_Uniform, "a scalar or tensor of type !quant.uniform">;
def Quant_FloatValue
    : Quant_ScalarOrTensorOf<AnyFloat, "a floating-point scalar or tensor">;
def Quant_StorageValue
    : Quant_ScalarOrTensorOf<AnyTypeOf<[AnySignlessInteger, Quant_Uniform]>,
        "a scalar or tensor of a signless integer or !quant.uniform type">;

#endif // TPUC_DIALECT_QUANT_QUANTBASE
