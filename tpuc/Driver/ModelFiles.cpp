//===- ModelFiles.cpp - The files that a network leaves -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModelFiles.h"

#include <filesystem>

using namespace tpuc;

ModelFiles::ModelFiles(std::string_view moduleFile, std::string_view modelName)
    : model(modelName),
      stem((std::filesystem::path(moduleFile).parent_path() / std::string(modelName)).string()) {}

std::string tpuc::variantName(const std::string &mode, const std::string &quantizeTable) {
  const std::string table = std::filesystem::path(quantizeTable).stem().string();
  return table.empty() ? mode : mode + "_" + table;
}
