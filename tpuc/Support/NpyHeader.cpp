//===- NpyHeader.cpp - The head of numpy's .npy files ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npy.h"

#include <cassert>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace tpuc {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// The subset of Python's literals that the header is made of. Every function skips the blanks
/// before what it looks for.
class LiteralParser {
public:
  explicit LiteralParser(std::string_view text) : rest(text) {}

  bool accept(char c) {
    skipBlanks();
    if (!rest.starts_with(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  bool acceptWord(std::string_view word) {
    skipBlanks();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }

  /// 'text' or "text", without escapes: no name that numpy writes has any.
  std::optional<std::string_view> string() {
    skipBlanks();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view text = rest.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos)
      return std::nullopt;
    rest.remove_prefix(end + 1);
    return text;
  }

  /// A tuple of non-negative integers: (), (3,), (3, 4), (3, 4,). Python 2 wrote (3L, 4L).
  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> values;
    if (!accept('('))
      return std::nullopt;
    bool comma = true;
    while (!accept(')')) {
      skipBlanks();
      int64_t value = 0;
      auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (!comma || status != std::errc() || value < 0 || rest[0] == '-')
        return std::nullopt;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      if (rest.starts_with('L'))
        rest.remove_prefix(1);
      values.push_back(value);
      comma = accept(',');
    }
    // In Python, (3) is the number 3.
    if (values.size() == 1 && !comma)
      return std::nullopt;
    return values;
  }

  bool atEnd() {
    skipBlanks();
    return rest.empty();
  }

  /// Where we are, for messages.
  std::string_view here() {
    constexpr size_t kShown = 40;
    return rest.substr(0, kShown);
  }

private:
  void skipBlanks() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\t'))
      rest.remove_prefix(1);
  }

  std::string_view rest;
};

struct Dictionary {
  std::optional<std::string_view> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

tl::unexpected<Error> badHeader(const std::string &where, std::string found) {
  return makeError(where, "the .npy header is malformed: " + std::move(found),
                   "{'descr': ..., 'fortran_order': ..., 'shape': (...)}");
}

/// One `key: value`.
Expected<void> parseItem(LiteralParser &parser, Dictionary &result, const std::string &where) {
  std::optional<std::string_view> key = parser.string();
  if (!key || !parser.accept(':'))
    return badHeader(where, fmt::format("no key at '{}'", parser.here()));
  bool again = false;
  bool good = false;
  if (*key == "descr") {
    again = result.descr.has_value();
    if (parser.accept('['))
      return makeError(where, "has a structured numpy type, which tpuc cannot read",
                       "a number type");
    result.descr = parser.string();
    good = result.descr.has_value();
  } else if (*key == "fortran_order") {
    again = result.fortranOrder.has_value();
    if (parser.acceptWord("True"))
      result.fortranOrder = true;
    else if (parser.acceptWord("False"))
      result.fortranOrder = false;
    else
      result.fortranOrder.reset();
    good = result.fortranOrder.has_value();
  } else if (*key == "shape") {
    again = result.shape.has_value();
    result.shape = parser.tuple();
    good = result.shape.has_value();
  } else {
    return badHeader(where, fmt::format("unknown key '{}'", *key));
  }
  if (again)
    return badHeader(where, fmt::format("key '{}' twice", *key));
  if (!good)
    return badHeader(where, fmt::format("the value of '{}' at '{}'", *key, parser.here()));
  return {};
}

Expected<Dictionary> parseDictionary(std::string_view text, const std::string &where) {
  LiteralParser parser(text);
  Dictionary result;
  if (!parser.accept('{'))
    return badHeader(where, fmt::format("no dictionary at '{}'", parser.here()));
  bool comma = true;
  while (!parser.accept('}')) {
    if (!comma)
      return badHeader(where, fmt::format("no ',' or '}}' at '{}'", parser.here()));
    if (Expected<void> item = parseItem(parser, result, where); !item)
      return propagate(item);
    comma = parser.accept(',');
  }
  if (!parser.atEnd())
    return badHeader(where, fmt::format("'{}' after the dictionary", parser.here()));
  if (!result.descr || !result.fortranOrder || !result.shape)
    return badHeader(where, "a key is missing");
  return result;
}

std::string describeForeign(char kind, unsigned size) {
  switch (kind) {
  case 'c':
    return "complex numbers";
  case 'O':
    return "Python objects";
  case 'S':
  case 'a':
    return "byte strings";
  case 'U':
    return "strings";
  case 'M':
    return "dates";
  case 'm':
    return "time spans";
  case 'V':
    return "raw bytes";
  case 'f':
    return fmt::format("floats of {} bytes", size);
  default:
    return "elements of an unknown kind";
  }
}

std::optional<DataType> numberType(char kind, unsigned size) {
  struct Row {
    char kind;
    unsigned size;
    DataType type;
  };
  static constexpr Row kRows[] = {
      {'f', 8, DataType::F64}, {'f', 4, DataType::F32}, {'f', 2, DataType::F16},
      {'i', 1, DataType::I8},  {'i', 2, DataType::I16}, {'i', 4, DataType::I32},
      {'i', 8, DataType::I64}, {'u', 1, DataType::U8},  {'u', 2, DataType::U16},
      {'u', 4, DataType::U32}, {'u', 8, DataType::U64}, {'b', 1, DataType::Bool}};
  for (const Row &row : kRows)
    if (row.kind == kind && row.size == size)
      return row.type;
  return std::nullopt;
}

/// `<f4`: byte order, kind, bytes per element.
Expected<void> applyDescr(std::string_view descr, NpyHeader &header, const std::string &where) {
  std::string_view rest = descr;
  char order = '=';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  char kind = rest.empty() ? '\0' : rest[0];
  unsigned size = 0;
  std::string_view digits = rest.substr(rest.empty() ? 0 : 1);
  auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  bool whole = status == std::errc() && end == digits.data() + digits.size();
  std::optional<DataType> type = whole ? numberType(kind, size) : std::nullopt;
  if (!type)
    return makeError(where,
                     fmt::format("has numpy type '{}' ({}), which tpuc cannot read", descr,
                                 describeForeign(kind, size)),
                     kind == 'V' || (kind == 'f' && size == 1)
                         ? "a number type; numpy cannot save bfloat16, float8 and int4: "
                           "save array.astype(numpy.float32)"
                         : "a float, integer or bool type");
  header.type = *type;
  header.bigEndian = order == '>' && size > 1;
  return {};
}

/// Length of what stands before the dictionary, and of the dictionary.
struct Preamble {
  size_t start;
  size_t length;
};

Expected<Preamble> parsePreamble(std::string_view text, const std::string &where) {
  constexpr size_t kVersionEnd = kMagic.size() + 2;
  if (!text.starts_with(kMagic))
    return makeError(where, "is not a .npy array", "the bytes \\x93NUMPY at its beginning");
  if (text.size() < kVersionEnd)
    return makeError(where, "the .npy header is cut off");
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned major = byteAt(kMagic.size());
  unsigned minor = byteAt(kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    return makeError(where, fmt::format("has .npy version {}.{}", major, minor), "1.0, 2.0 or 3.0");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (text.size() < kVersionEnd + lengthBytes)
    return makeError(where, "the .npy header is cut off");
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(byteAt(kVersionEnd + i)) << (8 * i);
  size_t start = kVersionEnd + lengthBytes;
  if (length > kMaxNpyHeader - start)
    return makeError(where, fmt::format("has a .npy header of {} bytes", length),
                     fmt::format("at most {}", kMaxNpyHeader - start));
  if (length > text.size() - start)
    return makeError(where, "the .npy header is cut off",
                     fmt::format("{} bytes, {} are there", length, text.size() - start));
  return Preamble{start, length};
}

} // namespace

DataType npyType(DataType type) {
  switch (type) {
  case DataType::BF16:
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return DataType::F32;
  case DataType::I4:
    return DataType::I8;
  case DataType::U4:
    return DataType::U8;
  default:
    return type;
  }
}

Expected<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string &where) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  Expected<Preamble> preamble = parsePreamble(text, where);
  if (!preamble)
    return propagate(preamble);
  Expected<Dictionary> dictionary =
      parseDictionary(text.substr(preamble->start, preamble->length), where);
  if (!dictionary)
    return propagate(dictionary);
  NpyHeader header;
  if (Expected<void> applied = applyDescr(*dictionary->descr, header, where); !applied)
    return propagate(applied);
  Expected<int64_t> count = checkedNumElements(*dictionary->shape, header.type, where);
  if (!count)
    return propagate(count);
  header.shape = Shape(*dictionary->shape);
  header.fortranOrder = *dictionary->fortranOrder;
  header.dataOffset = preamble->start + preamble->length;
  header.dataBytes = static_cast<uint64_t>(byteSize(header.type, *count));
  return header;
}

std::string npyHeader(DataType type, const Shape &shape) {
  assert(npyType(type) == type && "numpy has no such type");
  unsigned size = bitWidth(type) / 8;
  char kind = type == DataType::Bool ? 'b' : isFloat(type) ? 'f' : isSigned(type) ? 'i' : 'u';
  std::string dictionary = fmt::format(
      "{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}", size == 1 ? '|' : '<',
      kind, size, fmt::join(shape.begin(), shape.end(), ", "), shape.rank() == 1 ? "," : "");
  constexpr size_t kAlignment = 64;
  constexpr size_t kPreamble = kMagic.size() + 4;
  size_t total = kPreamble + dictionary.size() + 1; // and the line feed at the end
  size_t padding = (kAlignment - total % kAlignment) % kAlignment;
  size_t length = dictionary.size() + padding + 1;
  assert(length <= std::numeric_limits<uint16_t>::max());
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return header + dictionary + std::string(padding, ' ') + '\n';
}

} // namespace tpuc
