//===- TargetInfo.h - The chip's table ------------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_TARGETINFO_H
#define TPUC_TARGET_BM1684_TARGETINFO_H

#include "tpuc/Target/Target.h"

#include <span>

namespace tpuc::BM1684 {
/// The tables of this folder, for the registry.
std::span<const TargetInfo> describeTargets();
} // namespace tpuc::BM1684

namespace tpuc::bm1684 {
/// The chip's table, for what is part of its folder.
inline const TargetInfo &chipInfo() { return BM1684::describeTargets().front(); }
} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_TARGETINFO_H
