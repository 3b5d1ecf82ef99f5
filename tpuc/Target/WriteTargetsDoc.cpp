//===- WriteTargetsDoc.cpp - Writes docs/targets.md -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Registry.h"

#include <cstdio>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write-targets-doc FILE\n");
    return 1;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << tpuc::formatTargetMarkdown();
  file.close();
  if (!file) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[1]);
    return 1;
  }
  return 0;
}
