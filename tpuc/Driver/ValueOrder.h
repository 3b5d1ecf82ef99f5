//===- ValueOrder.h - Values stand before their uses -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_VALUEORDER_H
#define TPUC_DRIVER_VALUEORDER_H

#include "tpuc/Support/Error.h"

#include <string>
#include <string_view>

namespace tpuc {

/// Checks that in the MLIR text each value's name stands where it is defined before it is used, in
/// the same region or one around it, and is not defined again there. That holds for all modules
/// without loops between blocks, so for all that tpuc writes.
///
/// MLIR's parser takes uses ahead of definitions. Where the definition is in an inner region that
/// has an error further on, it frees the region and writes to the freed memory through the use.
///
/// Errors name `where`, the line and the value. Texts that are no MLIR may pass.
Expected<void> checkValueOrder(std::string_view text, const std::string &where);

} // namespace tpuc

#endif // TPUC_DRIVER_VALUEORDER_H
