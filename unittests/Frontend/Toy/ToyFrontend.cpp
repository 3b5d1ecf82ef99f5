//===- ToyFrontend.cpp - A format for tests, of lines of text -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// After the line `toy`, a line for each input, layer and output of the network:
//   input x 1 2 n           an input of F32; what is no number is the name of an extent
//   scale s x 0.5           s = x * 0.5
//   relu r s                r = max(s, 0)
//   add y r x               y = r + x
//   output y
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/BinaryOps.h"
#include "tpuc/Dialect/Top/UnaryOps.h"
#include "tpuc/Frontend/Common/LayerBuilder.h"
#include "tpuc/Frontend/Common/UnsupportedOps.h"
#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Support/MappedFile.h"
#include "tpuc/Support/Npz.h"

#include <fmt/format.h>
#include <map>
#include <sstream>

namespace tpuc::toy {

const SourceFormat &describeFormat();

namespace {

/// The words of a line.
using Line = std::vector<std::string>;

struct ToyText {
  std::string path;
  std::vector<Line> inputs;
  std::vector<Line> layers;
  std::vector<std::string> outputs;
};

using Values = std::map<std::string, mlir::Value>;

/// `scale s x 0.5`: an op, its output, its inputs; the last word of a scale is its factor.
class ToyLayer : public frontend::LayerBuilder {
public:
  ToyLayer(frontend::ModuleBuilder &module, const Line &line, Values &values)
      : LayerBuilder(module, module.mainBlock(), {line[1]}, line[1]), where(module.where()),
        line(line), values(values) {}

  unsigned numInputs() const override { return static_cast<unsigned>(line.size()) - 2; }
  bool has(unsigned index) const override {
    return index < numInputs() && values.contains(line[index + 2]);
  }
  mlir::Value in(unsigned index) override {
    return has(index) ? values.at(line[index + 2]) : none();
  }
  void bind(unsigned index, mlir::Value value) override { values[line[index + 1]] = value; }
  std::string place() const override { return fmt::format("{}: {} '{}'", where, line[0], line[1]); }

  const std::string &word(unsigned index) const { return line[index + 2]; }

private:
  const std::string &where;
  const Line &line;
  Values &values;
};

void scale(ToyLayer &layer) {
  mlir::Value factor = layer.weight("factor", Tensor::of<float>({1}, {std::stof(layer.word(1))}));
  layer.emit<top::MulOp>({layer.in(0), factor});
}
void relu(ToyLayer &layer) { layer.emit<top::ReluOp>(layer.in(0)); }
void add(ToyLayer &layer) { layer.emit<top::AddOp>({layer.in(0), layer.in(1)}); }

const std::map<std::string, void (*)(ToyLayer &)> kConverters = {
    {"scale", scale}, {"relu", relu}, {"add", add}};

frontend::DeclaredInput declaredInput(const Line &line) {
  frontend::DeclaredInput input{line[1], DataType::F32, frontend::Ints(), {}};
  for (size_t word = 2; word < line.size(); ++word) {
    bool isNumber = std::isdigit(static_cast<unsigned char>(line[word][0])) != 0;
    input.dims->push_back(isNumber ? std::stoll(line[word]) : mlir::ShapedType::kDynamic);
    input.symbols.push_back(isNumber ? "" : line[word]);
  }
  return input;
}

class ToySourceModel : public SourceModel {
public:
  explicit ToySourceModel(ToyText text) : text(std::move(text)) {}

  Expected<mlir::OwningOpRef<mlir::ModuleOp>> import(mlir::MLIRContext &context,
                                                     const ImportOptions &options) const override {
    frontend::UnsupportedOps unsupported;
    for (const Line &line : text.layers)
      if (!kConverters.contains(line[0]))
        unsupported.add(line[0], "'" + line[1] + "'");
    if (Expected<void> checked = unsupported.check(text.path); !checked)
      return propagate(checked);
    Expected<std::vector<frontend::ModelInput>> inputs = boundInputs(options);
    if (!inputs)
      return propagate(inputs);
    frontend::ModuleBuilder module(context, text.path);
    for (const Line &line : text.layers)
      module.reserveName(line[1]);
    module.begin(options, describeFormat().name, *inputs);
    Expected<llvm::SmallVector<mlir::Value>> arguments = module.makeInputs(*inputs);
    if (!arguments)
      return propagate(arguments);
    Values values;
    for (size_t index = 0; index < inputs->size(); ++index)
      values[(*inputs)[index].name] = (*arguments)[index];
    for (const Line &line : text.layers) {
      ToyLayer layer(module, line, values);
      kConverters.at(line[0])(layer);
      if (std::optional<Error> error = layer.takeError())
        return tl::unexpected(std::move(*error));
    }
    for (const std::string &name : options.outputNames.empty() ? text.outputs : options.outputNames)
      if (Expected<void> added = module.addOutput(name, values[name]); !added)
        return propagate(added);
    return module.finish([](const std::string &tensor) { return "layer '" + tensor + "'"; });
  }

  std::string_view referenceName() const override { return "the toy runtime"; }

  /// What the lines say, number by number; operands have one shape, factors aside.
  Expected<OutputFile> reference(const ReferenceRequest &request) const override {
    Expected<NpzReader> inputs = NpzReader::open(request.inputs);
    if (!inputs)
      return propagate(inputs);
    std::map<std::string, Tensor> tensors;
    for (const Line &line : text.inputs) {
      Expected<Tensor> tensor = inputs->read(line[1]);
      if (!tensor)
        return propagate(tensor);
      tensors[line[1]] = *tensor;
    }
    Expected<NpzWriter> writer = NpzWriter::create(request.scratch + ".toy");
    if (!writer)
      return propagate(writer);
    for (const Line &line : text.layers) {
      Tensor made = tensors.at(line[2]).clone();
      std::span<float> numbers = made.mutableData<float>();
      for (size_t index = 0; index < numbers.size(); ++index)
        numbers[index] = line[0] == "scale" ? numbers[index] * std::stof(line[3])
                         : line[0] == "relu"
                             ? std::max(numbers[index], 0.0F)
                             : numbers[index] + tensors.at(line[3]).data<float>()[index];
      if (request.tensors.contains(line[1]))
        if (Expected<void> added = writer->add(line[1], made); !added)
          return propagate(added);
      tensors[line[1]] = made;
    }
    return writer->finish();
  }

private:
  Expected<std::vector<frontend::ModelInput>> boundInputs(const ImportOptions &options) const {
    std::vector<std::string> names;
    for (const Line &line : text.inputs)
      names.push_back(line[1]);
    frontend::InputBinder binder(text.path, options);
    if (Expected<void> checked = binder.checkCounts(names); !checked)
      return propagate(checked);
    std::vector<frontend::ModelInput> inputs;
    for (size_t index = 0; index < text.inputs.size(); ++index) {
      Expected<frontend::ModelInput> input = binder.bind(declaredInput(text.inputs[index]), index);
      if (!input)
        return propagate(input);
      inputs.push_back(std::move(*input));
    }
    return inputs;
  }

  ToyText text;
};

class ToyFrontend : public Frontend {
public:
  const SourceFormat &format() const override { return describeFormat(); }

  Expected<std::unique_ptr<SourceModel>> open(const SourceFiles &files) const override {
    const std::string &path = files.model;
    Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
    if (!file)
      return propagate(file);
    std::span<const std::byte> bytes = (*file)->bytes();
    if (!describeFormat().beginsLike(bytes))
      return makeError(path, "does not begin with 'toy'", "a toy network");
    std::istringstream lines(
        std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
    ToyText text{path, {}, {}, {}};
    std::string written;
    std::getline(lines, written);
    while (std::getline(lines, written)) {
      std::istringstream words(written);
      Line line(std::istream_iterator<std::string>(words), {});
      if (line.size() < 2)
        return makeError(path, "the line '" + written + "'", "a word and a name");
      if (line[0] == "output")
        text.outputs.push_back(line[1]);
      else
        (line[0] == "input" ? text.inputs : text.layers).push_back(line);
    }
    return std::make_unique<ToySourceModel>(std::move(text));
  }
};

} // namespace

const Frontend &getFrontend() {
  static const ToyFrontend frontend;
  return frontend;
}

} // namespace tpuc::toy
