//===- Windows.cpp - What the ops with windows share ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/Windows.h"

using namespace tpuc;
using namespace tpuc::ops;

/// What the verifiers of a module see, and only a damaged model file can have.
static void checkLength(std::string_view name, const std::optional<Dims> &list, size_t wanted) {
  if (list && list->size() != wanted)
    throw AttributeError{"attribute '" + std::string(name) + "' with " +
                             std::to_string(list->size()) + " entries",
                         std::to_string(wanted)};
}

shapes::WindowSpec ops::windowSpec(const OpContext &context, std::optional<size_t> spatial) {
  shapes::WindowSpec spec;
  spec.kernel = context.optionalIntList("kernel_shape").value_or(Dims());
  spec.strides = context.optionalIntList("strides");
  spec.dilations = context.optionalIntList("dilations");
  spec.pads = context.optionalIntList("pads");
  spec.autoPad = context.optionalText("auto_pad").value_or("NOTSET");
  spec.ceilMode = context.optionalFlag("ceil_mode");
  spec.group = context.optionalInteger("group").value_or(1);
  spec.inserts = context.optionalIntList("inserts");
  spec.outputPadding = context.optionalIntList("output_padding");
  spec.outputShape = context.optionalIntList("output_shape");
  const size_t axes = spatial.value_or(spec.kernel.size());
  checkLength("strides", spec.strides, axes);
  checkLength("dilations", spec.dilations, axes);
  checkLength("pads", spec.pads, 2 * axes);
  checkLength("inserts", spec.inserts, axes);
  checkLength("output_padding", spec.outputPadding, axes);
  if (spec.outputShape && spec.outputShape->size() != axes + 2)
    checkLength("output_shape", spec.outputShape, axes);
  return spec;
}
