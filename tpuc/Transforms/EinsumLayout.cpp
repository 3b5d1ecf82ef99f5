//===- EinsumLayout.cpp - In which order an einsum's dimensions are multiplied -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/EinsumLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace tpuc;

static Labels joined(std::initializer_list<ArrayRef<int64_t>> parts) {
  Labels all;
  for (ArrayRef<int64_t> part : parts)
    all.append(part.begin(), part.end());
  return all;
}

Labels ProductLayout::leftOrder() const {
  const ArrayRef<int64_t> front = isLeftRepeated ? ArrayRef(repeated) : ArrayRef<int64_t>();
  return isLeftTransposed ? joined({front, batch, sums, rows}) : joined({front, batch, rows, sums});
}

Labels ProductLayout::rightOrder() const {
  const ArrayRef<int64_t> front = isLeftRepeated ? ArrayRef<int64_t>() : ArrayRef(repeated);
  return isRightTransposed ? joined({front, batch, columns, sums})
                           : joined({front, batch, sums, columns});
}

Labels ProductLayout::resultOrder() const { return joined({repeated, batch, rows, columns}); }

Labels tpuc::without(ArrayRef<int64_t> labels, ArrayRef<int64_t> others) {
  Labels rest;
  llvm::copy_if(labels, std::back_inserter(rest),
                [&](int64_t label) { return !llvm::is_contained(others, label); });
  return rest;
}

Labels tpuc::within(ArrayRef<int64_t> labels, ArrayRef<int64_t> others) {
  Labels rest;
  llvm::copy_if(labels, std::back_inserter(rest),
                [&](int64_t label) { return llvm::is_contained(others, label); });
  return rest;
}

int64_t tpuc::sizeOf(ArrayRef<int64_t> labels, ArrayRef<int64_t> extents) {
  int64_t size = 1;
  for (int64_t label : labels)
    size *= extents[static_cast<size_t>(label)];
  return size;
}

static Labels withoutUnits(ArrayRef<int64_t> labels, ArrayRef<int64_t> extents) {
  Labels rest;
  llvm::copy_if(labels, std::back_inserter(rest),
                [&](int64_t label) { return extents[static_cast<size_t>(label)] != 1; });
  return rest;
}

bool tpuc::isSameOrder(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<int64_t> extents) {
  return withoutUnits(from, extents) == withoutUnits(to, extents);
}

/// What it takes to move a tensor into another order: its elements, and the beginnings of rows that
/// stay together.
static double movedCost(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<int64_t> extents) {
  // Transfers of rows of so many elements take about as long as their beginnings.
  constexpr double kRow = 16;
  const Labels source = withoutUnits(from, extents), target = withoutUnits(to, extents);
  if (source == target)
    return 0;
  double row = 1;
  for (size_t back = 1; source[source.size() - back] == target[target.size() - back]; ++back)
    row *= static_cast<double>(extents[static_cast<size_t>(source[source.size() - back])]);
  const auto elements = static_cast<double>(sizeOf(from, extents));
  return elements + kRow * elements / row;
}

namespace {

/// Tries all layouts of one product.
class LayoutSearch {
public:
  LayoutSearch(const EinsumFactor &first, const EinsumFactor &second, ArrayRef<int64_t> kept,
               bool isOrdered, ArrayRef<int64_t> extents)
      : factors{first, second}, kept(kept), isOrdered(isOrdered), extents(extents) {}

  ProductLayout run() {
    for (bool isSwapped : {false, true})
      tryOperands(isSwapped);
    return best;
  }

private:
  void tryOperands(bool isSwapped);
  void tryRepeated(ProductLayout layout, ArrayRef<int64_t> leftFree, ArrayRef<int64_t> rightFree);
  void consider(const ProductLayout &layout);
  /// The orders in which `labels` stand in the result and in the tensors that have all of them.
  SmallVector<Labels, 3> ordersOf(ArrayRef<int64_t> labels) const;

  EinsumFactor factors[2];
  ArrayRef<int64_t> kept;
  bool isOrdered;
  ArrayRef<int64_t> extents;
  ProductLayout best;
  double leastCost = std::numeric_limits<double>::infinity();
};

} // namespace

SmallVector<Labels, 3> LayoutSearch::ordersOf(ArrayRef<int64_t> labels) const {
  SmallVector<Labels, 3> orders;
  const auto add = [&](ArrayRef<int64_t> from) {
    Labels order = within(from, labels);
    if (order.size() == labels.size() && !llvm::is_contained(orders, order))
      orders.push_back(order);
  };
  if (isOrdered)
    add(kept);
  add(factors[0].labels);
  add(factors[1].labels);
  return orders;
}

void LayoutSearch::tryOperands(bool isSwapped) {
  const EinsumFactor &left = factors[isSwapped ? 1 : 0];
  const EinsumFactor &right = factors[isSwapped ? 0 : 1];
  const Labels shared = within(left.labels, right.labels);
  ProductLayout layout;
  layout.isSwapped = isSwapped;
  const Labels leftFree = without(left.labels, right.labels);
  const Labels rightFree = without(right.labels, left.labels);
  for (const Labels &batch : ordersOf(within(shared, kept)))
    for (const Labels &sums : ordersOf(without(shared, kept))) {
      layout.batch = batch;
      layout.sums = sums;
      tryRepeated(layout, leftFree, rightFree);
    }
}

void LayoutSearch::tryRepeated(ProductLayout layout, ArrayRef<int64_t> leftFree,
                               ArrayRef<int64_t> rightFree) {
  // The first dimensions of the result, as long as they are of one operand alone.
  for (size_t length = 0; length == 0 || length < kept.size(); ++length) {
    layout.repeated.assign(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(length));
    layout.isLeftRepeated =
        !layout.repeated.empty() && within(layout.repeated, leftFree) == layout.repeated;
    if (!layout.isLeftRepeated && within(layout.repeated, rightFree) != layout.repeated)
      return;
    for (const Labels &rows : ordersOf(without(leftFree, layout.repeated)))
      for (const Labels &columns : ordersOf(without(rightFree, layout.repeated)))
        for (bool isLeftTransposed : {false, true})
          for (bool isRightTransposed : {false, true}) {
            layout.rows = rows;
            layout.columns = columns;
            layout.isLeftTransposed = isLeftTransposed;
            layout.isRightTransposed = isRightTransposed;
            consider(layout);
          }
    if (!isOrdered)
      return;
  }
}

void LayoutSearch::consider(const ProductLayout &layout) {
  const EinsumFactor &left = factors[layout.isSwapped ? 1 : 0];
  const EinsumFactor &right = factors[layout.isSwapped ? 0 : 1];
  const auto operandCost = [&](const EinsumFactor &factor, ArrayRef<int64_t> order) {
    return factor.isConstant ? 0 : movedCost(factor.labels, order, extents);
  };
  double cost = operandCost(left, layout.leftOrder()) + operandCost(right, layout.rightOrder());
  if (isOrdered)
    cost += movedCost(layout.resultOrder(), kept, extents);
  // Repeated matrices are stored and loaded again, and their products are small.
  constexpr double kRepetition = 4;
  const int64_t times = sizeOf(layout.repeated, extents);
  if (times > 1)
    cost += kRepetition * static_cast<double>(times) *
            static_cast<double>(sizeOf((layout.isLeftRepeated ? right : left).labels, extents));
  // These decide between equal ones.
  constexpr double kLeftConstant = 0.5, kLeftTransposed = 0.25, kRepeated = 0.125,
                   kSwapped = 0.0625;
  cost += left.isConstant && !right.isConstant ? kLeftConstant : 0;
  cost += layout.isLeftTransposed ? kLeftTransposed : 0;
  cost += layout.repeated.empty() ? 0 : kRepeated;
  cost += layout.isSwapped ? kSwapped : 0;
  if (cost >= leastCost)
    return;
  leastCost = cost;
  best = layout;
}

ProductLayout tpuc::chooseLayout(const EinsumFactor &first, const EinsumFactor &second,
                                 ArrayRef<int64_t> kept, bool isOrdered,
                                 ArrayRef<int64_t> extents) {
  return LayoutSearch(first, second, kept, isOrdered, extents).run();
}
