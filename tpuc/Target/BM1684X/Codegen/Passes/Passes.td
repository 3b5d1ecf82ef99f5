//===- Passes.td - What only BM1684X gains by -*- tablegen -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PASSES
#define TPUC_TARGET_BM1684X_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def SumsToConv : Pass<"sums-to-conv", "::mlir::ModuleOp"> {
  let summary = "Add up integers that do not follow each other by convolutions";
  let description = [{
    A sum or a mean of bytes over dimensions in front of others, [n, e, a, b] to [n, a, b], becomes
    a convolution of one tap: the input has e * a channels, the result has a, and the filter is a
    new constant of ones where they meet. So no byte is moved by itself. What becomes channels is
    what the module's chip takes the fewest cycles for by estimate.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def MergeGroups : Pass<"merge-groups", "::mlir::ModuleOp"> {
  let summary = "Compute small groups of a convolution together";
  let description = [{
    Where the groups of a convolution have so few channels that the module's chip would leave most
    of its multipliers idle, several become one, with a new constant as the filter that has zeros
    where the channels of two groups would meet.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def GemvToConv : Pass<"gemv-to-conv", "::mlir::ModuleOp"> {
  let summary = "Compute products of one row as convolutions";
  let description = [{
    A product of one row with a constant matrix becomes a convolution whose result has one pixel, if
    that is faster on the module's chip: the columns are its channels, and its input is the picture
    that the row was before it was flattened, or else one pixel with the row as its channels. What
    is no picture lies in local memory as a row (`from_row`, `in_row`). The filter is a new constant;
    the bias of integers takes up the zero point of the row.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def LutToArith : Pass<"lut-to-arith", "::mlir::ModuleOp"> {
  let summary = "Compute tables by arithmetic";
  let description = [{
    A `tpu.Lut` that the module's chip computes gets `steps`, where its kernels have a sequence of
    arithmetic that gives the table for every input in fewer cycles than looking it up: numbers that
    only the chip's code generator reads. The table still says what the op means. So does that of a
    `tpu.LeakyRelu` of 8-bit integers, which becomes a `tpu.Lut` where such a sequence is found.
  }];
}

def PackRows : Pass<"pack-rows", "::mlir::ModuleOp"> {
  let summary = "Give convolutions of few channels more of them";
  let description = [{
    Where the module's chip would leave most of its multipliers or lanes idle, rows become channels
    of a convolution: those under a window by `tpu.PackRows`, where they are loaded or in local
    memory, so that the window has one row, and
    several of the result, which `tpu.UnpackRows` puts below each other again behind what is
    computed of each element. The convolution that alone reads the result may read the rows as they
    lie. What takes less by estimate, with the layers around, is done. Filters and biases are new
    constants.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def TransposeInGroups : Pass<"transpose-in-groups", "::mlir::ModuleOp"> {
  let summary = "Transpose in local memory between pictures and rows";
  let description = [{
    A permute that makes [n, c, w] of [n, w, c], and the reshapes around it that count w or c as the
    rows and columns of a picture, become a `tpu.Transpose`, if the layers around take fewer cycles
    by estimate. What makes pictures and what reads their pixels as rows can be in one group then,
    and the other way round. Norms and products over the last dimension of pictures [n, h, w, c], and
    what reads them element by element, compute rows [n, h * w, c] first.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def FoldTransposeIntoStore : Pass<"fold-transpose-into-store", "::mlir::ModuleOp"> {
  let summary = "Let the transfer that stores a convolution's result permute it";
  let description = [{
    A permute that puts the channels of the result of a convolution behind its pixels, of several
    groups of channels each by itself, and reads it alone, through reshapes or not, lies where that
    result is stored, if the transfers of the module's chip can turn it on its way there:
    `stored_turned`, with the groups of channels of an image, on the convolution, the reshapes and
    the permute. So does a permute of planes [N, D, C, H, W], which are pictures of a convolution, to
    [N, C, D, H, W]. The groups of channels of a picture are then planes that follow each other, and
    each plane may be stored as rows side by side (`stored_rows`).
  }];
}

def GatherRows : Pass<"gather-rows", "::mlir::ModuleOp"> {
  let summary = "Move rows to other places by one gather";
  let description = [{
    Permutes, slices and concatenations that only bring rows of one tensor to other places, one
    behind the other in global memory, become a gather of these rows by constant indices, where the
    module's chip takes clearly fewer cycles for it, and by none of its sets of timing parameters
    more. What something else reads stays, too.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def PermuteByTransposes : Pass<"permute-by-transposes", "::mlir::ModuleOp"> {
  let summary = "Move short runs by two transposes";
  let description = [{
    A permute in global memory that exchanges two neighbouring parts of the dimensions in front of
    the last ones, [a, b, c, d] to [a, c, b, d], becomes two transposes of matrices, by
    [a, c, d, b], where the module's chip takes fewer cycles for these by all its sets of timing
    parameters: runs of few elements d take as long as longer ones.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

#endif // TPUC_TARGET_BM1684X_CODEGEN_PASSES
