//===- ModelInputs.cpp - The inputs of a model, and what options make of them -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/ModelInputs.h"
#include "tpuc/Support/Sizes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::frontend;

Expected<void> InputBinder::checkCounts(const std::vector<std::string> &names) const {
  std::vector<std::string> quoted;
  for (const std::string &name : names)
    quoted.push_back("'" + name + "'");
  for (auto [option, count] : {std::pair("--input_shapes", options.inputShapes.size()),
                               std::pair("--input_types", options.inputTypes.size())})
    if (count != 0 && count != names.size())
      return makeError(
          option, fmt::format("has {} entries", count),
          fmt::format("one for each of the {} inputs {}", names.size(), fmt::join(quoted, ", ")));
  return {};
}

Expected<void> InputBinder::bindType(ModelInput &input, size_t index) const {
  if (options.inputTypes.empty())
    return {};
  std::string name = options.inputTypes[index];
  for (auto [prefix, letter] : {std::pair("float", "f"), std::pair("bfloat", "bf"),
                                std::pair("uint", "u"), std::pair("int", "i")})
    if (name.starts_with(prefix) && !name.starts_with("float8")) {
      name = letter + name.substr(std::string_view(prefix).size());
      break;
    }
  std::optional<DataType> given = parseDataType(name);
  if (!given)
    return makeError("--input_types",
                     fmt::format("'{}' is no element type", options.inputTypes[index]),
                     "float32, float16, int64, int32, uint8, bool, ...");
  input.given = *given;
  return {};
}

Expected<void> InputBinder::bindShape(ModelInput &input, size_t index) const {
  if (options.inputShapes.empty())
    return {};
  const std::vector<int64_t> &shape = options.inputShapes[index];
  if (input.dims && input.dims->size() != shape.size())
    return makeError("--input_shapes",
                     fmt::format("gives input '{}' {} dimensions", input.name, shape.size()),
                     fmt::format("{} as in {}", input.dims->size(), where));
  for (int64_t extent : shape)
    if (extent < 0)
      return makeError("--input_shapes",
                       fmt::format("gives input '{}' dimension {}", input.name, extent),
                       "0 or more");
  input.dims = Ints(shape.begin(), shape.end());
  return {};
}

Expected<void> InputBinder::bindSymbols(const DeclaredInput &input, const Ints &dims) {
  for (size_t axis = 0; axis < input.symbols.size(); ++axis) {
    const std::string &symbol = input.symbols[axis];
    // '?' is what some exporters call every dimension that they do not know.
    if (symbol.empty() || symbol == "?")
      continue;
    int64_t extent = dims[axis];
    auto [place, isNew] = bound.emplace(symbol, std::pair(extent, input.name));
    if (!isNew && place->second.first != extent)
      return makeError("--input_shapes",
                       fmt::format("makes dimension '{}' {} in input '{}' and {} in input '{}'",
                                   symbol, place->second.first, place->second.second, extent,
                                   input.name),
                       "one number");
  }
  return {};
}

Expected<ModelInput> InputBinder::bind(const DeclaredInput &input, size_t index) {
  ModelInput made{input.name, input.type, input.type, input.dims};
  if (Expected<void> typed = bindType(made, index); !typed)
    return propagate(typed);
  if (Expected<void> shaped = bindShape(made, index); !shaped)
    return propagate(shaped);
  // Dynamic extents count 1 here: what is known must be addressable.
  if (made.dims) {
    std::vector<int64_t> known(made.dims->begin(), made.dims->end());
    std::ranges::replace(known, ShapedType::kDynamic, int64_t(1));
    if (Expected<void> sized = checkTensorSize(known, made.declared); !sized)
      return makeError(fmt::format("{}: input '{}'", where, input.name), sized.error().found,
                       sized.error().expected);
  }
  if (!options.inputShapes.empty())
    if (Expected<void> right = bindSymbols(input, *made.dims); !right)
      return propagate(right);
  return made;
}
