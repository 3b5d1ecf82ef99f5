//===- ScatterGather.cpp - Gathering and scattering within lanes (SG) -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Exec.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>

namespace tpuc::bm1684x {

namespace {

struct GatherPlan {
  unsigned sub;
  View result;
  Source data, index;
  std::string where;
};

/// Reads the indices of a row; negative when one is not below `limit`.
bool readIndices(const Kernels &k, const View &view, const uint8_t *at, int64_t count,
                 int64_t limit, std::vector<int32_t> &out) {
  out.resize(static_cast<size_t>(count));
  k.loadInt32(view.prec, false, at, view.stride[3], count, out.data());
  return std::ranges::all_of(out, [&](int32_t index) { return index >= 0 && index < limit; });
}

Error rangeError(const GatherPlan &plan, int64_t limit) {
  return {plan.where, "an index out of range", fmt::format("indices below {}", limit)};
}

template <typename T>
void moveRow(bool isScatter, const std::vector<int32_t> &indices, const uint8_t *from,
             uint8_t *to) {
  const auto count = static_cast<int64_t>(indices.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = indices[static_cast<size_t>(i)];
    T value;
    std::memcpy(&value, from + (isScatter ? i : index) * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
    std::memcpy(to + (isScatter ? index : i) * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

void moveRow(unsigned bytes, bool isScatter, const std::vector<int32_t> &indices,
             const uint8_t *from, uint8_t *to) {
  if (bytes == 1)
    moveRow<uint8_t>(isScatter, indices, from, to);
  else if (bytes == 2)
    moveRow<uint16_t>(isScatter, indices, from, to);
  else
    moveRow<uint32_t>(isScatter, indices, from, to);
}

/// The row of indices that all channels share: sub-opcodes 0 and 3, and 1 with pairs {x, y}.
std::optional<Error> sharedIndices(const Kernels &k, const GatherPlan &plan, const Located &index,
                                   int64_t limit, std::vector<int32_t> &indices) {
  const View &view = *plan.index.view;
  bool isPairs = view.shape[3] == 2;
  indices.resize(static_cast<size_t>(view.shape[1]));
  std::vector<int32_t> one;
  const View &data = *plan.data.view;
  for (int64_t i = 0; i < view.shape[1]; ++i) {
    int32_t &value = indices[static_cast<size_t>(i)];
    readIndices(k, view, index.channel(0, i), view.shape[3], limit, one);
    if (isPairs && (one[0] >= data.shape[3] || one[1] >= data.shape[2]))
      return rangeError(plan, limit);
    value = isPairs ? static_cast<int32_t>(one[1] * data.shape[3]) + one[0] : one[0];
    if (value < 0 || value >= limit)
      return rangeError(plan, limit);
  }
  return std::nullopt;
}

Step gatherStep(const GatherPlan &plan) {
  return [plan](Exec &exec) -> std::optional<Error> {
    Snapshot snapshots[2];
    Located result = locateLocal(exec, plan.result);
    Located data = snapshots[0].take(exec, plan.data, mustCopyAlways(plan.result, plan.data));
    Located index = snapshots[1].take(exec, plan.index, mustCopyAlways(plan.result, plan.index));
    const Extents &shape = plan.result.shape;
    bool isScatter = plan.sub == 3 || plan.sub == 6 || plan.sub == 14;
    bool isShared = plan.sub == 0 || plan.sub == 1 || plan.sub == 3;
    const View &dataView = *plan.data.view;
    int64_t limit = isScatter ? shape[2] * shape[3] : dataView.shape[2] * dataView.shape[3];
    std::vector<int32_t> indices;
    if (isShared)
      if (std::optional<Error> error = sharedIndices(exec.kernels, plan, index, limit, indices))
        return error;
    unsigned bytes = plan.result.bytes();
    std::atomic<bool> failed = false;
    overIndices(exec, shape[1], shape[0] * shape[2] * shape[3], [&](int64_t begin, int64_t end) {
      std::vector<int32_t> own;
      for (int64_t n = 0; n < shape[0]; ++n)
        for (int64_t c = begin; c < end; ++c) {
          const uint8_t *from = data.channel(isShared ? n : 0, c);
          if (!isShared && !readIndices(exec.kernels, *plan.index.view, index.channel(n, c),
                                        plan.index.view->shape[3], limit, own)) {
            failed = true;
            return;
          }
          moveRow(bytes, isScatter, isShared ? indices : own, from, result.channel(n, c));
        }
    });
    if (failed)
      return rangeError(plan, limit);
    return std::nullopt;
  };
}

/// Where each channel has indices of its own, the data is one row, and so is what is gathered.
Expected<void> checkRows(const Decoded &decoded, bool isScatter) {
  for (Field field : {Field::Opd0H, Field::Res0H}) {
    if (field == Field::Res0H && isScatter)
      continue;
    if (uint64_t rows = decoded.get(field); rows != 1)
      return makeError(
          decoded.where,
          fmt::format("{}: {}={}", decoded.command.operation().name, fieldName(field), rows), "1");
  }
  return {};
}

} // namespace

Expected<Step> prepareScatterGather(const Decoded &decoded) {
  unsigned sub = decoded.sub();
  if (sub == 8 || sub == 9 || sub == 15 || sub == 16)
    return prepareRowCompaction(decoded);
  constexpr unsigned kKnown[] = {0, 1, 3, 5, 6, 13, 14};
  if (std::ranges::find(kKnown, sub) == std::end(kKnown))
    return decoded.unsupported("the operation");
  Prec prec = decoded.prec(Field::Res0Prec);
  Prec indexPrec = decoded.prec(Field::Opd1Prec);
  if (indexPrec != Prec::I8 && indexPrec != Prec::I16)
    return decoded.unsupported("indices of other types than u8 and u16");
  if (sub == 1 && indexPrec != Prec::I16)
    return decoded.unsupported("pairs of other types than u16");
  if (decoded.prec(Field::Opd0Prec) != prec)
    return decoded.unsupported("data and result of different types");
  GatherPlan plan{sub, decoded.result(),
                  sourceOf(decoded, Role::Opd0, Field::Opd0Addr, prec, false),
                  sourceOf(decoded, Role::Opd1, Field::Opd1Addr, indexPrec, false), decoded.where};
  bool isScatter = sub == 3 || sub == 6 || sub == 14;
  if (sub > 3)
    if (Expected<void> rows = checkRows(decoded, isScatter); !rows)
      return tl::unexpected(rows.error());
  int64_t count = sub <= 3 ? plan.index.view->shape[1] : plan.index.view->shape[3];
  int64_t moved =
      isScatter ? plan.data.view->shape[3] : plan.result.shape[2] * plan.result.shape[3];
  if (count != moved)
    return makeError(decoded.where,
                     fmt::format("{}: {} indices for {} elements", decoded.command.operation().name,
                                 count, moved),
                     "equally many");
  return gatherStep(plan);
}

} // namespace tpuc::bm1684x
