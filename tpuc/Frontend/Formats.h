//===- Formats.h - The formats of trained networks ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_FORMATS_H
#define TPUC_FRONTEND_FORMATS_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tpuc {

/// A format of trained networks, as programs know it that link no MLIR.
struct SourceFormat {
  /// What `module.platform` says: `ONNX`.
  std::string_view name;
  /// A file of the format, in errors: `an .onnx file`.
  std::string_view description;
  /// How names of its files end, in lower case and with the dot. The first is for files that are
  /// written.
  std::span<const std::string_view> endings;
  /// Whether a file that begins with these bytes (4096, or all of a shorter file) can be one.
  bool (*beginsLike)(std::span<const std::byte> beginning);
  /// A file of the weights, in errors: `a .caffemodel file`. Empty where models hold their own.
  std::string_view weights = {};
  /// Whether its networks may have weights of integers beside floats, which `--hybrid` is about.
  bool hasHybrid = false;
};

/// How many bytes of a file SourceFormat::beginsLike is asked about.
inline constexpr size_t kFormatBytes = 4096;

/// The format of each folder with a front end, by the names of the folders. Written by CMake.
std::span<const SourceFormat *const> sourceFormats();

/// What their files are, as errors say what is expected: `an .onnx file`, more with `or` between.
std::string knownFormats();

/// The format of the file `path`, by the ending of its name. Errors: no format has that ending.
Expected<const SourceFormat *> formatOfName(const std::string &path);

/// The format of a file that begins so, the first one that can be; null where there is none.
const SourceFormat *formatOfContents(std::span<const std::byte> beginning);

} // namespace tpuc

#endif // TPUC_FRONTEND_FORMATS_H
