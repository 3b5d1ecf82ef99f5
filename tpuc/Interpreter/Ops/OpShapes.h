//===- OpShapes.h - Shapes while ops are evaluated --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_OPS_OPSHAPES_H
#define TPUC_INTERPRETER_OPS_OPSHAPES_H

#include "tpuc/Interpreter/Ops/OpContext.h"

namespace tpuc::ops {

/// The extents of operand `index`.
inline Dims dimsOf(const OpContext &context, unsigned index) {
  return context.operand(index).shape().vec();
}
/// 0, 1, ... before `count`.
Dims countUp(size_t count);
/// `dims` as a shape. Errors: too many dimensions, negative or too large extents.
Expected<Shape> checkedShape(const OpContext &context, std::span<const int64_t> dims,
                             DataType type);
/// Room for result `index` of `dims`. Errors: as checkedShape.
Expected<Tensor *> allocateDims(OpContext &context, unsigned index, DataType type,
                                std::span<const int64_t> dims);
/// Room for result 0 of `dims`, in the type of operand 0. Errors: as checkedShape.
Expected<Tensor *> allocateLike(OpContext &context, std::span<const int64_t> dims);
/// `axis` counted from the front. Errors: there is none such.
Expected<size_t> frontAxis(const OpContext &context, int64_t axis, size_t rank);
/// `axes` counted from the front. Errors: one that there is not or that is named twice.
Expected<std::vector<size_t>> frontAxes(const OpContext &context, std::span<const int64_t> axes,
                                        size_t rank);
/// The integers of an attribute or of the operand that stands in for it. Errors: neither is given.
Expected<Dims> neededInts(const OpContext &context, std::string_view attribute,
                          unsigned operandIndex);
/// Errors: operands `which`, where they are there, whose elements are not computed in the type of
/// those of operand 0 (kernels::computeType).
Expected<void> checkComputeTypes(const OpContext &context, std::initializer_list<unsigned> which);
/// Hands the error of a kernel on as one about the layer.
Expected<void> aboutLayer(const OpContext &context, Expected<void> result);
/// `error`, which has no place yet, as one about the op.
inline tl::unexpected<Error> located(const OpContext &context, const Error &error) {
  return context.error(error.found, error.expected);
}

/// The entry of `choices` for `name`; `fallback` where there is none.
template <typename T>
T choose(std::string_view name,
         std::initializer_list<std::pair<std::string_view, std::type_identity_t<T>>> choices,
         T fallback) {
  for (const auto &[known, value] : choices)
    if (known == name)
      return value;
  return fallback;
}

} // namespace tpuc::ops

#endif // TPUC_INTERPRETER_OPS_OPSHAPES_H
