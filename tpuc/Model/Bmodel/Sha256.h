//===- Sha256.h - The checksum of the coefficients --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_SHA256_H
#define TPUC_MODEL_BMODEL_SHA256_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Support/Error.h"

namespace tpuc::bmodel {

/// FIPS 180-4. The only error is a libcrypto that refuses to compute it; it names `where`.
Expected<std::array<std::byte, kSha256Bytes>> sha256(Bytes bytes, const std::string &where);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_SHA256_H
