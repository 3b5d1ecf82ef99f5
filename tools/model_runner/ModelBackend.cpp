//===- ModelBackend.cpp - What runs which model file ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_runner/ModelBackend.h"
#include "tpuc/Support/Diagnostics.h"
#include "tpuc/Support/MappedFile.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::modelrunner {

Expected<const ModelBackend *> chooseBackend(const std::string &path) {
  constexpr size_t kBeginning = 4096;
  const auto file = MappedFile::open(path);
  if (!file)
    return tl::unexpected(file.error());
  const std::span<const std::byte> bytes = (*file)->bytes();
  const std::array backends = {&compiledBackend(), &moduleBackend(), &sourceBackend()};
  std::string known;
  for (const ModelBackend *backend : backends) {
    if (backend->accepts(bytes.first(std::min(bytes.size(), kBeginning))))
      return backend;
    known += (known.empty() ? "" : " or ") + std::string(backend->description());
  }
  return makeError(path, "a file of another kind", known);
}

Expected<bool> isArchive(const Sample &sample) {
  if (sample.files.size() != 1)
    return false;
  const auto file = MappedFile::open(sample.files[0]);
  if (!file)
    return tl::unexpected(file.error());
  return fileKind((*file)->bytes()) == FileKind::Npz;
}

Expected<std::string> findInput(const NpzReader &npz, const std::string &name, size_t numInputs) {
  if (npz.contains(name))
    return name;
  if (numInputs == 1 && npz.names().size() == 1) {
    const std::string &only = npz.names().front();
    reportNote(kToolName, fmt::format("{}: the array '{}' is taken for the input '{}'", npz.where(),
                                      only, name));
    return only;
  }
  return makeError(npz.where(),
                   fmt::format("no array '{}' among {}", name, fmt::join(npz.names(), ", ")),
                   "one for each input of the net");
}

} // namespace tpuc::modelrunner
