//===- Writer.cpp - Makes .cvimodel files ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Cvimodel/Cvimodel.h"
#include "tpuc/Model/Cvimodel/Format.h"
#include "tpuc/Support/Sizes.h"

#include <algorithm>
#include <cstring>
#include <cvimodel_generated.h>
#include <fmt/format.h>

namespace tpuc::cvimodel {

namespace {

using flatbuffers::Offset;
template <typename T> using Offsets = std::vector<Offset<T>>;

constexpr uint64_t kMost = 0xFFFFFFFF;
constexpr size_t kChipBytes = 16;
/// The vendor's tools pad the tables to it.
constexpr size_t kTableAlignment = 8;

class TableWriter {
public:
  std::vector<std::byte> write(const File &file);

private:
  Offset<fb::Tensor> add(const Tensor &tensor);
  Offset<fb::Routine> add(const Routine &routine);
  Offset<fb::Program> add(const Program &program);

  flatbuffers::FlatBufferBuilder builder;
};

Offset<fb::Tensor> TableWriter::add(const Tensor &tensor) {
  const auto name = builder.CreateString(tensor.name);
  // The vendor's runtime reads four extents.
  constexpr size_t kDims = 4;
  std::vector<int64_t> dims = tensor.shape;
  dims.resize(kDims, 1);
  Offset<flatbuffers::Vector<int64_t>> last;
  if (tensor.shape.size() > kDims) {
    const std::vector<int64_t> inner(tensor.shape.begin() + kDims - 1, tensor.shape.end());
    dims.back() = elementsOf(inner);
    last = builder.CreateVector(inner);
  }
  const auto rank = static_cast<uint8_t>(tensor.shape.size() >= kDims ? 0 : tensor.shape.size());
  const auto shape = fb::CreateExtents(builder, builder.CreateVector(dims), rank, last);
  const auto quantization = fb::CreateQuantization(builder, 0, 0, 0, 0, tensor.scale);
  uint64_t bytes = tensor.type ? bitWidth(*tensor.type) / 8 : 0;
  for (const int64_t extent : tensor.shape)
    bytes *= static_cast<uint64_t>(extent);
  Offset<flatbuffers::String> format;
  Offset<flatbuffers::Vector<float>> scales, means;
  Offset<fb::Picture> picture;
  if (tensor.picture) {
    const model::PictureInfo &info = *tensor.picture;
    const PictureBytes places(info.format, info.height, info.width, info.alignment);
    bytes = static_cast<uint64_t>(tensor.shape[0] * places.size());
    format = builder.CreateString(pictureFormatName(info.format));
    // The caller has nothing to normalize.
    const auto channels = static_cast<size_t>(numChannels(info.format));
    scales = builder.CreateVector(std::vector<float>(channels, 1));
    means = builder.CreateVector(std::vector<float>(channels, 0));
    picture = fb::CreatePicture(builder, info.isVideoRange, info.keepsAspectRatio, info.isAtTopLeft,
                                info.fillsFrame, info.padValue);
  }
  fb::TensorBuilder made(builder);
  made.add_offset(static_cast<int64_t>(tensor.address));
  made.add_bytes(static_cast<uint32_t>(bytes));
  made.add_quantization(quantization);
  made.add_shape(shape);
  made.add_name(name);
  made.add_type(tensor.typeNumber);
  if (tensor.picture) {
    made.add_pixel_format(format);
    made.add_scales(scales);
    made.add_means(means);
    made.add_aligned(tensor.picture->alignment.isPresent());
    made.add_picture(picture);
  }
  return made.Finish();
}

Offset<fb::Routine> TableWriter::add(const Routine &routine) {
  const auto inputs = builder.CreateVectorOfStrings(routine.inputs);
  const auto outputs = builder.CreateVectorOfStrings(routine.outputs);
  const auto name = builder.CreateString(routine.name);
  if (routine.isHost) {
    const auto arguments = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(routine.arguments.data()), routine.arguments.size());
    return fb::CreateRoutine(builder, 1, inputs, outputs, 0,
                             fb::CreateHostPart(builder, name, arguments));
  }
  return fb::CreateRoutine(builder, 0, inputs, outputs, fb::CreateChipPart(builder, name));
}

Offset<fb::Program> TableWriter::add(const Program &program) {
  Offsets<fb::Tensor> tensors;
  for (const Tensor &tensor : program.tensors)
    tensors.push_back(add(tensor));
  Offsets<fb::Routine> routines;
  for (const Routine &routine : program.routines)
    routines.push_back(add(routine));
  const auto inputs = builder.CreateVectorOfStrings(program.inputs);
  const auto outputs = builder.CreateVectorOfStrings(program.outputs);
  const auto tensorList = builder.CreateVector(tensors);
  const auto routineList = builder.CreateVector(routines);
  return fb::CreateProgram(builder, program.batch, 0, inputs, outputs, tensorList, routineList,
                           static_cast<uint32_t>(program.sharedBytes),
                           static_cast<uint32_t>(program.privateBytes));
}

std::vector<std::byte> TableWriter::write(const File &file) {
  Offsets<fb::Weight> weights;
  for (const Weight &weight : file.weights)
    weights.push_back(fb::CreateWeight(builder, builder.CreateString(weight.name),
                                       static_cast<int64_t>(weight.address),
                                       static_cast<uint32_t>(weight.bytes)));
  Offsets<fb::Program> programs;
  for (const Program &program : file.programs)
    programs.push_back(add(program));
  Offsets<fb::Section> sections;
  uint64_t at = 0;
  for (const Section &section : file.sections) {
    sections.push_back(fb::CreateSection(
        builder, static_cast<uint8_t>(section.kind), builder.CreateString(section.name),
        static_cast<uint32_t>(section.data.size()), static_cast<uint32_t>(at)));
    at += section.data.size();
  }
  const fb::Version version(file.majorVersion, file.minorVersion, 0);
  const auto name = builder.CreateString(file.name);
  const auto built = builder.CreateString(file.built);
  const auto target = builder.CreateString(file.chip);
  const auto compiler = builder.CreateString(file.compiler);
  const auto weightList = builder.CreateVector(weights);
  const auto programList = builder.CreateVector(programs);
  const auto sectionList = builder.CreateVector(sections);
  builder.Finish(fb::CreateModel(builder, &version, name, built, 0, 0, weightList, programList,
                                 sectionList, target, compiler));
  const auto *begin = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  std::vector<std::byte> bytes(begin, begin + builder.GetSize());
  bytes.resize((bytes.size() + kTableAlignment - 1) / kTableAlignment * kTableAlignment);
  return bytes;
}

Expected<void> checkSizes(const File &file, const std::string &path) {
  uint64_t bytes = 0;
  for (const Section &section : file.sections)
    bytes += section.data.size();
  // Tables take a few hundred bytes for each tensor.
  constexpr uint64_t kForTables = 1 << 28;
  for (const Program &program : file.programs)
    if (program.sharedBytes > kMost || program.privateBytes > kMost)
      return makeError(path, fmt::format("{} bytes of activations", program.sharedBytes),
                       fmt::format("at most {}", kMost));
  if (bytes > kMost - kForTables)
    return makeError(path, fmt::format("{} bytes of commands and constants", bytes),
                     fmt::format("at most {}", kMost - kForTables));
  if (file.chip.size() > kChipBytes)
    return makeError(path, fmt::format("chip '{}'", file.chip),
                     fmt::format("a name of {} bytes", kChipBytes));
  return {};
}

} // namespace

Expected<std::vector<std::byte>> encodeFile(const File &file, const std::string &path) {
  if (Expected<void> checked = checkSizes(file, path); !checked)
    return propagate(checked);
  const std::vector<std::byte> tables = TableWriter().write(file);
  std::vector<std::byte> bytes(kHeaderBytes);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  const auto tableBytes = static_cast<uint32_t>(tables.size());
  std::memcpy(&bytes[8], &tableBytes, 4);
  bytes[12] = std::byte{file.majorVersion};
  bytes[13] = std::byte{file.minorVersion};
  std::memcpy(&bytes[30], file.chip.data(), file.chip.size());
  bytes.insert(bytes.end(), tables.begin(), tables.end());
  for (const Section &section : file.sections)
    bytes.insert(bytes.end(), section.data.begin(), section.data.end());
  const auto hash = md5(Bytes(bytes).subspan(kHeaderBytes), path);
  if (!hash)
    return tl::unexpected(hash.error());
  std::ranges::copy(*hash, bytes.begin() + 14);
  return bytes;
}

} // namespace tpuc::cvimodel
