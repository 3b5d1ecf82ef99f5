//===- WriteAddModel.cpp - The model file for the C test ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddModel.h"

int main(int argc, char **argv) {
  return argc == 2 && tpuc::runtime::writeAddModel(argv[1]) ? 0 : 1;
}
