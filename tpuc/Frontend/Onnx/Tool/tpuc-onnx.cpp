//===- tpuc-onnx.cpp - The ONNX front end by itself -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/import/ImportTool.h"
#include "tpuc/Frontend/Onnx/OnnxImport.h"

namespace tpuc::onnx {
const Frontend &getFrontend();
}

int main(int argc, char **argv) {
  return tpuc::runImportTool(
      argc, argv,
      tpuc::ImportTool{.name = "tpuc-onnx",
                       .summary = "Imports an ONNX model and prints the module.",
                       .kinds = "operators",
                       .frontend = tpuc::onnx::getFrontend(),
                       .supportMatrix = tpuc::onnx::supportMatrix,
                       .takesTypes = true,
                       .writeOption = "--opt-onnx"});
}
