//===- NetworkCompiler.cpp - Chips that compile whole networks --------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkCompiler.h"

namespace tpuc::codegen {

NetworkCompiler::~NetworkCompiler() = default;

std::unique_ptr<NetworkCompiler> networkCompilerOf(const TargetInfo &target) {
  for (const CreateNetworkCompiler create : networkCompilers())
    if (std::unique_ptr<NetworkCompiler> compiler = create(target))
      return compiler;
  return nullptr;
}

} // namespace tpuc::codegen
