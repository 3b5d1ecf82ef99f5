//===- WriteExample.cpp - Writes the small model of a chip ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cv18xx-example CHIP FILE
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Example.h"
#include "tpuc/Model/Cvimodel/Cvimodel.h"

#include <cstdio>
#include <fstream>

using namespace tpuc;

int main(int argc, char **argv) {
  const cv18xx::Chip *chip = argc == 3 ? cv18xx::findChip(argv[1]) : nullptr;
  if (!chip) {
    std::fputs("usage: cv18xx-example CHIP FILE\n", stderr);
    return 1;
  }
  const auto model = cv18xx::conformance::exampleModel(*chip);
  const auto file = cvimodel::fromCompiled(model, argv[2]);
  const auto bytes = file ? cvimodel::encodeFile(*file, argv[2]) : tl::unexpected(file.error());
  if (!bytes) {
    std::fprintf(stderr, "cv18xx-example: error: %s\n", bytes.error().message().c_str());
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes->data()),
            static_cast<std::streamsize>(bytes->size()));
  return out.good() ? 0 : 1;
}
