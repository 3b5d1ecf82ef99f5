//===- Attribute.h - Attributes of ops, without MLIR ------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_ATTRIBUTE_H
#define TPUC_INTERPRETER_OPS_ATTRIBUTE_H

#include "tpuc/Support/Tensor.h"

#include <string>
#include <variant>
#include <vector>

namespace tpuc::ops {

/// The value of an attribute. A number of another type than int64_t and double is a tensor of rank
/// 0.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, DataType, Tensor>;

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_ATTRIBUTE_H
