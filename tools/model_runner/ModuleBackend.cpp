//===- ModuleBackend.cpp - Opens the plugin that runs modules -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/model_runner/ModelBackend.h"
#include "tpuc/Frontend/Formats.h"
#include "tpuc/Support/Plugin.h"

#include <algorithm>
#include <array>

namespace tpuc::modelrunner {

namespace {

/// Whether a text begins as a module does, after blanks and comments.
bool beginsLikeModule(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    if (!text.starts_with("//"))
      break;
    text.remove_prefix(std::min(text.size(), text.find('\n')));
  }
  constexpr std::array<std::string_view, 4> kBeginnings = {"module", "\"builtin.module\"", "#",
                                                           "!"};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view each) { return text.starts_with(each); });
}

/// Runs networks of one kind in the plugin.
class PluginBackend : public ModelBackend {
public:
  explicit PluginBackend(NetworkKind kind) : kind(kind) {}
  Expected<void> run(const Request &request) const override {
    Expected<void *> entry = findInPlugin(kModulePlugin, kRunModuleSymbol);
    if (!entry)
      return propagate(entry);
    Expected<void> result;
    reinterpret_cast<RunModule *>(*entry)(request, kind, result);
    return result;
  }

private:
  NetworkKind kind;
};

class ModuleBackend : public PluginBackend {
public:
  ModuleBackend() : PluginBackend(NetworkKind::Module) {}
  std::string_view description() const override { return "a .mlir file"; }
  bool accepts(std::span<const std::byte> beginning) const override {
    return beginsLikeModule({reinterpret_cast<const char *>(beginning.data()), beginning.size()});
  }
};

/// Whatever the front ends read.
class SourceBackend : public PluginBackend {
public:
  SourceBackend() : PluginBackend(NetworkKind::Source), known(knownFormats()) {}
  std::string_view description() const override { return known; }
  bool accepts(std::span<const std::byte> beginning) const override {
    return formatOfContents(beginning) != nullptr;
  }

private:
  std::string known;
};

} // namespace

const ModelBackend &moduleBackend() {
  static const ModuleBackend backend;
  return backend;
}

const ModelBackend &sourceBackend() {
  static const SourceBackend backend;
  return backend;
}

} // namespace tpuc::modelrunner
