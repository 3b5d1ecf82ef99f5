//===- Container.h - Kinds of model files -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A container is a file format that holds compiled models. A folder tpuc/Model/<Container>/ that
// has one defines `const Container &tpuc::model::container<Container>()` and calls
// `tpuc_add_container`; CMake writes the list. No other folder names a container.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_CONTAINER_H
#define TPUC_MODEL_CONTAINER_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Support/OutputFile.h"

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tpuc::model {

/// A file in memory. `owner` keeps its bytes alive; `path` names it in errors.
struct ModelFile {
  std::string path;
  Bytes bytes;
  std::shared_ptr<const void> owner;

  /// Maps the file `path`. Errors: those of `MappedFile::open`.
  static Expected<ModelFile> open(const std::string &path);
};

/// A file of these bytes, which the caller commits. Errors: those of the file system.
Expected<OutputFile> fileOf(Bytes bytes, const std::string &path);

class Container {
public:
  virtual ~Container() = default;
  /// The extension of such files, which is also how a chip's table names the container.
  virtual std::string_view name() const = 0;
  /// Whether a file that begins with these bytes (up to 4096) is one of its own.
  virtual bool accepts(Bytes beginning) const = 0;
  /// Whether a file can say of an input or an output that its elements are of this type.
  virtual bool states(DataType) const { return true; }
  /// What the runtime needs of a file. The file may come from anywhere: everything is checked
  /// except the commands, which are the chip's business. Errors name the file.
  virtual Expected<CompiledModel> read(const ModelFile &file) const = 0;
  /// Makes a file of a model; the caller commits it. The same model gives the same bytes. Errors:
  /// what such files cannot say, and those of the file system.
  virtual Expected<OutputFile> write(const CompiledModel &model, const std::string &path) const = 0;

  /// What a user wants to know of a file: nets, inputs, outputs, memory. Ends in a line break.
  virtual Expected<std::string> info(const ModelFile &file) const = 0;
  /// Every field of a file, large parts by their size only.
  virtual Expected<nlohmann::ordered_json> fields(const ModelFile &file) const = 0;
  /// Writes each stage of each net to a file of its own in `folder`, which it makes. Nothing is
  /// lost that belongs to the stage. Errors: also containers that cannot do it.
  virtual Expected<void> extract(const ModelFile &file, const std::string &folder) const;
  /// Writes the nets of all files to the file `path`. Nets of one name become the stages of one
  /// net. Errors: nets that do not go together, and containers that cannot do it.
  virtual Expected<void> combine(std::span<const ModelFile> files, const std::string &path) const;
};

using Containers = std::span<const Container *const>;

/// All of them, in the order of their folders. The library TpucContainers defines it.
Containers containers();

/// The container of that name; null if there is none.
const Container *findContainer(std::string_view name, Containers among);
/// The container that accepts the file. Errors name the file: it is of another kind.
Expected<const Container *> chooseContainer(const ModelFile &file, Containers among);
/// `.a, .b`: the extensions.
std::string extensions(Containers among);
/// `a .a file or a .b file`.
std::string fileKinds(Containers among);

} // namespace tpuc::model

#endif // TPUC_MODEL_CONTAINER_H
