//===- Recurrence.h - Recurrent cells over all steps ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_RECURRENCE_H
#define TPUC_TARGET_BM1684X_KERNELS_RECURRENCE_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <optional>

namespace tpuc::bm1684x {

enum class CellKind : uint8_t { Lstm, Gru, Rnn };

/// One direction of a recurrent cell with the functions sigmoid and tanh, as ONNX states it: gates
/// i o f c, z r h or one.
///
/// Channels are features, columns are steps of `batch` samples each: input [1,I,1,steps*batch],
/// output [1,H,1,steps*batch], both Aligned from lane 0, of one type F32, F16 or BF16; H is a
/// multiple of 64, so that the gates of a unit lie in one lane. The filters of [gates*H,I,1,1] and
/// [gates*H,H,1,1] are packed as `packFilter` does, the bias is F32 [1,2*gates*H,1,1] Compact, the
/// filter's in front of the recurrence's. Sums and states are F32; what the next step multiplies
/// is of the tensors' type. Products with the input are taken for all steps at once.
struct Recurrence {
  CellKind kind = CellKind::Lstm;
  LocalTensor input;
  LocalTensor output;
  uint32_t filterAddress = 0;
  uint32_t recurrenceAddress = 0;
  std::optional<uint32_t> biasAddress;
  /// [1,H,1,batch] Aligned; 0 where they are left out.
  std::optional<LocalTensor> initialHidden;
  std::optional<LocalTensor> initialCell;
  int64_t batch = 1;
  /// From the last step to the first.
  bool isReversed = false;
  /// Of a GRU: the reset gate multiplies the product with the state, not the state.
  bool resetsProduct = false;
  /// The output [1,H,1,batch] is the state of the cell behind the last step instead: of an LSTM.
  bool givesCell = false;
  Scratch scratch;
};
Expected<uint32_t> recurrenceScratch(const Recurrence &recurrence);
Expected<void> emitRecurrence(Builder &builder, const Recurrence &recurrence);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_RECURRENCE_H
