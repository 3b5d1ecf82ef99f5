//===- GroupFile.cpp - Groups as a file that can be edited ---------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupFile.h"
#include "tpuc/Codegen/Group/GroupSearch.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Support/Nesting.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// Names hold any bytes; JSON holds UTF-8.
static std::string nameInFile(Operation *layer) { return llvm::json::fixUTF8(layerName(layer)); }

Expected<OutputFile> codegen::writeGroups(ArrayRef<GroupPlan> groups, const std::string &path) {
  llvm::json::Array list;
  for (const GroupPlan &group : groups) {
    llvm::json::Array layers;
    for (Operation *layer : group.layers)
      layers.push_back(nameInFile(layer));
    llvm::json::Object entry{{"layers", std::move(layers)}};
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      if (group.counts[axis] != 1)
        entry[axisName(axis)] = int64_t{group.counts[axis]};
    list.push_back(std::move(entry));
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", llvm::json::Value(llvm::json::Object{{"groups", std::move(list)}}));
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file;
  if (Expected<void> written = file->write(text); !written)
    return propagate(written);
  return file;
}

namespace {

class GroupReader {
public:
  GroupReader(std::string path, ArrayRef<Operation *> layers, GroupPlanner &planner,
              const Backend &backend)
      : path(std::move(path)), layers(layers), planner(planner), backend(backend) {}

  Expected<std::vector<GroupPlan>> read();

private:
  Expected<llvm::json::Value> parse() const;
  Expected<GroupPlan> group(const llvm::json::Value &entry, size_t number);
  Expected<std::vector<Operation *>> members(const llvm::json::Object &entry,
                                             const std::string &where);
  Expected<TileCounts> counts(const llvm::json::Object &entry, const std::string &where) const;

  std::string path;
  ArrayRef<Operation *> layers;
  GroupPlanner &planner;
  const Backend &backend;
  llvm::StringMap<size_t> positions;
  llvm::DenseSet<Operation *> taken;
};

constexpr const char *kExpected = "what save-groups writes";

Expected<llvm::json::Value> GroupReader::parse() const {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return makeError(path, buffer.getError().message());
  if (Expected<void> checked = checkNesting((*buffer)->getBuffer(), path); !checked)
    return propagate(checked);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  if (!value)
    return makeError(path, "is no JSON: " + llvm::toString(value.takeError()), kExpected);
  return std::move(*value);
}

Expected<std::vector<Operation *>> GroupReader::members(const llvm::json::Object &entry,
                                                        const std::string &where) {
  const llvm::json::Array *names = entry.getArray("layers");
  if (!names || names->empty())
    return makeError(where, "has no layers", "a list of names");
  std::vector<Operation *> made;
  for (const llvm::json::Value &name : *names) {
    const std::optional<StringRef> text = name.getAsString();
    const auto found = text ? positions.find(*text) : positions.end();
    if (found == positions.end())
      return makeError(where,
                       text ? "there is no layer '" + text->str() + "'" : "a layer has no name",
                       "a layer that computes in local memory");
    Operation *layer = layers[found->second];
    if (!taken.insert(layer).second)
      return makeError(where, "layer '" + text->str() + "' is in two groups", "one");
    if (!made.empty() && !made.back()->isBeforeInBlock(layer))
      return makeError(where, "layer '" + text->str() + "' comes too late",
                       "layers in the order in which they are computed");
    made.push_back(layer);
  }
  if (!standsTogether(made))
    return makeError(where, "something between its layers reads one of them and is none of them",
                     "layers that run without others between them");
  return made;
}

Expected<TileCounts> GroupReader::counts(const llvm::json::Object &entry,
                                         const std::string &where) const {
  TileCounts counts{1, 1, 1, 1, 1};
  for (unsigned axis = 0; axis < kNumAxes; ++axis) {
    const llvm::json::Value *value = entry.get(axisName(axis));
    if (!value)
      continue;
    const std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < 1 || *number > std::numeric_limits<unsigned>::max())
      return makeError(where, axisName(axis).str() + " is no number of parts", "at least 1");
    counts[axis] = static_cast<unsigned>(*number);
  }
  return counts;
}

Expected<GroupPlan> GroupReader::group(const llvm::json::Value &entry, size_t number) {
  const std::string where = path + ": group " + std::to_string(number);
  const llvm::json::Object *object = entry.getAsObject();
  if (!object)
    return makeError(where, "is no object", kExpected);
  Expected<std::vector<Operation *>> made = members(*object, where);
  if (!made)
    return propagate(made);
  Expected<TileCounts> parts = counts(*object, where);
  if (!parts)
    return propagate(parts);
  // A layer by itself may see its elements in another order than one among others.
  if (made->size() == 1 && !isInPlaceConcat(made->front(), backend)) {
    Expected<GroupPlan> alone = planner.alone(made->front());
    if (alone && alone->counts == *parts)
      return alone;
  }
  Expected<GroupPlan> plan = planner.together(*made, *parts);
  if (!plan)
    return makeError(where, plan.error().message());
  return plan;
}

Expected<std::vector<GroupPlan>> GroupReader::read() {
  for (auto [position, layer] : llvm::enumerate(layers))
    positions[nameInFile(layer)] = position;
  Expected<llvm::json::Value> root = parse();
  if (!root)
    return propagate(root);
  const llvm::json::Object *object = root->getAsObject();
  const llvm::json::Array *entries = object ? object->getArray("groups") : nullptr;
  if (!entries)
    return makeError(path, "has no groups", kExpected);
  std::vector<GroupPlan> groups;
  for (const llvm::json::Value &entry : *entries) {
    Expected<GroupPlan> made = group(entry, groups.size());
    if (!made)
      return propagate(made);
    groups.push_back(std::move(*made));
  }
  for (Operation *layer : layers)
    if (!taken.contains(layer) && !isInPlaceConcat(layer, backend))
      return makeError(path, "layer '" + nameInFile(layer) + "' is in no group",
                       "every layer in one");
  return groups;
}

} // namespace

Expected<std::vector<GroupPlan>> codegen::readGroups(const std::string &path,
                                                     ArrayRef<Operation *> layers,
                                                     GroupPlanner &planner,
                                                     const Backend &backend) {
  return GroupReader(path, layers, planner, backend).read();
}
