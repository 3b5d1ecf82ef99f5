//===- TensorText.cpp - Tensors as a user reads them ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/TensorText.h"

#include "tpuc/Support/Elements.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace tpuc {

namespace {

constexpr int64_t kValuesPerBlock = 4096;

class TensorPrinter {
public:
  TensorPrinter(const Tensor &tensor, const TensorTextOptions &options,
                const std::function<void(std::string_view)> &sink)
      : tensor(tensor), options(options), sink(sink), shape(tensor.shape()),
        summarized(tensor.numElements() > options.threshold) {}

  void run() {
    if (tensor.numElements() == 0) {
      sink("[]\n");
      return;
    }
    chooseFormat();
    if (shape.rank() == 0)
      line = elementCell(0);
    else
      printAxis(0, 0);
    endLine();
  }

private:
  /// Calls `visit` for the positions of `axis` that are shown, with -1 for those left out.
  template <typename Visit> void forShown(size_t axis, Visit visit) const {
    int64_t extent = shape[axis];
    bool cut = summarized && extent > 2 * options.edgeItems;
    for (int64_t i = 0; i < extent; ++i) {
      if (cut && i == options.edgeItems) {
        visit(-1);
        i = extent - options.edgeItems;
      }
      visit(i);
    }
  }

  template <typename Visit> void forShownElements(size_t axis, int64_t offset, Visit visit) const {
    if (axis == shape.rank()) {
      visit(offset);
      return;
    }
    forShown(axis, [&](int64_t i) {
      if (i >= 0)
        forShownElements(axis + 1, offset * shape[axis] + i, visit);
    });
  }

  bool isReal() const { return isFloat(tensor.type()); }

  double valueAt(int64_t index) const {
    // 4-bit types load from even elements on, but they are no floats.
    double value = 0;
    loadElements(tensor, index, std::span(&value, 1));
    return value;
  }

  void chooseFormat() {
    if (isReal()) {
      double largest = 0;
      forShownElements(0, 0, [&](int64_t index) {
        double value = std::abs(valueAt(index));
        if (std::isfinite(value))
          largest = std::max(largest, value);
      });
      exponent = largest >= 1e8 || (largest > 0 && largest < 1e-4);
      digits = 0;
      int needed = 0;
      forShownElements(0, 0, [&](int64_t index) {
        if (double value = valueAt(index); needed < options.precision && std::isfinite(value))
          needed = std::max(needed, digitsNeeded(value));
      });
      digits = needed;
    }
    forShownElements(0, 0, [&](int64_t index) { width = std::max(width, plain(index).size()); });
  }

  /// Digits after the point, without trailing zeros.
  int digitsNeeded(double value) const {
    std::string text = exponent ? fmt::format("{:.{}e}", value, options.precision)
                                : fmt::format("{:.{}f}", value, options.precision);
    size_t point = text.find('.');
    if (point == std::string::npos)
      return 0;
    size_t end = std::min(text.find('e'), text.size());
    while (end > point + 1 && text[end - 1] == '0')
      --end;
    return static_cast<int>(end - point - 1);
  }

  std::string plain(int64_t index) const {
    if (!isReal())
      return elementText(tensor, index);
    double value = valueAt(index);
    if (!std::isfinite(value))
      return fmt::format("{}", value);
    return exponent ? fmt::format("{:.{}e}", value, digits) : fmt::format("{:.{}f}", value, digits);
  }

  std::string elementCell(int64_t index) const {
    return fmt::format("{:>{}}", plain(index), width);
  }

  void endLine() {
    sink(line + "\n");
    line.clear();
  }

  void append(std::string_view cell, size_t indent) {
    if (line.size() > indent && line.size() + 1 + cell.size() > options.lineWidth) {
      endLine();
      line.assign(indent, ' ');
    } else if (line.size() > indent) {
      line += ' ';
    }
    line += cell;
  }

  void printAxis(size_t axis, int64_t offset) {
    line += '[';
    size_t indent = axis + 1;
    bool innermost = axis + 1 == shape.rank();
    bool first = true;
    forShown(axis, [&](int64_t i) {
      int64_t at = offset * shape[axis] + i;
      if (innermost) {
        append(i < 0 ? "..." : elementCell(at), indent);
        return;
      }
      if (!first) {
        // As many line breaks as axes end here.
        endLine();
        for (size_t blank = axis + 2; blank < shape.rank(); ++blank)
          endLine();
        line.assign(indent, ' ');
      }
      first = false;
      if (i < 0)
        line += "...";
      else
        printAxis(axis + 1, at);
    });
    line += ']';
  }

  const Tensor &tensor;
  const TensorTextOptions &options;
  const std::function<void(std::string_view)> &sink;
  Shape shape;
  bool summarized;
  bool exponent = false;
  int digits = 0;
  size_t width = 0;
  std::string line;
};

/// Count, mean and sum of squared deviations of a stretch, which can be joined with those of
/// another (Chan, Golub, LeVeque 1979).
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  void append(const Moments &next) {
    if (next.count == 0)
      return;
    double total = count + next.count;
    double delta = next.mean - mean;
    squares += next.squares + delta * delta * (count / total) * next.count;
    mean += delta * (next.count / total);
    count = total;
  }
};

Moments blockMoments(std::span<const double> values) {
  Moments moments;
  double sum = 0;
  for (double value : values) {
    if (std::isfinite(value)) {
      sum += value;
      ++moments.count;
    }
  }
  if (moments.count == 0)
    return moments;
  moments.mean = sum / moments.count;
  for (double value : values)
    if (std::isfinite(value))
      moments.squares += (value - moments.mean) * (value - moments.mean);
  return moments;
}

} // namespace

void printTensor(const Tensor &tensor, const TensorTextOptions &options,
                 const std::function<void(std::string_view)> &sink) {
  TensorPrinter(tensor, options, sink).run();
}

std::string tensorText(const Tensor &tensor, const TensorTextOptions &options) {
  std::string text;
  printTensor(tensor, options, [&](std::string_view line) { text += line; });
  text.pop_back();
  return text;
}

TensorStatistics tensorStatistics(const Tensor &tensor) {
  TensorStatistics result;
  Moments moments;
  bool any = false;
  std::vector<double> values;
  int64_t count = tensor.numElements();
  for (int64_t first = 0; first < count; first += kValuesPerBlock) {
    values.resize(static_cast<size_t>(std::min(kValuesPerBlock, count - first)));
    loadElements(tensor, first, values);
    moments.append(blockMoments(values));
    for (double value : values) {
      result.nans += std::isnan(value);
      result.infinities += std::isinf(value);
      result.zeros += value == 0;
      if (!std::isfinite(value))
        continue;
      result.min = any ? std::min(result.min, value) : value;
      result.max = any ? std::max(result.max, value) : value;
      any = true;
    }
  }
  result.mean = moments.mean;
  if (moments.count > 0)
    result.standardDeviation = std::sqrt(moments.squares / moments.count);
  return result;
}

} // namespace tpuc
