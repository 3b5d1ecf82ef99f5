//===- Passes.td - From a lowered network to a model file -*- tablegen -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PASSES
#define TPUC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def FoldHeadReshapes : Pass<"fold-head-reshapes", "::mlir::ModuleOp"> {
  let summary = "Compute attention on rows that hold all heads";
  let description = [{
    A `tpu.ScaleDotProductAttention` of operands [B, H, rows, D] that are nothing but reordered rows
    [B, rows, H * D] (reshaped and permuted, or one of several parts of longer rows), and whose
    result is put back into rows, takes and gives the rows themselves, if the module's chip has a
    kernel for that. Casts in between become casts of rows. Rows of one sample may also be
    [rows, 1, H * D] or [rows, H * D]: products with constants that make or read them take
    [1, rows, H * D]. Several heads that are turned channels [B, H * D, ...] become rows by one
    permute, where rows of a head are short. Windows [B * H, windows, rows, D] of heads become
    windows of rows. One head may be a dimension of one element.

    A `tpu.RMSNorm` of heads, or a product with one number for each, that attention alone reads is
    done to parts of the rows. Where keys are multiplied with values first, [B, H, D, rows] with
    [B, H, rows, E], rows of all heads are multiplied, and what is of two heads becomes 0: what lies
    between is done to rows, too, if that takes less by estimate than the moves of short rows.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def DecomposeAttention : Pass<"decompose-attention", "::mlir::ModuleOp"> {
  let summary = "Compute attention by products and a softmax";
  let description = [{
    A `tpu.ScaleDotProductAttention` that the module's chip has no kernel for becomes the scaling of
    query and key, the product with the turned key, the sum with what hides keys (a mask, or a
    constant for causal ones and windows), a softmax, and the product with the values: what it
    rounds is rounded at the same places. Forms with lengths stay, and on stored integers those with
    masks, a past or shared heads.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def Decompose : Pass<"decompose", "::mlir::ModuleOp"> {
  let summary = "Express ops without a kernel by those that have one";
  let description = [{
    An op that the module's chip cannot compute as it stands becomes several others that give the
    same: recurrent cells get constants filled up to whole lines of lanes, and become one for each
    direction where the chip computes only one at once; reductions over separate dimensions, or by norms and logarithms, become a
    transposition and reductions of rows; running sums products with a triangle; resizes by other than two neighbours
    products with constants; windows over three
    dimensions two over fewer; convolutions with computed filters products with what lies under each
    tap; scatters by constant indices concatenations or gathers; products and convolutions whose
    sums are so long that no tile fits local memory parts of them, with F32 sums that are added;
    reductions, norms, softmaxes and pools over whole pictures of such rows parts of them, whose
    sums and maxima are put together. Floats of 16 bits are F32 in between where steps would round.
    Forms without such a rule stay. Of ops on stored integers, maxima and minima, and windows over
    three dimensions have one.
  }];
  let options = [ListOption<"without", "without", "std::string",
      "Leave out: narrow-concat, column-gather, fold-depths, late-permutes; names of other heuristics are "
      "taken, too">];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def JoinConvolutions : Pass<"join-convolutions", "::mlir::ModuleOp"> {
  let summary = "Compute convolutions of parts of the channels together where their results are joined";
  let description = [{
    A concatenation of convolutions with constant filters, of parts of the channels of one tensor in
    their order, becomes one convolution, if the layers around take less by estimate. Parts of equal
    groups are its groups, or it has one group; its window covers those of all parts. The filter has
    zeros where windows are smaller and where channels do not meet.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def SplitConvolutions : Pass<"split-convolutions", "::mlir::ModuleOp"> {
  let summary = "Compute parts of a convolution's channels that are read apart by themselves";
  let description = [{
    A `tpu.Conv` in one group with a constant filter, of whose result slices or splits of the
    channels alone are read, none of them twice, becomes a convolution for each of these parts, if
    the layers around take less by estimate. What is computed of the parts can be in one group with
    them then. Filters and biases are new constants.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def WeightReorder : Pass<"weight-reorder", "::mlir::ModuleOp"> {
  let summary = "Lay weights out as the chip reads them";
  let description = [{
    Each constant that the kernels of the module's chip want in another order, and that no layer of
    the CPU reads there, becomes a packed
    `top.Weight`, and a `tpu.Unpack` that says what its elements are. A constant that several ops
    want in the same order is packed once.
  }];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def SubnetDivide : Pass<"subnet-divide", "::mlir::ModuleOp"> {
  let summary = "Say which engine runs which part of the network";
  let description = [{
    A network whose ops the chip can all compute is one sub-network: `main` gets the attributes
    `subnet_id = 0` and `subnet_mode = "TPU"`. Otherwise each layer gets `subnet_id` and
    `subnet_mode`, "TPU" or "CPU", and stands with the others of its sub-network, in the order in
    which these run; layers of the CPU also get `subnet_reason`, what the chip lacks. Layers move as
    far as what they read allows, so that there are few sub-networks. Results that are constants are
    copied. An op that neither the chip nor the host can compute is an error that names the layer,
    the op, its type, the chip and the reasons; so is a tensor between sub-networks whose shape only
    the data show. `module.state` becomes TPU_DIVIDED.
  }];
}

def OpReorder : Pass<"op-reorder", "::mlir::ModuleOp"> {
  let summary = "Put ops where the least memory is alive";
  let description = [{
    Of the ops of a sub-network whose operands are there, the one goes next that leaves the fewest bytes alive, of
    equal ones the first of the source. Constants stand in front of their first reader. The new
    order is taken if its peak is lower than that of the old one.
  }];
}

def HoistOutputs : Pass<"hoist-outputs", "::mlir::ModuleOp"> {
  let summary = "Store results while others are computed";
  let description = [{
    Of a network with several results, the ops that lead to one of them alone come right behind what
    they read, if it takes long to store, and that keeps at most 25 % more memory alive at once. Where the last of them, an
    element-wise one, reads from global memory what takes long to load and to store, it is done in
    parts, each on its own between the layers behind.
  }];
  let dependentDialects = ["::tpuc::tpu::TpuDialect"];
}

def DivideOps : Pass<"divide-ops", "::mlir::ModuleOp"> {
  let summary = "Compute layers in parts of their rows to need less global memory";
  let description = [{
    Where the groups that `layer-group` would choose need the most global memory, convolutions,
    pools, element-wise ops and concatenations of channels that follow each other are computed on
    some of their rows after the other: `tpu.Slice`s of what they read, the layers on these rows,
    and a `tpu.Concat` of their results. Rows that windows of several parts reach are computed for
    each of them. Of some divisions that promise most the one that needs the least is taken, with
    the groups that would be chosen then; others follow as long as each saves two percent.
  }];
  let options = [
    Option<"numThreads", "num-threads", "unsigned", /*default=*/"0",
           "How many threads choose groups; 0: as many as the process may run on">,
    ListOption<"without", "without", "std::string",
               "Leave out: what --layer-group leaves out by these names">
  ];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::tpu::TpuDialect"];
}

def LayerGroup : Pass<"layer-group", "::mlir::ModuleOp"> {
  let summary = "Divide layers into tiles that fit local memory";
  let description = [{
    Ops that compute in local memory become parts of `tpu.Group`s, with a `tpu.Load` for each tensor
    from outside and a `tpu.Store` for each that others read. With `opt=0` each op has a group of its
    own, tiled along n, c, d, h and w into the parts with the fewest bytes to move. With `opt=1` groups
    of several layers are chosen from the tail to the head by estimated cycles; the results that
    others read are tiled along n, then h, and every other tile follows from its users, halos
    exactly; tiles that repeat more than half of a tensor are refused. Concatenations of channels
    are parts of groups where their operands can lie in the result. `opt=2` and `opt=3` go on from
    there: they emit the commands of the network with other groups and keep those that run in fewer
    cycles by the chip's timing simulator, `opt=3` for as long as it finds some, or for about
    `seconds`. A search that is not stopped by the time gives the same groups in every run, with any
    number of threads.

    Loads come before the layers that need them, as early as there is room and the transfers would
    be idle, those of constants also in front of groups before; all groups share one time line, and
    local memory is given out for all of it. Short constants are loaded once for the whole network.
    The attribute `ginfo` says where the tiles are and when they come, the attribute `time` when a
    group or a move begins. `save-groups` and `load-groups` name a file with the layers of each group
    and the tiles that its results are divided into, which may be edited in between. Other ops that only move data stay as they are. `module.state` becomes
    TPU_GROUPED.
  }];
  let options = [
    Option<"opt", "opt", "int", /*default=*/"1",
           "0: one layer for each group; 1: groups of several; 2 and 3: search for better ones">,
    Option<"seconds", "seconds", "int64_t", /*default=*/"0",
           "With opt=3: about when the search stops; 0: when it is done">,
    Option<"numThreads", "num-threads", "unsigned", /*default=*/"0",
           "How many threads choose groups; 0: as many as the process may run on">,
    ListOption<"without", "without", "std::string",
               "Leave out: resident-constants, in-place-concat, early-constants, overlap, "
               "least-work, urgent-transfers; names of passes are taken, too">,
    Option<"saveGroups", "save-groups", "std::string", /*default=*/"",
           "Write the groups and how they are tiled to this file, as JSON">,
    Option<"loadGroups", "load-groups", "std::string", /*default=*/"",
           "Take the groups from a file like that instead of choosing them">
  ];
  let dependentDialects = ["::tpuc::tpu::TpuDialect"];
}

def AddressAssign : Pass<"address-assign", "::mlir::ModuleOp"> {
  let summary = "Give every tensor in global memory its address";
  let description = [{
    The chip chooses the regions: often one range with the weights, in the order of the ops, in
    front of the tensors between groups. Those share memory where they are not alive together
    (manual chapter 11). What reshapes make lies where their
    operand does; what a concatenation joins, or a split makes, lies where it is a part of the whole,
    if that is contiguous and it is no part of another tensor already: nothing is moved then. Addresses are multiples of what the chip aligns to, and stand in the type, as in
    `tensor<1x32x100x100xf32, 4295618560 : i64>`. The module gets `module.coeff_addr`,
    `module.coeff_size`, `module.neuron_addr` and `module.neuron_size`. Where the chip keeps inputs or
    outputs apart, it gets `module.input_addr`, `module.output_addr` and their sizes, too.
    `module.state` becomes TPU_ADDRESSED.
  }];
  let options = [
    Option<"isQuick", "quick", "bool", /*default=*/"false",
           "Take the first places that are found, which may need more memory">
  ];
}

def Codegen : Pass<"codegen", "::mlir::ModuleOp"> {
  let summary = "Write the model file";
  let description = [{
    Emits the commands of all groups, sub-network by sub-network, lists the ops of those that the
    host computes, and writes the file that the chip's runtime loads. In a group,
    the tile of the next step is loaded, that of this step computed and that of the last one
    stored, in this order, so that the engines work side by side.
  }];
  let options = [Option<"model", "model", "std::string", /*default=*/"", "The file to write">];
}

#endif // TPUC_CODEGEN_PASSES
