//===- PictureInput.h - A picture as the tensor of an input -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_PREPROCESS_PICTUREINPUT_H
#define TPUC_PREPROCESS_PICTUREINPUT_H

#include "tpuc/Preprocess/Preprocess.h"

#include <cstddef>
#include <span>
#include <string>

namespace tpuc {

/// The picture in `bytes`, prepared for `input` as `readSample` promises. Errors name `where`, or
/// the option that does not fit the input.
Expected<Tensor> pictureTensor(std::span<const std::byte> bytes, const InputSpec &input,
                               const std::string &where);

} // namespace tpuc

#endif // TPUC_PREPROCESS_PICTUREINPUT_H
