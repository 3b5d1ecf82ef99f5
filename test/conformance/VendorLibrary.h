//===- VendorLibrary.h - A functional model, loaded at run time  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_VENDORLIBRARY_H
#define TEST_CONFORMANCE_VENDORLIBRARY_H

#include "tpuc/Support/Error.h"

#include <dlfcn.h>
#include <string>

namespace tpuc::conformance {

/// A library of the PyPI package tpu-mlir. It stays loaded.
class VendorLibrary {
public:
  static Expected<VendorLibrary> open(const std::string &path) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
      return makeError(path, dlerror(), "the vendor's functional model");
    return VendorLibrary(path, handle);
  }

  /// Whether it has a function of that name, which is set then.
  template <typename F> bool find(const char *name, F &function) const {
    function = reinterpret_cast<F>(dlsym(handle, name));
    return function != nullptr;
  }
  /// The error where it has not.
  tl::unexpected<Error> lacksFunctions() const {
    return makeError(path, dlerror(), "the functions of the vendor's functional model");
  }

private:
  VendorLibrary(std::string path, void *handle) : path(std::move(path)), handle(handle) {}

  std::string path;
  void *handle;
};

} // namespace tpuc::conformance

#endif // TEST_CONFORMANCE_VENDORLIBRARY_H
