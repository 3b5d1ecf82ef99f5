//===- Dims.h - Extents of tensors while shapes are worked out ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OPSHAPES_DIMS_H
#define TPUC_SUPPORT_OPSHAPES_DIMS_H

#include "tpuc/Support/Error.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tpuc::shapes {

using Dims = std::vector<int64_t>;

/// An extent that is not known. MLIR has the same number for it.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// "[2, ?]", with a question mark for extents that are not known.
std::string dimsText(std::span<const int64_t> dims);

} // namespace tpuc::shapes

#endif // TPUC_SUPPORT_OPSHAPES_DIMS_H
