//===- Vendor.cpp - The vendor's functional model -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Vendor.h"

#include <algorithm>
#include <dlfcn.h>

namespace tpuc::bm1684::conformance {

namespace {

/// What get_local_mem returns.
struct LocalMemory {
  char *bytes;
  uint32_t **lanes;
  int count, size, align, isOwned;
};

template <typename F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

} // namespace

Expected<Vendor> Vendor::load(const std::string &path, int64_t size) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return makeError(path, dlerror(), "the vendor's functional model");
  Vendor vendor;
  int (*init)(int, int64_t);
  LocalMemory *(*localOf)(int);
  void *(*globalOf)(int);
  void *(*l2Of)(int);
  if (!find(library, "cmodel_init", init) || !find(library, "get_local_mem", localOf) ||
      !find(library, "get_global_memaddr", globalOf) || !find(library, "get_l2_sram", l2Of) ||
      !find(library, "get_atomic_function", vendor.functionFor))
    return makeError(path, dlerror(), "the functions of the vendor's functional model");
  init(0, size);
  vendor.localBytes = reinterpret_cast<uint8_t *>(localOf(0)->bytes);
  vendor.globalBytes = static_cast<uint8_t *>(globalOf(0));
  vendor.l2Bytes = static_cast<uint8_t *>(l2Of(0));
  return vendor;
}

int Vendor::execute(const Command &command) {
  alignas(16) std::array<uint8_t, Command::kMaxBytes> bytes{};
  std::ranges::copy(command.encoded(), bytes.begin());
  const unsigned engine = command.engine() == mc::EngineId(Engine::Tiu) ? 0 : 1;
  return functionFor(bytes.data(), engine)(0, bytes.data());
}

} // namespace tpuc::bm1684::conformance
