//===- CaffeModel.cpp - A Caffe network as it was read --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/CaffeModel.h"
#include "tpuc/Frontend/Caffe/Caffe.pb.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <set>
#include <unordered_map>
#include <unordered_set>

using namespace tpuc;
using namespace tpuc::caffe;
using google::protobuf::FieldDescriptor;

struct CaffeModel::State {
  std::string where;
  proto::NetParameter net;
  std::vector<NetInput> inputs;
  std::vector<NetLayer> layers;
  std::vector<std::string> outputs;
  std::vector<std::string> notes;
  std::optional<CaffeWeights> weights;
};

const std::string &CaffeModel::where() const { return state->where; }
const std::vector<NetInput> &CaffeModel::inputs() const { return state->inputs; }
const std::vector<NetLayer> &CaffeModel::layers() const { return state->layers; }
const std::vector<std::string> &CaffeModel::outputs() const { return state->outputs; }
const std::vector<std::string> &CaffeModel::notes() const { return state->notes; }
const CaffeWeights *CaffeModel::weights() const {
  return state->weights ? &*state->weights : nullptr;
}

const std::string &NetLayer::name() const { return parameters->name(); }
const std::string &NetLayer::type() const { return parameters->type(); }
std::string NetLayer::describe() const { return fmt::format("layer '{}' ({})", name(), type()); }

std::vector<std::string> CaffeModel::sharedNames(const NetLayer &layer) {
  std::vector<std::string> names;
  for (const proto::ParamSpec &param : layer.parameters->param())
    names.push_back(param.name());
  return names;
}

namespace {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Fields of layers that training reads, and choices among implementations.
bool isOfNoEffect(std::string_view field) {
  static const std::set<std::string_view> kFields = {
      "accuracy_param",
      "annotated_data_param",
      "bias_filler",
      "bias_weight_filler",
      "blob_share_mode",
      "blobs_lr",
      "contrastive_loss_param",
      "cudnn_convolution_algo_seeker",
      "data_param",
      "debug_info",
      "decay_mult",
      "engine",
      "filler",
      "force_backward",
      "force_nd_im2col",
      "hdf5_data_param",
      "hdf5_output_param",
      "hinge_loss_param",
      "image_data_param",
      "infogain_loss_param",
      "loss_param",
      "loss_weight",
      "lr_mult",
      "max",
      "mean",
      "min",
      "memory_data_param",
      "moving_average_fraction",
      "multibox_loss_param",
      "propagate_down",
      "save_output_param",
      "scale_filler",
      "share_mode",
      "sigmoid_param",
      "slope_filler",
      "sparse",
      "stable_prod_grad",
      "std",
      "tanh_param",
      "transform_param",
      "variance_norm",
      "visualize",
      "visualize_threshold",
      "weight_decay",
      "weight_filler",
      "window_data_param",
  };
  return kFields.contains(field);
}

/// Keeps the first error of the parser, and the fields that it does not know.
class Complaints : public google::protobuf::io::ErrorCollector {
public:
  struct Unknown {
    int line;
    std::string message;
    std::string field;
  };

  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string &message) override {
    if (!error)
      error = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int line, google::protobuf::io::ColumnNumber,
                  const std::string &message) override {
    // Message type "tpuc.caffe.proto.LayerParameter" has no field named "foo".
    std::vector<std::string> quoted;
    for (size_t at = message.find('"'); at != std::string::npos; at = message.find('"', at + 1)) {
      size_t end = message.find('"', at + 1);
      if (end == std::string::npos)
        break;
      quoted.push_back(message.substr(at + 1, end - at - 1));
      at = end;
    }
    if (quoted.size() >= 2)
      unknown.push_back({line, quoted[0].substr(quoted[0].rfind('.') + 1), quoted[1]});
  }

  std::optional<std::string> error;
  std::vector<Unknown> unknown;
};

/// Deeper nesting than any network has; protobuf's parser follows each level with a call.
constexpr int kMaxDepth = 100;

Expected<void> parseText(std::string_view text, const std::string &where, proto::NetParameter &net,
                         std::vector<std::string> &notes) {
  if (text.find('\0') != std::string_view::npos)
    return makeError(where, "is a binary file", "a text: the .prototxt of a Caffe network");
  if (text.size() > INT32_MAX)
    return makeError(where, "is larger than 2 GiB", "the .prototxt of a Caffe network");
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  google::protobuf::TextFormat::Parser parser;
  google::protobuf::TextFormat::ParseInfoTree places;
  Complaints complaints;
  parser.RecordErrorsTo(&complaints);
  parser.WriteLocationsTo(&places);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxDepth);
  if (!parser.Parse(&stream, &net))
    return makeError(where, complaints.error.value_or("is no .prototxt"),
                     "the text of a Caffe network");
  // The layer that begins last before a line.
  std::map<int, const std::string *> begins;
  const google::protobuf::Descriptor *type = proto::NetParameter::descriptor();
  auto place = [&](const char *field, const auto &layers) {
    const FieldDescriptor *descriptor = type->FindFieldByName(field);
    for (int index = 0; index < layers.size(); ++index)
      begins[places.GetLocation(descriptor, index).line] = &layers.Get(index).name();
  };
  place("layer", net.layer());
  place("layers", net.layers());
  std::set<std::pair<std::string, std::string>> said;
  for (const Complaints::Unknown &each : complaints.unknown) {
    if (isOfNoEffect(each.field) || !said.emplace(each.message, each.field).second)
      continue;
    auto next = begins.upper_bound(each.line);
    std::string owner = next == begins.begin()
                            ? "the network"
                            : fmt::format("layer '{}'", *std::prev(next)->second);
    notes.push_back(
        fmt::format("{}: line {}: {} has the field '{}', which is not known and left out", where,
                    each.line + 1, owner, each.field));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Generations
//===----------------------------------------------------------------------===//

/// The type of a layer of the first generation as a text: `CONVOLUTION`, `Convolution`.
std::string typeOfFirst(proto::V1LayerParameter::LayerType type) {
  using V1 = proto::V1LayerParameter;
  switch (type) {
  case V1::NONE:
    return "None";
  case V1::ABSVAL:
    return "AbsVal";
  case V1::ARGMAX:
    return "ArgMax";
  case V1::BNLL:
    return "BNLL";
  case V1::ELTWISE:
    return "Eltwise";
  case V1::HDF5_DATA:
    return "HDF5Data";
  case V1::HDF5_OUTPUT:
    return "HDF5Output";
  case V1::IM2COL:
    return "Im2col";
  case V1::LRN:
    return "LRN";
  case V1::MVN:
    return "MVN";
  case V1::RELU:
    return "ReLU";
  case V1::SOFTMAX_LOSS:
    return "SoftmaxWithLoss";
  case V1::TANH:
    return "TanH";
  default:
    break;
  }
  // INNER_PRODUCT: InnerProduct
  std::string text;
  bool first = true;
  for (char c : proto::V1LayerParameter::LayerType_Name(type)) {
    if (c == '_')
      first = true;
    else
      text += std::exchange(first, false) ? c : static_cast<char>(std::tolower(c));
  }
  return text;
}

/// The layer of the first generation as one of the second. The groups of parameters are the same.
proto::LayerParameter upgraded(const proto::V1LayerParameter &old) {
  proto::LayerParameter layer;
  layer.set_name(old.name());
  layer.set_type(typeOfFirst(old.type()));
  *layer.mutable_bottom() = old.bottom();
  *layer.mutable_top() = old.top();
  *layer.mutable_include() = old.include();
  *layer.mutable_exclude() = old.exclude();
  for (const std::string &name : old.param())
    layer.add_param()->set_name(name);
  std::vector<const FieldDescriptor *> given;
  old.GetReflection()->ListFields(old, &given);
  for (const FieldDescriptor *field : given) {
    const FieldDescriptor *same = layer.GetDescriptor()->FindFieldByName(field->name());
    if (!same || field->is_repeated() || same->message_type() != field->message_type() ||
        field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    layer.GetReflection()
        ->MutableMessage(&layer, same)
        ->CopyFrom(old.GetReflection()->GetMessage(old, field));
  }
  return layer;
}

Expected<void> upgrade(proto::NetParameter &net, const std::string &where) {
  if (net.layers_size() == 0)
    return {};
  if (net.layer_size() > 0)
    return makeError(where, "has layers of two generations ('layers' and 'layer')", "one of them");
  for (const proto::V1LayerParameter &old : net.layers()) {
    if (old.has_layer())
      return makeError(where,
                       fmt::format("layer '{}' is of the first generation of Caffe (V0), before "
                                   "2014, which is not read",
                                   old.layer().name()),
                       "a network that Caffe's upgrade_net_proto_text has brought up to date");
    *net.add_layer() = upgraded(old);
  }
  net.clear_layers();
  return {};
}

//===----------------------------------------------------------------------===//
// What is there at inference
//===----------------------------------------------------------------------===//

bool meets(const proto::NetState &state, const proto::NetStateRule &rule) {
  if (rule.has_phase() && rule.phase() != state.phase())
    return false;
  if (rule.has_min_level() && state.level() < rule.min_level())
    return false;
  if (rule.has_max_level() && state.level() > rule.max_level())
    return false;
  auto has = [&](const std::string &stage) {
    return std::ranges::find(state.stage(), stage) != state.stage().end();
  };
  return std::ranges::all_of(rule.stage(), has) && std::ranges::none_of(rule.not_stage(), has);
}

bool isIncluded(const proto::NetState &state, const proto::LayerParameter &layer) {
  auto met = [&](const proto::NetStateRule &rule) { return meets(state, rule); };
  if (layer.include_size() > 0)
    return std::ranges::any_of(layer.include(), met);
  return std::ranges::none_of(layer.exclude(), met);
}

/// Layers that measure what training wants to know. Their inputs become outputs of the network.
bool servesTraining(std::string_view type) {
  return type.ends_with("Loss") || type == "Accuracy" || type == "DetectionEvaluate" ||
         type == "HDF5Output";
}

bool readsDatabase(std::string_view type) {
  static const std::set<std::string_view> kTypes = {
      "AnnotatedData", "Data", "HDF5Data", "ImageData", "MemoryData", "VideoData", "WindowData"};
  return kTypes.contains(type);
}

} // namespace

namespace tpuc::caffe {

/// Makes the tensors of a network: each is made once.
class NetBuilder {
public:
  NetBuilder(CaffeModel::State &state, const proto::NetParameter &net) : state(state), net(net) {}

  Expected<void> run() {
    select();
    if (Expected<void> named = countProducers(); !named)
      return named;
    if (Expected<void> added = addInputs(); !added)
      return added;
    for (const proto::LayerParameter *layer : selected)
      if (Expected<void> added = addLayer(*layer); !added)
        return added;
    for (const std::string &tensor : made)
      if (!read.contains(tensor))
        state.outputs.push_back(tensor);
    if (state.outputs.empty())
      return makeError(state.where, "has no layers at inference", "a network with outputs");
    return {};
  }

private:
  void select() {
    for (const proto::LayerParameter &layer : net.layer())
      if (isIncluded(net.state(), layer))
        selected.push_back(&layer);
  }

  std::string place(const proto::LayerParameter &layer) const {
    return fmt::format("{}: layer '{}' ({})", state.where, layer.name(), layer.type());
  }

  /// How often each blob is stored to; all names of blobs and layers are taken.
  Expected<void> countProducers() {
    for (const std::string &input : net.input())
      ++producers[input];
    for (const proto::LayerParameter *layer : selected) {
      if (layer->include_size() > 0 && layer->exclude_size() > 0)
        return makeError(place(*layer), "has rules to include and to exclude it", "one kind");
      if (!servesTraining(layer->type()))
        for (const std::string &top : layer->top())
          ++producers[top];
    }
    for (const auto &[name, count] : producers)
      taken.insert(name);
    return {};
  }

  Expected<void> addInput(const std::string &blob, std::optional<std::vector<int64_t>> dims,
                          const std::string &where) {
    if (blobs.contains(blob))
      return makeError(where, "blob '" + blob + "' is made twice", "each once");
    blobs[blob] = blob;
    givenNames.insert(blob);
    state.inputs.push_back({blob, std::move(dims)});
    return {};
  }

  Expected<void> addInputs() {
    const int count = net.input_size();
    if (net.input_dim_size() > 0 && net.input_shape_size() > 0)
      return makeError(state.where, "has both input_dim and input_shape", "one of them");
    if (net.input_dim_size() > 0 && net.input_dim_size() != 4 * count)
      return makeError(
          state.where,
          fmt::format("has {} of input_dim for {} inputs", net.input_dim_size(), count),
          fmt::format("{}", 4 * count));
    if (net.input_shape_size() > 0 && net.input_shape_size() != count)
      return makeError(
          state.where,
          fmt::format("has {} of input_shape for {} inputs", net.input_shape_size(), count),
          fmt::format("{}", count));
    for (int index = 0; index < count; ++index) {
      std::optional<std::vector<int64_t>> dims;
      if (net.input_dim_size() > 0) {
        const auto *first = net.input_dim().data() + static_cast<ptrdiff_t>(4 * index);
        dims.emplace(first, first + 4);
      } else if (net.input_shape_size() > 0) {
        dims.emplace(net.input_shape(index).dim().begin(), net.input_shape(index).dim().end());
      }
      if (Expected<void> added = addInput(net.input(index), std::move(dims), state.where); !added)
        return added;
    }
    return {};
  }

  /// An `Input` layer.
  Expected<void> addInputLayer(const proto::LayerParameter &layer) {
    const auto &shapes = layer.input_param().shape();
    if (shapes.size() > 1 && shapes.size() != layer.top_size())
      return makeError(place(layer),
                       fmt::format("has {} shapes for {} tops", shapes.size(), layer.top_size()),
                       "one, or one for each top");
    for (int index = 0; index < layer.top_size(); ++index) {
      std::optional<std::vector<int64_t>> dims;
      if (!shapes.empty()) {
        const proto::BlobShape &shape = shapes.size() == 1 ? shapes.Get(0) : shapes.Get(index);
        dims.emplace(shape.dim().begin(), shape.dim().end());
      }
      if (Expected<void> added = addInput(layer.top(index), std::move(dims), place(layer)); !added)
        return added;
    }
    return {};
  }

  Expected<void> addLayer(const proto::LayerParameter &layer) {
    if (layer.type() == "Input")
      return addInputLayer(layer);
    if (readsDatabase(layer.type()))
      return makeError(place(layer), "reads data for training or tests",
                       "a network for inference (deploy.prototxt), whose inputs are stated");
    if (servesTraining(layer.type())) {
      state.notes.push_back(fmt::format("{} is left out: it serves training", place(layer)));
      return {};
    }
    NetLayer added;
    added.parameters = &layer;
    for (const std::string &bottom : layer.bottom()) {
      auto found = blobs.find(bottom);
      if (found == blobs.end())
        return makeError(place(layer), "no layer before it makes the bottom '" + bottom + "'",
                         "the top of an earlier layer, or an input");
      added.bottoms.push_back(found->second);
      read.insert(found->second);
    }
    if (layer.type() == "Silence")
      return {};
    for (const std::string &top : layer.top()) {
      bool inPlace = std::ranges::find(layer.bottom(), top) != layer.bottom().end();
      if (blobs.contains(top) && !inPlace)
        return makeError(place(layer), "makes the top '" + top + "', which is there already",
                         "a new name, or that of a bottom");
      added.tops.push_back(nameOf(top, layer.name().empty() ? top : layer.name()));
    }
    for (size_t index = 0; index < added.tops.size(); ++index) {
      blobs[layer.top(static_cast<int>(index))] = added.tops[index];
      made.push_back(added.tops[index]);
    }
    state.layers.push_back(std::move(added));
    return {};
  }

  /// The name of the next tensor in `blob`: the blob's where it is the last one, else `otherwise`.
  /// The blob of an input is named after that.
  std::string nameOf(const std::string &blob, const std::string &otherwise) {
    if (--producers[blob] <= 0 && !givenNames.contains(blob))
      return blob;
    std::string name = otherwise;
    for (int number = 1; !taken.insert(name).second; ++number)
      name = fmt::format("{}_{}", otherwise, number);
    return name;
  }

  CaffeModel::State &state;
  const proto::NetParameter &net;
  std::vector<const proto::LayerParameter *> selected;
  std::unordered_map<std::string, int> producers;
  std::unordered_set<std::string> taken;
  std::unordered_set<std::string> givenNames;
  std::unordered_map<std::string, std::string> blobs; ///< The tensor that a blob holds now.
  std::vector<std::string> made;
  std::unordered_set<std::string> read;
};

} // namespace tpuc::caffe

Expected<CaffeModel> CaffeModel::fromText(std::string_view text, const std::string &where) {
  CaffeModel model(std::make_shared<State>());
  State &state = *model.state;
  state.where = where;
  try {
    if (Expected<void> parsed = parseText(text, where, state.net, state.notes); !parsed)
      return propagate(parsed);
    if (Expected<void> done = upgrade(state.net, where); !done)
      return propagate(done);
    if (Expected<void> built = NetBuilder(state, state.net).run(); !built)
      return propagate(built);
  } catch (const std::bad_alloc &) {
    return makeError(where, "takes more memory than there is");
  }
  return model;
}

Expected<CaffeModel> CaffeModel::open(const std::string &path, const std::string &weights) {
  auto file = MappedFile::open(path);
  if (!file)
    return propagate(file);
  std::span<const std::byte> bytes = (*file)->bytes();
  if (bytes.empty())
    return makeError(path, "is empty", "the .prototxt of a Caffe network");
  Expected<CaffeModel> model =
      fromText({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
  if (!model || weights.empty())
    return model;
  Expected<CaffeWeights> read = CaffeWeights::open(weights);
  if (!read)
    return propagate(read);
  model->state->weights = std::move(*read);
  return model;
}
