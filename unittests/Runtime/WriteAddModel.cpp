//===- WriteAddModel.cpp - The model file for tests of programs -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: WriteAddModel FILE [NET [BATCH]]: the net of AddModel.h.
//
//===----------------------------------------------------------------------===//

#include "AddModel.h"

#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-')
    return 1;
  const char *net = argc > 2 ? argv[2] : "add";
  const uint64_t batch = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  return tpuc::runtime::writeAddModel(argv[1], net, batch, argc > 4) ? 0 : 1;
}
