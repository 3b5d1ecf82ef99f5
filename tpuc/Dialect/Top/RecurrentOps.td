//===- RecurrentOps.td - Recurrent cells -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_RECURRENTOPS
#define TPUC_DIALECT_TOP_RECURRENTOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_LSTMOp : Top_ComputeOp<"LSTM"> {
  let summary = "Long short-term memory";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       Top_OptionalTensor:$initial_c,
                       Top_OptionalTensor:$peephole,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       I64Attr:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip,
                       Top_False:$input_forget);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h, Top_OptionalTensor:$Y_c);
  let hasVerifier = 1;
}

def Top_GRUOp : Top_ComputeOp<"GRU"> {
  let summary = "Gated recurrent unit";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       I64Attr:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip,
                       Top_False:$linear_before_reset);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h);
  let hasVerifier = 1;
}

def Top_RNNOp : Top_ComputeOp<"RNN"> {
  let summary = "Simple recurrent cell";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$recurrence,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$sequence_lens,
                       Top_OptionalTensor:$initial_h,
                       DefaultValuedStrAttr<StrAttr, "forward">:$direction,
                       I64Attr:$hidden_size,
                       Top_False:$batch_first,
                       OptionalAttr<StrArrayAttr>:$activations,
                       OptionalAttr<F64ArrayAttr>:$activation_alpha,
                       OptionalAttr<F64ArrayAttr>:$activation_beta,
                       OptionalAttr<F64Attr>:$clip);
  let results = (outs Top_OptionalTensor:$Y, Top_OptionalTensor:$Y_h);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_RECURRENTOPS
