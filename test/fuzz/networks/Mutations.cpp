//===- Mutations.cpp - Networks that mean something else ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/networks/Mutations.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace tpuc::fuzz {

namespace proto = onnx::proto;

namespace {

// Extents and counts are small, or so large that no machine holds them. What lies between would
// take much memory rightly.
constexpr int64_t kIntegers[] = {0,
                                 1,
                                 -1,
                                 2,
                                 3,
                                 4,
                                 5,
                                 7,
                                 17,
                                 -2,
                                 -3,
                                 -17,
                                 int64_t{1} << 31,
                                 -(int64_t{1} << 31),
                                 (int64_t{1} << 32) + 1,
                                 int64_t{1} << 45,
                                 int64_t{1} << 62,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
constexpr float kFloats[] = {0.0F,
                             -0.0F,
                             1.0F,
                             -1.0F,
                             1e-45F,
                             1e38F,
                             -1e38F,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
// Texts of some attribute or another.
const std::string kTexts[] = {"",       "NOTSET", "SAME_UPPER", "SAME_LOWER",   "VALID",   "linear",
                              "cubic",  "CRD",    "DCR",        "reflect",      "edge",    "wrap",
                              "border", "tanh",   "forward",    "reverse",      "mean",    "sum",
                              "none",   "floor",  "asymmetric", "half_pixel",   "nearest", "x",
                              "LEFT",   "RIGHT",  "constant",   "bidirectional"};
// TensorProto.DataType: FLOAT, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, ..., unknown.
constexpr int kTypes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 21, 22, 0, 99};

/// The fields of AttributeProto.AttributeType that are changed.
enum AttributeType { kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kFloatList = 6, kIntList = 7 };

class Mutator {
public:
  Mutator(proto::Model &model, std::span<const std::string> operators, uint64_t seed)
      : model(model), graph(*model.mutable_graph()), operators(operators), random(seed) {}

  Change run() {
    struct Way {
      std::string (Mutator::*change)();
      const char *kind;
    };
    constexpr Way kAttribute = {&Mutator::changeAttribute, "an attribute"};
    constexpr Way kConstant = {&Mutator::changeConstant, "a constant"};
    constexpr Way kShape = {&Mutator::changeShape, "the shape of an input"};
    constexpr Way kInputs = {&Mutator::changeInputs, "what a node reads"};
    // Attributes and constants are what operators trust most.
    constexpr Way kWays[] = {kAttribute,
                             kAttribute,
                             kAttribute,
                             kAttribute,
                             kConstant,
                             kConstant,
                             kConstant,
                             kShape,
                             kShape,
                             {&Mutator::changeType, "the type of an input"},
                             kInputs,
                             kInputs,
                             {&Mutator::changeOutputs, "what a node makes"},
                             {&Mutator::addAttribute, "an attribute more"},
                             {&Mutator::dropAttribute, "an attribute less"},
                             {&Mutator::changeOperator, "an operator"},
                             {&Mutator::changeVersion, "the version of the operators"},
                             {&Mutator::repeatNode, "a node twice"},
                             {&Mutator::addOutput, "an output more"}};
    // What one of them cannot do, another one can.
    for (int trial = 0; trial < 8; ++trial) {
      const Way &way = random.of(kWays);
      if (std::string done = (this->*way.change)(); !done.empty())
        return {done, way.kind};
    }
    return {};
  }

private:
  int64_t integer(int64_t old) {
    switch (random.below(8)) {
    case 0:
      return old == std::numeric_limits<int64_t>::max() ? 0 : old + 1;
    case 1:
      return old == std::numeric_limits<int64_t>::min() ? 0 : old - 1;
    case 2:
      return static_cast<int64_t>(-static_cast<uint64_t>(old));
    default:
      return random.of(kIntegers);
    }
  }
  float number(float old) { return random.oneIn(6) ? -2 * old : random.of(kFloats); }

  proto::Node *node() {
    const int count = graph.node_size();
    return count == 0 ? nullptr : graph.mutable_node(static_cast<int>(random.below(size_t(count))));
  }

  /// An attribute of any node, of the ones with attributes.
  std::pair<proto::Node *, proto::Attribute *> attribute() {
    std::vector<std::pair<proto::Node *, proto::Attribute *>> all;
    for (proto::Node &each : *graph.mutable_node())
      for (proto::Attribute &attribute : *each.mutable_attribute())
        all.emplace_back(&each, &attribute);
    return all.empty() ? std::pair<proto::Node *, proto::Attribute *>()
                       : all[random.below(all.size())];
  }

  /// Changes a list of numbers: one of them, how many there are, or their order.
  template <typename List, typename Make>
  std::string changeList(List &list, const std::string &name, Make make) {
    const int count = list.size();
    if (count == 0 || random.oneIn(10)) {
      list.Add(make({}));
      return fmt::format("{} has one more: {}", name, list.Get(count));
    }
    const int index = static_cast<int>(random.below(size_t(count)));
    if (random.oneIn(8)) {
      list.erase(list.begin() + index);
      return fmt::format("{} lacks number {}", name, index);
    }
    if (random.oneIn(12)) {
      list.Clear();
      return name + " is empty";
    }
    if (random.oneIn(12)) {
      list.SwapElements(index, 0);
      return fmt::format("{} has numbers 0 and {} in each other's place", name, index);
    }
    list.Set(index, make(list.Get(index)));
    return fmt::format("{}[{}] = {}", name, index, list.Get(index));
  }
  std::string changeIntegers(google::protobuf::RepeatedField<int64_t> &list,
                             const std::string &name) {
    return changeList(list, name, [&](int64_t old) { return integer(old); });
  }
  std::string changeFloats(google::protobuf::RepeatedField<float> &list, const std::string &name) {
    return changeList(list, name, [&](float old) { return number(old); });
  }

  std::string changeTensor(proto::Tensor &tensor, const std::string &name) {
    if (random.oneIn(5))
      return changeIntegers(*tensor.mutable_dims(), name + ".dims");
    if (random.oneIn(10)) {
      tensor.set_data_type(random.of(kTypes));
      return fmt::format("{} has type {}", name, tensor.data_type());
    }
    if (tensor.int64_data_size() > 0)
      return changeIntegers(*tensor.mutable_int64_data(), name);
    if (tensor.float_data_size() > 0)
      return changeFloats(*tensor.mutable_float_data(), name);
    if (tensor.int32_data_size() > 0)
      return changeList(*tensor.mutable_int32_data(), name,
                        [&](int32_t old) { return static_cast<int32_t>(integer(old)); });
    return {};
  }

  std::string changeAttribute() {
    auto [owner, attribute] = this->attribute();
    if (!attribute)
      return {};
    const std::string name = owner->op_type() + "." + attribute->name();
    if (random.oneIn(20)) {
      attribute->set_type(static_cast<int>(random.below(15)));
      return fmt::format("{} has type {}", name, attribute->type());
    }
    switch (attribute->type()) {
    case kInt:
      attribute->set_i(integer(attribute->i()));
      return fmt::format("{} = {}", name, attribute->i());
    case kFloat:
      attribute->set_f(number(attribute->f()));
      return fmt::format("{} = {}", name, attribute->f());
    case kString:
      attribute->set_s(random.of(kTexts));
      return fmt::format("{} = '{}'", name, attribute->s());
    case kIntList:
      return changeIntegers(*attribute->mutable_ints(), name);
    case kFloatList:
      return changeFloats(*attribute->mutable_floats(), name);
    case kTensor:
      return changeTensor(*attribute->mutable_t(), name);
    default:
      return {};
    }
  }

  /// An attribute that operators of other networks have, or one twice.
  std::string addAttribute() {
    proto::Node *owner = node();
    if (!owner)
      return {};
    if (owner->attribute_size() > 0 && random.oneIn(4)) {
      *owner->add_attribute() = owner->attribute(0);
      return fmt::format("{} has attribute {} twice", owner->op_type(), owner->attribute(0).name());
    }
    static const std::string kNames[] = {
        "axis", "axes", "keepdims",  "group",        "pads",    "perm",   "strides", "dilations",
        "to",   "mode", "allowzero", "kernel_shape", "epsilon", "starts", "ends",    "ceil_mode"};
    proto::Attribute &added = *owner->add_attribute();
    added.set_name(random.of(kNames));
    if (random.oneIn(2)) {
      added.set_type(kInt);
      added.set_i(integer(1));
      return fmt::format("{} has attribute {} = {}", owner->op_type(), added.name(), added.i());
    }
    added.set_type(kIntList);
    for (size_t count = random.below(5); count-- > 0;)
      added.add_ints(integer(1));
    return fmt::format("{} has attribute {} of {} numbers", owner->op_type(), added.name(),
                       added.ints_size());
  }

  std::string dropAttribute() {
    proto::Node *owner = node();
    if (!owner || owner->attribute_size() == 0)
      return {};
    const int index = static_cast<int>(random.below(size_t(owner->attribute_size())));
    const std::string name = owner->attribute(index).name();
    owner->mutable_attribute()->DeleteSubrange(index, 1);
    return fmt::format("{} lacks {}", owner->op_type(), name);
  }

  std::string changeConstant() {
    const int count = graph.initializer_size();
    if (count == 0)
      return {};
    proto::Tensor &tensor =
        *graph.mutable_initializer(static_cast<int>(random.below(size_t(count))));
    return changeTensor(tensor, "constant:" + readerOf(tensor.name()));
  }

  /// "Conv:1" for what is operand 1 of a Conv.
  std::string readerOf(const std::string &name) const {
    for (const proto::Node &reader : graph.node())
      for (int i = 0; i < reader.input_size(); ++i)
        if (reader.input(i) == name)
          return fmt::format("{}:{}", reader.op_type(), i);
    return "unread";
  }

  proto::ValueInfo *inputInfo() {
    const int count = graph.input_size();
    if (count == 0)
      return nullptr;
    return graph.mutable_input(static_cast<int>(random.below(size_t(count))));
  }

  std::string changeShape() {
    proto::ValueInfo *info = inputInfo();
    if (!info)
      return {};
    proto::TensorShape &shape = *info->mutable_type()->mutable_tensor_type()->mutable_shape();
    const std::string name = "shape:" + readerOf(info->name());
    const int rank = shape.dim_size();
    if (rank == 0 || random.oneIn(8)) {
      shape.add_dim()->set_dim_value(random.oneIn(4) ? integer(1) : 2);
      return fmt::format("{} has one more: {}", name, shape.dim(rank).dim_value());
    }
    const int index = static_cast<int>(random.below(size_t(rank)));
    if (random.oneIn(8)) {
      shape.mutable_dim()->DeleteSubrange(index, 1);
      return fmt::format("{} lacks dimension {}", name, index);
    }
    if (random.oneIn(12)) {
      shape.mutable_dim(index)->set_dim_param("n");
      return fmt::format("{}: dimension {} is open", name, index);
    }
    shape.mutable_dim(index)->set_dim_value(integer(shape.dim(index).dim_value()));
    return fmt::format("{}[{}] = {}", name, index, shape.dim(index).dim_value());
  }

  std::string changeType() {
    proto::ValueInfo *info = inputInfo();
    if (!info)
      return {};
    const int type = random.of(kTypes);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return fmt::format("type:{} = {}", readerOf(info->name()), type);
  }

  /// A name of anything in the network, also of what is made later.
  std::string anyName() {
    std::vector<std::string> names;
    for (const proto::ValueInfo &info : graph.input())
      names.push_back(info.name());
    for (const proto::Tensor &tensor : graph.initializer())
      names.push_back(tensor.name());
    for (const proto::Node &each : graph.node())
      names.insert(names.end(), each.output().begin(), each.output().end());
    return names.empty() ? "nothing" : names[random.below(names.size())];
  }

  std::string changeInputs() {
    proto::Node *reader = node();
    if (!reader || reader->input_size() == 0)
      return {};
    const int index = static_cast<int>(random.below(size_t(reader->input_size())));
    const std::string name = fmt::format("{}:{}", reader->op_type(), index);
    switch (random.below(5)) {
    case 0:
      reader->set_input(index, "");
      return name + " is left out";
    case 1:
      reader->mutable_input()->RemoveLast();
      return reader->op_type() + " lacks its last input";
    case 2:
      reader->add_input(reader->input(index));
      return name + " stands there twice";
    case 3:
      reader->mutable_input()->SwapElements(0, index);
      return name + " is in the place of the first one";
    default:
      reader->set_input(index, anyName());
      return name + " = " + reader->input(index);
    }
  }

  std::string changeOutputs() {
    proto::Node *maker = node();
    if (!maker || maker->output_size() == 0)
      return {};
    switch (random.below(3)) {
    case 0:
      maker->set_output(0, "");
      return maker->op_type() + " has no first output";
    case 1:
      maker->add_output(maker->output(0) + "_more");
      return maker->op_type() + " has one more output";
    default:
      maker->add_output(anyName());
      return maker->op_type() + " makes " + maker->output(maker->output_size() - 1) + " too";
    }
  }

  std::string changeOperator() {
    proto::Node *changed = node();
    if (!changed || operators.empty())
      return {};
    const std::string old = changed->op_type();
    changed->set_op_type(random.of(operators));
    return old + " becomes " + changed->op_type();
  }

  std::string changeVersion() {
    for (proto::OperatorSetId &set : *model.mutable_opset_import())
      if (set.domain().empty()) {
        set.set_version(static_cast<int64_t>(1 + random.below(28)));
        return fmt::format("operators are of version {}", set.version());
      }
    return {};
  }

  /// A node once more, on what it has made.
  std::string repeatNode() {
    const proto::Node *last = node();
    if (!last || last->input_size() == 0 || last->output_size() == 0)
      return {};
    proto::Node again = *last;
    again.set_input(0, last->output(0));
    again.mutable_output()->Clear();
    again.add_output(last->output(0) + "_again");
    graph.add_output()->set_name(again.output(0));
    *graph.add_node() = again;
    return again.op_type() + " once more";
  }

  std::string addOutput() {
    const std::string name = anyName();
    graph.add_output()->set_name(name);
    return "output " + name;
  }

  proto::Model &model;
  proto::Graph &graph;
  std::span<const std::string> operators;
  Random random;
};

} // namespace

Change mutate(proto::Model &model, std::span<const std::string> operators, uint64_t seed) {
  return Mutator(model, operators, seed).run();
}

std::vector<std::string> operatorsOf(std::span<const proto::Model> models) {
  std::set<std::string> names;
  for (const proto::Model &model : models)
    for (const proto::Node &node : model.graph().node())
      names.insert(node.op_type());
  return {names.begin(), names.end()};
}

} // namespace tpuc::fuzz
