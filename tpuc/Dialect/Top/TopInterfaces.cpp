//===- TopInterfaces.cpp - What every op of the top dialect can say ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/TopInterfaces.h"

#include "tpuc/Dialect/Top/TopInterfaces.cpp.inc"
