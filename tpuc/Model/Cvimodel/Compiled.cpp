//===- Compiled.cpp - Files as the runtime sees them ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/Cvimodel/Cvimodel.h"
#include "tpuc/Model/Cvimodel/Format.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tpuc::cvimodel {

namespace {

/// The name of the routine that makes integers of real numbers, and of its reverse.
constexpr std::string_view kQuantize = "quant", kDequantize = "dequant";
/// That of layers which this runtime computes, and no other: a program as its argument.
constexpr std::string_view kOwnFunction = "tpuc";
/// The header before each command of a stream, whose second byte is the length without it.
constexpr size_t kCommandHeader = 8;

class Converter {
public:
  Converter(const File &file, const std::string &path) : file(file), path(path) {}
  Expected<model::CompiledModel> convert();

private:
  Expected<const Tensor *> find(const Program &program, const std::string &name) const;
  Expected<std::vector<model::TensorInfo>> tensors(const Program &program,
                                                   const std::vector<std::string> &names) const;
  std::vector<std::string> withoutWeights(std::vector<std::string> names) const;
  Expected<model::SubNet> chipPart(const Program &program, const Routine &routine) const;
  Expected<void> addHostPart(const Program &program, const Routine &routine, model::Stage &stage,
                             model::SubNet &subNet) const;
  Expected<model::Stage> stage(const Program &program) const;
  model::Section constants() const;

  const File &file;
  const std::string &path;
};

model::TensorInfo infoOf(const Tensor &tensor) {
  model::TensorInfo info;
  info.name = tensor.name;
  if (tensor.type)
    info.setType(*tensor.type);
  else
    info.typeName = fmt::format("type {}", tensor.typeNumber);
  info.shape.assign(tensor.shape.begin(), tensor.shape.end());
  if (tensor.picture) {
    const model::PictureInfo &picture = *tensor.picture;
    // The reader has seen that these are extents of the format.
    const auto dims = pictureDims(picture.format, {tensor.shape[0], picture.height, picture.width},
                                  picture.alignment);
    info.shape.assign(dims->begin(), dims->end());
    info.picture = picture;
  }
  info.address = tensor.address;
  // An input states what numbers are multiplied with, as the model has it.
  info.scale = tensor.scale;
  return info;
}

Expected<const Tensor *> Converter::find(const Program &program, const std::string &name) const {
  if (const Tensor *tensor = program.find(name))
    return tensor;
  return makeError(path, fmt::format("a tensor '{}' that is not there", name),
                   "one of the program");
}

Expected<std::vector<model::TensorInfo>>
Converter::tensors(const Program &program, const std::vector<std::string> &names) const {
  std::vector<model::TensorInfo> made;
  for (const std::string &name : names) {
    const Expected<const Tensor *> tensor = find(program, name);
    if (!tensor)
      return tl::unexpected(tensor.error());
    made.push_back(infoOf(**tensor));
  }
  return made;
}

/// Functions of the host may read weights, which are no tensors of the program.
std::vector<std::string> Converter::withoutWeights(std::vector<std::string> names) const {
  std::erase_if(names, [&](const std::string &name) {
    return std::ranges::find(file.weights, name, &Weight::name) != file.weights.end();
  });
  return names;
}

uint32_t countCommands(Bytes code) {
  uint32_t count = 0;
  for (size_t at = 0; at + kCommandHeader <= code.size(); ++count)
    at += kCommandHeader + std::to_integer<size_t>(code[at + 1]);
  return count;
}

Expected<model::SubNet> Converter::chipPart(const Program &, const Routine &routine) const {
  const Section *section = file.find(SectionKind::Commands, routine.name);
  if (!section)
    return makeError(path, fmt::format("commands '{}' that are not there", routine.name),
                     "a section of commands");
  model::SubNet made;
  made.groups.emplace_back().streams.push_back({.engine = file.chip,
                                                .code = section->data,
                                                .numCommands = countCommands(section->data),
                                                .layers = {}});
  return made;
}

/// The ops that compute a routine, one value after the other.
class HostProgram {
public:
  HostProgram(const Tensor &from, const Tensor &to, std::string layer) : layer(std::move(layer)) {
    addValue(from, *from.type);
    result = &to;
  }

  void add(std::string_view op, std::vector<std::pair<std::string, ops::Attribute>> attributes,
           DataType type, bool isLast = false) {
    const auto last = static_cast<int32_t>(program.values.size()) - 1;
    addValue(*result, type);
    if (!isLast) {
      program.values.back().home = cpu::Home::Host;
      program.values.back().name += fmt::format("_{}", last);
    }
    program.ops.push_back({std::string(op), layer, std::move(attributes), {last}, {last + 1}});
  }

  cpu::Program program;

private:
  void addValue(const Tensor &tensor, DataType type) {
    program.values.push_back({tensor.name, type, tensor.shape, cpu::Home::Device, tensor.address});
  }

  const Tensor *result = nullptr;
  std::string layer;
};

std::vector<std::pair<std::string, ops::Attribute>> multiplyBy(float factor) {
  return {{"const_val", static_cast<double>(factor)}, {"do_relu", false}, {"relu_limit", -1.0}};
}

std::vector<std::pair<std::string, ops::Attribute>> castTo(DataType type) {
  return {{"to", type}, {"saturate", true}};
}

/// round(x / scale) to int8, ties to even, saturated, as the vendor's runtime has it.
cpu::Program quantizing(const Tensor &from, const Tensor &to) {
  HostProgram made(from, to, to.name);
  const bool isSigned = to.type == DataType::I8;
  made.add("MulConst", multiplyBy(1.0f / to.scale), DataType::F32);
  made.add("Round", {}, DataType::F32);
  made.add("MaxConst", {{"const_val", isSigned ? -128.0 : 0.0}}, DataType::F32);
  made.add("MinConst", {{"const_val", isSigned ? 127.0 : 255.0}}, DataType::F32);
  made.add("Cast", castTo(*to.type), *to.type, true);
  return made.program;
}

cpu::Program dequantizing(const Tensor &from, const Tensor &to) {
  HostProgram made(from, to, to.name);
  made.add("Cast", castTo(DataType::F32), DataType::F32);
  made.add("MulConst", multiplyBy(from.scale), DataType::F32, true);
  return made.program;
}

bool isInt8(const Tensor &tensor) {
  return tensor.type == DataType::I8 || tensor.type == DataType::U8;
}

Expected<void> Converter::addHostPart(const Program &program, const Routine &routine,
                                      model::Stage &stage, model::SubNet &subNet) const {
  const auto refuse = [&](std::string found) {
    if (!stage.refusal)
      stage.refusal = Error{path, std::move(found), "quant or dequant"};
  };
  if (routine.name == kOwnFunction) {
    auto made = cpu::parseProgram(routine.arguments, path);
    if (!made)
      return tl::unexpected(made.error());
    subNet.host.push_back(std::move(*made));
    return {};
  }
  // A step for the host all the same: what it would compute is said by the refusal.
  subNet.host.emplace_back();
  if (routine.name != kQuantize && routine.name != kDequantize) {
    refuse(fmt::format("a routine '{}' for the host", routine.name));
    return {};
  }
  if (routine.inputs.size() != 1 || routine.outputs.size() != 1)
    return makeError(path, fmt::format("'{}' of {} tensors", routine.name, routine.inputs.size()),
                     "one tensor to another");
  const Expected<const Tensor *> from = find(program, routine.inputs[0]);
  const Expected<const Tensor *> to = find(program, routine.outputs[0]);
  if (!from || !to)
    return tl::unexpected(from ? to.error() : from.error());
  const bool quantizes = routine.name == kQuantize;
  const Tensor &integers = quantizes ? **to : **from;
  const Tensor &reals = quantizes ? **from : **to;
  if (!isInt8(integers) || reals.type != DataType::F32 || integers.scale == 0) {
    refuse(fmt::format("'{}' of other types than int8 and f32", routine.name));
    return {};
  }
  subNet.host.back() = quantizes ? quantizing(**from, **to) : dequantizing(**from, **to);
  return {};
}

model::Section Converter::constants() const {
  model::Section made{.address = kConstants << kRegionShift, .data = {}, .locations = {}};
  for (const Section &section : file.sections)
    if (section.kind == SectionKind::Constants) {
      made.data = section.data;
      break;
    }
  for (const Weight &weight : file.weights) {
    const uint64_t offset = weight.address & ((uint64_t{1} << kRegionShift) - 1);
    if (weight.address >> kRegionShift == kConstants && offset <= made.data.size() &&
        weight.bytes <= made.data.size() - offset)
      made.locations.push_back({weight.name, offset, weight.bytes});
  }
  return made;
}

/// Outputs whose shape only the data show stay where the host computes them: the tables know of
/// regions only.
void keepResultsOnHost(model::Stage &stage) {
  for (const model::SubNet &subNet : stage.subNets)
    for (const cpu::Program &program : subNet.host)
      for (const cpu::Value &value : program.values)
        if (value.home == cpu::Home::Result && value.address < stage.outputs.size())
          stage.outputs[value.address].isOnHost = true;
}

Expected<model::Stage> Converter::stage(const Program &program) const {
  model::Stage made;
  auto inputs = tensors(program, program.inputs);
  auto outputs = tensors(program, program.outputs);
  if (!inputs || !outputs)
    return propagate(inputs ? outputs : inputs);
  made.inputs = std::move(*inputs);
  made.outputs = std::move(*outputs);
  made.activationBytes = program.sharedBytes + program.privateBytes;
  made.constants.push_back(constants());
  for (const Routine &routine : program.routines) {
    model::SubNet subNet;
    if (routine.isHost) {
      if (Expected<void> done = addHostPart(program, routine, made, subNet); !done)
        return propagate(done);
    } else {
      Expected<model::SubNet> part = chipPart(program, routine);
      if (!part)
        return propagate(part);
      subNet = std::move(*part);
    }
    auto read = tensors(program, withoutWeights(routine.inputs));
    auto written = tensors(program, routine.outputs);
    if (!read || !written)
      return propagate(read ? written : read);
    subNet.inputs = std::move(*read);
    subNet.outputs = std::move(*written);
    subNet.id = static_cast<int32_t>(made.subNets.size());
    made.order.push_back(static_cast<uint32_t>(made.subNets.size()));
    made.subNets.push_back(std::move(subNet));
  }
  keepResultsOnHost(made);
  return made;
}

Expected<model::CompiledModel> Converter::convert() {
  model::CompiledModel made;
  made.chip = kFamily;
  model::Net &net = made.nets.emplace_back();
  net.name = file.name;
  for (const Program &program : file.programs) {
    Expected<model::Stage> each = stage(program);
    if (!each)
      return propagate(each);
    net.stages.push_back(std::move(*each));
  }
  return made;
}

//===--- The reverse -------------------------------------------------------===//

Expected<Tensor> tensorOf(const model::TensorInfo &info, const std::string &path) {
  const Expected<DataType> type = info.knownType(path);
  if (!type)
    return tl::unexpected(type.error());
  const auto number = std::ranges::find(kTypes, *type);
  if (number == kTypes.end() || info.zeroPoint != 0 || info.scale == 0)
    return makeError(
        path,
        fmt::format("'{}' of type {}, zero point {}", info.name, info.typeName, info.zeroPoint),
        "a type of such files, symmetric");
  Tensor made;
  made.name = info.name;
  made.address = info.address;
  made.type = *type;
  made.typeNumber = static_cast<uint8_t>(number - kTypes.begin());
  made.shape.assign(info.shape.begin(), info.shape.end());
  made.scale = info.scale;
  if (info.picture) {
    made.picture = info.picture;
    made.shape = pictureShape(*info.picture, made.shape.at(0));
  }
  return made;
}

Expected<void> addTensors(const std::vector<model::TensorInfo> &infos, Program &program,
                          std::vector<std::string> &names, const std::string &path) {
  for (const model::TensorInfo &info : infos) {
    names.push_back(info.name);
    if (program.find(info.name))
      continue;
    Expected<Tensor> tensor = tensorOf(info, path);
    if (!tensor)
      return propagate(tensor);
    program.tensors.push_back(std::move(*tensor));
  }
  return {};
}

/// What a routine reads and makes. Of types that such files do not state there is nothing to say:
/// only the host's own routines use such tensors, and know where they are.
Expected<void> addPorts(const model::SubNet &subNet, Program &program, Routine &routine,
                        const std::string &path) {
  const auto stated = [](std::vector<model::TensorInfo> infos) {
    std::erase_if(
        infos, [](const model::TensorInfo &info) { return info.type && !statesType(*info.type); });
    return infos;
  };
  if (auto read = addTensors(stated(subNet.inputs), program, routine.inputs, path); !read)
    return read;
  return addTensors(stated(subNet.outputs), program, routine.outputs, path);
}

/// The routines of a stage, and their commands as sections.
Expected<void> addRoutines(const model::Stage &stage, Program &program, File &file,
                           const std::string &path) {
  for (const uint32_t number : stage.order) {
    const model::SubNet &subNet = stage.subNets[number];
    for (const cpu::Program &host : subNet.host) {
      Routine &routine = program.routines.emplace_back();
      routine.isHost = true;
      routine.name = kOwnFunction;
      routine.arguments = cpu::encodeProgram(host);
      if (auto done = addPorts(subNet, program, routine, path); !done)
        return done;
    }
    for (const model::CommandGroup &group : subNet.groups) {
      if (group.streams.size() != 1)
        return makeError(path, fmt::format("{} streams in a group", group.streams.size()), "one");
      const model::Stream &stream = group.streams[0];
      if (!file.chip.empty() && file.chip != stream.engine)
        return makeError(path, fmt::format("commands for {} and {}", file.chip, stream.engine),
                         "one chip");
      file.chip = stream.engine;
      Routine &routine = program.routines.emplace_back();
      routine.name = fmt::format("commands_{}", file.sections.size());
      file.sections.push_back({SectionKind::Commands, routine.name, stream.code});
      if (auto done = addPorts(subNet, program, routine, path); !done)
        return done;
    }
  }
  return {};
}

/// The constants of all stages, which are those of the stage that has most of them, or their
/// beginning: a file has them once.
Expected<void> addConstants(std::span<const model::Stage> stages, File &file,
                            const std::string &path) {
  const model::Section *most = nullptr;
  for (const model::Stage &stage : stages) {
    if (stage.constants.size() > 1 ||
        (stage.constants.size() == 1 && stage.constants[0].address != kConstants << kRegionShift))
      return makeError(path, fmt::format("{} areas of constants", stage.constants.size()),
                       "one, in its region");
    if (!stage.constants.empty() && (!most || stage.constants[0].data.size() > most->data.size()))
      most = &stage.constants[0];
  }
  if (!most)
    return {};
  std::set<std::pair<std::string, uint64_t>> known;
  for (const model::Stage &stage : stages) {
    if (stage.constants.empty())
      continue;
    const model::Section &section = stage.constants[0];
    if (!std::ranges::equal(section.data, most->data.first(section.data.size())))
      return makeError(path, "stages with other constants",
                       "the same, or those that model_deploy --merge_weight_of puts behind others");
    for (const model::Section::Location &location : section.locations)
      if (known.emplace(location.name, location.offset).second)
        file.weights.push_back({location.name, section.address + location.offset, location.size});
  }
  file.sections.insert(file.sections.begin(), {SectionKind::Constants, "weight", most->data});
  return {};
}

} // namespace

Expected<model::CompiledModel> toCompiled(const File &file, const std::string &path) {
  return Converter(file, path).convert();
}

Expected<File> fromCompiled(const model::CompiledModel &model, const std::string &path) {
  if (model.chip != kFamily || model.nets.size() != 1)
    return makeError(path, fmt::format("{} nets for {}", model.nets.size(), model.chip),
                     fmt::format("one for {}", kFamily));
  File file;
  file.name = model.nets[0].name;
  // The vendor's runtime needs one; a date would change the file from run to run.
  file.built = "-";
  file.compiler = "tpuc";
  if (auto added = addConstants(model.nets[0].stages, file, path); !added)
    return propagate(added);
  for (const model::Stage &stage : model.nets[0].stages) {
    if (stage.refusal)
      return tl::unexpected<Error>(*stage.refusal);
    Program &program = file.programs.emplace_back();
    program.sharedBytes = stage.activationBytes;
    for (const model::TensorInfo &input : stage.inputs)
      if (Expected<void> checked = input.checkPicture(path); !checked)
        return propagate(checked);
    auto inputs = addTensors(stage.inputs, program, program.inputs, path);
    auto outputs = addTensors(stage.outputs, program, program.outputs, path);
    if (!inputs || !outputs)
      return propagate(inputs ? outputs : inputs);
    if (auto done = addRoutines(stage, program, file, path); !done)
      return propagate(done);
    for (const model::TensorInfo &input : stage.inputs)
      if (input.picture && input.picture->alignment.isPresent() &&
          input.picture->alignment != frameAlignment(file.chip))
        return makeError(
            path,
            fmt::format("'{}' of frames whose rows and planes are aligned to {} and {}", input.name,
                        input.picture->alignment.row, input.picture->alignment.plane),
            fmt::format("those of {}", file.chip));
  }
  return file;
}

} // namespace tpuc::cvimodel
