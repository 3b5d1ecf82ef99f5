//===- Writer.cpp - Writes .bmodel files ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Writer.h"
#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/Header.h"
#include "tpuc/Model/Bmodel/Sha256.h"

#include <bmodel_generated.h>
#include <debuginfo_generated.h>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <new>
#include <tuple>

namespace tpuc::bmodel {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <typename T> using TableVector = Offset<flatbuffers::Vector<Offset<T>>>;

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// `function` of each item.
template <typename T, typename Function>
auto mapped(const std::vector<T> &items, Function function) {
  std::vector<decltype(function(items.front()))> results;
  results.reserve(items.size());
  for (const T &item : items)
    results.push_back(function(item));
  return results;
}

/// Decides where each part of the blob goes.
class BlobLayout {
public:
  /// The place of `bytes`; the same memory has the same place.
  fb::Blob place(Bytes bytes);
  /// The same for coefficients, of which equal contents have the same place.
  fb::Blob placeCoefficients(Bytes bytes, const std::array<std::byte, kSha256Bytes> &digest);

  struct Part {
    uint64_t start;
    Bytes bytes;
  };
  std::vector<Part> parts;
  uint64_t end = 0;

private:
  std::map<std::pair<const std::byte *, size_t>, uint64_t> places;
  std::map<std::array<std::byte, kSha256Bytes>, Bytes> coefficients;
};

fb::Blob BlobLayout::place(Bytes bytes) {
  if (bytes.empty())
    return {0, 0};
  const auto [found, isNew] = places.try_emplace({bytes.data(), bytes.size()}, end);
  if (isNew) {
    parts.push_back({end, bytes});
    end = alignUp(end + bytes.size(), kBlobAlignment);
  }
  return {found->second, bytes.size()};
}

fb::Blob BlobLayout::placeCoefficients(Bytes bytes,
                                       const std::array<std::byte, kSha256Bytes> &digest) {
  return place(coefficients.try_emplace(digest, bytes).first->second);
}

/// Puts the structures of Bmodel.h into a FlatBuffer.
class Encoder {
public:
  Encoder(BlobLayout &layout, std::string where) : layout(layout), where(std::move(where)) {}
  Expected<void> encode(const Model &model);
  FlatBufferBuilder builder;

private:
  template <typename T, typename Function> auto each(const std::vector<T> &items, Function encode);
  Offset<fb::Tensor> tensor(const TensorInfo &info);
  Offset<fb::CommandGroup> group(const CommandGroup &group);
  Offset<fb::Coefficients> coefficients(const Coefficients &coefficients);
  Offset<fb::CpuLayer> cpuLayer(const CpuLayer &layer);
  Offset<fb::SubNet> subNet(const SubNet &subNet);
  Offset<fb::Stage> stage(const Stage &stage);
  Offset<fb::Net> net(const Net &net);
  Offset<fb::Library> library(const Library &library);
  Offset<fb::CoreCommands> core(const CoreCommands &core);
  Offset<flatbuffers::Vector<const fb::Blob *>> blobs(const std::vector<Bytes> &parts);
  Offset<fb::Merge> merge(const std::vector<std::vector<int32_t>> &sources);

  using GroupKey = std::tuple<const std::byte *, size_t, const std::byte *, size_t, uint32_t,
                              uint32_t, std::vector<Relocation>>;
  BlobLayout &layout;
  std::string where;
  std::optional<Error> error;
  std::map<GroupKey, Offset<fb::CommandGroup>> groups;
};

template <typename T, typename Function>
auto Encoder::each(const std::vector<T> &items, Function encode) {
  return builder.CreateVector(mapped(items, [&](const T &item) { return (this->*encode)(item); }));
}

fb::Relocation encodeRelocation(const Relocation &entry) {
  return {entry.base, entry.offset, entry.command};
}

Offset<fb::Tensor> Encoder::tensor(const TensorInfo &info) {
  const auto shapes = mapped(info.shapes, [&](const std::vector<uint64_t> &shape) {
    return fb::CreateShapeDirect(builder, &shape);
  });
  const auto name = builder.CreateString(info.name);
  const auto shapeVector = builder.CreateVector(shapes);
  fb::Relocation relocation;
  if (info.relocation)
    relocation = encodeRelocation(*info.relocation);
  return fb::CreateTensor(builder, name, info.type, info.storeMode, info.address, info.size,
                          shapeVector, info.memory, info.scale, info.cpuOffset, info.padH,
                          info.zeroPoint, info.role, info.index,
                          info.relocation ? &relocation : nullptr);
}

Offset<fb::CommandGroup> Encoder::group(const CommandGroup &group) {
  // A stage and its sub-nets name the same groups: one table, as in the vendor's files.
  const GroupKey key{group.tiu.data(), group.tiu.size(), group.dma.data(), group.dma.size(),
                     group.numTiu,     group.numDma,     group.relocations};
  if (const auto found = groups.find(key); found != groups.end())
    return found->second;
  const fb::Blob tiu = layout.place(group.tiu);
  const fb::Blob dma = layout.place(group.dma);
  const auto relocations = mapped(group.relocations, encodeRelocation);
  const auto table = fb::CreateCommandGroupDirect(
      builder, group.numTiu, group.numDma, &tiu, &dma, static_cast<uint32_t>(group.tiu.size()),
      static_cast<uint32_t>(group.dma.size()), relocations.empty() ? nullptr : &relocations);
  groups.emplace(key, table);
  return table;
}

Offset<fb::Coefficients> Encoder::coefficients(const Coefficients &coefficients) {
  const auto digest = sha256(coefficients.data, where);
  if (!digest) {
    error = digest.error();
    return {};
  }
  if (coefficients.sha256 && !isSha256Of(*coefficients.sha256, *digest, coefficients.data))
    error = Error{where, "coefficients that do not have the SHA-256 that is stated of them", ""};
  const fb::Blob data = layout.placeCoefficients(coefficients.data, *digest);
  const auto locations = mapped(coefficients.locations, [&](const WeightLocation &location) {
    return fb::CreateWeightLocation(builder, builder.CreateString(location.name), location.offset,
                                    location.size);
  });
  const auto digestVector =
      builder.CreateVector(reinterpret_cast<const uint8_t *>(digest->data()), digest->size());
  const auto locationVector = builder.CreateVector(locations);
  return fb::CreateCoefficients(builder, coefficients.address, digestVector, &data, locationVector,
                                coefficients.encryption, coefficients.decryptedSize);
}

Offset<fb::CpuLayer> Encoder::cpuLayer(const CpuLayer &layer) {
  const auto constants = mapped(layer.constants, [&](const CpuConstant &constant) {
    const fb::Blob data = layout.place(constant.data);
    const auto name = builder.CreateString(constant.name);
    const auto digest = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(constant.sha256.data()), constant.sha256.size());
    return fb::CreateCpuConstant(builder, name, &data, digest);
  });
  const fb::Blob parameters = layout.place(layer.parameters);
  return fb::CreateCpuLayerDirect(builder, layer.op, &parameters, &constants, layer.custom);
}

Offset<flatbuffers::Vector<const fb::Blob *>> Encoder::blobs(const std::vector<Bytes> &parts) {
  return builder.CreateVectorOfStructs(
      mapped(parts, [&](Bytes part) { return layout.place(part); }));
}

Offset<fb::CoreCommands> Encoder::core(const CoreCommands &core) {
  const auto groupVector = each(core.groups, &Encoder::group);
  const auto sdma = blobs(core.sdma);
  const auto hau = blobs(core.hau);
  const auto cdma = blobs(core.cdma);
  return fb::CreateCoreCommands(builder, groupVector, sdma, hau, cdma);
}

Offset<fb::Merge> Encoder::merge(const std::vector<std::vector<int32_t>> &sources) {
  const auto indices = mapped(sources, [&](const std::vector<int32_t> &values) {
    return fb::CreateIndicesDirect(builder, &values);
  });
  return fb::CreateMergeDirect(builder, &indices);
}

Offset<fb::SubNet> Encoder::subNet(const SubNet &subNet) {
  const auto groupVector = each(subNet.groups, &Encoder::group);
  const auto cpu = each(subNet.cpu, &Encoder::cpuLayer);
  const auto inputs = each(subNet.inputs, &Encoder::tensor);
  const auto outputs = each(subNet.outputs, &Encoder::tensor);
  const auto next = builder.CreateVector(subNet.next);
  const auto mergeTable = subNet.merge ? merge(*subNet.merge) : Offset<fb::Merge>();
  const auto switchTable = subNet.switchInfo
                               ? fb::CreateSwitchDirect(builder, &subNet.switchInfo->sources,
                                                        &subNet.switchInfo->branches)
                               : Offset<fb::Switch>();
  const auto cores =
      subNet.cores.empty() ? TableVector<fb::CoreCommands>() : each(subNet.cores, &Encoder::core);
  return fb::CreateSubNet(builder, subNet.mode, groupVector, cpu, inputs, outputs,
                          subNet.isDynamic ? 1 : 0, subNet.irOffset, subNet.irLength,
                          subNet.nDynamic, subNet.hwDynamic, subNet.id, next, mergeTable,
                          switchTable, cores, subNet.runCore);
}

Offset<fb::Stage> Encoder::stage(const Stage &stage) {
  const auto inputs = each(stage.inputs, &Encoder::tensor);
  const auto outputs = each(stage.outputs, &Encoder::tensor);
  const auto coefficientTable =
      stage.coefficients ? coefficients(*stage.coefficients) : Offset<fb::Coefficients>();
  const auto groupVector = each(stage.groups, &Encoder::group);
  const fb::Blob profile = layout.place(stage.profile);
  const auto dynamicStages = mapped(stage.dynamicStages, [&](const DynamicStage &entry) {
    return fb::CreateDynamicStage(builder, entry.length, entry.heightHigh, entry.heightLow,
                                  entry.widthHigh, entry.widthLow);
  });
  const auto dynamicVector = builder.CreateVector(dynamicStages);
  const fb::Blob dynamicIr = layout.place(stage.dynamicIr);
  const auto subNets = each(stage.subNets, &Encoder::subNet);
  const auto sizes = stage.contextSizes.empty() ? 0 : builder.CreateVector(stage.contextSizes);
  const fb::Blob statistics = layout.place(stage.statistics);
  const fb::Blob locations = layout.place(stage.tensorLocations);
  const auto unlessEmpty = [](const fb::Blob &blob) { return blob.size() ? &blob : nullptr; };
  return fb::CreateStage(builder, inputs, outputs, stage.contextAddress, stage.contextSize,
                         coefficientTable, stage.isDynamic ? 1 : 0, stage.nDynamic, stage.hwDynamic,
                         groupVector, unlessEmpty(profile), dynamicVector, unlessEmpty(dynamicIr),
                         subNets, stage.cpuBytes, sizes, unlessEmpty(statistics), stage.numCores,
                         stage.ioAddress, stage.ioSize, unlessEmpty(locations),
                         stage.dynamicContextAddress, stage.dynamicCoefficientOffset,
                         stage.dynamicCombinedOffset);
}

Offset<fb::Net> Encoder::net(const Net &net) {
  const auto name = builder.CreateString(net.name);
  const auto stages = each(net.stages, &Encoder::stage);
  const auto cascade = net.cascade
                           ? fb::CreateCascade(builder, net.cascade->device, net.cascade->step,
                                               builder.CreateString(net.cascade->mainName))
                           : Offset<fb::Cascade>();
  return fb::CreateNet(builder, name, 0, 0, stages, cascade, net.addressMode);
}

Offset<fb::Library> Encoder::library(const Library &library) {
  const fb::Blob data = layout.place(library.data);
  return fb::CreateLibrary(builder, builder.CreateString(library.fileName), &data, library.mode);
}

Expected<void> Encoder::encode(const Model &model) {
  const auto type = builder.CreateString(model.type);
  const auto version = builder.CreateString(model.version);
  const auto time = builder.CreateString(model.time);
  const auto chip = builder.CreateString(model.chip);
  const auto firmware = model.firmware ? library(*model.firmware) : Offset<fb::Library>();
  const auto nets = each(model.nets, &Encoder::net);
  const auto cpuLibrary = model.cpuLibrary ? library(*model.cpuLibrary) : Offset<fb::Library>();
  const fb::Blob backend = layout.place(model.backend);
  builder.Finish(fb::CreateModel(builder, type, version, time, chip, nets, model.contextSize,
                                 firmware, model.numDevices, cpuLibrary, model.combined,
                                 backend.size() ? &backend : nullptr));
  if (error)
    return tl::unexpected(*error);
  return {};
}

void encodeDebugInfo(const DebugInfo &debug, FlatBufferBuilder &builder) {
  const auto encodeRuns = [](const std::vector<LayerRun> &runs) {
    return mapped(runs, [](const LayerRun &run) { return fb::LayerRun(run.first, run.layer); });
  };
  const auto maps = mapped(debug.groups, [&](const GroupLayers &map) {
    const auto tiu = encodeRuns(map.tiu);
    const auto dma = encodeRuns(map.dma);
    return fb::CreateStreamMapDirect(builder, map.group.net, map.group.stage, map.group.subNet,
                                     map.group.group, &tiu, &dma);
  });
  const auto tensors = mapped(debug.tensors, [&](const NamedTensor &tensor) {
    const auto name = builder.CreateString(tensor.name);
    const auto shape = builder.CreateVector(tensor.shape);
    return fb::CreateNamedTensor(builder, tensor.group.net, tensor.group.stage, tensor.group.subNet,
                                 tensor.group.group, name, tensor.type, shape, tensor.address,
                                 tensor.afterDma, tensor.scale, tensor.zeroPoint);
  });
  const auto pictures = mapped(debug.pictures, [&](const InputPicture &input) {
    const model::PictureInfo &picture = input.picture;
    const auto format = builder.CreateString(pictureFormatName(picture.format));
    return fb::CreatePicture(builder, input.net, input.stage, input.input, format, picture.height,
                             picture.width, picture.alignment.row, picture.alignment.plane,
                             picture.isVideoRange, picture.keepsAspectRatio, picture.isAtTopLeft,
                             picture.fillsFrame, picture.padValue);
  });
  const auto layers = builder.CreateVectorOfStrings(debug.layers);
  const auto mapVector = builder.CreateVector(maps);
  const auto tensorVector = builder.CreateVector(tensors);
  // Files without pictures are as they were before there was this list.
  const auto pictureVector =
      pictures.empty() ? TableVector<fb::Picture>() : builder.CreateVector(pictures);
  fb::FinishDebugInfoBuffer(
      builder, fb::CreateDebugInfo(builder, layers, mapVector, tensorVector, pictureVector));
}

Bytes bytesOf(const FlatBufferBuilder &builder) {
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

/// Gives the file to `write`, piece by piece.
Expected<void> produce(const Model &model, const std::string &where,
                       const std::function<Expected<void>(Bytes)> &write) {
  if (auto ok = checkModel(model, where); !ok)
    return ok;
  BlobLayout layout;
  Encoder encoder(layout, where);
  if (auto ok = encoder.encode(model); !ok)
    return ok;
  Header header;
  FlatBufferBuilder debug;
  if (!model.debug.empty()) {
    encodeDebugInfo(model.debug, debug);
    const fb::Blob place = layout.place(bytesOf(debug));
    header.debugTag = kDebugTag;
    header.debugVersion = kDebugVersion;
    header.debugStart = place.start();
    header.debugBytes = place.size();
  }

  const Bytes tables = bytesOf(encoder.builder);
  const uint64_t tableBytes = alignUp(tables.size(), kHeaderBytes);
  header.tableBytes = static_cast<uint32_t>(tableBytes);
  header.setBlobBytes(layout.end);
  if (auto ok = write(std::as_bytes(std::span(&header, 1))); !ok)
    return ok;

  const std::vector<std::byte> zeros(kBlobAlignment);
  const auto padded = [&](Bytes bytes, uint64_t room) -> Expected<void> {
    if (auto ok = write(bytes); !ok)
      return ok;
    return write(Bytes(zeros).first(room - bytes.size()));
  };
  if (auto ok = padded(tables, tableBytes); !ok)
    return ok;
  for (const BlobLayout::Part &part : layout.parts)
    if (auto ok = padded(part.bytes, alignUp(part.bytes.size(), kBlobAlignment)); !ok)
      return ok;
  return {};
}

} // namespace

Expected<OutputFile> createModel(const Model &model, const std::string &path) {
  auto file = OutputFile::create(path);
  if (!file)
    return file;
  try {
    if (auto ok = produce(model, path, [&](Bytes bytes) { return file->write(bytes); }); !ok)
      return propagate(ok);
  } catch (const std::bad_alloc &) {
    return makeError(path, "not enough memory to write the file");
  }
  return file;
}

Expected<void> writeModel(const Model &model, const std::string &path) {
  auto file = createModel(model, path);
  return file ? file->commit() : propagate(file);
}

Expected<std::vector<std::byte>> encodeModel(const Model &model, const std::string &where) {
  std::vector<std::byte> result;
  auto ok = produce(model, where, [&](Bytes bytes) -> Expected<void> {
    result.insert(result.end(), bytes.begin(), bytes.end());
    return {};
  });
  if (!ok)
    return propagate(ok);
  return result;
}

} // namespace tpuc::bmodel
