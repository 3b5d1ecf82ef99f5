//===- tpuc-caffe.cpp - The Caffe front end by itself ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/import/ImportTool.h"
#include "tpuc/Frontend/Caffe/CaffeImport.h"

namespace tpuc::caffe {
const Frontend &getFrontend();
}

int main(int argc, char **argv) {
  return tpuc::runImportTool(
      argc, argv,
      tpuc::ImportTool{.name = "tpuc-caffe",
                       .summary = "Imports a Caffe network and prints the module.",
                       .kinds = "layers",
                       .frontend = tpuc::caffe::getFrontend(),
                       .supportMatrix = tpuc::caffe::supportMatrix,
                       .takesCustomShapes = true});
}
