//===- convert_array.cpp - Conversion of a raw array, for test scripts -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// convert_array FROM TO INPUT OUTPUT [ROUNDING [saturate]]: the elements of the file INPUT, of type
// FROM, converted to TO as the numerics library does.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Convert.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

using namespace tpuc;

int main(int argc, char **argv) {
  const std::span<char *> arguments(argv, static_cast<size_t>(argc));
  const auto usage = [] {
    std::fputs("usage: convert_array FROM TO INPUT OUTPUT [ROUNDING [saturate]]\n", stderr);
    return 2;
  };
  if (arguments.size() < 5 || arguments.size() > 7)
    return usage();
  const auto from = parseDataType(arguments[1]);
  const auto to = parseDataType(arguments[2]);
  ConvertOptions options;
  if (arguments.size() > 5) {
    const auto mode = parseRoundingMode(arguments[5]);
    if (!mode)
      return usage();
    options.floatRounding = options.integerRounding = *mode;
  }
  if (arguments.size() > 6)
    options.floatOverflow = Overflow::Saturate;
  if (!from || !to || bitWidth(*from) < 8)
    return usage();

  std::ifstream input(arguments[3], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(input),
                                std::istreambuf_iterator<char>()};
  const auto count = static_cast<int64_t>(bytes.size() / (bitWidth(*from) / 8));
  const Tensor result =
      convert(Tensor::borrow(*from, {count}, bytes.data(), nullptr), *to, options);
  std::ofstream output(arguments[4], std::ios::binary);
  output.write(reinterpret_cast<const char *>(result.rawBytes().data()), result.byteSize());
  output.close();
  return input && output ? 0 : 1;
}
