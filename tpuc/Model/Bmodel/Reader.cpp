//===- Reader.cpp - Reads .bmodel files -----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Bmodel/Reader.h"
#include "tpuc/Model/Bmodel/Check.h"
#include "tpuc/Model/Bmodel/Header.h"
#include "tpuc/Model/Bmodel/Sha256.h"
#include "tpuc/Support/MappedFile.h"

#include <bmodel_generated.h>
#include <debuginfo_generated.h>
#include <fmt/format.h>
#include <map>
#include <new>

namespace tpuc::bmodel {

namespace {

/// Bytes where a FlatBuffer can be read from: aligned for its widest scalar, copied if need be.
class AlignedBytes {
public:
  explicit AlignedBytes(Bytes bytes) : size(bytes.size()) {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) {
      data = reinterpret_cast<const uint8_t *>(bytes.data());
      return;
    }
    copy.resize((size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    std::memcpy(copy.data(), bytes.data(), size);
    data = reinterpret_cast<const uint8_t *>(copy.data());
  }

  const uint8_t *data = nullptr;
  size_t size;

private:
  std::vector<uint64_t> copy;
};

/// A verifier that does not look at more tables than an honest FlatBuffer of that size can have: a
/// table and the reference to it take eight bytes at least, and the only tables that are named
/// twice, those of the command groups, are larger than that.
flatbuffers::Verifier makeVerifier(const AlignedBytes &bytes) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 32;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size / 8 + 64);
  return flatbuffers::Verifier(bytes.data, bytes.size, options);
}

/// Copies the verified tables into the structures of Bmodel.h. The first thing that is wrong is
/// kept in `error`; what is decoded after it is of no use.
class Decoder {
public:
  Decoder(Bytes blob, size_t tableBytes, std::string where)
      : where(std::move(where)), blob(blob), budget(kSharing * tableBytes + kSharing) {}

  Model model(const fb::Model &table);
  DebugInfo debugInfo(const fb::DebugInfo &table);

  std::optional<Error> error;

private:
  /// Honest files share a few strings and vectors, if any. Copies of them are limited to so many
  /// times the size of the FlatBuffer, and ranges of the blob to so many times that of the blob.
  static constexpr uint64_t kSharing = 8;

  void fail(std::string found, std::string expected = "") {
    if (!error)
      error = Error{where, std::move(found), std::move(expected)};
  }
  bool take(uint64_t bytes);
  std::string text(const flatbuffers::String *string);
  template <typename T> std::vector<T> numbers(const flatbuffers::Vector<T> *vector);
  Bytes range(const fb::Blob *part, bool isCommands = false);
  template <typename T, typename Function>
  auto each(const flatbuffers::Vector<flatbuffers::Offset<T>> *vector, Function function);
  std::vector<Bytes> ranges(const flatbuffers::Vector<const fb::Blob *> *vector);

  TensorInfo tensor(const fb::Tensor &table);
  std::vector<TensorInfo> tensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *list);
  CommandGroup group(const fb::CommandGroup &table);
  std::vector<CommandGroup>
  groups(const flatbuffers::Vector<flatbuffers::Offset<fb::CommandGroup>> *list);
  Coefficients coefficients(const fb::Coefficients &table);
  CpuLayer cpuLayer(const fb::CpuLayer &table);
  SubNet subNet(const fb::SubNet &table);
  Stage stage(const fb::Stage &table);
  Net net(const fb::Net &table);
  std::optional<Library> library(const fb::Library *table);
  std::vector<LayerRun> runs(const flatbuffers::Vector<const fb::LayerRun *> *vector);

  std::string where;
  Bytes blob;
  uint64_t budget;
  uint64_t commandBytes = 0;
  uint64_t distinctBytes = 0;
  std::map<std::pair<uint64_t, uint64_t>, bool> seen;
};

bool Decoder::take(uint64_t bytes) {
  if (bytes > budget) {
    budget = 0;
    fail("the same names and lists are used over and over", "a file that says each thing once");
    return false;
  }
  budget -= bytes;
  return true;
}

std::string Decoder::text(const flatbuffers::String *string) {
  if (!string || !take(string->size()))
    return {};
  return string->str();
}

template <typename T> std::vector<T> Decoder::numbers(const flatbuffers::Vector<T> *vector) {
  if (!vector || !take(uint64_t{vector->size()} * sizeof(T)))
    return {};
  std::vector<T> result;
  result.reserve(vector->size());
  for (const auto value : *vector)
    result.push_back(value);
  return result;
}

Bytes Decoder::range(const fb::Blob *part, bool isCommands) {
  if (!part || part->size() == 0)
    return {};
  const uint64_t start = part->start();
  const uint64_t size = part->size();
  if (start > blob.size() || size > blob.size() - start) {
    fail(fmt::format("a part at {} of {} bytes in a blob of {} bytes", start, size, blob.size()),
         "parts within the blob");
    return {};
  }
  if (seen.emplace(std::pair(start, size), true).second)
    distinctBytes += size;
  if (isCommands)
    commandBytes += size;
  if (distinctBytes / kSharing > blob.size() || commandBytes / kSharing > blob.size())
    fail("the same bytes of the blob are used over and over", "parts that do not overlap");
  return blob.subspan(start, size);
}

template <typename T, typename Function>
auto Decoder::each(const flatbuffers::Vector<flatbuffers::Offset<T>> *vector, Function function) {
  std::vector<decltype((this->*function)(std::declval<const T &>()))> result;
  if (!vector)
    return result;
  result.reserve(vector->size());
  for (const T *entry : *vector) {
    if (error)
      break;
    result.push_back((this->*function)(*entry));
  }
  return result;
}

std::vector<Bytes> Decoder::ranges(const flatbuffers::Vector<const fb::Blob *> *vector) {
  std::vector<Bytes> result;
  if (vector && take(uint64_t{vector->size()} * sizeof(fb::Blob)))
    for (const fb::Blob *part : *vector)
      result.push_back(range(part, true));
  return result;
}

Relocation relocation(const fb::Relocation &entry) {
  return {entry.base(), entry.offset(), entry.command()};
}

TensorInfo Decoder::tensor(const fb::Tensor &table) {
  TensorInfo info;
  info.name = text(table.name());
  info.type = table.type();
  info.storeMode = table.store_mode();
  info.address = table.address();
  info.size = table.size();
  if (table.shapes())
    for (const fb::Shape *shape : *table.shapes())
      info.shapes.push_back(numbers(shape->dims()));
  info.memory = table.memory();
  info.scale = table.scale();
  info.cpuOffset = table.cpu_offset();
  info.padH = table.pad_h();
  info.zeroPoint = table.zero_point();
  info.role = table.role();
  info.index = table.index();
  if (table.relocation())
    info.relocation = relocation(*table.relocation());
  return info;
}

std::vector<TensorInfo>
Decoder::tensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *list) {
  return each(list, &Decoder::tensor);
}

CommandGroup Decoder::group(const fb::CommandGroup &table) {
  CommandGroup result;
  result.numTiu = table.num_tiu();
  result.numDma = table.num_dma();
  result.tiu = range(table.tiu(), true);
  result.dma = range(table.dma(), true);
  const auto agree = [&](const char *stream, uint32_t stated, size_t found) {
    if (stated != 0 && stated != found)
      fail(fmt::format("a {} stream of {} bytes that is said to have {}", stream, found, stated),
           "the same size in both places");
  };
  agree("TIU", table.tiu_bytes(), result.tiu.size());
  agree("DMA", table.dma_bytes(), result.dma.size());
  if (table.relocations() && take(uint64_t{table.relocations()->size()} * sizeof(fb::Relocation)))
    for (const fb::Relocation *entry : *table.relocations())
      result.relocations.push_back(relocation(*entry));
  return result;
}

std::vector<CommandGroup>
Decoder::groups(const flatbuffers::Vector<flatbuffers::Offset<fb::CommandGroup>> *list) {
  return each(list, &Decoder::group);
}

Coefficients Decoder::coefficients(const fb::Coefficients &table) {
  Coefficients result;
  result.address = table.address();
  result.data = range(table.data());
  if (const auto *digest = table.sha256(); digest && digest->size() != 0) {
    if (digest->size() != kSha256Bytes) {
      fail(fmt::format("a checksum of {} bytes", digest->size()), "32 bytes of SHA-256");
      return result;
    }
    result.sha256.emplace();
    std::memcpy(result.sha256->data(), digest->data(), kSha256Bytes);
  }
  if (table.locations())
    for (const fb::WeightLocation *entry : *table.locations())
      result.locations.push_back({text(entry->name()), entry->offset(), entry->size()});
  result.encryption = table.encryption();
  result.decryptedSize = table.decrypted_size();
  return result;
}

CpuLayer Decoder::cpuLayer(const fb::CpuLayer &table) {
  CpuLayer result;
  result.op = table.op();
  result.parameters = range(table.parameters());
  if (table.constants())
    for (const fb::CpuConstant *constant : *table.constants()) {
      CpuConstant entry{text(constant->name()), range(constant->data()), {}};
      for (const uint8_t byte : numbers(constant->sha256()))
        entry.sha256.push_back(std::byte{byte});
      result.constants.push_back(std::move(entry));
    }
  result.custom = table.custom();
  return result;
}

SubNet Decoder::subNet(const fb::SubNet &table) {
  SubNet result;
  result.mode = table.mode();
  result.groups = groups(table.groups());
  result.cpu = each(table.cpu(), &Decoder::cpuLayer);
  result.inputs = tensors(table.inputs());
  result.outputs = tensors(table.outputs());
  result.isDynamic = table.dynamic() != 0;
  result.irOffset = table.ir_offset();
  result.irLength = table.ir_length();
  result.nDynamic = table.n_dynamic();
  result.hwDynamic = table.hw_dynamic();
  result.id = table.id();
  result.next = numbers(table.next());
  if (const fb::Merge *merge = table.merge()) {
    result.merge.emplace();
    if (merge->sources())
      for (const fb::Indices *indices : *merge->sources())
        result.merge->push_back(numbers(indices->values()));
  }
  if (const fb::Switch *branch = table.switch_())
    result.switchInfo = {numbers(branch->sources()), numbers(branch->branches())};
  if (table.cores())
    for (const fb::CoreCommands *core : *table.cores())
      result.cores.push_back({groups(core->groups()), ranges(core->sdma()), ranges(core->hau()),
                              ranges(core->cdma())});
  result.runCore = table.run_core();
  return result;
}

Stage Decoder::stage(const fb::Stage &table) {
  Stage result;
  result.inputs = tensors(table.inputs());
  result.outputs = tensors(table.outputs());
  result.contextAddress = table.context_address();
  result.contextSize = table.context_size();
  if (table.coefficients())
    result.coefficients = coefficients(*table.coefficients());
  result.isDynamic = table.dynamic() != 0;
  result.nDynamic = table.n_dynamic();
  result.hwDynamic = table.hw_dynamic();
  result.groups = groups(table.groups());
  result.profile = range(table.profile());
  if (table.dynamic_stages())
    for (const fb::DynamicStage *entry : *table.dynamic_stages())
      result.dynamicStages.push_back({entry->length(), entry->height_high(), entry->height_low(),
                                      entry->width_high(), entry->width_low()});
  result.dynamicIr = range(table.dynamic_ir());
  result.subNets = each(table.subnets(), &Decoder::subNet);
  result.cpuBytes = table.cpu_bytes();
  result.contextSizes = numbers(table.context_sizes());
  result.statistics = range(table.statistics());
  result.numCores = table.num_cores();
  result.ioAddress = table.io_address();
  result.ioSize = table.io_size();
  result.tensorLocations = range(table.tensor_locations());
  result.dynamicContextAddress = table.dynamic_context_address();
  result.dynamicCoefficientOffset = table.dynamic_coefficient_offset();
  result.dynamicCombinedOffset = table.dynamic_combined_offset();
  return result;
}

Net Decoder::net(const fb::Net &table) {
  Net result;
  result.name = text(table.name());
  if (table.obsolete_static() || table.obsolete_dynamic())
    fail(fmt::format("net '{}' is kept in the form of before 2019", result.name),
         "a net with stages");
  result.stages = each(table.stages(), &Decoder::stage);
  if (const fb::Cascade *cascade = table.cascade())
    result.cascade = {cascade->device(), cascade->step(), text(cascade->main_name())};
  result.addressMode = table.address_mode();
  return result;
}

std::optional<Library> Decoder::library(const fb::Library *table) {
  if (!table)
    return std::nullopt;
  return Library{text(table->file_name()), range(table->data()), table->mode()};
}

Model Decoder::model(const fb::Model &table) {
  Model result;
  result.type = text(table.type());
  result.version = text(table.version());
  result.time = text(table.time());
  result.chip = text(table.chip());
  result.nets = each(table.nets(), &Decoder::net);
  result.contextSize = table.context_size();
  result.firmware = library(table.firmware());
  result.numDevices = table.num_devices();
  result.cpuLibrary = library(table.cpu_library());
  result.combined = table.combined();
  result.backend = range(table.backend());
  return result;
}

std::vector<LayerRun> Decoder::runs(const flatbuffers::Vector<const fb::LayerRun *> *vector) {
  std::vector<LayerRun> result;
  if (vector && take(uint64_t{vector->size()} * sizeof(fb::LayerRun)))
    for (const fb::LayerRun *run : *vector)
      result.push_back({run->first(), run->layer()});
  return result;
}

DebugInfo Decoder::debugInfo(const fb::DebugInfo &table) {
  DebugInfo result;
  if (table.layers())
    for (const flatbuffers::String *name : *table.layers())
      result.layers.push_back(text(name));
  if (table.streams())
    for (const fb::StreamMap *map : *table.streams())
      result.groups.push_back({{map->net(), map->stage(), map->subnet(), map->group()},
                               runs(map->tiu()),
                               runs(map->dma())});
  if (table.tensors())
    for (const fb::NamedTensor *entry : *table.tensors())
      result.tensors.push_back({{entry->net(), entry->stage(), entry->subnet(), entry->group()},
                                entry->after_dma(),
                                text(entry->name()),
                                entry->type(),
                                numbers(entry->dims()),
                                entry->address(),
                                entry->scale(),
                                entry->zero_point()});
  if (table.pictures())
    for (const fb::Picture *entry : *table.pictures()) {
      const auto format = parsePictureFormat(text(entry->format()));
      // A later version may know more of them.
      if (!format)
        continue;
      result.pictures.push_back({entry->net(),
                                 entry->stage(),
                                 entry->input(),
                                 {.format = *format,
                                  .height = entry->height(),
                                  .width = entry->width(),
                                  .alignment = {entry->row_alignment(), entry->plane_alignment()},
                                  .isVideoRange = entry->video_range(),
                                  .keepsAspectRatio = entry->keep_aspect_ratio(),
                                  .isAtTopLeft = entry->top_left(),
                                  .fillsFrame = entry->fill(),
                                  .padValue = entry->pad_value()}});
    }
  return result;
}

Expected<Header> readHeader(Bytes file, const std::string &where) {
  if (file.size() < kHeaderBytes)
    return makeError(where, fmt::format("a file of {} bytes", file.size()),
                     "a .bmodel file, which has 64 at least");
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != kMagic)
    return makeError(where, fmt::format("the file begins with 0x{:08X}", header.magic),
                     "0xFF55AAEE, as a .bmodel file does");
  if (header.headerBytes != kHeaderBytes)
    return makeError(where, fmt::format("a header of {} bytes", header.headerBytes), "64 bytes");
  const uint64_t rest = file.size() - kHeaderBytes;
  const uint64_t stated = kHeaderBytes + uint64_t{header.tableBytes} + header.blobBytes();
  if (header.tableBytes > rest || header.blobBytes() != rest - header.tableBytes)
    return makeError(
        where, fmt::format("a file of {} bytes whose header tells of {}", file.size(), stated),
        file.size() < stated ? "the rest of the file" : "nothing more");
  return header;
}

Expected<DebugInfo> readDebugInfo(const Header &header, Bytes blob, const std::string &where) {
  if (header.debugTag == 0)
    return DebugInfo{};
  // Reserved words that are somebody else's are not ours to judge.
  if (header.debugTag != kDebugTag)
    return DebugInfo{};
  if (header.debugVersion != kDebugVersion)
    return makeError(where, fmt::format("debug information of version {}", header.debugVersion),
                     "version 1");
  if (header.debugStart > blob.size() || header.debugBytes > blob.size() - header.debugStart)
    return makeError(where, "debug information beyond the end of the file", "it within the blob");
  const AlignedBytes bytes(blob.subspan(header.debugStart, header.debugBytes));
  flatbuffers::Verifier verifier = makeVerifier(bytes);
  if (!fb::VerifyDebugInfoBuffer(verifier))
    return makeError(where, "damaged debug information", "a FlatBuffer of it");
  Decoder decoder(blob, bytes.size, where);
  DebugInfo result = decoder.debugInfo(*fb::GetDebugInfo(bytes.data));
  if (decoder.error)
    return tl::unexpected(std::move(*decoder.error));
  return result;
}

Expected<void> checkSums(const Model &model, const std::string &where) {
  std::map<std::pair<const std::byte *, size_t>, std::array<std::byte, kSha256Bytes>> known;
  for (const Net &net : model.nets)
    for (const Stage &stage : net.stages) {
      if (!stage.coefficients || !stage.coefficients->sha256)
        continue;
      const Bytes data = stage.coefficients->data;
      const std::pair key(data.data(), data.size());
      auto found = known.find(key);
      if (found == known.end()) {
        auto digest = sha256(data, where);
        if (!digest)
          return propagate(digest);
        found = known.emplace(key, *digest).first;
      }
      if (!isSha256Of(*stage.coefficients->sha256, found->second, data))
        return makeError(where,
                         fmt::format("the coefficients of net '{}' are damaged: their SHA-256 is "
                                     "not the one that the file states",
                                     net.name));
    }
  return {};
}

Expected<Model> decodeFile(Bytes file, std::shared_ptr<const void> owner, const std::string &where,
                           const ReadOptions &options) {
  const Expected<Header> header = readHeader(file, where);
  if (!header)
    return tl::unexpected(header.error());
  const AlignedBytes tables(file.subspan(kHeaderBytes, header->tableBytes));
  const Bytes blob = file.subspan(kHeaderBytes + size_t{header->tableBytes});
  // The verifier asserts that a FlatBuffer is shorter than 2 GiB.
  if (tables.size >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return makeError(where, fmt::format("a FlatBuffer of {} bytes", tables.size),
                     "less than 2 GiB");
  flatbuffers::Verifier verifier = makeVerifier(tables);
  if (!fb::VerifyModelBuffer(verifier))
    return makeError(where, "the tables of the file are damaged",
                     "a FlatBuffer that describes the model");

  Decoder decoder(blob, tables.size, where);
  Model model = decoder.model(*fb::GetModel(tables.data));
  if (decoder.error)
    return tl::unexpected(std::move(*decoder.error));
  Expected<DebugInfo> debug = readDebugInfo(*header, blob, where);
  if (!debug)
    return propagate(debug);
  model.debug = std::move(*debug);
  model.owners.push_back(std::move(owner));
  if (auto ok = checkModel(model, where); !ok)
    return propagate(ok);
  if (options.verifySha256)
    if (auto ok = checkSums(model, where); !ok)
      return propagate(ok);
  return model;
}

} // namespace

bool hasMagic(Bytes beginning) {
  uint32_t magic = 0;
  if (beginning.size() < sizeof(magic))
    return false;
  std::memcpy(&magic, beginning.data(), sizeof(magic));
  return magic == kMagic;
}

Expected<Model> readModel(Bytes file, std::shared_ptr<const void> owner, const std::string &where,
                          const ReadOptions &options) {
  try {
    return decodeFile(file, std::move(owner), where, options);
  } catch (const std::bad_alloc &) {
    return makeError(where, "not enough memory to read the file");
  }
}

Expected<Model> readModel(const std::string &path, const ReadOptions &options) {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  const Bytes bytes = (*file)->bytes();
  return readModel(bytes, std::move(*file), path, options);
}

} // namespace tpuc::bmodel
