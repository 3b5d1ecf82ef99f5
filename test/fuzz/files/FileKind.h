//===- FileKind.h - Kinds of files, and who reads them
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FILES_FILEKIND_H
#define TEST_FUZZ_FILES_FILEKIND_H

#include "test/fuzz/common/Guard.h"
#include "test/fuzz/files/TextMutations.h"
#include "tpuc/Support/Error.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tpuc::fuzz {

/// A file as tools and libraries write it.
struct FileSeed {
  std::string name, bytes;
  /// What it is called among the files that belong to it.
  std::string fileName;
  /// Where those are; empty: nothing belongs to it.
  std::filesystem::path folder = {};
};

/// A changed file, in a folder with what belongs to it.
struct FileCase {
  std::string path, folder;
  const std::string &bytes;
  uint64_t number;
  /// Where a tool notes `states N`: that many bytes belong to what the file describes.
  const Notes &notes;
};

/// Has something read the file. An error is a refusal, as it should be.
using FileReader = std::function<Expected<void>(const FileCase &)>;

struct FileTool {
  const char *name;
  FileReader use;
};

struct FileKind {
  std::string name;
  std::vector<FileSeed> seeds;
  /// Its part of all cases.
  unsigned share = 1;
  /// What reads the bytes alone, in each case; may be empty.
  FileReader read;
  /// The tools, in one of so many cases, one after another.
  unsigned toolEvery = 1;
  std::vector<FileTool> tools = {};
  /// Whether tokens are changed as well, in every other case.
  bool isText = false;
  Vocabulary vocabulary = {};
};

/// Adds the files of `folders` whose names end like that as seeds, and their tokens to the
/// vocabulary where they are texts.
void addSeeds(FileKind &kind, std::span<const std::filesystem::path> folders,
              std::string_view ending);

/// Adds the kinds that need no MLIR: npy, npz, pictures, model files. Seeds are the files of
/// `folders`, and what makeNetwork wrote into `networks`.
void addPlainKinds(std::vector<FileKind> &kinds, std::span<const std::string> folders,
                   std::span<const std::filesystem::path> networks);

/// Adds the kinds of files that networks come with, as makeNetwork wrote them into folders:
/// sources, modules, weights, tables, group files, data lists.
void addNetworkKinds(std::vector<FileKind> &kinds, std::span<const std::filesystem::path> folders);

/// Adds the kinds of source files that front ends read but for ONNX, from `folders`. The file
/// `models` has TFLite models as JSON, a line each behind a name: changed tokens of them are other
/// models, of attributes, shapes and types that make no sense.
void addSourceKinds(std::vector<FileKind> &kinds, std::span<const std::string> folders,
                    const std::string &models);

/// Has the tools make all of these files of the network `folder`/net.onnx. What they refuse is not
/// made.
void makeNetwork(const std::filesystem::path &folder);

/// Opens what decodes pictures, so that its memory does not count as that of a case.
void preparePictures();

/// The bytes of a file; nothing if it cannot be read.
std::string bytesOf(const std::filesystem::path &path);
void writeBytes(const std::filesystem::path &path, const std::string &bytes);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_FILES_FILEKIND_H
