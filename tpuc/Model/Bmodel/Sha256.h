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

/// Whether `stated` is what a file may state of `bytes`, whose SHA-256 is `digest`: that, or, of
/// 512 MiB and more, what TPU-MLIR states. It keeps the length in bits, which SHA-256 puts behind
/// the bytes, in 32 bits (measured on its files).
bool isSha256Of(const std::array<std::byte, kSha256Bytes> &stated,
                const std::array<std::byte, kSha256Bytes> &digest, Bytes bytes);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_SHA256_H
