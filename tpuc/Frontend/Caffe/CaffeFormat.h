//===- CaffeFormat.h - What a Caffe network is ----------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_CAFFEFORMAT_H
#define TPUC_FRONTEND_CAFFE_CAFFEFORMAT_H

#include "tpuc/Frontend/Formats.h"

namespace tpuc::caffe {

const SourceFormat &describeFormat();

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_CAFFEFORMAT_H
