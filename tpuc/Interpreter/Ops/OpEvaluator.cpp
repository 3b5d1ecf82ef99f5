//===- OpEvaluator.cpp - What an op computes, by its name ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/OpEvaluator.h"
#include "tpuc/Interpreter/Ops/Families.h"

#include <algorithm>
#include <new>

using namespace tpuc;
using namespace tpuc::ops;

std::span<const OpEvaluator> ops::evaluators() {
  static const std::vector<OpEvaluator> all = [] {
    std::vector<OpEvaluator> list;
    for (auto *family : {attentionOps, binaryOps, convolutionOps, detectionOps, indexOps, matrixOps,
                         movementOps, normOps, poolOps, preprocessOps, quantizeOps, recurrentOps,
                         reduceOps, resizeOps, shapeOps, signalOps, unaryOps})
      std::ranges::copy(family(), std::back_inserter(list));
    std::ranges::sort(list, {}, &OpEvaluator::name);
    return list;
  }();
  return all;
}

const OpEvaluator *ops::findEvaluator(std::string_view name) {
  const auto all = evaluators();
  const auto found = std::ranges::lower_bound(all, name, {}, &OpEvaluator::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

Expected<void> ops::evaluate(const OpEvaluator &evaluator, OpContext &context) {
  try {
    return evaluator.function(context);
  } catch (const AttributeError &error) {
    return context.error(error.found, error.expected);
  } catch (const std::bad_alloc &) {
    return context.error("not enough memory");
  }
}
