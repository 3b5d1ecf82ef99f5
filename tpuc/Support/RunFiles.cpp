//===- RunFiles.cpp - The files that a run reads and writes ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/RunFiles.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <utility>

namespace tpuc {

namespace {

/// Device, inode, and the name in that folder where the file does not exist yet.
using Identity = std::tuple<dev_t, ino_t, std::string>;

/// Where a chain of links ends that leads to no file.
std::filesystem::path endOfLinks(std::filesystem::path path) {
  constexpr int kMostLinks = 40; // what Linux allows
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error)
      break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

/// None for what is no regular file.
std::optional<Identity> identify(const std::string &name) {
  if (name == "-" || name.find('\0') != std::string::npos)
    return std::nullopt;
  struct stat status = {};
  if (::stat(name.c_str(), &status) == 0)
    return S_ISREG(status.st_mode) ? std::optional(Identity(status.st_dev, status.st_ino, ""))
                                   : std::nullopt;
  const std::filesystem::path path = endOfLinks(name);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  if (::stat(folder.c_str(), &status) == 0)
    return Identity(status.st_dev, status.st_ino, path.filename().string());
  std::error_code error;
  return Identity(0, 0, std::filesystem::absolute(path, error).lexically_normal().string());
}

} // namespace

void RunFiles::reads(std::string what, std::string path) {
  if (!path.empty())
    inputs.push_back({std::move(what), std::move(path)});
}

void RunFiles::reads(const std::string &what, std::span<const std::string> paths) {
  for (const std::string &path : paths)
    reads(what, path);
}

void RunFiles::writes(std::string what, std::string path) {
  if (!path.empty())
    outputs.push_back({std::move(what), std::move(path)});
}

Expected<void> RunFiles::check() const {
  struct Known {
    const File *file;
    bool isInput;
  };
  std::map<Identity, Known> known;
  for (const File &file : inputs)
    if (const std::optional<Identity> identity = identify(file.path))
      known.emplace(*identity, Known{&file, true});
  for (const File &file : outputs) {
    const std::optional<Identity> identity = identify(file.path);
    if (!identity)
      continue;
    const auto [other, isNew] = known.emplace(*identity, Known{&file, false});
    if (isNew)
      continue;
    const auto &[what, path] = *other->second.file;
    if (other->second.isInput)
      return makeError(file.what,
                       fmt::format("'{}' would replace what {} reads, '{}'", file.path, what, path),
                       "a file that the run does not read");
    return makeError(file.what,
                     fmt::format("'{}' is also what {} writes, '{}'", file.path, what, path),
                     "files of their own");
  }
  return {};
}

Expected<void> RunFiles::checkWrites(const std::string &path) const {
  RunFiles files;
  files.inputs = inputs;
  files.writes("output", path);
  return files.check();
}

} // namespace tpuc
