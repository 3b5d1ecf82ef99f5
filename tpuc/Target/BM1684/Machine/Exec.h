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

#ifndef TPUC_TARGET_BM1684_MACHINE_EXEC_H
#define TPUC_TARGET_BM1684_MACHINE_EXEC_H

#include "tpuc/Target/BM1684/Machine/Memory.h"
#include "tpuc/Target/BM1684/Machine/Operands.h"
#include "tpuc/Target/BM168x/Parallel.h"
#include "tpuc/Target/BM168x/Program.h"

#include <algorithm>

namespace tpuc::bm1684 {

using bm168x::Kernels;
using bm168x::kernelsFor;
using bm168x::overIndices;
using bm168x::RowOp;
using bm168x::ScopedFlush;

using Exec = bm168x::ExecOn<Memory>;
using Step = bm168x::StepOn<Memory>;

/// A command with its tensors, as the `prepare...` functions get it.
struct Decoded {
  const Command &command;
  const TensorList &tensors;
  const std::string &where;

  unsigned sub() const { return command.operation().sub; }
  uint64_t get(Field field) const { return command.get(field); }
  Prec prec(Field field) const { return command.as<Prec>(field); }
  bool flag(Field field) const { return command.get(field) != 0; }
  const Tensor &result() const { return *tensors.find(Role::Res0); }
  /// The error for a form whose meaning is not known.
  tl::unexpected<Error> unsupported(std::string what) const;
};

Expected<Step> prepareConv(const Decoded &decoded);
Expected<Step> prepareWinograd(const Decoded &decoded);
Expected<Step> preparePorD(const Decoded &decoded);
Expected<Step> prepareMatMul(const Decoded &decoded);
Expected<Step> prepareArith(const Decoded &decoded);
Expected<Step> prepareLut(const Decoded &decoded);
Expected<Step> prepareFloats(const Decoded &decoded);
Expected<Step> prepareCompare(const Decoded &decoded);
Expected<Step> prepareGdma(const Command &command, const OperandList &operands,
                           const std::string &where);

/// An operand that is either in local memory or an immediate, which stands for all elements.
struct Source {
  std::optional<Tensor> tensor;
  uint32_t immediate = 0;
  Prec prec = Prec::F32;
  bool isSigned = true;

  unsigned bytes() const { return precBytes(prec); }
};
/// The operand `role` of the command; its immediate is in `address`.
Source sourceOf(const Decoded &decoded, Role role, Field address, Prec prec, bool isSigned);

/// Where the elements of an operand are in this process.
struct Located {
  /// What the offsets below count from: element (0,0,0,0) of a tensor whose channel 0 is in lane 0.
  uint8_t *base = nullptr;
  int64_t laneStride = 0;
  unsigned startLane = 0;
  /// Bytes between neighbours in n (whole units), slots, h and w; all 0 for an immediate.
  Extents step{};
  int64_t items = 1;
  unsigned bytes = 4;

  uint8_t *at(int64_t n, int64_t c, int64_t h) const {
    const int64_t lane = startLane + c;
    return base + lane % kLanes * laneStride + n / items * step[0] + lane / kLanes * step[1] +
           h * step[2] + n % items * bytes;
  }
  /// What row kernels call a stride: elements between neighbours in w.
  int64_t stride() const { return step[3] / bytes; }
};

Located locate(Exec &exec, const Tensor &tensor);
/// The source must outlive what is located.
Located locate(Exec &exec, const Source &source);

/// True when the tensors share bytes of some lane.
bool overlaps(const Tensor &a, const Tensor &b);
/// True when equal indices name equal bytes.
bool sameElements(const Tensor &a, const Tensor &b);

/// Operands that a command must read completely before it writes are copied here first.
class Snapshot {
public:
  /// The elements of `source`, or of a copy where `mustCopy`.
  Located take(Exec &exec, const Source &source, bool mustCopy);

private:
  std::vector<uint8_t> bytes;
};

/// Whether an element-wise command must copy `source` before it writes `result`.
bool mustCopyFor(const Tensor &result, const Source &source);
/// The same for commands that read elements in another order than they write them.
bool mustCopyAlways(const Tensor &result, const Source &source);

/// Elements that the row loops handle at a time.
inline constexpr int64_t kRow = 512;

/// Rows of the same elements of N operands; strides count elements of each.
template <size_t N> struct Rows {
  std::array<uint8_t *, N> at;
  std::array<int64_t, N> stride;
  int64_t count;
};

/// Calls `body(const Rows<N> &)` for rows of at most kRow elements that cover `shape`, in parallel
/// over channels.
template <size_t N, typename Body>
void forEachRow(Exec &exec, const Extents &shape, const std::array<Located, N> &operands,
                const Body &body) {
  // A column is a row, and rows of an image are one row where no operand minds.
  const bool isColumn = shape[3] == 1;
  bool merges = true;
  for (const Located &one : operands)
    merges &= isColumn || shape[2] == 1 || one.step[2] == shape[3] * one.step[3];
  const size_t axis = isColumn ? 2 : 3;
  const int64_t length = merges ? shape[2] * shape[3] : shape[3];
  const int64_t numRows = merges ? 1 : shape[2];
  const auto channels = [&](int64_t begin, int64_t end) {
    ScopedFlush flush;
    Rows<N> rows;
    for (size_t i = 0; i < N; ++i)
      rows.stride[i] = operands[i].step[axis] / operands[i].bytes;
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t c = begin; c < end; ++c)
        for (int64_t h = 0; h < numRows; ++h)
          for (int64_t first = 0; first < length; first += kRow) {
            rows.count = std::min(kRow, length - first);
            for (size_t i = 0; i < N; ++i)
              rows.at[i] = operands[i].at(n, c, h) + first * operands[i].step[axis];
            body(rows);
          }
  };
  overIndices(exec.pool, shape[1], shape[0] * shape[2] * shape[3], channels);
}

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_EXEC_H
