//===- PixelRows.h - Convolutions whose pixels lie as rows ----------- -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PIXELROWS_H
#define TPUC_TARGET_BM1684X_CODEGEN_PIXELROWS_H

#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

namespace tpuc::bm1684x::backend {

/// The channels over lanes, in `space`, of a pixel that lies as a row.
inline LocalTensor channelsOf(const LocalTensor &row, ScratchAllocator &space) {
  return space.take(row.type, {1, row.shape[3], 1, 1});
}

/// The kernel of a convolution `params`, whose input and output lie as `layout` says: rows are
/// turned into channels in front of it, and channels into rows behind it, in its scratch.
template <auto scratch, auto emit, typename Params>
Kernels convolutionKernels(const BM1684XLayout &layout, Params params) {
  const uint32_t begin = params.scratch.address;
  const LocalTensor input = params.input;
  const LocalTensor output = params.output;
  const bool turnsInput = layout.operand(0).form == OperandForm::PixelRow;
  const bool turnsOutput = layout.result().form == OperandForm::PixelRow;
  ScratchAllocator space{begin};
  if (turnsInput)
    params.input = channelsOf(input, space);
  if (turnsOutput)
    params.output = channelsOf(output, space);
  const uint32_t own = space.next - begin;
  params.scratch.address = space.next;
  params.scratch.bytes -= std::min(own, params.scratch.bytes);
  return std::vector<Kernel>{{[=]() -> Expected<uint32_t> {
                                Expected<uint32_t> needed = scratch(params);
                                return needed ? Expected<uint32_t>(own + *needed) : needed;
                              },
                              [=](Builder &builder) -> Expected<void> {
                                if (turnsInput)
                                  if (auto turned = emitLocalTurn(builder, input, params.input);
                                      !turned)
                                    return turned;
                                if (Expected<void> done = emit(builder, params); !done)
                                  return done;
                                if (turnsOutput)
                                  return emitLocalTurn(builder, params.output, output);
                                return {};
                              }}};
}

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PIXELROWS_H
