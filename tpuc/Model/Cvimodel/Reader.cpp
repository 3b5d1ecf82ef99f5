//===- Reader.cpp - Reads .cvimodel files ---------------------------------===//
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
#include <array>
#include <cmath>
#include <cstring>
#include <cvimodel_generated.h>
#include <fmt/format.h>

namespace tpuc::cvimodel {

namespace {

constexpr size_t kMostDims = 16;

std::string textOf(const flatbuffers::String *text) { return text ? text->str() : std::string(); }

template <typename T> size_t sizeOf(const flatbuffers::Vector<T> *list) {
  return list ? list->size() : 0;
}

std::vector<std::string>
textsOf(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *list) {
  std::vector<std::string> made;
  for (size_t i = 0; i < sizeOf(list); ++i)
    made.push_back(textOf(list->Get(static_cast<unsigned>(i))));
  return made;
}

class FileReader {
public:
  FileReader(Bytes bytes, const std::string &path) : bytes(bytes), path(path) {}
  Expected<File> read();

private:
  Expected<void> readSections(const fb::Model &model, Bytes contents);
  std::optional<model::PictureInfo> readPicture(const fb::Tensor &from, const Tensor &made) const;
  Expected<Tensor> readTensor(const fb::Tensor &from) const;
  Expected<Routine> readRoutine(const fb::Routine &from) const;
  Expected<Program> readProgram(const fb::Program &from) const;

  Bytes bytes;
  const std::string &path;
  File file;
};

Expected<void> FileReader::readSections(const fb::Model &model, Bytes contents) {
  for (size_t i = 0; i < sizeOf(model.sections()); ++i) {
    const fb::Section &from = *model.sections()->Get(static_cast<unsigned>(i));
    const std::string name = textOf(from.name());
    if (from.encrypted() || from.compressed())
      return makeError(path,
                       fmt::format("section '{}', which is {}", name,
                                   from.encrypted() ? "encrypted" : "compressed"),
                       "a plain one");
    if (from.kind() > static_cast<uint8_t>(SectionKind::LinkedCommands))
      return makeError(path, fmt::format("section '{}' of the kind {}", name, from.kind()),
                       "at most 4");
    if (from.offset() > contents.size() || from.bytes() > contents.size() - from.offset())
      return makeError(
          path,
          fmt::format("section '{}' at byte {} of {} bytes", name, from.offset(), from.bytes()),
          fmt::format("an end within {} bytes", contents.size()));
    file.sections.push_back({static_cast<SectionKind>(from.kind()), name,
                             contents.subspan(from.offset(), from.bytes())});
  }
  return {};
}

/// The pictures that an input of bytes takes. Files of the vendor also name a format where the
/// caller prepares pictures; means and scales tell which these are.
std::optional<model::PictureInfo> FileReader::readPicture(const fb::Tensor &from,
                                                          const Tensor &made) const {
  const auto format = parsePictureFormat(textOf(from.pixel_format()));
  const auto isAll = [](const flatbuffers::Vector<float> *numbers, float wanted) {
    return !numbers || std::all_of(numbers->begin(), numbers->end(),
                                   [&](float number) { return number == wanted; });
  };
  if (!format || made.type != DataType::U8 || made.shape.size() != 4 || !isAll(from.means(), 0) ||
      !isAll(from.scales(), 1))
    return std::nullopt;
  constexpr int64_t kMost = 1 << 24;
  if (std::ranges::any_of(made.shape, [](int64_t dim) { return dim < 1 || dim > kMost; }))
    return std::nullopt;
  model::PictureInfo picture;
  picture.format = *format;
  if (from.aligned())
    picture.alignment = frameAlignment(file.chip);
  const std::vector<int64_t> &dims = made.shape;
  const int64_t channels = numChannels(*format);
  // The vendor's compiler has [N, H, W, C] for frames of packed pixels, too.
  const bool isByPixel = isPacked(*format) && !(from.aligned() && dims[1] == channels);
  picture.height = isByPixel ? dims[1] : dims[2];
  picture.width = isByPixel ? dims[2] : dims[3];
  if (isYuv(*format) && !from.aligned())
    picture.height = dims[2] / 3 * 2;
  const std::vector<int64_t> expected =
      isByPixel ? std::vector<int64_t>{dims[0], picture.height, picture.width, channels}
                : pictureShape(picture, dims[0]);
  if (expected != dims || !pictureDims(*format, {dims[0], picture.height, picture.width}))
    return std::nullopt;
  if (const fb::Picture *own = from.picture()) {
    picture.isVideoRange = own->video_range();
    picture.keepsAspectRatio = own->keep_aspect_ratio();
    picture.isAtTopLeft = own->top_left();
    picture.fillsFrame = own->fill();
    picture.padValue = own->pad_value();
  }
  return picture;
}

Expected<Tensor> FileReader::readTensor(const fb::Tensor &from) const {
  Tensor made;
  made.name = textOf(from.name());
  made.address = static_cast<uint64_t>(from.offset());
  made.typeNumber = from.type();
  if (from.type() < kTypes.size())
    made.type = kTypes[from.type()];
  const auto *dims = from.shape() ? from.shape()->dims() : nullptr;
  if (sizeOf(dims) > kMostDims)
    return makeError(path, fmt::format("'{}' with {} dimensions", made.name, sizeOf(dims)),
                     fmt::format("at most {}", kMostDims));
  made.shape.resize(sizeOf(dims));
  if (!made.shape.empty())
    std::memcpy(made.shape.data(), dims->Data(), made.shape.size() * sizeof(int64_t));
  if (dims && from.shape()->rank() != 0)
    made.shape.resize(std::min<size_t>(made.shape.size(), from.shape()->rank()));
  if (const auto *last = from.shape() ? from.shape()->last() : nullptr; sizeOf(last) != 0) {
    if (made.shape.empty() || made.shape.size() + sizeOf(last) > kMostDims)
      return makeError(path,
                       fmt::format("'{}' whose last of {} dimensions is {}", made.name,
                                   made.shape.size(), sizeOf(last)),
                       fmt::format("at most {}", kMostDims));
    const int64_t whole = made.shape.back();
    made.shape.pop_back();
    made.shape.insert(made.shape.end(), last->begin(), last->end());
    int64_t product = 1;
    for (const int64_t extent : *last)
      product = product < 0 || extent < 0 || (extent != 0 && product > whole / extent)
                    ? -1
                    : product * extent;
    if (product != whole)
      return makeError(path,
                       fmt::format("'{}' with a dimension of {} made of others", made.name, whole),
                       "their product");
  }
  if (std::ranges::any_of(made.shape, [](int64_t extent) { return extent < 0; }))
    return makeError(path, fmt::format("'{}' with a negative extent", made.name), "0 and more");
  if (elementsOf(made.shape).isSaturated())
    return makeError(path, fmt::format("'{}' of more elements than 64 bits count", made.name),
                     "fewer");
  if (from.quantization() && from.quantization()->scale() != 0)
    made.scale = from.quantization()->scale();
  if (!std::isfinite(made.scale))
    return makeError(path, fmt::format("'{}' with the scale {}", made.name, made.scale),
                     "a finite number");
  made.picture = readPicture(from, made);
  if (made.address >> kRegionShift >= kNumRegions)
    return makeError(path, fmt::format("'{}' at {:#x}", made.name, made.address),
                     "one of 8 regions");
  return made;
}

Expected<Routine> FileReader::readRoutine(const fb::Routine &from) const {
  Routine made;
  made.isHost = from.kind() == 1;
  made.inputs = textsOf(from.inputs());
  made.outputs = textsOf(from.outputs());
  if (from.kind() > 1)
    return makeError(path, fmt::format("a routine of the kind {}", from.kind()), "0 or 1");
  if (made.isHost ? !from.host() : !from.chip())
    return makeError(path, "a routine without contents", "commands or a function");
  made.name = textOf(made.isHost ? from.host()->function() : from.chip()->commands());
  if (made.isHost && from.host()->arguments()) {
    const auto *begin = reinterpret_cast<const std::byte *>(from.host()->arguments()->data());
    made.arguments.assign(begin, begin + from.host()->arguments()->size());
  }
  // Files for hardware may have the linked form only.
  if (!made.isHost && made.name.empty())
    return makeError(path, "a routine without plain commands", "a section of commands");
  return made;
}

Expected<Program> FileReader::readProgram(const fb::Program &from) const {
  Program made;
  made.batch = from.batch();
  made.sharedBytes = from.shared_bytes() != 0 ? from.shared_bytes() : from.neuron_bytes();
  made.privateBytes = from.private_bytes();
  made.inputs = textsOf(from.inputs());
  made.outputs = textsOf(from.outputs());
  for (size_t i = 0; i < sizeOf(from.tensors()); ++i) {
    Expected<Tensor> tensor = readTensor(*from.tensors()->Get(static_cast<unsigned>(i)));
    if (!tensor)
      return propagate(tensor);
    made.tensors.push_back(std::move(*tensor));
  }
  for (size_t i = 0; i < sizeOf(from.routines()); ++i) {
    Expected<Routine> routine = readRoutine(*from.routines()->Get(static_cast<unsigned>(i)));
    if (!routine)
      return propagate(routine);
    made.routines.push_back(std::move(*routine));
  }
  return made;
}

Expected<File> FileReader::read() {
  if (!hasMagic(bytes) || bytes.size() < kHeaderBytes)
    return makeError(path, "bytes that are no .cvimodel file", "a .cvimodel file");
  uint32_t tableBytes = 0;
  std::memcpy(&tableBytes, &bytes[8], 4);
  if (tableBytes > bytes.size() - kHeaderBytes)
    return makeError(path, fmt::format("{} bytes of tables", tableBytes),
                     fmt::format("at most {}", bytes.size() - kHeaderBytes));
  file.majorVersion = std::to_integer<uint8_t>(bytes[12]);
  file.minorVersion = std::to_integer<uint8_t>(bytes[13]);
  if (file.majorVersion != 1)
    return makeError(path, fmt::format("version {}.{}", file.majorVersion, file.minorVersion),
                     "version 1");
  const Bytes rest = bytes.subspan(kHeaderBytes);
  const auto hash = md5(rest, path);
  if (!hash)
    return tl::unexpected(hash.error());
  file.hasRightHash = std::ranges::equal(*hash, bytes.subspan(14, 16));
  const std::string_view chip(reinterpret_cast<const char *>(&bytes[30]), 16);
  file.chip = chip.substr(0, chip.find('\0'));
  // The tables are looked at in memory that is aligned as they need it.
  std::vector<uint64_t> aligned((tableBytes + 7) / 8);
  if (tableBytes != 0)
    std::memcpy(aligned.data(), rest.data(), tableBytes);
  const auto *begin = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier::Options options;
  options.max_depth = 32;
  options.max_tables = tableBytes / 8 + 64;
  flatbuffers::Verifier verifier(begin, tableBytes, options);
  if (tableBytes < 8 || !fb::VerifyModelBuffer(verifier))
    return makeError(path, "damaged tables", "those of a .cvimodel file");
  const fb::Model &model = *fb::GetModel(begin);
  file.name = textOf(model.name());
  file.built = textOf(model.built());
  file.compiler = textOf(model.compiler());
  if (Expected<void> done = readSections(model, rest.subspan(tableBytes)); !done)
    return propagate(done);
  for (size_t i = 0; i < sizeOf(model.weights()); ++i) {
    const fb::Weight &weight = *model.weights()->Get(static_cast<unsigned>(i));
    file.weights.push_back(
        {textOf(weight.name()), static_cast<uint64_t>(weight.offset()), weight.bytes()});
  }
  for (size_t i = 0; i < sizeOf(model.programs()); ++i) {
    Expected<Program> program = readProgram(*model.programs()->Get(static_cast<unsigned>(i)));
    if (!program)
      return propagate(program);
    file.programs.push_back(std::move(*program));
  }
  if (file.programs.empty())
    return makeError(path, "no program", "one at least");
  return std::move(file);
}

} // namespace

const Tensor *Program::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

const Section *File::find(SectionKind kind, std::string_view name) const {
  const auto found = std::ranges::find_if(sections, [&](const Section &section) {
    return section.kind == kind && section.name == name;
  });
  return found == sections.end() ? nullptr : &*found;
}

bool hasMagic(Bytes beginning) {
  return beginning.size() >= kMagic.size() &&
         std::memcmp(beginning.data(), kMagic.data(), kMagic.size()) == 0;
}

Expected<File> readFile(Bytes bytes, const std::string &path) {
  return FileReader(bytes, path).read();
}

} // namespace tpuc::cvimodel
