//===- ParamLiteral.cpp - The parameters of a Python layer ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/ParamLiteral.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

constexpr unsigned kMostDepth = 32;

class LiteralReader {
public:
  LiteralReader(std::string_view text, MLIRContext *context) : text(text), builder(context) {}

  Expected<ParamLiteral> run() {
    ParamLiteral literal{builder.getDictionaryAttr({}), {}};
    if (peek() == '\0' && at == text.size())
      return literal;
    const bool braced = take('{');
    Expected<DictionaryAttr> values = dictionary(braced ? '}' : '\0', 1, &literal.order);
    if (!values)
      return propagate(values);
    if (peek(); at != text.size())
      return wrong("the end");
    literal.values = *values;
    return literal;
  }

private:
  /// The next character that is no blank; 0 at the end.
  char peek() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted)
      return false;
    if (wanted != '\0')
      ++at;
    return wanted != '\0' || at == text.size();
  }

  tl::unexpected<Error> wrong(std::string_view expected) {
    const std::string found = peek() == '\0' && at >= text.size()
                                  ? "it ends"
                                  : fmt::format("'{}' stands", text.substr(at, 1));
    return makeError("", fmt::format("{} at character {} of param_str", found, at + 1),
                     std::string(expected));
  }

  /// The entries up to `end`; 0: the end of the text.
  Expected<DictionaryAttr> dictionary(char end, unsigned depth, std::vector<std::string> *order) {
    SmallVector<NamedAttribute> entries;
    llvm::StringSet<> known;
    while (!take(end)) {
      Expected<std::string> key = string();
      if (!key)
        return propagate(key);
      if (key->empty() || !known.insert(*key).second)
        return makeError("", fmt::format("param_str has the key '{}' twice", *key), "each once");
      if (!take(':'))
        return wrong("':'");
      Expected<Attribute> entry = value(depth + 1);
      if (!entry)
        return propagate(entry);
      entries.push_back(builder.getNamedAttr(*key, *entry));
      if (order)
        order->push_back(std::move(*key));
      if (take(','))
        continue;
      if (!take(end))
        return wrong(end == '\0' ? "',' or the end" : "',' or '}'");
      break;
    }
    return builder.getDictionaryAttr(entries);
  }

  Expected<Attribute> array(char end, unsigned depth) {
    SmallVector<Attribute> elements;
    while (!take(end)) {
      Expected<Attribute> element = value(depth + 1);
      if (!element)
        return element;
      elements.push_back(*element);
      if (take(','))
        continue;
      if (!take(end))
        return wrong(fmt::format("',' or '{}'", end));
      break;
    }
    return builder.getArrayAttr(elements);
  }

  Expected<Attribute> value(unsigned depth) {
    if (depth > kMostDepth)
      return makeError("", fmt::format("param_str is nested deeper than {}", kMostDepth),
                       "a dictionary of parameters");
    const char next = peek();
    if (next == '"' || next == '\'') {
      Expected<std::string> text = string();
      if (!text)
        return propagate(text);
      return builder.getStringAttr(*text);
    }
    if (take('{')) {
      Expected<DictionaryAttr> inner = dictionary('}', depth, nullptr);
      if (!inner)
        return propagate(inner);
      return *inner;
    }
    if (take('['))
      return array(']', depth);
    if (take('('))
      return array(')', depth);
    return word();
  }

  /// A number, or the name of a boolean.
  Expected<Attribute> word() {
    const size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                text[at] == '.' || text[at] == '-' || text[at] == '+'))
      ++at;
    std::string_view found = text.substr(start, at - start);
    if (found == "True" || found == "true")
      return builder.getBoolAttr(true);
    if (found == "False" || found == "false")
      return builder.getBoolAttr(false);
    std::string_view digits = found.starts_with('+') ? found.substr(1) : found;
    const char *end = digits.data() + digits.size();
    int64_t integer = 0;
    if (auto [rest, code] = std::from_chars(digits.data(), end, integer);
        code == std::errc() && rest == end)
      return builder.getI64IntegerAttr(integer);
    double number = 0;
    if (auto [rest, code] = std::from_chars(digits.data(), end, number);
        code == std::errc() && rest == end && std::isfinite(number))
      return builder.getF64FloatAttr(number);
    at = start;
    return wrong("a number, a text, True, False, a list or a dictionary");
  }

  /// A text between quotes of either kind, with the escapes that JSON and Python share.
  Expected<std::string> string() {
    const char quote = peek();
    if (quote != '"' && quote != '\'')
      return wrong("a key in quotes");
    std::string read;
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] != '\\') {
        read += text[at];
        continue;
      }
      constexpr std::string_view kNames = "nrtbf\\/'\"";
      constexpr std::string_view kMeant = "\n\r\t\b\f\\/'\"";
      const size_t which = ++at < text.size() ? kNames.find(text[at]) : std::string_view::npos;
      if (which == std::string_view::npos)
        return wrong("an escape such as \\n");
      read += kMeant[which];
    }
    if (at >= text.size())
      return wrong("the end of the text in quotes");
    ++at;
    return read;
  }

  std::string_view text;
  Builder builder;
  size_t at = 0;
};

} // namespace

Expected<ParamLiteral> tpuc::caffe::readParamLiteral(std::string_view text, MLIRContext *context) {
  return LiteralReader(text, context).run();
}
