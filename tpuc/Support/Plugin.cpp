//===- Plugin.cpp - Parts of a program that are opened on first use -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Plugin.h"

#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <system_error>

namespace tpuc {

namespace {

/// What the loader says about the last call that failed on this thread.
std::string loaderError() {
  const char *text = ::dlerror();
  return text ? text : "unknown error of the loader";
}

} // namespace

Expected<void *> findInPlugin(std::string_view plugin, const char *symbol) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return makeError("/proc/self/exe", "cannot be read: " + error.message());
  const std::filesystem::path path =
      program.parent_path().parent_path() / "lib" / "tpuc" / (std::string(plugin) + ".so");
  if (!std::filesystem::exists(path, error))
    return makeError(path.string(), "is missing",
                     "the plugin as it was installed with " + program.filename().string());
  // The loader counts how often a library was opened and maps it once. Nobody closes it.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return makeError(path.string(), "cannot be loaded: " + loaderError());
  void *address = ::dlsym(library, symbol);
  if (!address)
    return makeError(path.string(), "has no entry '" + std::string(symbol) + "'",
                     "the plugin of this version of tpuc");
  return address;
}

} // namespace tpuc
