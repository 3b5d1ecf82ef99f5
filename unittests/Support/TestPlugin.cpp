//===- TestPlugin.cpp - What PluginTest.cpp opens -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

extern "C" [[gnu::visibility("default")]] int tpucCountCalls() {
  static int calls = 0;
  return ++calls;
}

extern "C" int tpucHidden() { return 0; }
