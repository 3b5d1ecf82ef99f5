//===- Dma.cpp - Moving data (GDMA) ---------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"
#include "tpuc/Target/BM168x/CopyRow.h"

#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684x {

using bm168x::copyRow;

namespace {

/// Finds the bytes of a view in whichever memory; fails where there is no memory.
Expected<Located> locateAny(Exec &exec, const View &view, bool forWriting,
                            const std::string &where) {
  if (view.isLocal)
    return locateLocal(exec, view);
  auto size = static_cast<uint64_t>(touchedBytes(view).last);
  uint8_t *bytes = exec.memory.resolve(view.address, size, forWriting);
  if (!bytes)
    return makeError(where, fmt::format("{} bytes at {:#x}", size, view.address),
                     forWriting ? "an address of memory that may be written"
                                : "an address of memory");
  return Located{view, bytes, 0, 0};
}

/// The same index of source and result: every transfer of a tensor is one, with the dimensions of
/// the source renamed.
struct TensorPlan {
  View to;
  View from;
  /// Elements of the constant instead of a source.
  std::optional<uint32_t> fill;
  uint64_t lanes = ~uint64_t{0};
  /// Dimension i of `to` is dimension axes[i] of `from`.
  std::array<size_t, 4> axes = {0, 1, 2, 3};
  std::string where;
};

bool isKept(const TensorPlan &plan, const Located &to, int64_t c) {
  return !plan.to.isLocal || (plan.lanes >> ((to.startLane + c) % kLanes) & 1) != 0;
}

/// Both sides have the same shape.
void moveTensor(Exec &exec, const TensorPlan &plan, const Located &to, const Located &from) {
  const Extents &shape = plan.to.shape;
  const auto bytes = static_cast<int64_t>(plan.to.bytes());
  // The elements of a row of `to`, seen in `from`.
  auto source = [&](int64_t n, int64_t c, int64_t h) {
    std::array<int64_t, 4> index{};
    index[plan.axes[0]] = n;
    index[plan.axes[1]] = c;
    index[plan.axes[2]] = h;
    return from.at(index[0], index[1], index[2], index[3]);
  };
  size_t widthAxis = plan.axes[3];
  // Along its channels a local source goes from lane to lane.
  bool crossesLanes = widthAxis == 1 && plan.from.isLocal;
  int64_t widthStride = plan.from.stride[widthAxis];
  bool isPlane = !crossesLanes && plan.axes[2] == 2 && widthAxis == 3 && shape[3] > 0 &&
                 plan.to.stride[2] == shape[3] * plan.to.stride[3] &&
                 plan.from.stride[2] == shape[3] * plan.from.stride[3];
  int64_t rows = isPlane ? 1 : shape[2];
  int64_t length = isPlane ? shape[2] * shape[3] : shape[3];
  auto channels = [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t c = begin; c < end; ++c) {
        if (!isKept(plan, to, c))
          continue;
        for (int64_t h = 0; h < rows; ++h) {
          uint8_t *row = to.at(n, c, h, 0);
          if (!crossesLanes) {
            copyRow(static_cast<unsigned>(bytes), row, plan.to.stride[3], source(n, c, h),
                    widthStride, length);
            continue;
          }
          for (int64_t w = 0; w < length; ++w) {
            std::array<int64_t, 4> index{};
            index[plan.axes[0]] = n;
            index[plan.axes[1]] = c;
            index[plan.axes[2]] = h;
            index[1] = w;
            std::memcpy(row + w * plan.to.stride[3] * bytes,
                        from.at(index[0], index[1], index[2], index[3]),
                        static_cast<size_t>(bytes));
          }
        }
      }
  };
  // Whole rows are copied at several bytes per nanosecond, single elements at one per nanosecond.
  bool areRows = !crossesLanes && plan.to.stride[3] == 1 && widthStride == 1 && length > 8;
  overIndices(exec, shape[1], shape[0] * shape[2] * shape[3] * bytes / (areRows ? 8 : bytes),
              channels);
}

/// Elements in the order n, c, h, w on both sides, whose shapes differ.
void reshapeTensor(const TensorPlan &plan, const Located &to, const Located &from) {
  Extents t{};
  Extents f{};
  auto next = [](Extents &index, const Extents &shape) {
    for (size_t axis = 4; axis-- > 0;) {
      if (++index[axis] < shape[axis])
        return;
      index[axis] = 0;
    }
  };
  int64_t count = plan.to.numElements();
  for (int64_t i = 0; i < count; ++i) {
    if (isKept(plan, to, t[1]))
      std::memcpy(to.at(t[0], t[1], t[2], t[3]), from.at(f[0], f[1], f[2], f[3]), plan.to.bytes());
    next(t, plan.to.shape);
    next(f, plan.from.shape);
  }
}

/// A source of one element with strides of 0.
Located locateFill(const TensorPlan &plan) {
  View view;
  view.prec = plan.to.prec;
  view.shape = plan.to.shape;
  view.isLocal = false;
  return {view, reinterpret_cast<uint8_t *>(const_cast<uint32_t *>(&*plan.fill)), 0, 0};
}

std::optional<Error> runTensor(Exec &exec, const TensorPlan &plan) {
  Expected<Located> to = locateAny(exec, plan.to, true, plan.where);
  if (!to)
    return to.error();
  if (plan.fill) {
    TensorPlan filled = plan;
    Located from = locateFill(plan);
    filled.from = from.view;
    moveTensor(exec, filled, *to, from);
    return std::nullopt;
  }
  Expected<Located> from = locateAny(exec, plan.from, false, plan.where);
  if (!from)
    return from.error();
  std::vector<uint8_t> copy;
  if (overlaps(plan.to, plan.from)) {
    // Everything is read before anything is written.
    if (plan.from.isLocal) {
      Source source;
      source.view = plan.from;
      Snapshot snapshot;
      Located taken = snapshot.take(exec, source, true);
      if (plan.axes == std::array<size_t, 4>{0, 1, 2, 3} && plan.to.shape != plan.from.shape)
        reshapeTensor(plan, *to, taken);
      else
        moveTensor(exec, plan, *to, taken);
      return std::nullopt;
    }
    copy.assign(from->base, from->base + touchedBytes(plan.from).last);
    from->base = copy.data();
  }
  bool isReshape =
      plan.axes == std::array<size_t, 4>{0, 1, 2, 3} && plan.to.shape != plan.from.shape;
  if (isReshape)
    reshapeTensor(plan, *to, *from);
  else
    moveTensor(exec, plan, *to, *from);
  return std::nullopt;
}

Step tensorStep(TensorPlan plan) {
  return [plan = std::move(plan)](Exec &exec) { return runTensor(exec, plan); };
}

/// Rows and columns of a matrix to or from its chunks in local memory.
Step matrixStep(const TensorPlan &plan, bool isTransposed) {
  return [plan, isTransposed](Exec &exec) -> std::optional<Error> {
    Expected<Located> to = locateAny(exec, plan.to, true, plan.where);
    if (!to)
      return to.error();
    Expected<Located> from = plan.fill ? Expected<Located>(locateFill(plan))
                                       : locateAny(exec, plan.from, false, plan.where);
    if (!from)
      return from.error();
    bool toLocal = plan.to.isLocal;
    const View &local = toLocal ? plan.to : plan.from;
    const View &global = toLocal ? plan.from : plan.to;
    int64_t width = local.shape[3];
    int64_t columns = isTransposed ? global.shape[2] : global.shape[3];
    int64_t acrossStride = isTransposed ? global.stride[2] : 1;
    int64_t downStride = isTransposed ? 1 : global.stride[2];
    unsigned bytes = plan.to.bytes();
    overIndices(exec, local.shape[1], local.shape[0] * width * bytes / 4,
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = 0; row < local.shape[0]; ++row)
                    for (int64_t chunk = begin; chunk < end; ++chunk) {
                      if (toLocal && !isKept(plan, *to, chunk))
                        continue;
                      int64_t count = std::min(width, columns - chunk * width);
                      const Located &matrix = toLocal ? *from : *to;
                      uint8_t *outside =
                          matrix.base + (row * downStride + chunk * width * acrossStride) * bytes;
                      if (toLocal)
                        copyRow(bytes, to->channel(row, chunk), 1, outside, acrossStride, count);
                      else
                        copyRow(bytes, outside, acrossStride, from->channel(row, chunk), 1, count);
                    }
                });
    return std::nullopt;
  };
}

struct IndexedPlan {
  View to, from, index;
  bool isGather;
  uint32_t constant;
  std::string where;
};

uint32_t indexAt(const Located &index, int64_t c, int64_t k) {
  uint32_t value;
  std::memcpy(&value, index.at(0, index.view.shape[1] == 1 ? 0 : c, k, 0), 4);
  return value;
}

/// Rows by index: dst[c,k,:] = src[c,index[k],:], or the reverse.
Step indexedStep(const IndexedPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Expected<Located> to = locateAny(exec, plan.to, true, plan.where);
    Expected<Located> from = locateAny(exec, plan.from, false, plan.where);
    Expected<Located> index = locateAny(exec, plan.index, false, plan.where);
    for (const Expected<Located> *located : {&to, &from, &index})
      if (!*located)
        return located->error();
    unsigned bytes = plan.to.bytes();
    int64_t limit = plan.isGather ? plan.from.shape[2] : plan.to.shape[2];
    for (int64_t c = 0; c < plan.to.shape[1]; ++c)
      for (int64_t k = 0; k < plan.index.shape[2]; ++k) {
        uint32_t row = indexAt(*index, c, k);
        if (row < limit) {
          copyRow(bytes, to->at(0, c, plan.isGather ? k : row, 0), 1,
                  from->at(0, c, plan.isGather ? row : k, 0), 1, plan.to.shape[3]);
        } else if (plan.isGather) {
          copyRow(bytes, to->at(0, c, k, 0), 1, reinterpret_cast<const uint8_t *>(&plan.constant),
                  0, plan.to.shape[3]);
        } else {
          return Error{plan.where, fmt::format("index {}", row),
                       fmt::format("indices below {}", limit)};
        }
      }
    return std::nullopt;
  };
}

struct CompactionPlan {
  View to, from;
  std::optional<View> mask; ///< Without one the elements choose, and their indices are stored.
  uint32_t firstIndex;
  std::string where;
};

/// Whether an element chooses nothing: in f32 a denormal and -0 are zero, in other types only +0.
bool countsAsZero(Prec prec, uint32_t bits) {
  return prec == Prec::F32 ? (bits & 0x7f800000) == 0 : bits == 0;
}

/// An element's bits, whatever its type.
uint32_t bitsAt(const Located &located, const Extents &at) {
  uint32_t bits = 0;
  std::memcpy(&bits, located.at(at[0], at[1], at[2], at[3]), located.view.bytes());
  return bits;
}

/// Calls `body(position)` for all positions, in the order n, c, h, w.
template <typename Body> void overPositions(const Extents &shape, const Body &body) {
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w)
          body(Extents{n, c, h, w});
}

Step compactionStep(const CompactionPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    const Expected<Located> from = locateAny(exec, plan.from, false, plan.where);
    const Expected<Located> mask =
        plan.mask ? locateAny(exec, *plan.mask, false, plan.where) : from;
    for (const Expected<Located> *located : {&from, &mask})
      if (!*located)
        return located->error();
    const unsigned bytes = plan.to.bytes();
    std::vector<uint8_t> chosen;
    uint32_t index = plan.firstIndex;
    overPositions(plan.from.shape, [&](const Extents &at) {
      if (!countsAsZero(mask->view.prec, bitsAt(*mask, at))) {
        const uint32_t bits = plan.mask ? bitsAt(*from, at) : index;
        const auto *first = reinterpret_cast<const uint8_t *>(&bits);
        chosen.insert(chosen.end(), first, first + bytes);
      }
      ++index;
    });
    if (chosen.empty())
      return std::nullopt;
    uint8_t *to = exec.memory.resolve(plan.to.address, chosen.size(), true);
    if (!to)
      return Error{plan.where, fmt::format("{} bytes at {:#x}", chosen.size(), plan.to.address),
                   "an address of memory that may be written"};
    std::ranges::copy(chosen, to);
    return std::nullopt;
  };
}

} // namespace

Expected<Step> prepareGdma(const Decoded &decoded) {
  unsigned opcode = decoded.command.operation().opcode;
  unsigned sub = decoded.sub();
  if (decoded.flag(Field::DecompressEnable))
    return decoded.unsupported("decompression");
  if (decoded.command.form() != decoded.command.operation().form)
    return decoded.unsupported("the short form");
  if (opcode == gdma::kTensor && sub > 4)
    return decoded.unsupported("the operation");
  if (opcode == gdma::kSys)
    return Step([](Exec &) -> std::optional<Error> { return std::nullopt; });
  const View *source = decoded.operands.find(Role::Opd0);
  auto constant = static_cast<uint32_t>(decoded.get(Field::ConstantValue));
  if (opcode == gdma::kGather || opcode == gdma::kScatter)
    return indexedStep({decoded.result(), *source, *decoded.operands.find(Role::Opd1),
                        opcode == gdma::kGather, constant, decoded.where});
  if (opcode == gdma::kSelect || opcode == gdma::kNonzero) {
    if (decoded.flag(Field::StrideEnable) || decoded.flag(Field::FillConstantEn))
      return decoded.unsupported("strides, or a constant");
    CompactionPlan plan{decoded.result(), *source, std::nullopt,
                        static_cast<uint32_t>(decoded.get(Field::DstNstride)), decoded.where};
    if (const View *mask = decoded.operands.find(Role::Opd1))
      plan.mask = *mask;
    return compactionStep(plan);
  }
  TensorPlan plan;
  plan.to = decoded.result();
  plan.where = decoded.where;
  plan.lanes = decoded.command.address(Field::LanesL32, Field::LanesH32);
  if (source)
    plan.from = *source;
  else
    plan.fill = constant;
  if (opcode == gdma::kMatrix) {
    if (plan.fill)
      return decoded.unsupported("filling a matrix");
    return matrixStep(plan, sub == 1);
  }
  if (plan.fill)
    return tensorStep(std::move(plan));
  if (opcode == gdma::kGeneral) {
    // One block, to each of the lanes.
    plan.lanes = ~uint64_t{0};
    plan.from.shape = plan.to.shape;
  } else if (opcode == gdma::kTensor && sub == 1) {
    plan.axes = {1, 0, 2, 3};
  } else if (opcode == gdma::kTensor && sub == 3) {
    plan.from.shape = plan.to.shape;
    plan.from.stride[1] = 0;
    // All channels are read in the source's first lane.
    if (plan.from.isLocal) {
      plan.from.isLocal = false;
      plan.from.address += kLocalBase;
    }
  } else if (opcode == gdma::kCwTranspose || sub == 2 || sub == 4) {
    plan.axes = {0, 3, 2, 1};
  }
  return tensorStep(std::move(plan));
}

} // namespace tpuc::bm1684x
