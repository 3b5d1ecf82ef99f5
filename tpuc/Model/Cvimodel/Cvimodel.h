//===- Cvimodel.h - The .cvimodel file --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header of 48 bytes, FlatBuffers tables, and sections back to back: constants and streams of
// commands. docs/cvimodel.md describes all of it. Addresses have the number of a region in bits 40
// and above, which is also the base register that commands name: 0 shared activations, 1 constants,
// 2 private activations, 3 and above inputs and outputs.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_CVIMODEL_CVIMODEL_H
#define TPUC_MODEL_CVIMODEL_CVIMODEL_H

#include "tpuc/Model/Container.h"

namespace tpuc::cvimodel {

using model::Bytes;

inline constexpr size_t kHeaderBytes = 48;
inline constexpr unsigned kRegionShift = 40;
inline constexpr unsigned kNumRegions = 8;
inline constexpr uint64_t kShared = 0, kConstants = 1, kPrivate = 2, kFirstPort = 3;
/// The family, by which the runtime finds its driver. The chip stands in each stream.
inline constexpr std::string_view kFamily = "CV18xx";

enum class SectionKind : uint8_t { Constants, Commands, PluginX86, PluginArm, LinkedCommands };

struct Section {
  SectionKind kind = SectionKind::Constants;
  std::string name;
  Bytes data;
};

struct Tensor {
  std::string name;
  uint64_t address = 0;
  /// No value: a number that stands for no type.
  std::optional<DataType> type;
  uint8_t typeNumber = 0;
  std::vector<int64_t> shape;
  /// What the vendor's files call qscale: of an input of the network stored = real * scale, of
  /// others real = stored * scale; 1 where there is none.
  float scale = 1;
  /// Of an input that takes the bytes of pictures; `shape` is that of the file (`pictureShape`).
  std::optional<model::PictureInfo> picture = std::nullopt;
};

/// What the vendor's frame buffers are aligned to on a chip: rows of 64 bytes, planes of 64; on
/// cv183x 32 and 4096. As the vendor's runtime has it.
PictureAlignment frameAlignment(std::string_view chip);

/// The dimensions by which files describe pictures: those without gaps, and of frame buffers
/// [N, C, H, W] for all formats, of which the vendor's runtime computes the bytes.
std::vector<int64_t> pictureShape(const model::PictureInfo &picture, int64_t batch);

struct Weight {
  std::string name;
  uint64_t address = 0, bytes = 0;
};

struct Routine {
  bool isHost = false;
  std::vector<std::string> inputs, outputs;
  /// The section of the commands, or the function of the host.
  std::string name;
  /// What the function of the host is told.
  std::vector<std::byte> arguments = {};
};

struct Program {
  uint32_t batch = 0;
  uint64_t sharedBytes = 0, privateBytes = 0;
  std::vector<std::string> inputs, outputs;
  std::vector<Tensor> tensors;
  std::vector<Routine> routines;

  const Tensor *find(std::string_view name) const;
};

struct File {
  std::string chip, name, built, compiler;
  uint8_t majorVersion = 1, minorVersion = 4;
  /// Whether the header's MD5 is that of what follows it. The vendor's runtime does not look.
  bool hasRightHash = false;
  std::vector<Program> programs;
  std::vector<Weight> weights;
  std::vector<Section> sections;

  const Section *find(SectionKind kind, std::string_view name) const;
};

/// Whether a file that begins with these bytes says that it is one.
bool hasMagic(Bytes beginning);

/// The contents of a file, which views point into. The file may come from anywhere. Errors name
/// `path`: what is no such file, sections outside of it, missing tables, compressed or encrypted
/// sections.
Expected<File> readFile(Bytes bytes, const std::string &path);

/// The file of contents. The same contents give the same bytes. Errors name `path`: what is larger
/// than the format's 32 bits.
Expected<std::vector<std::byte>> encodeFile(const File &file, const std::string &path);

/// What the runtime needs of a file; routines of the host that tpuc does not have become the
/// stage's refusal. Errors name `path`: tensors that routines name and that are not there,
/// addresses outside of regions.
Expected<model::CompiledModel> toCompiled(const File &file, const std::string &path);

/// The reverse. Layers of the host become routines that only tpuc's runtime has. Errors name
/// `path`: models that such files cannot hold.
Expected<File> fromCompiled(const model::CompiledModel &model, const std::string &path);

} // namespace tpuc::cvimodel

#endif // TPUC_MODEL_CVIMODEL_CVIMODEL_H
