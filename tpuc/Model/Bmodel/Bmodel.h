//===- Bmodel.h - What a .bmodel file says ----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of a .bmodel file as plain structures: what Reader.h gives and Writer.h takes. They
// hold every field of the format, so that a file which is read and written again loses nothing;
// what tpuc does not interpret says so. Large parts are views: into the mapped file after reading,
// into the caller's memory before writing.
//
// Layout of the file: a header of 64 bytes, a FlatBuffer (bmodel.fbs), and the blob, which holds
// the weights, the commands and everything else that is large:
//
//   u32 magic 0xFF55AAEE   u32 header size 64   u32 FlatBuffer bytes   u64 blob bytes
//   u32 reserved[11]
//
// The reserved words are zero in the files of the vendor's compiler, whose reader does not look at
// them. tpuc's own files use them to point to a section of the blob that nothing else names, a
// second FlatBuffer (debuginfo.fbs), which tells what `DebugInfo` holds:
//
//   [0] "TPDI"   [1,2] u64 start in the blob   [3,4] u64 bytes   [5] version 1
//
// Source of the format: the public schema of the vendor's runtime (field ids), and files of the
// vendor's compiler (what it writes into the fields).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_BMODEL_H
#define TPUC_MODEL_BMODEL_BMODEL_H

#include "tpuc/Model/CompiledModel.h"
#include "tpuc/Support/DataType.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tpuc::bmodel {

inline constexpr uint32_t kMagic = 0xFF55AAEE;
inline constexpr uint32_t kHeaderBytes = 64;
/// What the vendor's compiler aligns each part of the blob to; the runtime does not need it.
inline constexpr uint64_t kBlobAlignment = 4096;
/// The coefficient section is checked by this many bytes of SHA-256.
inline constexpr size_t kSha256Bytes = 32;

using model::Bytes;
using model::LayerRun;

/// The element type that a code in `TensorInfo::type` stands for; none for types that tpuc has not.
std::optional<DataType> dataTypeOfCode(uint32_t code);
/// The inverse. Types that the format has not, which layers on the CPU may have, get codes from 256
/// on, which are our own.
uint32_t codeOfDataType(DataType type);
/// `dataTypeName`, or `type 12` for codes without one.
std::string typeCodeName(uint32_t code);

struct Relocation {
  uint32_t base = 0, offset = 0, command = 0;
  friend auto operator<=>(const Relocation &, const Relocation &) = default;
};

/// Values of `TensorInfo::memory`.
inline constexpr uint32_t kTpuMemory = 1, kCpuMemory = 2;

/// Where a tensor is that enters or leaves a net or a sub-net.
struct TensorInfo {
  std::string name;
  /// `dataTypeOfCode`.
  uint32_t type = 0;
  /// How batch items share words in global memory (BM1684); 0: not at all.
  int32_t storeMode = 0;
  /// The device address that the commands were compiled for.
  uint64_t address = 0;
  /// Bytes.
  uint64_t size = 0;
  /// One shape for a static net. Extents that only the data show are 0.
  std::vector<std::vector<uint64_t>> shapes;
  /// Used by: 1 the TPU, 2 the CPU, 3 both (vendor files have 1). An output of 2 has no place in
  /// the device's memory: a layer of the CPU gives it.
  uint32_t memory = kTpuMemory;
  /// real = scale * (stored - zeroPoint).
  float scale = 1;
  /// For CPU layers; not interpreted.
  uint32_t cpuOffset = 0;
  /// Of a BM1684 convolution with 3 input channels; not interpreted.
  uint32_t padH = 0;
  int32_t zeroPoint = 0;
  /// 0 hidden, 1 input, 2 output of a cascade.
  int32_t role = 0;
  /// Position among the inputs or outputs.
  int32_t index = 0;
  std::optional<Relocation> relocation;
  friend bool operator==(const TensorInfo &, const TensorInfo &) = default;
};

/// A stretch of both command streams within which command ids count up from 1. Chips with an END
/// command count it, too.
struct CommandGroup {
  uint32_t numTiu = 0, numDma = 0;
  Bytes tiu, dma;
  /// The format states the lengths a second time; the reader checks that they agree.
  std::vector<Relocation> relocations;
};

/// Commands per core, on chips with several; not interpreted.
struct CoreCommands {
  std::vector<CommandGroup> groups;
  std::vector<Bytes> sdma, hau, cdma;
};

struct DynamicStage {
  uint32_t length = 0;
  int32_t heightHigh = 0, heightLow = 0, widthHigh = 0, widthLow = 0;
};

/// A weight's place within the coefficients.
using WeightLocation = model::Section::Location;

struct Coefficients {
  /// The device address that the commands were compiled for.
  uint64_t address = 0;
  Bytes data;
  /// Of `data`, as the file states it; the writer fills it in where it is missing. Older files may
  /// have none.
  std::optional<std::array<std::byte, kSha256Bytes>> sha256;
  std::vector<WeightLocation> locations;
  /// 0 none, 1 by a library of the customer: refused by the runtime.
  int32_t encryption = 0;
  uint64_t decryptedSize = 0;
};

struct CpuConstant {
  std::string name;
  Bytes data;
  std::vector<std::byte> sha256;
};

/// What `CpuLayer::op` is for a list of our own ops (Model/CpuProgram): its only constant holds
/// them, with their SHA-256. The vendor's runtime cannot run them.
inline constexpr int32_t kCpuProgram = 0x54505543;

/// A layer that the host runs; parameters in a form of the vendor's.
struct CpuLayer {
  int32_t op = 0;
  Bytes parameters;
  std::vector<CpuConstant> constants;
  int32_t custom = 0;
};

struct SwitchInfo {
  std::vector<int32_t> sources, branches;
};

enum class SubNetMode : int32_t { Tpu = 0, Cpu = 1, Merge = 2, Switch = 3 };

/// A part of a net that one engine runs.
struct SubNet {
  /// `SubNetMode`, or a number that tpuc does not know.
  int32_t mode = 0;
  std::vector<CommandGroup> groups;
  std::vector<CpuLayer> cpu;
  std::vector<TensorInfo> inputs, outputs;
  /// Shapes vary: the commands are made on the device from `Stage::dynamicIr`.
  bool isDynamic = false;
  uint32_t irOffset = 0, irLength = 0;
  int32_t nDynamic = 0, hwDynamic = 0;
  int32_t id = 0;
  /// Ids of the sub-nets to run afterwards; -1 or nothing: the end.
  std::vector<int32_t> next;
  std::optional<std::vector<std::vector<int32_t>>> merge;
  std::optional<SwitchInfo> switchInfo;
  std::vector<CoreCommands> cores;
  uint32_t runCore = 1;
};

/// A net for one set of input shapes.
struct Stage {
  std::vector<TensorInfo> inputs, outputs;
  /// The device memory of the activations, inputs and outputs among them.
  uint64_t contextAddress = 0, contextSize = 0;
  std::optional<Coefficients> coefficients;
  bool isDynamic = false;
  int32_t nDynamic = 0, hwDynamic = 0;
  /// Those of all static sub-nets.
  std::vector<CommandGroup> groups;
  /// What the vendor's profiler keeps; not interpreted.
  Bytes profile;
  std::vector<DynamicStage> dynamicStages;
  Bytes dynamicIr;
  std::vector<SubNet> subNets;
  uint32_t cpuBytes = 0;
  std::vector<uint64_t> contextSizes;
  Bytes statistics;
  uint32_t numCores = 1;
  /// Of inputs and outputs, where the address mode keeps them apart.
  uint64_t ioAddress = 0, ioSize = 0;
  Bytes tensorLocations;
  uint64_t dynamicContextAddress = 0, dynamicCoefficientOffset = 0, dynamicCombinedOffset = 0;
};

struct Cascade {
  uint32_t device = 0, step = 0;
  std::string mainName;
};

struct Net {
  std::string name;
  std::vector<Stage> stages;
  std::optional<Cascade> cascade;
  /// 0: activations, inputs and outputs share one memory, to which the loader moves all of them;
  /// the other modes belong to chips and runtimes that tpuc does not simulate.
  int32_t addressMode = 0;
};

/// A program that travels in the file, such as the firmware for dynamic nets.
struct Library {
  std::string fileName;
  Bytes data;
  int32_t mode = 0;
};

/// A command group: indices into the vectors of `Model`.
struct GroupRef {
  uint32_t net = 0, stage = 0, subNet = 0, group = 0;
  friend bool operator==(const GroupRef &, const GroupRef &) = default;
};

/// Which layer the commands of one group belong to; `first` rises strictly.
struct GroupLayers {
  GroupRef group;
  std::vector<LayerRun> tiu, dma;
  friend bool operator==(const GroupLayers &, const GroupLayers &) = default;
};

/// A tensor of the network that global memory holds at some time of the run.
struct NamedTensor {
  /// The group after whose DMA command number `afterDma` (counted from 1) it is complete.
  GroupRef group;
  uint32_t afterDma = 0;
  std::string name;
  uint32_t type = 0;
  std::vector<uint64_t> shape;
  /// Compact, in row-major order.
  uint64_t address = 0;
  float scale = 1;
  int32_t zeroPoint = 0;
  friend bool operator==(const NamedTensor &, const NamedTensor &) = default;
};

/// An input that takes the bytes of pictures: indices into the vectors of `Model`.
struct InputPicture {
  uint32_t net = 0, stage = 0, input = 0;
  model::PictureInfo picture;
  friend bool operator==(const InputPicture &, const InputPicture &) = default;
};

/// What only tpuc's own files tell.
struct DebugInfo {
  std::vector<std::string> layers;
  std::vector<GroupLayers> groups;
  std::vector<NamedTensor> tensors;
  std::vector<InputPicture> pictures;
  friend bool operator==(const DebugInfo &, const DebugInfo &) = default;
  bool empty() const {
    return layers.empty() && groups.empty() && tensors.empty() && pictures.empty();
  }
};

struct Model {
  std::string type = "B";
  std::string version = "2.2";
  /// When the file was made, in words. tpuc writes nothing here, for the same bytes on every run.
  std::string time;
  /// `BM1684X`, `BM1684`, ...
  std::string chip;
  std::vector<Net> nets;
  /// The largest `Stage::contextSize`.
  uint64_t contextSize = 0;
  std::optional<Library> firmware, cpuLibrary;
  uint32_t numDevices = 1;
  /// Non-zero: nets share their coefficients.
  uint32_t combined = 0;
  Bytes backend;
  DebugInfo debug;
  /// Keep alive what the views point to.
  std::vector<std::shared_ptr<const void>> owners;
};

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_BMODEL_H
