//===- Main.cpp - Looks at npz files and changes them ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/ToolMain.h"
#include "tools/npz_tool/Commands.h"

using namespace tpuc;

int main(int argc, char **argv) {
  return runTool(argc, argv, npztool::kToolName, [](std::span<const std::string> arguments) {
    CommandLine cli(std::string(npztool::kToolName), "Looks at npz files and changes them.");
    npztool::addInspectCommands(cli);
    npztool::addCompareCommand(cli);
    npztool::addRewriteCommands(cli);
    npztool::addExportCommands(cli);
    return cli.run(arguments);
  });
}
