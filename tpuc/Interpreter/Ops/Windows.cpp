//===- Windows.cpp - What the ops with windows share ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/Windows.h"

using namespace tpuc;

shapes::WindowSpec ops::windowSpec(const OpContext &context) {
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
  return spec;
}
