//===- TpuDialect.cpp - The tpu dialect -----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "tpuc/Dialect/Tpu/TpuDialect.cpp.inc"
#include "tpuc/Dialect/Tpu/TpuFamilies.inc"
