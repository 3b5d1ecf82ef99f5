//===- DetectionOps.td - Boxes and regions of detectors -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_DETECTIONOPS
#define TPUC_DIALECT_TPU_DETECTIONOPS

include "tpuc/Dialect/Top/DetectionOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [Top_DetectionOutputOp, Top_FrcnDetectionOp, Top_ObjectDetectionOp, Top_ProposalOp,
               Top_RetinaFaceDetectionOp, Top_RoiPoolOp, Top_YoloDetectionOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_DETECTIONOPS
