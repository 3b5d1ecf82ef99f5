//===- FrontendLookup.cpp - The front end of a file -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Support/MappedFile.h"

#include <algorithm>

using namespace tpuc;

/// That of `format`, which CMake lists wherever it lists the format.
static const Frontend *frontendOf(const SourceFormat &format) {
  return *std::ranges::find(frontends(), &format,
                            [](const Frontend *frontend) { return &frontend->format(); });
}

Expected<const Frontend *> tpuc::frontendOfName(const std::string &path) {
  Expected<const SourceFormat *> format = formatOfName(path);
  if (!format)
    return propagate(format);
  return frontendOf(**format);
}

Expected<const Frontend *> tpuc::frontendOfContents(const std::string &path) {
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  std::span<const std::byte> bytes = (*file)->bytes();
  if (const SourceFormat *format =
          formatOfContents(bytes.first(std::min(bytes.size(), kFormatBytes))))
    return frontendOf(*format);
  return makeError(path, "a file of another kind", knownFormats());
}
