//===- TFLiteFormat.h - What a TFLite model is ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_TFLITEFORMAT_H
#define TPUC_FRONTEND_TFLITE_TFLITEFORMAT_H

#include "tpuc/Frontend/Formats.h"

namespace tpuc::tflite {

const SourceFormat &describeFormat();

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_TFLITEFORMAT_H
