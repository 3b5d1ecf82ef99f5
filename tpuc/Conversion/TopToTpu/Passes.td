//===- Passes.td - From what a network means to what a device computes -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_PASSES
#define TPUC_CONVERSION_TOPTOTPU_PASSES

include "mlir/Pass/PassBase.td"

def ChipAssign : Pass<"chip-assign", "::mlir::ModuleOp"> {
  let summary = "Say for which chip the network is compiled";
  let description = [{
    Sets `module.chip`. What the chip can do is looked up in the registry of targets under that name.
  }];
  let options = [Option<"chip", "chip", "std::string", /*default=*/"",
      "A name that --list-targets shows">];
}

def ImportCalibrationTable : Pass<"import-calibration-table", "::mlir::ModuleOp"> {
  let summary = "Give tensors the ranges of a calibration table";
  let description = [{
    The element type of each f32 tensor that the table `file` names becomes `!quant.calibrated`:
    from -threshold to threshold, or with `asymmetric` from the smallest to the largest value.
    `module.state` becomes TOP_CALIBRATED. Every tensor that ops of `main` make must have a line,
    and every line a tensor; names and lines that were fitted to that are remarked. Where
    `FILE_channels.npz` lies beside the table, convolutions and inner products get the means,
    smallest and largest numbers of the channels they read as the attributes
    `calibration.input_means`, `calibration.input_lowest` and `calibration.input_highest`, which
    lowering uses up. Those of one tap get `calibration.input_covariances`, too, unless
    `covariances` is false: rounding by these takes most of the time of lowering.
  }];
  let options = [
    Option<"file", "file", "std::string", /*default=*/"", "What run_calibration wrote">,
    Option<"asymmetric", "asymmetric", "bool", /*default=*/"false",
      "Ranges from minimum to maximum instead of +-threshold">,
    Option<"clip", "clip", "bool", /*default=*/"false",
      "Cut asymmetric ranges off at +-threshold: rare values beyond it cost more than they carry">,
    Option<"covariances", "covariances", "bool", /*default=*/"true",
      "Note how the channels that products read vary together, which weights are rounded by">];
  let dependentDialects = ["::tpuc::quant::QuantDialect"];
}

def WidenFloats : Pass<"widen-floats", "::mlir::ModuleOp"> {
  let summary = "Make f32 of floats of other widths";
  let description = [{
    Tensors, constants and attributes of the float types in `types`, in bodies and in all functions,
    become f32, and casts between floats that are equal then go. What callers give and get stays:
    an argument or result of `main` says by `top.given_type` which elements it had, and
    --convert-top-to-tpu goes back to them. So the mode decides how such a network is stored, as of
    one in f32, and its tensors can have ranges. Bits that `top.BitCast` takes or makes stay those of
    the source's type.
  }];
  let options = [ListOption<"types", "types", "std::string",
      "Some of f16, bf16 and f64; without it, all of them">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def FoldPreprocess : Pass<"fold-preprocess", "::mlir::ModuleOp"> {
  let summary = "Have first convolutions do what preprocessing does";
  let description = [{
    Of a `top.Preprocess` that only convolutions over its channels read, in floats or integers:

    | name | what goes | what takes its place |
    | --- | --- | --- |
    | `fold-swap` | red and blue of RGB and BGR that change places | the filters' input channels do |

    Its result, which is no tensor of the plain network then, is named NAME_rgb or NAME_bgr.
  }];
  let options = [ListOption<"without", "without", "std::string",
      "Leave these out, by the names above">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def ChipTopOptimize : Pass<"chip-top-optimize", "::mlir::ModuleOp"> {
  let summary = "Prepare a network for the chip it is compiled for";
  let description = [{
    Rewrites that lowering needs or that pay on every device with the module's chip:

    | from | to |
    | --- | --- |
    | `DequantizeLinear(QuantizeLinear(x))`, one scale and zero point of 8 bits | `x`, of the range that they store |
    | `DequantizeLinear(w)` of a constant w | a constant with `weight_scale` |
    | `QLinearConv`, `QLinearMatMul` | the f32 op between such pairs |

    They are for INT8: other modes compute a quantized source as it is written, with
    `keep-quantized`. In 16 bits, `fold-numbers` has convolutions take over sums and products with a
    number in front of them. Where windows reach beyond the input, `pad_value` stands there.
  }];
  let options = [Option<"keepQuantized", "keep-quantized", "bool", /*default=*/"false",
      "Leave the ops of quantized sources as they are">,
                 Option<"foldNumbers", "fold-numbers", "bool", /*default=*/"false",
      "Fold sums and products with a number into convolutions behind them">];
  let dependentDialects = ["::tpuc::quant::QuantDialect", "::tpuc::top::TopDialect"];
}

def ConvertTopToTpu : Pass<"convert-top-to-tpu", "::mlir::ModuleOp"> {
  let summary = "Lower top ops to tpu ops";
  let description = [{
    First one storage type is decided for each tensor: by `mode`, by the exceptions in `qtable`, and
    by what the op and the module's chip can do. Then each top op becomes the tpu op of the same
    name, on integers where its tensors are stored so and both are calibrated, else on floats; where
    a tensor is wanted in another type than it is stored in, a `tpu.Cast` stands between. Where
    convolutions on floats alone read a picture, they take over its mean and scale. An op that
    is not stored as `mode` says has the attribute `storage_reason`. Inputs and outputs of `main`
    keep their types. `module.state` becomes TPU_LOWERED, `module.mode` and `module.asymmetric` say
    what was asked for, and the weights go to `module.weight_file` of the name
    NAME_CHIP_MODE_tpu_weight.npz.
  }];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"F32\"", "F32, F16, BF16 or INT8">,
    Option<"asymmetric", "asymmetric", "bool", /*default=*/"false",
      "INT8 with zero points, for tables imported so">,
    Option<"qtable", "qtable", "std::string", /*default=*/"",
      "A file with lines NAME MODE: layers that are to be in another precision">,
    Option<"avoidF16Overflow", "avoid-f16-overflow", "bool", /*default=*/"false",
      "Keep in f32 what is calibrated beyond f16's range, and ops whose sums may leave it">,
    Option<"strict", "strict", "bool", /*default=*/"false",
      "Integers wherever an op has a form on them, even where they lose its signal">,
    ListOption<"onIntegers", "on-integers", "std::string",
      "The same of these layers, by their names">,
    ListOption<"fasterInF16", "faster-in-f16", "std::string",
      "Layers of a network on integers that take fewer cycles in F16, by their names">,
    ListOption<"fasterInF32", "faster-in-f32", "std::string",
      "The same of F32, and of a network in 16 bits">,
    Option<"floatOutputs", "float-outputs", "bool", /*default=*/"false",
      "Outputs that products on integers make are floats of their sums, unless strict">,
    Option<"keepScale", "keep-scale", "bool", /*default=*/"false",
      "Convolutions do not take over mean and scale of pictures">,
    Option<"interpolatePictures", "interpolate-pictures", "bool", /*default=*/"false",
      "Pictures get other extents by interpolation, not by products with constants">,
    Option<"forCycles", "for-cycles", "bool", /*default=*/"false",
      "The network is made for its cycles: filters are rounded element by element">];
  let dependentDialects = ["::tpuc::quant::QuantDialect", "::tpuc::tpu::TpuDialect"];
}

def StripIoQuant : Pass<"strip-io-quant", "::mlir::ModuleOp"> {
  let summary = "Let callers give and take stored values";
  let description = [{
    With `quant-input`, an input that is only read by one `tpu.Cast` has the type of its result; with
    `quant-output`, an output that a `tpu.Cast` makes has the type of its operand.
  }];
  let options = [
    Option<"quantInput", "quant_input", "bool", /*default=*/"false", "Inputs as they are stored">,
    Option<"quantOutput", "quant_output", "bool", /*default=*/"false",
      "Outputs as they are stored">];
  let dependentDialects = ["::tpuc::tpu::TpuDialect"];
}

def ChipTpuOptimize : Pass<"chip-tpu-optimize", "::mlir::ModuleOp"> {
  let summary = "Drop casts that a device does not need";
  let description = [{
    Equal casts of one tensor become one; ops that nobody reads go. Where the module's chip scales
    sums of integers by commands of their own, layer norms of integers that were cast to f32 read the
    integers themselves, and softmaxes and attention give the integers that are stored behind them.
    So devices and the interpreter compute the same bits: see the descriptions of these ops.
    Depthwise convolutions in F16 whose results only become integers of 8
    bits get `narrow_sums`.
  }];
  let dependentDialects = ["::tpuc::tpu::TpuDialect"];
}

#endif // TPUC_CONVERSION_TOPTOTPU_PASSES
