//===- tpuc-tflite.cpp - The TFLite front end by itself -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/import/ImportTool.h"
#include "tpuc/Frontend/TFLite/TFLiteImport.h"

namespace tpuc::tflite {
const Frontend &getFrontend();
}

int main(int argc, char **argv) {
  return tpuc::runImportTool(
      argc, argv,
      tpuc::ImportTool{.name = "tpuc-tflite",
                       .summary = "Imports a TFLite model and prints the module.",
                       .kinds = "ops",
                       .frontend = tpuc::tflite::getFrontend(),
                       .supportMatrix = tpuc::tflite::supportMatrix});
}
