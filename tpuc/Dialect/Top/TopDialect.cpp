//===- TopDialect.cpp - The top dialect -----------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopDialect.h"
#include "tpuc/Dialect/Top/StructureOps.h"

#include "tpuc/Dialect/Top/TopDialect.cpp.inc"

void tpuc::top::TopDialect::initialize() { addStructureOps(*this); }
