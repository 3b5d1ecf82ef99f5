//===- CompiledModel.h - A compiled network, for any chip and file ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands between a chip's emitter, the container that becomes a file, and the runtime that
// loads it. Nothing here belongs to one chip or one file format. A model has nets; a net has a
// stage for each set of input shapes; a stage has sub-networks, which the chip or the host computes
// in turn. Large parts are views of memory that `owners` keep alive.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_COMPILEDMODEL_H
#define TPUC_MODEL_COMPILEDMODEL_H

#include "tpuc/Model/CpuProgram/CpuProgram.h"
#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Support/PictureFormat.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tpuc::model {

using Bytes = std::span<const std::byte>;

/// What an input holds that takes the bytes of pictures, and how other pictures become such.
struct PictureInfo {
  PictureFormat format = PictureFormat::BgrPlanar;
  /// In pixels.
  int64_t height = 0, width = 0;
  PictureAlignment alignment;
  /// Of YUV: Y is from 16 to 235, else from 0 to 255.
  bool isVideoRange = true;
  /// Height and width are scaled alike, and `padValue` stands around the picture: on all sides, or
  /// only below and right of it. Without it, the picture is stretched.
  bool keepsAspectRatio = false, isAtTopLeft = false;
  /// With keepsAspectRatio: the frame is filled instead, and the longer side cut.
  bool fillsFrame = false;
  uint8_t padValue = 0;

  /// What `pictureExtents` takes.
  std::optional<PictureFrame> frame() const;
  friend bool operator==(const PictureInfo &, const PictureInfo &) = default;
};

/// A tensor that enters or leaves a stage or a sub-network, or lies in memory between them.
struct TensorInfo {
  std::string name;
  /// No value: the file names a type that tpuc does not have.
  std::optional<DataType> type;
  /// The type as messages name it. `setType` fills in both.
  std::string typeName;
  /// Extents that only the data show are 0.
  std::vector<uint64_t> shape;
  /// The device address that the commands were compiled for.
  uint64_t address = 0;
  /// The host gives it, so it has no place in the device's memory.
  bool isOnHost = false;
  /// Of an input: stored = real * scale + zeroPoint. Of others: real = (stored - zeroPoint) *
  /// scale.
  float scale = 1;
  int32_t zeroPoint = 0;
  /// Of an input of the network.
  std::optional<PictureInfo> picture = std::nullopt;

  void setType(DataType known);
  /// `type`. The error names `where` and the type: tpuc does not have it.
  Expected<DataType> knownType(const std::string &where) const;
  /// Whether the tensor is what `picture` says, if anything: bytes of its dimensions. For those who
  /// read files. Errors name `where`.
  Expected<void> checkPicture(const std::string &where) const;
};

/// Constants that lie together in the device's memory.
struct Section {
  /// The device address that the commands were compiled for.
  uint64_t address = 0;
  Bytes data;
  /// A part of `data` that holds one weight. Offset and size are in bytes.
  struct Location {
    std::string name;
    uint64_t offset = 0, size = 0;
  };
  std::vector<Location> locations;
};

/// The first command of a run that belongs to one layer; the run ends where the next one begins.
struct LayerRun {
  /// Number of the command in its stream, from 0.
  uint32_t first = 0;
  /// Index into `CompiledModel::layers`.
  uint32_t layer = 0;
  friend bool operator==(const LayerRun &, const LayerRun &) = default;
};

/// The layer that command number `command` (from 0) of `runs` belongs to, or nothing.
std::optional<uint32_t> layerOfCommand(std::span<const LayerRun> runs, uint32_t command);

/// The commands of one engine.
struct Stream {
  /// As the chip's driver names it.
  std::string engine;
  Bytes code;
  uint32_t numCommands = 0;
  /// `first` rises strictly. Empty where nobody knows the layers.
  std::vector<LayerRun> layers;
};

/// Streams that run side by side. All of them end before those of the next group begin.
struct CommandGroup {
  std::vector<Stream> streams;
};

/// A part of a stage that the host or the chip computes.
struct SubNet {
  /// The number by which messages name it.
  int32_t id = 0;
  std::vector<TensorInfo> inputs, outputs;
  /// What the host computes, in order; empty for sub-networks of the chip.
  std::vector<cpu::Program> host;
  std::vector<CommandGroup> groups;

  bool isHost() const { return !host.empty(); }
};

/// A tensor of the network that the device's memory holds at some time of the run.
struct InnerTensor {
  TensorInfo tensor;
  /// It is complete after command number `after` (counted from 1) of a stream: indices into
  /// `Stage::subNets`, `SubNet::groups` and `CommandGroup::streams`.
  uint32_t subNet = 0, group = 0, stream = 0, after = 0;
};

/// A net for one set of input shapes.
struct Stage {
  std::vector<TensorInfo> inputs, outputs;
  /// The device's memory for activations, inputs and outputs among them. The size is in bytes.
  uint64_t activationAddress = 0, activationBytes = 0;
  std::vector<Section> constants;
  std::vector<SubNet> subNets;
  /// The sub-networks in the order in which they run: indices into `subNets`.
  std::vector<uint32_t> order;
  std::vector<InnerTensor> innerTensors;
  /// Why the stage cannot be run: the file asks for something that this model cannot say.
  std::optional<Error> refusal;

  /// Those of `order` that the chip computes.
  std::vector<uint32_t> chipOrder() const;
  /// The `size` bytes of constants at a device address; no value unless one section has them all.
  std::optional<Bytes> constantBytes(uint64_t address, uint64_t size) const;
};

struct Net {
  std::string name;
  std::vector<Stage> stages;
};

struct CompiledModel {
  /// The chip's name in model files, which finds its driver.
  std::string chip;
  std::vector<Net> nets;
  /// The names of the layers that `LayerRun` counts.
  std::vector<std::string> layers;
  /// Keep alive what the views point to.
  std::vector<std::shared_ptr<const void>> owners;

  /// The layer of command number `command` (from 0) of `stream`; empty where nobody knows.
  std::string_view layerName(const Stream &stream, uint32_t command) const;
};

/// `[1, 3, 224, 224]`.
std::string formatShape(std::span<const uint64_t> shape);
/// `[1, 3, 224, 224]`, and what pictures these are.
std::string formatInput(const TensorInfo &input);

} // namespace tpuc::model

#endif // TPUC_MODEL_COMPILEDMODEL_H
