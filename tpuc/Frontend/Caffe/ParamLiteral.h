//===- ParamLiteral.h - The parameters of a Python layer ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_PARAMLITERAL_H
#define TPUC_FRONTEND_CAFFE_PARAMLITERAL_H

#include "tpuc/Support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include <string>
#include <string_view>
#include <vector>

namespace tpuc::caffe {

/// A dictionary, and its keys in the order of the text.
struct ParamLiteral {
  mlir::DictionaryAttr values;
  std::vector<std::string> order;
};

/// Reads the `param_str` of a Python layer, a dictionary in the notation of JSON or of Python,
/// without the outer braces too: `{'b_val': 1.2, "order": [2, 1, 0]}`. Nothing is evaluated.
/// Integers become i64, other numbers f64, lists and tuples arrays. An empty text is an empty
/// dictionary. Errors (without `where`): what is no literal, with its position; a key that comes
/// twice, null and None, nesting deeper than 32.
Expected<ParamLiteral> readParamLiteral(std::string_view text, mlir::MLIRContext *context);

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_PARAMLITERAL_H
