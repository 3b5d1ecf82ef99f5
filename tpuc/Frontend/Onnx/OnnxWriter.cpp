//===- OnnxWriter.cpp - What is left of a model, as ONNX ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxWriter.h"
#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include <filesystem>
#include <google/protobuf/text_format.h>
#include <optional>

using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// What messages besides the weights may take before the weights leave the file.
constexpr uint64_t kMaxMessage = uint64_t(1900) << 20;
/// Elements of external data begin at a multiple of this.
constexpr uint64_t kAlignment = 4096;

/// An initializer of the result: its message without elements, and where they come from.
struct Weight {
  proto::Tensor header;
  const proto::Tensor *source = nullptr;
  const proto::SparseTensor *sparse = nullptr;
  std::optional<Tensor> value;

  Expected<Tensor> read(const OnnxModel &model) const {
    if (value)
      return *value;
    return sparse ? model.read(*sparse, header.name()) : model.read(*source, header.name());
  }
};

/// Writes the elements of `weight`, in pieces whose pages do not stay in memory.
Expected<void> writeElements(OutputFile &file, const Weight &weight, uint64_t wanted,
                             const OnnxModel &model) {
  std::optional<std::span<const std::byte>> bytes;
  if (weight.source && !weight.value)
    bytes = model.mappedBytes(*weight.source);
  std::optional<Tensor> owner;
  if (!bytes || bytes->size() != wanted) {
    Expected<Tensor> value = weight.read(model);
    if (!value)
      return propagate(value);
    owner = std::move(*value);
    bytes = owner->rawBytes();
  }
  constexpr size_t kPiece = size_t(4) << 20;
  for (size_t begin = 0; begin < bytes->size(); begin += kPiece) {
    auto piece = bytes->subspan(begin, std::min(kPiece, bytes->size() - begin));
    if (Expected<void> written = file.write(piece); !written)
      return written;
    releaseMapped(piece);
  }
  return {};
}

void clearElements(proto::Tensor &tensor) {
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.clear_mapped_offset();
  tensor.clear_mapped_length();
  tensor.clear_mapped_field();
}

proto::Tensor headerOf(const std::string &name, DataType type, const Shape &shape) {
  proto::Tensor header;
  header.set_name(name);
  header.set_data_type(static_cast<int32_t>(onnxDataType(type)));
  for (int64_t extent : shape)
    header.add_dims(extent);
  return header;
}

/// Calls `visit` for the tensors in the attributes of a graph or function, inner graphs included.
template <typename Nodes, typename Visit>
Expected<void> forEachTensor(Nodes &nodes, const Visit &visit) {
  for (proto::Node &node : nodes)
    for (proto::Attribute &attribute : *node.mutable_attribute()) {
      if (attribute.has_t())
        if (Expected<void> done = visit(*attribute.mutable_t()); !done)
          return done;
      for (proto::Tensor &tensor : *attribute.mutable_tensors())
        if (Expected<void> done = visit(tensor); !done)
          return done;
      if (attribute.has_sparse_tensor()) {
        if (Expected<void> done = visit(*attribute.mutable_sparse_tensor()->mutable_values());
            !done)
          return done;
        if (Expected<void> done = visit(*attribute.mutable_sparse_tensor()->mutable_indices());
            !done)
          return done;
      }
      auto inGraph = [&](proto::Graph &graph) -> Expected<void> {
        for (proto::Tensor &tensor : *graph.mutable_initializer())
          if (Expected<void> done = visit(tensor); !done)
            return done;
        for (proto::SparseTensor &tensor : *graph.mutable_sparse_initializer()) {
          if (Expected<void> done = visit(*tensor.mutable_values()); !done)
            return done;
          if (Expected<void> done = visit(*tensor.mutable_indices()); !done)
            return done;
        }
        return forEachTensor(*graph.mutable_node(), visit);
      };
      if (attribute.has_g())
        if (Expected<void> done = inGraph(*attribute.mutable_g()); !done)
          return done;
      for (proto::Graph &graph : *attribute.mutable_graphs())
        if (Expected<void> done = inGraph(graph); !done)
          return done;
    }
  return {};
}

class Writer {
public:
  Writer(const OnnxModel &model, const GraphPlan &plan, const ConstantLookup &constants)
      : model(model), plan(plan), constants(constants) {}

  Expected<std::vector<OutputFile>> write(const std::string &path) {
    select();
    uint64_t elements = 0;
    for (const Weight &weight : weights)
      elements += bytesOf(weight);
    if (elements > kMaxMessage)
      if (Expected<void> moved = writeExternal(path + ".data"); !moved)
        return propagate(moved);
    if (Expected<void> text = writeText(path + ".prototxt"); !text)
      return propagate(text);
    auto fill = [&](proto::Tensor &tensor) { return fillElements(tensor); };
    if (Expected<void> done = forEachTensor(*result.mutable_graph()->mutable_node(), fill); !done)
      return propagate(done);
    for (proto::Function &function : *result.mutable_functions())
      if (Expected<void> done = forEachTensor(*function.mutable_node(), fill); !done)
        return propagate(done);
    if (Expected<void> message = writeMessage(path); !message)
      return propagate(message);
    return std::move(files);
  }

private:
  Expected<void> keep(OutputFile file) {
    Expected<void> finished = file.finish();
    files.push_back(std::move(file));
    return finished;
  }

  /// Fills `result` and `weights` with what the outputs need.
  void select() {
    const proto::Model &source = model.message();
    const proto::Graph &graph = source.graph();
    std::set<std::string> needed(plan.outputs().begin(), plan.outputs().end());
    const GraphPlan::Nodes &order = plan.nodes(graph);
    std::vector<const proto::Node *> kept;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (!becomesWeight(**it, needed)) {
        if (std::ranges::none_of((*it)->output(), [&](const std::string &output) {
              return needed.contains(output);
            }))
          continue;
        kept.push_back(*it);
        needed.merge(usedNames(**it));
      }
    std::ranges::reverse(kept);
    std::ranges::reverse(weights);
    result = proto::Model();
    copyHead(source);
    proto::Graph &made = *result.mutable_graph();
    made.set_name(graph.name());
    std::set<std::string> tensors = needed;
    for (const proto::Node *node : kept) {
      *made.add_node() = *node;
      tensors.insert(node->output().begin(), node->output().end());
    }
    addInitializers(graph, needed);
    copyInfos(graph, tensors);
    addFunctions(source, kept);
  }

  /// Whether `node` only makes tensors that are known; those that are needed are weights then.
  bool becomesWeight(const proto::Node &node, const std::set<std::string> &needed) {
    std::vector<Weight> made;
    bool isConstant = normalDomain(node.domain()).empty() && node.op_type() == "Constant" &&
                      node.output_size() == 1 && node.attribute_size() == 1 &&
                      node.attribute(0).name() == "value" && node.attribute(0).has_t() &&
                      dataTypeOfOnnx(node.attribute(0).t().data_type());
    if (isConstant) {
      if (needed.contains(node.output(0))) {
        Weight weight;
        weight.source = &node.attribute(0).t();
        weight.header = *weight.source;
        clearElements(weight.header);
        weight.header.set_name(node.output(0));
        weights.push_back(std::move(weight));
      }
      return true;
    }
    if (!constants)
      return false;
    for (const std::string &output : node.output()) {
      if (!needed.contains(output))
        continue;
      std::optional<Tensor> value = constants(output);
      if (!value)
        return false;
      made.push_back({headerOf(output, value->type(), value->shape()), nullptr, nullptr, value});
    }
    weights.insert(weights.end(), made.begin(), made.end());
    return true;
  }

  void copyHead(const proto::Model &source) {
    result.set_ir_version(source.ir_version());
    result.set_producer_name(source.producer_name());
    result.set_producer_version(source.producer_version());
    result.set_domain(source.domain());
    result.set_model_version(source.model_version());
    *result.mutable_opset_import() = source.opset_import();
    *result.mutable_metadata_props() = source.metadata_props();
  }

  void addInitializers(const proto::Graph &graph, const std::set<std::string> &needed) {
    for (const proto::Tensor &tensor : graph.initializer()) {
      if (!needed.contains(tensor.name()))
        continue;
      if (!dataTypeOfOnnx(tensor.data_type())) {
        *result.mutable_graph()->add_initializer() = tensor;
        continue;
      }
      Weight weight;
      weight.source = &tensor;
      weight.header = tensor;
      clearElements(weight.header);
      weights.push_back(std::move(weight));
    }
    for (const proto::SparseTensor &tensor : graph.sparse_initializer()) {
      if (!needed.contains(tensor.values().name()))
        continue;
      Weight weight;
      weight.sparse = &tensor;
      weight.header.set_name(tensor.values().name());
      weight.header.set_data_type(tensor.values().data_type());
      *weight.header.mutable_dims() = tensor.dims();
      weights.push_back(std::move(weight));
    }
  }

  void copyInfos(const proto::Graph &graph, const std::set<std::string> &tensors) {
    proto::Graph &made = *result.mutable_graph();
    std::set<std::string> constantNames;
    for (const Weight &weight : weights)
      constantNames.insert(weight.header.name());
    std::map<std::string, const proto::ValueInfo *> infos;
    for (const auto *list : {&graph.value_info(), &graph.input(), &graph.output()})
      for (const proto::ValueInfo &info : *list)
        infos[info.name()] = &info;
    for (const proto::ValueInfo &info : graph.input())
      if (tensors.contains(info.name()) && !constantNames.contains(info.name()))
        *made.add_input() = info;
    for (const std::string &name : plan.outputs()) {
      proto::ValueInfo &info = *made.add_output();
      if (auto known = infos.find(name); known != infos.end())
        info = *known->second;
      info.set_name(name);
    }
    std::set<std::string> outputs(plan.outputs().begin(), plan.outputs().end());
    for (const proto::ValueInfo &info : graph.value_info())
      if (tensors.contains(info.name()) && !outputs.contains(info.name()))
        *made.add_value_info() = info;
  }

  void addFunctions(const proto::Model &source, const std::vector<const proto::Node *> &kept) {
    if (kept.empty())
      return;
    std::set<const proto::Function *> called;
    plan.forEachNode([&](const proto::Node &node, int64_t) {
      if (const proto::Function *function = plan.functionOf(node))
        called.insert(function);
    });
    for (const proto::Function &function : source.functions())
      if (called.contains(&function))
        *result.add_functions() = function;
  }

  static uint64_t bytesOf(const Weight &weight) {
    std::optional<DataType> type = dataTypeOfOnnx(weight.header.data_type());
    std::span<const int64_t> dims(weight.header.dims().data(),
                                  static_cast<size_t>(weight.header.dims_size()));
    // What does not fit is an error when it is read.
    Expected<int64_t> count = checkedNumElements(dims, *type, "");
    return count ? static_cast<uint64_t>(byteSize(*type, *count)) : 0;
  }

  Expected<void> fillElements(proto::Tensor &tensor) const {
    if (!tensor.has_mapped_length() && tensor.data_location() == 0)
      return {};
    Expected<Tensor> value = model.read(tensor, tensor.name());
    if (!value)
      return propagate(value);
    clearElements(tensor);
    tensor.set_raw_data(value->rawBytes().data(), value->rawBytes().size());
    return {};
  }

  Expected<void> writeExternal(const std::string &path) {
    Expected<OutputFile> file = OutputFile::create(path);
    if (!file)
      return propagate(file);
    std::string location = std::filesystem::path(path).filename().string();
    for (Weight &weight : weights) {
      uint64_t offset = (file->size() + kAlignment - 1) / kAlignment * kAlignment;
      std::vector<std::byte> padding(offset - file->size());
      if (Expected<void> done = file->write(std::span<const std::byte>(padding)); !done)
        return done;
      if (Expected<void> done = writeElements(*file, weight, bytesOf(weight), model); !done)
        return done;
      auto add = [&](const char *key, const std::string &text) {
        proto::StringStringEntry &entry = *weight.header.add_external_data();
        entry.set_key(key);
        entry.set_value(text);
      };
      add("location", location);
      add("offset", std::to_string(offset));
      add("length", std::to_string(bytesOf(weight)));
      weight.header.set_data_location(1);
    }
    return keep(std::move(*file));
  }

  Expected<void> writeText(const std::string &path) {
    proto::Model shown = result;
    for (const Weight &weight : weights)
      *shown.mutable_graph()->add_initializer() = weight.header;
    auto strip = [](proto::Tensor &tensor) -> Expected<void> {
      if (tensor.has_mapped_length())
        clearElements(tensor);
      return {};
    };
    (void)forEachTensor(*shown.mutable_graph()->mutable_node(), strip);
    for (proto::Function &function : *shown.mutable_functions())
      (void)forEachTensor(*function.mutable_node(), strip);
    std::string text;
    if (!google::protobuf::TextFormat::PrintToString(shown, &text))
      return makeError(path, "cannot be written as text");
    Expected<OutputFile> file = OutputFile::create(path);
    if (!file)
      return propagate(file);
    if (Expected<void> written = file->write(text); !written)
      return written;
    return keep(std::move(*file));
  }

  /// The message with the weights as the last fields of its graph, which comes last itself.
  Expected<void> writeMessage(const std::string &path) {
    proto::Graph graph;
    graph.Swap(result.mutable_graph());
    result.clear_graph();
    std::string head = result.SerializeAsString();
    std::string body = graph.SerializeAsString();
    uint64_t graphSize = body.size();
    for (const Weight &weight : weights) {
      uint64_t size = tensorSize(weight);
      graphSize += 1 + varint(size).size() + size;
    }
    Expected<OutputFile> file = OutputFile::create(path);
    if (!file)
      return propagate(file);
    // Field 7 of a model is its graph; 5 of that an initializer; 9 of that its elements.
    if (Expected<void> done = file->write(head + '\x3a' + varint(graphSize) + body); !done)
      return done;
    for (const Weight &weight : weights) {
      std::string header = weight.header.SerializeAsString();
      std::string start = '\x2a' + varint(tensorSize(weight)) + header;
      if (weight.header.data_location() == 0)
        start += '\x4a' + varint(bytesOf(weight));
      if (Expected<void> done = file->write(start); !done)
        return done;
      if (weight.header.data_location() != 0)
        continue;
      if (Expected<void> done = writeElements(*file, weight, bytesOf(weight), model); !done)
        return done;
    }
    return keep(std::move(*file));
  }

  static uint64_t tensorSize(const Weight &weight) {
    uint64_t size = weight.header.ByteSizeLong();
    if (weight.header.data_location() == 0)
      size += 1 + varint(bytesOf(weight)).size() + bytesOf(weight);
    return size;
  }

  static std::string varint(uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7)
      out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
  }

  const OnnxModel &model;
  const GraphPlan &plan;
  const ConstantLookup &constants;
  proto::Model result;
  std::vector<Weight> weights;
  std::vector<OutputFile> files;
};

} // namespace

Expected<std::vector<OutputFile>>
tpuc::onnx::writeOptimizedOnnx(const OnnxModel &model, const std::vector<std::string> &outputs,
                               const std::string &path, const ConstantLookup &constants) {
  try {
    Expected<GraphPlan> plan = GraphPlan::make(model, outputs);
    if (!plan)
      return propagate(plan);
    return Writer(model, *plan, constants).write(path);
  } catch (const std::bad_alloc &) {
    return makeError(path, "takes more memory than there is");
  }
}
