//===- Builder.h - Collecting the commands of both engines ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_BUILDER_H
#define TPUC_TARGET_BM1684X_KERNELS_BUILDER_H

#include "tpuc/Target/BM1684X/Machine/Operands.h"
#include "tpuc/Target/BM168x/CommandBuilder.h"

namespace tpuc::bm1684x {

using bm168x::AccessMap;
using bm168x::CommandStreams;

/// Takes commands of both engines in program order and gives them ids and waits.
class Builder : public bm168x::CommandBuilder {
public:
  explicit Builder(bm168x::Waits waits = bm168x::Waits::Set);
};

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_BUILDER_H
