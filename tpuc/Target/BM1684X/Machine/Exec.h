//===- Exec.h - How commands are carried out ------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every class of commands has a `prepare...` function, which decodes a command once into a Step: a
// function that carries it out on any memory. What a step does never depends on the number of
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_EXEC_H
#define TPUC_TARGET_BM1684X_MACHINE_EXEC_H

#include "tpuc/Target/BM1684X/Machine/Memory.h"
#include "tpuc/Target/BM1684X/Machine/Operands.h"
#include "tpuc/Target/BM168x/Parallel.h"
#include "tpuc/Target/BM168x/Program.h"

#include <algorithm>

namespace tpuc::bm1684x {

using bm168x::kBlock;
using bm168x::Kernels;
using bm168x::kernelsFor;
using bm168x::kTile;
using bm168x::kVector;
using bm168x::RowOp;
using bm168x::ScopedFlush;

using Exec = bm168x::ExecOn<Memory>;
using Step = bm168x::StepOn<Memory>;

/// A command with its operands, as the `prepare...` functions get it.
struct Decoded {
  const Command &command;
  const OperandList &operands;
  const std::string &where;

  unsigned sub() const { return command.operation().sub; }
  uint64_t get(Field field) const { return command.get(field); }
  Prec prec(Field field) const { return command.as<Prec>(field); }
  bool flag(Field field) const { return command.get(field) != 0; }
  const View &result() const { return *operands.find(Role::Res0); }
  /// The error for a form whose meaning is not known.
  tl::unexpected<Error> unsupported(std::string what) const;
};

Expected<Step> prepareConv(const Decoded &decoded);
Expected<Step> preparePorD(const Decoded &decoded);
Expected<Step> prepareMatMul(const Decoded &decoded);
Expected<Step> prepareMatMul2(const Decoded &decoded);
Expected<Step> prepareArith(const Decoded &decoded);
Expected<Step> prepareCast(const Decoded &decoded);
Expected<Step> prepareSegment(const Decoded &decoded);
Expected<Step> prepareRequant(const Decoded &decoded);
Expected<Step> prepareTranspose(const Decoded &decoded);
Expected<Step> prepareScatterGather(const Decoded &decoded);
Expected<Step> prepareRowCompaction(const Decoded &decoded);
Expected<Step> prepareSfu(const Decoded &decoded);
Expected<Step> prepareLinear(const Decoded &decoded);
Expected<Step> prepareCompare(const Decoded &decoded);
Expected<Step> prepareVector(const Decoded &decoded);
Expected<Step> prepareGdma(const Decoded &decoded);

/// Where the elements of a view are in this process.
struct Located {
  View view;
  /// Element (0,0,0,0) of a tensor whose channel 0 is in lane 0.
  uint8_t *base = nullptr;
  int64_t laneStride = 0;
  unsigned startLane = 0;

  uint8_t *channel(int64_t n, int64_t c) const {
    if (!view.isLocal)
      return base + (n * view.stride[0] + c * view.stride[1]) * view.bytes();
    int64_t at = startLane + c;
    return base + (at % kLanes) * laneStride +
           (n * view.stride[0] + at / kLanes * view.stride[1]) * view.bytes();
  }
  uint8_t *at(int64_t n, int64_t c, int64_t h, int64_t w) const {
    return channel(n, c) + (h * view.stride[2] + w * view.stride[3]) * view.bytes();
  }
};

/// The low byte of `bits` as a signed number.
constexpr int signedByte(uint64_t bits) {
  return static_cast<int>(static_cast<int64_t>(bits << 56) >> 56);
}

/// An operand that is either in local memory or an immediate, which stands for all elements.
struct Source {
  std::optional<View> view;
  uint32_t immediate = 0;
  Prec prec = Prec::I8;
  bool isSigned = false;
};
/// The operand `role` of the command; its immediate is in `address`.
Source sourceOf(const Decoded &decoded, Role role, Field address, Prec prec, bool isSigned);

/// Loads `count` elements of `source` that follow each other from `at`.
inline void load(const Kernels &k, const Source &source, const uint8_t *at, int64_t count,
                 float *out) {
  k.loadFloat(source.prec, at, 1, count, out);
}
inline void load(const Kernels &k, const Source &source, const uint8_t *at, int64_t count,
                 int32_t *out) {
  k.loadInt32(source.prec, source.isSigned, at, 1, count, out);
}

/// The source must outlive what is located.
Located locate(Exec &exec, const Source &source);
/// For a view in local memory.
Located locateLocal(Exec &exec, const View &view);

/// True when the views share bytes of some lane.
bool overlaps(const View &a, const View &b);
/// True when equal indices name equal bytes.
bool sameElements(const View &a, const View &b);

/// Operands that a command must read completely before it writes are copied here first.
class Snapshot {
public:
  /// The elements of `source`, or of a copy where `mustCopy`.
  Located take(Exec &exec, const Source &source, bool mustCopy);

private:
  std::vector<uint8_t> bytes;
};

/// Whether an element-wise command must copy `source` before it writes `result`.
bool mustCopyFor(const View &result, const Source &source);
/// The same for commands that read elements in another order than they write them.
bool mustCopyAlways(const View &result, const Source &source);

/// See tpuc/Target/BM168x/Parallel.h.
template <typename Body>
void overIndices(Exec &exec, int64_t count, int64_t work, const Body &body) {
  bm168x::overIndices(exec.pool, count, work, body);
}

/// Elements that the row loops handle at a time.
inline constexpr int64_t kRow = 512;

/// Rows of the same elements of N tensors.
template <size_t N> struct Rows {
  std::array<uint8_t *, N> at;
  std::array<int64_t, N> stride;
  int64_t count;
  int64_t channel;
};

/// Calls `body(const Rows<N> &)` for rows of at most kRow elements that cover `shape`, in parallel
/// over channels. The strides of the views apply to the indices of `shape`.
template <size_t N, typename Body>
void forEachRow(Exec &exec, const Extents &shape, const std::array<Located, N> &tensors,
                const Body &body) {
  // Rows and columns are one row where no tensor minds.
  auto stride = [&](size_t i, size_t axis) { return tensors[i].view.stride[axis]; };
  bool mergesPlane = true;
  bool mergesBatch = true;
  for (size_t i = 0; i < N; ++i) {
    mergesPlane &= stride(i, 2) == shape[3] * stride(i, 3);
    mergesBatch &= stride(i, 0) == shape[2] * stride(i, 2);
  }
  bool isColumn = shape[3] == 1;
  if (isColumn || shape[2] == 1)
    mergesPlane = true;
  mergesBatch &= mergesPlane && shape[2] > 1 && shape[3] > 1;
  size_t axis = isColumn ? 2 : 3;
  int64_t length = mergesPlane ? shape[2] * shape[3] : shape[3];
  int64_t numRows = mergesPlane ? 1 : shape[2];
  int64_t batches = shape[0];
  if (mergesBatch) {
    length *= batches;
    batches = 1;
  }
  auto channels = [&](int64_t begin, int64_t end) {
    ScopedFlush flush;
    Rows<N> rows;
    for (size_t i = 0; i < N; ++i)
      rows.stride[i] = stride(i, axis);
    for (int64_t n = 0; n < batches; ++n)
      for (int64_t c = begin; c < end; ++c) {
        rows.channel = c;
        std::array<uint8_t *, N> plane;
        for (size_t i = 0; i < N; ++i)
          plane[i] = tensors[i].channel(n, c);
        for (int64_t h = 0; h < numRows; ++h)
          for (int64_t first = 0; first < length; first += kRow) {
            rows.count = std::min(kRow, length - first);
            for (size_t i = 0; i < N; ++i)
              rows.at[i] =
                  plane[i] + (h * stride(i, 2) + first * rows.stride[i]) * tensors[i].view.bytes();
            body(rows);
          }
      }
  };
  overIndices(exec, shape[1], shape[0] * shape[2] * shape[3], channels);
}

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_EXEC_H
