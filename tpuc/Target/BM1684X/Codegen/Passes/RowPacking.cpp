//===- RowPacking.cpp - Rows of pictures as channels ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Passes/RowPacking.h"

#include "tpuc/Support/Convert.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tpuc::bm1684x::backend {

std::optional<RowWindows> RowWindows::packed(const RowPacking &packing) const {
  const auto [inputs, results, isStacked] = packing;
  if (inputRows % inputs != 0 || stride * results % inputs != 0)
    return std::nullopt;
  RowWindows made{.inputRows = inputRows / inputs, .resultRows = packedRows(results)};
  if (isStacked) {
    made.inputRows = made.resultRows;
    return made;
  }
  made.stride = stride * results / inputs;
  made.padBegin = llvm::divideCeil(padBegin, inputs);
  made.kernel = llvm::divideFloorSigned(reach(results) - 1 - padBegin, inputs) + made.padBegin + 1;
  const int64_t needed = (made.resultRows - 1) * made.stride + made.kernel - made.padBegin;
  made.padEnd = std::max<int64_t>(0, needed - made.inputRows);
  // Rows that no window needs must not make another one.
  if (made.inputRows - needed >= made.stride)
    return std::nullopt;
  return made;
}

Tensor RowWindows::packedFilter(const Tensor &filter, const RowPacking &packing) const {
  const auto [inputs, results, isStacked] = packing;
  const Shape &from = filter.shape();
  const RowWindows windows = *packed(packing);
  const int64_t channels = (isStacked ? reach(results) : inputs) * from[1];
  Tensor made(filter.type(), {results * from[0], channels, windows.kernel, from[3]});
  const std::span<std::byte> bytes = made.mutableBytes();
  std::memset(bytes.data(), 0, bytes.size());
  const auto rowBytes = static_cast<size_t>(byteSize(filter.type(), from[3]));
  for (int64_t result = 0; result < results; ++result)
    for (int64_t h = 0; h < from[2]; ++h) {
      // The row that is read, counted from the first one under the window, and from the picture's.
      const int64_t place = result * stride + h;
      const int64_t row = place - padBegin;
      const int64_t tap = isStacked ? 0 : llvm::divideFloorSigned(row, inputs) + windows.padBegin;
      const int64_t block = isStacked ? place : row - llvm::divideFloorSigned(row, inputs) * inputs;
      for (int64_t o = 0; o < from[0]; ++o)
        for (int64_t c = 0; c < from[1]; ++c) {
          const int64_t source = ((o * from[1] + c) * from[2] + h) * from[3];
          const int64_t channel = block * from[1] + c;
          const int64_t target =
              (((result * from[0] + o) * channels + channel) * windows.kernel + tap) * from[3];
          std::memcpy(bytes.data() + byteSize(filter.type(), target),
                      filter.rawBytes().data() + byteSize(filter.type(), source), rowBytes);
        }
    }
  return made;
}

RowMarks RowWindows::marks(std::span<const double> outsides, const RowPacking &packing,
                           bool hasColumns) const {
  constexpr double kMostByte = 255;
  double sum = 0;
  for (double each : outsides)
    sum += each;
  const double middle = std::round(sum / static_cast<double>(outsides.size()));
  // Marks weigh what is missing to the fill in units of it.
  RowMarks made{.fill = static_cast<int64_t>(std::clamp(middle, 1.0, kMostByte))};
  if (std::ranges::all_of(outsides,
                          [&](double each) { return each == static_cast<double>(made.fill); }))
    return made;
  const int64_t last = (packedRows(packing.results) - 1) * packing.results * stride - padBegin;
  const int64_t reached = reach(packing.results);
  for (int64_t place = 0; place < reached; ++place)
    if (place < padBegin || last + place >= inputRows)
      made.rows.push_back(place);
  if (hasColumns && std::ssize(made.rows) < reached)
    made.rows.push_back(-1);
  return made;
}

Tensor RowWindows::markedFilter(const Tensor &filter, const RowPacking &packing,
                                const RowMarks &marks, std::span<const double> outsides) const {
  const Tensor plain = packedFilter(filter, packing);
  const Shape &from = filter.shape();
  const Shape &dims = plain.shape();
  const auto numMarks = std::ssize(marks.rows);
  Tensor made(DataType::F32, {dims[0], dims[1] + numMarks, dims[2], dims[3]});
  const Tensor numbers = convert(filter, DataType::F32);
  const Tensor known = convert(plain, DataType::F32);
  const std::span<float> to = made.mutableData<float>();
  std::ranges::fill(to, 0.0F);
  const auto each = static_cast<size_t>(dims[1] * dims[3]);
  const auto fill = static_cast<double>(marks.fill);
  for (int64_t output = 0; output < dims[0]; ++output) {
    const auto row = static_cast<size_t>(output);
    const size_t at = row * (each + static_cast<size_t>(numMarks * dims[3]));
    std::ranges::copy(known.data<float>().subspan(row * each, each),
                      to.begin() + static_cast<ptrdiff_t>(at));
    const int64_t result = output / from[0];
    for (int64_t h = 0; h < from[2]; ++h) {
      const auto own = std::ranges::find(marks.rows, result * stride + h);
      const auto entry = own != marks.rows.end() ? own : std::ranges::find(marks.rows, -1);
      if (entry == marks.rows.end())
        continue;
      const size_t mark = at + each + static_cast<size_t>((entry - marks.rows.begin()) * dims[3]);
      for (int64_t x = 0; x < from[3]; ++x) {
        double sum = 0;
        for (int64_t c = 0; c < from[1]; ++c)
          sum += static_cast<double>(numbers.data<float>()[static_cast<size_t>(
                     ((output % from[0] * from[1] + c) * from[2] + h) * from[3] + x)]) *
                 (outsides[static_cast<size_t>(c)] - fill) / fill;
        to[mark + static_cast<size_t>(x)] += static_cast<float>(sum);
      }
    }
  }
  return convert(made, filter.type());
}

} // namespace tpuc::bm1684x::backend
