//===- ConstantStorage.h - How files store constants -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_CONSTANTSTORAGE_H
#define TPUC_CODEGEN_CONSTANTSTORAGE_H

#include "tpuc/Model/CompiledModel.h"

#include <memory>

namespace tpuc::codegen {

/// Which constants are stored as streams that the chip unpacks while it loads them.
enum class Compression : uint8_t {
  None, ///< None of them.
  Auto, ///< Those that are a tenth shorter so, where no load takes longer by the timing model.
  All,  ///< All that are not longer so.
};

/// How the constants of a model file are stored, where a chip leaves a choice.
struct ConstantStorage {
  Compression compression = Compression::Auto;
  /// A file whose constants stand in front of those of the network. What is there already is not
  /// stored again, so that both files can become one. Null for none.
  std::shared_ptr<const model::CompiledModel> before = nullptr;

  bool isUsual() const { return compression == Compression::Auto && !before; }
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_CONSTANTSTORAGE_H
