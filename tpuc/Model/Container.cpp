//===- Container.cpp - Kinds of model files -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Container.h"
#include "tpuc/Support/MappedFile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::model {

Expected<ModelFile> ModelFile::open(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const Bytes bytes = (*file)->bytes();
  return ModelFile{path, bytes, std::move(*file)};
}

Expected<OutputFile> fileOf(Bytes bytes, const std::string &path) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file;
  if (Expected<void> written = file->write(bytes); !written)
    return propagate(written);
  return file;
}

Expected<void> Container::extract(const ModelFile &file, const std::string &) const {
  return makeError(file.path, fmt::format("a .{} file", name()), "a file that can be taken apart");
}

Expected<void> Container::combine(std::span<const ModelFile> files, const std::string &path) const {
  return makeError(files.empty() ? path : files.front().path, fmt::format("a .{} file", name()),
                   "files that can be put together");
}

const Container *findContainer(std::string_view name, Containers among) {
  const auto found = std::ranges::find(among, name, &Container::name);
  return found == among.end() ? nullptr : *found;
}

Expected<const Container *> chooseContainer(const ModelFile &file, Containers among) {
  constexpr size_t kBeginning = 4096;
  const Bytes beginning = file.bytes.first(std::min(file.bytes.size(), kBeginning));
  for (const Container *container : among)
    if (container->accepts(beginning))
      return container;
  // The only one knows better what is wrong with the file.
  if (among.size() == 1)
    if (const auto refused = among.front()->read(file); !refused)
      return tl::unexpected(refused.error());
  return makeError(file.path, "a file of another kind", fileKinds(among));
}

std::string extensions(Containers among) {
  std::string text;
  for (const Container *container : among)
    text += fmt::format("{}.{}", text.empty() ? "" : ", ", container->name());
  return text;
}

std::string fileKinds(Containers among) {
  std::string text;
  for (const Container *container : among)
    text += fmt::format("{}a .{} file", text.empty() ? "" : " or ", container->name());
  return text;
}

} // namespace tpuc::model
