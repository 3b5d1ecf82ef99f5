//===- DetectionRows.cpp - What the rows of detectors' outputs hold -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/DetectionRows.h"
#include "tpuc/Dialect/Top/OpTable.h"
#include "tpuc/Dialect/Tpu/DetectionOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tpu;

std::optional<DetectionRows> tpu::detectionRowsOf(Operation *op) {
  // item, class, score, box
  static constexpr DetectionRows kOfItems = {.item = 0, .category = 1, .score = 2, .box = 3};
  static const auto kTable =
      OpFunctions<DetectionRows()>()
          .add<DetectionOutputOp>([](DetectionOutputOp) { return kOfItems; })
          .add<ObjectDetectionOp>([](ObjectDetectionOp) {
            DetectionRows rows = kOfItems;
            rows.isCentred = true;
            return rows;
          })
          .add<YoloDetectionOp>([](YoloDetectionOp yolo) {
            return yolo.getCorners() ? kOfItems
                                     : DetectionRows{.item = std::nullopt,
                                                     .category = 4,
                                                     .score = 5,
                                                     .box = 0,
                                                     .isCentred = true};
          })
          .add<RetinaFaceDetectionOp>([](RetinaFaceDetectionOp) {
            return DetectionRows{.item = std::nullopt, .category = std::nullopt, .score = 4};
          })
          .add<FrcnDetectionOp>([](FrcnDetectionOp) {
            return DetectionRows{.item = std::nullopt, .category = 4, .score = 5};
          });
  const auto function = kTable.find(op);
  return function ? std::optional(function(op)) : std::nullopt;
}
