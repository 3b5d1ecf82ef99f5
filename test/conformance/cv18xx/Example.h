//===- Example.h - A small model for each chip ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_CV18XX_EXAMPLE_H
#define TEST_CONFORMANCE_CV18XX_EXAMPLE_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Target/CV18xx/Machine/Commands.h"

namespace tpuc::cv18xx::conformance {

/// y = (x * w + 4) / 8 rounded down, saturated to int8, over [1, 5, 3, 4], where w is a constant:
/// two loads, a product, a store.
model::CompiledModel exampleModel(const Chip &chip);

inline constexpr size_t kExampleElements = 60;
/// Element `index` of the constant.
constexpr int exampleWeight(size_t index) { return static_cast<int>(index * 37 % 251) - 125; }

} // namespace tpuc::cv18xx::conformance

#endif // TEST_CONFORMANCE_CV18XX_EXAMPLE_H
