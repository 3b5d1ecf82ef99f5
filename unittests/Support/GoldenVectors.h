//===- GoldenVectors.h - Cases with hashes of what they give --- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_SUPPORT_GOLDENVECTORS_H
#define UNITTESTS_SUPPORT_GOLDENVECTORS_H

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace tpuc {

/// A case as text, and the hash of what the vendor's functional model made of it.
struct GoldenVector {
  std::string text;
  uint64_t hash;
};

/// The lines `text = hash` of a file, the hash in hexadecimal; those with # in front are remarks.
inline std::vector<GoldenVector> readGoldenVectors(const std::string &path) {
  std::ifstream file(path);
  std::vector<GoldenVector> vectors;
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.rfind(" = ");
    if (line.starts_with('#') || equals == std::string::npos)
      continue;
    vectors.push_back({line.substr(0, equals), std::stoull(line.substr(equals + 3), nullptr, 16)});
  }
  return vectors;
}

} // namespace tpuc

#endif // UNITTESTS_SUPPORT_GOLDENVECTORS_H
