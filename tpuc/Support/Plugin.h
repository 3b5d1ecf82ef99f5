//===- Plugin.h - Parts of a program that are opened on first use ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What only some calls of a program need, and what is slow to load (MLIR, OpenCV), stands in a
// shared library of its own, so that the other calls start at once. `tpuc_add_plugin` of
// cmake/TpucTargets.cmake builds it; its entries are declared
//   extern "C" [[gnu::visibility("default")]] ...
// in a header that the plugin and its caller include.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_PLUGIN_H
#define TPUC_SUPPORT_PLUGIN_H

#include "tpuc/Support/Error.h"

#include <string_view>

namespace tpuc {

/// The address of the entry `symbol` of the plugin `plugin`, for the caller to cast to the entry's
/// type. Opens `../lib/tpuc/<plugin>.so`, seen from the folder of the running program (links
/// resolved): both the build tree and an installation look like that. A plugin is opened once and
/// stays open, so what it hands out lives as long as the program. Can be called from any thread.
///
/// Errors name the plugin's file: missing, not loadable (with the loader's reason), no such entry.
Expected<void *> findInPlugin(std::string_view plugin, const char *symbol);

} // namespace tpuc

#endif // TPUC_SUPPORT_PLUGIN_H
