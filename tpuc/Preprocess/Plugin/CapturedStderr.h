//===- CapturedStderr.h - What C libraries say on stderr ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_PREPROCESS_PLUGIN_CAPTUREDSTDERR_H
#define TPUC_PREPROCESS_PLUGIN_CAPTUREDSTDERR_H

#include <functional>
#include <string>

namespace tpuc {

/// Runs `work` and returns what the C libraries that it calls (libpng, libjpeg) meanwhile wrote to
/// the stream `stderr` on this thread. What other threads write passes unchanged. One caller at a
/// time: others wait. `work` may throw.
std::string captureStderr(const std::function<void()> &work);

} // namespace tpuc

#endif // TPUC_PREPROCESS_PLUGIN_CAPTUREDSTDERR_H
