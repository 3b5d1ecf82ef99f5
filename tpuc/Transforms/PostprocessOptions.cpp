//===- PostprocessOptions.cpp - What users say of boxes --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/PostprocessOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>

using namespace tpuc;
namespace json = llvm::json;

namespace {

constexpr const char *kOption = "--postprocess_options";

tl::unexpected<Error> wrong(llvm::StringRef key, const json::Value &value,
                            const std::string &expected) {
  std::string text;
  // As short as it was written.
  if (const std::optional<double> number = value.getAsNumber())
    text = fmt::format("{}", *number);
  else
    llvm::raw_string_ostream(text) << value;
  return makeError(kOption, fmt::format("{} is {}", key.str(), text), expected);
}

/// Reads one value; the name of its key is for errors.
using Reader =
    std::function<Expected<void>(llvm::StringRef key, const json::Value &, PostprocessOptions &)>;

Reader real(std::optional<double> PostprocessOptions::*field, double least, double most) {
  return [=](llvm::StringRef key, const json::Value &value,
             PostprocessOptions &options) -> Expected<void> {
    const std::optional<double> number = value.getAsNumber();
    if (!number || !(*number >= least && *number <= most))
      return wrong(key, value, fmt::format("a number from {} to {}", least, most));
    options.*field = *number;
    return {};
  };
}

Reader integer(std::optional<int64_t> PostprocessOptions::*field, int64_t least, int64_t most) {
  return [=](llvm::StringRef key, const json::Value &value,
             PostprocessOptions &options) -> Expected<void> {
    const std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < least || *number > most)
      return wrong(key, value, fmt::format("an integer from {} to {}", least, most));
    options.*field = *number;
    return {};
  };
}

Reader flag(std::optional<bool> PostprocessOptions::*field) {
  return [=](llvm::StringRef key, const json::Value &value,
             PostprocessOptions &options) -> Expected<void> {
    const std::optional<bool> found = value.getAsBoolean();
    if (!found)
      return wrong(key, value, "true or false");
    options.*field = *found;
    return {};
  };
}

Reader word(std::string PostprocessOptions::*field, std::vector<std::string> choices) {
  return [=](llvm::StringRef key, const json::Value &value,
             PostprocessOptions &options) -> Expected<void> {
    const std::optional<llvm::StringRef> found = value.getAsString();
    if (!found || !llvm::is_contained(choices, found->str()))
      return wrong(key, value, fmt::format("one of {}", fmt::join(choices, ", ")));
    options.*field = found->str();
    return {};
  };
}

/// The integers of `value`, each from `least` to 1048576; none where it is no list of these.
std::optional<std::vector<int64_t>> integers(const json::Value &value, int64_t least) {
  const json::Array *array = value.getAsArray();
  if (!array)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const json::Value &each : *array) {
    const std::optional<int64_t> number = each.getAsInteger();
    if (!number || *number < least || *number > 1048576)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// The numbers of `value` that are above 0; none where it is no list of these.
std::optional<std::vector<double>> positives(const json::Value &value) {
  const json::Array *array = value.getAsArray();
  if (!array || array->empty())
    return std::nullopt;
  std::vector<double> numbers;
  for (const json::Value &each : *array) {
    const std::optional<double> number = each.getAsNumber();
    if (!number || !(*number > 0) || !std::isfinite(*number))
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Expected<void> readClasses(llvm::StringRef key, const json::Value &value,
                           PostprocessOptions &options) {
  options.classes = integers(value, 0);
  if (!options.classes || options.classes->empty())
    return wrong(key, value, "a list of classes, counted from 0");
  return {};
}

Expected<void> readPicture(llvm::StringRef key, const json::Value &value,
                           PostprocessOptions &options) {
  const auto extents = integers(value, 1);
  if (!extents || extents->size() != 2)
    return wrong(key, value, "the height and width of the picture");
  options.picture = *extents;
  return {};
}

Expected<void> readVariances(llvm::StringRef key, const json::Value &value,
                             PostprocessOptions &options) {
  const auto numbers = positives(value);
  if (!numbers || numbers->size() != 4)
    return wrong(key, value, "four numbers above 0");
  options.variances = *numbers;
  return {};
}

Expected<void> readScaleXy(llvm::StringRef key, const json::Value &value,
                           PostprocessOptions &options) {
  const auto numbers = positives(value);
  if (!numbers)
    return wrong(key, value, "a number above 0 for each level");
  options.scaleXy = *numbers;
  return {};
}

Expected<void> readAnchors(llvm::StringRef key, const json::Value &value,
                           PostprocessOptions &options) {
  const json::Array *levels = value.getAsArray();
  options.anchors.clear();
  for (const json::Value &level : levels ? *levels : json::Array()) {
    const auto numbers = positives(level);
    if (!numbers || numbers->size() % 2 != 0)
      return wrong(key, value, "a list of widths and heights above 0 for each level");
    options.anchors.push_back(*numbers);
  }
  if (options.anchors.empty())
    return wrong(key, value, "a list of widths and heights above 0 for each level");
  return {};
}

const std::map<std::string, Reader> &readers() {
  using Options = PostprocessOptions;
  constexpr int64_t kMost = 1048576;
  static const std::map<std::string, Reader> kReaders = {
      {"agnostic", flag(&Options::agnostic)},
      {"anchors", readAnchors},
      {"background", integer(&Options::background, -1, kMost)},
      {"bins", integer(&Options::bins, 1, 4096)},
      {"boxes", word(&Options::boxes, {"center", "corners"})},
      {"classes", readClasses},
      {"crop_masks", flag(&Options::cropMasks)},
      {"decode", word(&Options::decode, {"chip", "host"})},
      {"keep", integer(&Options::keep, 1, kMost)},
      {"letterbox", word(&Options::letterbox, {"center", "normal"})},
      {"multi_label", flag(&Options::multiLabel)},
      {"nms_threshold", real(&Options::nmsThreshold, 0, 1)},
      {"normalized", flag(&Options::normalized)},
      {"num_classes", integer(&Options::numClasses, 1, kMost)},
      {"picture", readPicture},
      {"scale_xy", readScaleXy},
      {"score_threshold", real(&Options::scoreThreshold, 0, 1)},
      {"scores", word(&Options::scores, {"none", "sigmoid", "softmax"})},
      {"swap_xy", flag(&Options::swapXy)},
      {"top_k", integer(&Options::topK, 1, kMost)},
      {"variances", readVariances},
  };
  return kReaders;
}

/// The JSON value of `text`; a word in quotes that were left out.
json::Value valueOf(llvm::StringRef text) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (parsed)
    return std::move(*parsed);
  llvm::consumeError(parsed.takeError());
  return json::Value(json::fixUTF8(text));
}

/// `key=value,key=value` as an object.
Expected<json::Object> readPairs(llvm::StringRef text) {
  json::Object object;
  while (!text.empty()) {
    // A comma within brackets belongs to the value.
    int depth = 0;
    size_t end = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end)
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    const auto [key, value] = text.take_front(end).split('=');
    if (key.size() == text.take_front(end).size() || key.trim().empty())
      return makeError(kOption, "'" + text.take_front(end).str() + "'",
                       "key=value, or a JSON object");
    if (!object.insert({json::fixUTF8(key.trim()), valueOf(value.trim())}).second)
      return makeError(kOption, key.trim().str() + " is given twice");
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return object;
}

} // namespace

Expected<PostprocessOptions> tpuc::parsePostprocessOptions(std::string_view text) {
  const llvm::StringRef trimmed = llvm::StringRef(text).trim();
  json::Object object;
  if (trimmed.starts_with("{")) {
    llvm::Expected<json::Value> parsed = json::parse(trimmed);
    if (!parsed)
      return makeError(kOption, llvm::toString(parsed.takeError()), "a JSON object");
    if (const json::Object *found = parsed->getAsObject())
      object = *found;
  } else {
    Expected<json::Object> pairs = readPairs(trimmed);
    if (!pairs)
      return propagate(pairs);
    object = std::move(*pairs);
  }
  PostprocessOptions options;
  for (const auto &[key, value] : object) {
    const auto reader = readers().find(key.str());
    if (reader == readers().end()) {
      std::vector<std::string> known;
      for (const auto &each : readers())
        known.push_back(each.first);
      return makeError(kOption, "'" + key.str() + "'",
                       fmt::format("one of {}", fmt::join(known, ", ")));
    }
    if (Expected<void> read = reader->second(key, value, options); !read)
      return propagate(read);
  }
  if (!options.letterbox.empty() && options.picture.empty())
    return makeError(kOption, "letterbox without picture", "the picture's height and width");
  return options;
}
