//===- Bench.h - A machine on which kernels are tried -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_BM1684X_KERNELS_BENCH_H
#define UNITTESTS_BM1684X_KERNELS_BENCH_H

#include "tpuc/Support/Compare.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Machine/Memory.h"

#include <gtest/gtest.h>

namespace tpuc::bm1684x {

inline constexpr DataType kFloatTypes[] = {DataType::F32, DataType::F16, DataType::BF16};

/// The least cosine between a kernel's result and the reference, by the result's type.
inline double leastCosine(DataType type) {
  return type == DataType::F32 ? 0.99999 : type == DataType::F16 ? 0.9999 : 0.999;
}

/// Numbers in [low, high), in a type.
Tensor randomNumbers(DataType type, const Shape &shape, unsigned seed, double low = -1,
                     double high = 1);

/// Extents of a tensor of rank 4.
Extents extents(const Tensor &tensor);

/// The bytes of a dense tensor, and the other way round.
std::span<const uint8_t> bytesOf(const Tensor &tensor);
template <typename T>
Tensor tensorOf(DataType type, const Extents &shape, const std::vector<T> &elements) {
  return Tensor::borrow(type, Shape(std::span(shape)), elements.data(), nullptr).clone();
}

/// A builder, global memory and local memory that is handed out from its first byte on. Tensors go
/// to global memory, are loaded, computed with and stored; `run` carries the commands out.
class Bench {
public:
  Builder builder;

  /// Copies a tensor of rank 4 to global memory.
  GlobalTensor put(const Tensor &tensor);
  GlobalTensor space(DataType type, const Extents &shape);
  /// The elements of a dense tensor in global memory after `run`.
  Tensor get(const GlobalTensor &tensor) const;

  /// ScratchAllocator in all lanes.
  LocalTensor local(DataType type, const Extents &shape, Layout layout = Layout::Aligned,
                    uint32_t startLane = 0);
  uint32_t bytes(uint32_t count);
  /// The space that a kernel's `...Scratch` function asks for.
  Scratch scratch(const Expected<uint32_t> &needed);
  /// A tensor in global memory, loaded.
  LocalTensor load(const Tensor &tensor, Layout layout = Layout::Aligned, uint32_t startLane = 0);
  /// Stores a tensor; `get` of the result gives it after `run`.
  GlobalTensor store(const LocalTensor &tensor);

  /// Finishes the builder, checks the streams and carries them out in the two orders that differ
  /// most: the TIU as early as its waits allow, and the GDMA. Both must leave the same global
  /// memory.
  void run();
  const CommandStreams &streams() const { return done; }
  /// The cycles of all computing commands behind `run`, by the vendor's parameters.
  int64_t computeCycles() const;

private:
  void carryOut(bool tiuFirst, std::vector<uint8_t> &bytes);

  std::vector<uint8_t> global;
  uint64_t globalUsed = 0;
  uint32_t localUsed = 0;
  CommandStreams done;
  ThreadPool pool{1};
  /// What one run leaves in local memory must not matter to the next.
  Memory memory;
};

/// Fails unless what was taken of both without errors.
void expectOk(const Expected<void> &result);
/// Equal bits.
void expectSame(const Tensor &found, const Tensor &wanted);
/// The cosine that the type of `found` asks for.
void expectClose(const Tensor &found, const Tensor &wanted);

} // namespace tpuc::bm1684x

#endif // UNITTESTS_BM1684X_KERNELS_BENCH_H
