//===- DetectionSets.cpp - Detections are compared as sets ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/DetectionSets.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Counted.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace tpuc;

DetectionOutputs tpuc::detectionOutputs(mlir::ModuleOp lowered) {
  DetectionOutputs outputs;
  auto main = lowered.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return outputs;
  for (mlir::Value value : main.front().getTerminator()->getOperands())
    if (auto result = mlir::dyn_cast<mlir::OpResult>(value);
        result && result.getResultNumber() == 0)
      if (auto rows = tpu::detectionRowsOf(result.getOwner()))
        outputs.emplace(tensorNames(result.getOwner()).front(), *rows);
  return outputs;
}

std::map<std::string, std::string> tpuc::detectionExtras(mlir::ModuleOp lowered) {
  std::map<std::string, std::string> extras;
  auto main = lowered.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return extras;
  for (mlir::Value value : main.front().getTerminator()->getOperands())
    if (auto result = mlir::dyn_cast<mlir::OpResult>(value);
        result && result.getResultNumber() == 1 && tpu::detectionRowsOf(result.getOwner())) {
      const llvm::SmallVector<std::string> names = tensorNames(result.getOwner());
      extras.emplace(names[1], names[0]);
    }
  return extras;
}

namespace {

struct Detection {
  int64_t row = 0;
  // Whole numbers, whatever roundings make of them.
  double item = 0;
  double category = 0;
  double score = 0;
  double left = 0, top = 0, right = 0, bottom = 0;
};

double overlap(const Detection &a, const Detection &b) {
  const auto area = [](const Detection &box) {
    return std::max(0.0, box.right - box.left) * std::max(0.0, box.bottom - box.top);
  };
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double common = std::max(0.0, width) * std::max(0.0, height);
  const double all = area(a) + area(b) - common;
  if (all > 0)
    return common / all;
  // Boxes without an area are one where they are in the same place.
  return a.left == b.left && a.top == b.top && a.right == b.right && a.bottom == b.bottom ? 1 : 0;
}

/// The rows of a tensor that are not left over.
std::vector<Detection> detectionsOf(const Tensor &rows, const tpu::DetectionRows &layout) {
  const int64_t width = rows.shape()[rows.shape().rank() - 1];
  const int64_t perItem = rows.numElements() / width / std::max<int64_t>(rows.shape()[0], 1);
  std::vector<Detection> detections;
  for (int64_t row = 0; row < rows.numElements() / width; ++row) {
    const auto values =
        rows.data<float>().subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
    if (std::ranges::all_of(values, [](float value) { return value == 0; }))
      continue;
    const auto at = [&](int64_t column) { return double(values[static_cast<size_t>(column)]); };
    const double x = at(layout.box);
    const double y = at(layout.box + 1);
    const double third = at(layout.box + 2);
    const double fourth = at(layout.box + 3);
    Detection detection = {.row = row,
                           .item =
                               layout.item ? std::round(at(*layout.item)) : double(row / perItem),
                           .category = layout.category ? std::round(at(*layout.category)) : 0,
                           .score = at(layout.score),
                           .left = x,
                           .top = y,
                           .right = third,
                           .bottom = fourth};
    if (layout.isCentred) {
      detection.left = x - third / 2;
      detection.top = y - fourth / 2;
      detection.right = x + third / 2;
      detection.bottom = y + fourth / 2;
    }
    detections.push_back(detection);
  }
  std::ranges::stable_sort(detections,
                           [](const auto &a, const auto &b) { return a.score > b.score; });
  return detections;
}

/// The least score of each item.
std::map<double, double> leastScores(const std::vector<Detection> &detections) {
  std::map<double, double> least;
  for (const Detection &detection : detections) {
    double &score = least.try_emplace(detection.item, detection.score).first->second;
    score = std::min(score, detection.score);
  }
  return least;
}

bool fits(const Tensor &tensor, const tpu::DetectionRows &layout) {
  if (tensor.shape().rank() < 2 || tensor.numElements() == 0)
    return false;
  const int64_t width = tensor.shape()[tensor.shape().rank() - 1];
  return std::max({layout.item.value_or(0), layout.category.value_or(0), layout.score,
                   layout.box + 3}) < width;
}

/// Finds which detection is which.
class Matcher {
public:
  Matcher(const Tensor &made, const Tensor &reference, const tpu::DetectionRows &layout)
      : made(made), reference(reference), found(detectionsOf(made, layout)),
        wanted(detectionsOf(reference, layout)), isUsed(found.size()), isKnown(wanted.size()) {}

  MatchedDetections run() {
    result.rows = Tensor(DataType::F32, reference.shape());
    result.places.assign(static_cast<size_t>(reference.numElements()) / rowOf(reference, 0).size(),
                         MatchedDetections::kNowhere);
    result.numReference = static_cast<int64_t>(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      match(i);
    equateAtCutoff();
    fillRest();
    return std::move(result);
  }

private:
  std::span<const float> rowOf(const Tensor &tensor, int64_t row) const {
    const auto width = static_cast<size_t>(tensor.shape()[tensor.shape().rank() - 1]);
    return tensor.data<float>().subspan(static_cast<size_t>(row) * width, width);
  }

  /// `row` stands at `from` in what was made, or it is the reference's.
  void put(std::span<const float> row, int64_t place, int64_t from) {
    const auto width = row.size();
    result.places[static_cast<size_t>(place)] = from;
    std::ranges::copy(row, result.rows.mutableData<float>().begin() +
                               static_cast<ptrdiff_t>(static_cast<size_t>(place) * width));
  }

  void match(size_t index) {
    const Detection &one = wanted[index];
    size_t best = found.size();
    double most = MatchedDetections::kLeastOverlap;
    for (size_t i = 0; i < found.size(); ++i) {
      if (isUsed[i] || found[i].item != one.item || found[i].category != one.category)
        continue;
      const double common = overlap(one, found[i]);
      if (common > most || (best == found.size() && common == most)) {
        best = i;
        most = common;
      }
    }
    if (best == found.size())
      return;
    isUsed[best] = isKnown[index] = true;
    ++result.numFound;
    moved = std::max(moved, std::abs(found[best].score - one.score));
    result.isAnyMoved |= found[best].row != one.row;
    put(rowOf(made, found[best].row), one.row, found[best].row);
  }

  /// Which of equally good detections is the last one that is kept, roundings decide.
  void equateAtCutoff() {
    const std::map<double, double> leastWanted = leastScores(wanted);
    const std::map<double, double> leastFound = leastScores(found);
    const int64_t most = 1 + result.numReference / 20;
    for (size_t i = 0; i < wanted.size() && result.numAtCutoff < most; ++i) {
      const Detection &one = wanted[i];
      if (isKnown[i] || !leastFound.contains(one.item) ||
          one.score > leastWanted.at(one.item) + 2 * moved)
        continue;
      for (size_t j = 0; j < found.size(); ++j)
        if (!isUsed[j] && found[j].item == one.item &&
            found[j].score <= leastFound.at(one.item) + 2 * moved &&
            std::abs(found[j].score - one.score) <= 2 * moved) {
          isUsed[j] = isKnown[i] = true;
          ++result.numAtCutoff;
          put(rowOf(reference, one.row), one.row, MatchedDetections::kFromReference);
          break;
        }
    }
  }

  /// What has no match stands where there is room, so that it differs.
  void fillRest() {
    std::vector<bool> isTaken(static_cast<size_t>(reference.numElements()) /
                              rowOf(reference, 0).size());
    for (size_t i = 0; i < wanted.size(); ++i)
      isTaken[static_cast<size_t>(wanted[i].row)] = isKnown[i];
    size_t place = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (isUsed[i])
        continue;
      while (place < isTaken.size() && isTaken[place])
        ++place;
      if (place == isTaken.size())
        return;
      isTaken[place] = true;
      put(rowOf(made, found[i].row), static_cast<int64_t>(place), found[i].row);
    }
  }

  const Tensor &made;
  const Tensor &reference;
  std::vector<Detection> found;
  std::vector<Detection> wanted;
  std::vector<bool> isUsed;
  std::vector<bool> isKnown;
  /// What the scores of matched detections differ by at most.
  double moved = 0;
  MatchedDetections result;
};

} // namespace

MatchedDetections tpuc::matchDetections(const Tensor &made, const Tensor &reference,
                                        const tpu::DetectionRows &layout) {
  if (made.shape() != reference.shape() || !fits(made, layout))
    return {.rows = made.clone(), .places = {}};
  return Matcher(convert(made, DataType::F32), convert(reference, DataType::F32), layout).run();
}

Tensor MatchedDetections::extrasOf(const Tensor &made, const Tensor &reference) const {
  const auto count = std::ssize(places);
  if (made.shape() != reference.shape() || made.shape().rank() == 0 || count == 0 ||
      made.shape()[0] != count)
    return made.clone();
  const Tensor from = convert(made, DataType::F32);
  const Tensor wanted = convert(reference, DataType::F32);
  Tensor moved(DataType::F32, made.shape());
  const auto width = static_cast<ptrdiff_t>(made.numElements() / count);
  auto to = moved.mutableData<float>().begin();
  for (int64_t place : places) {
    if (place == kNowhere)
      std::fill_n(to, width, 0.0F);
    else if (place == kFromReference)
      std::copy_n(wanted.data<float>().begin() + (to - moved.mutableData<float>().begin()), width,
                  to);
    else
      std::copy_n(from.data<float>().begin() + place * width, width, to);
    to += width;
  }
  return moved;
}

std::string MatchedDetections::sentence(const std::string &name) const {
  std::string text =
      fmt::format("the rows of '{}' are compared as a set: {} of {} found again by item, class and "
                  "an overlap of "
                  "at least {:.0f} %",
                  name, numFound, counted(numReference, "detection"), 100 * kLeastOverlap);
  if (numAtCutoff > 0)
    text += fmt::format(", and {} with about the least score are another one's", numAtCutoff);
  return text;
}

std::optional<Tensor> DetectionMatcher::matched(const std::string &name, const Tensor &made,
                                                const Tensor &reference) {
  if (const auto rows = outputs.find(name); rows != outputs.end()) {
    MatchedDetections matched = matchDetections(made, reference, rows->second);
    Tensor moved = matched.rows.clone();
    done.insert_or_assign(name, std::move(matched));
    return moved;
  }
  const auto extra = extras.find(name);
  const MatchedDetections *rows = extra == extras.end() ? nullptr : find(extra->second);
  return rows ? std::optional(rows->extrasOf(made, reference)) : std::nullopt;
}

const MatchedDetections *DetectionMatcher::find(const std::string &name) const {
  const auto found = done.find(name);
  return found == done.end() ? nullptr : &found->second;
}
