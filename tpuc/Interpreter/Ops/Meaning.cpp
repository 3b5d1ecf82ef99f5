//===- Meaning.cpp - What an op computes, by its name ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/Meaning.h"
#include "tpuc/Interpreter/Ops/Families.h"

#include <algorithm>
#include <new>

using namespace tpuc;
using namespace tpuc::ops;

std::span<const Meaning> ops::meanings() {
  static const std::vector<Meaning> all = [] {
    std::vector<Meaning> list;
    for (auto *family :
         {attentionOps, binaryOps, convolutionOps, indexOps, matrixOps, movementOps, normOps,
          poolOps, quantizeOps, recurrentOps, reduceOps, resizeOps, shapeOps, signalOps, unaryOps})
      std::ranges::copy(family(), std::back_inserter(list));
    std::ranges::sort(list, {}, &Meaning::name);
    return list;
  }();
  return all;
}

const Meaning *ops::findMeaning(std::string_view name) {
  const auto all = meanings();
  const auto found = std::ranges::lower_bound(all, name, {}, &Meaning::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

Expected<void> ops::evaluate(const Meaning &meaning, OpContext &context) {
  try {
    return meaning.function(context);
  } catch (const AttributeError &error) {
    return context.error(error.found, error.expected);
  } catch (const std::bad_alloc &) {
    return context.error("not enough memory");
  }
}
