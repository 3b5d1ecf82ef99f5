//===- OpContext.cpp - One op while it is evaluated -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/OpContext.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;
using namespace tpuc::ops;

OpContext::~OpContext() = default;

Expected<Tensor *> OpContext::allocate(unsigned index, DataType type, const Shape &shape) {
  Expected<Tensor> tensor = room(index, type, shape);
  if (!tensor)
    return propagate(tensor);
  outputs[index] = std::move(*tensor);
  return &outputs[index];
}

/// A list without elements says nothing of their kind.
static bool isEmptyList(const Attribute &attribute) {
  return std::visit(
      []<typename T>(const T &value) {
        if constexpr (requires(T list) { list.pop_back(); } && !std::is_same_v<T, std::string>)
          return value.empty();
        return false;
      },
      attribute);
}

template <typename T> std::optional<T> OpContext::optionalAs(std::string_view name) const {
  std::optional<Attribute> found = attribute(name);
  if (!found)
    return std::nullopt;
  if (T *value = std::get_if<T>(&*found))
    return std::move(*value);
  if (isEmptyList(*found) && isEmptyList(Attribute(T())))
    return T();
  throw AttributeError{"attribute '" + std::string(name) + "' of another kind", ""};
}

template <typename T> T OpContext::as(std::string_view name) const {
  std::optional<T> value = optionalAs<T>(name);
  if (!value)
    throw AttributeError{"no attribute '" + std::string(name) + "'", "one"};
  return std::move(*value);
}

int64_t OpContext::integer(std::string_view name) const { return as<int64_t>(name); }
double OpContext::real(std::string_view name) const { return as<double>(name); }
std::string OpContext::text(std::string_view name) const { return as<std::string>(name); }
DataType OpContext::type(std::string_view name) const { return as<DataType>(name); }
Dims OpContext::intList(std::string_view name) const { return as<Dims>(name); }
bool OpContext::flag(std::string_view name) const { return as<bool>(name); }

Tensor OpContext::number(std::string_view name) const {
  const std::optional<Attribute> found = attribute(name);
  if (const bool *value = found ? std::get_if<bool>(&*found) : nullptr)
    return Tensor::of<bool>({}, {*value});
  if (const int64_t *value = found ? std::get_if<int64_t>(&*found) : nullptr)
    return Tensor::of<int64_t>({}, {*value});
  if (const double *value = found ? std::get_if<double>(&*found) : nullptr)
    return Tensor::of<double>({}, {*value});
  return as<Tensor>(name);
}

bool OpContext::optionalFlag(std::string_view name) const {
  return optionalAs<bool>(name).value_or(false);
}

std::optional<std::string> OpContext::optionalText(std::string_view name) const {
  return optionalAs<std::string>(name);
}

std::optional<int64_t> OpContext::optionalInteger(std::string_view name) const {
  return optionalAs<int64_t>(name);
}

std::optional<double> OpContext::optionalReal(std::string_view name) const {
  return optionalAs<double>(name);
}

std::optional<DataType> OpContext::optionalType(std::string_view name) const {
  return optionalAs<DataType>(name);
}

std::optional<Dims> OpContext::optionalIntList(std::string_view name) const {
  return optionalAs<Dims>(name);
}

std::optional<std::vector<std::string>> OpContext::optionalTextList(std::string_view name) const {
  return optionalAs<std::vector<std::string>>(name);
}

std::vector<double> OpContext::realList(std::string_view name) const {
  return optionalAs<std::vector<double>>(name).value_or(std::vector<double>());
}

std::optional<Dims> OpContext::intsOf(unsigned index) const {
  if (!has(index))
    return std::nullopt;
  const Tensor wide = convert(operand(index), DataType::I64);
  const auto values = wide.data<int64_t>();
  return Dims(values.begin(), values.end());
}

std::optional<Dims> OpContext::ints(std::string_view name, unsigned index) const {
  if (std::optional<Dims> given = intsOf(index))
    return given;
  return optionalIntList(name);
}

tl::unexpected<Error> OpContext::error(std::string found, std::string expected) const {
  return makeError(place(), std::move(found), std::move(expected));
}
