//===- Window.cpp - Windows that slide over padded images -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Window.h"

#include "tpuc/Target/BM168x/Fields.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm168x {

int32_t Window::source(size_t axis, int64_t out, int64_t k) const {
  int64_t length = (image[axis] - 1) * (insert[axis] + 1) + 1;
  int64_t at = out * stride[axis] + k * dilation[axis] - padLow[axis];
  if (at < 0 || at >= length) {
    if (padMode == 0)
      return kPadValue;
    if (padMode == 1) {
      int64_t period = length == 1 ? 1 : 2 * (length - 1);
      at = ((at % period) + period) % period;
      at = at < length ? at : period - at;
    } else if (padMode == 2) {
      at = std::clamp<int64_t>(at, 0, length - 1);
    } else {
      at = ((at % length) + length) % length;
    }
  }
  if (at % (insert[axis] + 1) != 0)
    return kInsertValue;
  return static_cast<int32_t>(at / (insert[axis] + 1));
}

Expected<Window> readWindow(const mc::Command &command, const std::string &where) {
  auto pair = [&](Field h, Field w) {
    return std::array<int64_t, 2>{static_cast<int64_t>(command.get(h)),
                                  static_cast<int64_t>(command.get(w))};
  };
  Window window;
  window.image = pair(Field::Opd0H, Field::Opd0W);
  window.result = pair(Field::Res0H, Field::Res0W);
  window.kernel = pair(Field::Opd1H, Field::Opd1W);
  window.stride = pair(Field::ResOpYStr, Field::ResOpXStr);
  window.dilation = pair(Field::Opd1YIns0, Field::Opd1XIns0);
  window.insert = pair(Field::Opd0YIns0, Field::Opd0XIns0);
  window.padLow = pair(Field::Opd0UpPad, Field::Opd0LfPad);
  window.padHigh = pair(Field::Opd0DnPad, Field::Opd0RtPad);
  window.padMode = static_cast<unsigned>(command.get(Field::PadMode));
  for (size_t axis = 0; axis < 2; ++axis) {
    ++window.dilation[axis];
    int64_t padded = (window.image[axis] - 1) * (window.insert[axis] + 1) + 1 +
                     window.padLow[axis] + window.padHigh[axis];
    int64_t covered = (window.result[axis] - 1) * window.stride[axis] +
                      (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    if (window.kernel[axis] < 1 || covered > padded)
      return makeError(where,
                       fmt::format("{}: windows that cover {} of {} {}", command.operation().name,
                                   covered, padded, axis == 0 ? "rows" : "columns"),
                       "windows inside of the padded image");
  }
  return window;
}

} // namespace tpuc::bm168x
