//===- FindTarget.h - A target that exists ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_TARGET_FINDTARGET_H
#define UNITTESTS_TARGET_FINDTARGET_H

#include "tpuc/Target/Registry.h"

namespace tpuc {

/// The target of that name, which exists.
inline const TargetInfo &target(std::string_view name) { return *lookupTarget(name).value(); }

} // namespace tpuc

#endif // UNITTESTS_TARGET_FINDTARGET_H
