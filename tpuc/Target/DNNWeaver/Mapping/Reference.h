//===- Reference.h - Measured layers of a public network ------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MAPPING_REFERENCE_H
#define TPUC_TARGET_DNNWEAVER_MAPPING_REFERENCE_H

#include "tpuc/Target/DNNWeaver/Mapping/Emit.h"

namespace tpuc::dnnweaver {

/// One layer of YOLOv2-tiny at 416 x 416 with the tiles of the public compiler on its 32 x 32
/// array, and cycles of the public hardware description under Verilator 5.006, with five ports that
/// answer after 20 cycles. Batch norms are ALU operations there.
struct ReferenceLayer {
  std::string_view name;
  ConvLayer layer;
  Mapping mapping;
  /// Operations of the ALU for a result, and whether it loads factors of a batch norm.
  unsigned aluOps;
  bool loads;
  /// The loops of the array in the compiler's order, with inputs and kernel columns made one loop,
  /// and besides with the loop of the most trips innermost.
  uint64_t asCompiled, collapsed, reordered;
};

std::span<const ReferenceLayer> referenceLayers();

enum class ReferenceOrder : uint8_t { AsCompiled, Collapsed, Reordered };
uint64_t referenceCycles(const ReferenceLayer &layer, ReferenceOrder order);
/// The mapping whose cycles `referenceCycles` are.
Mapping referenceMapping(const Parameters &machine, const ReferenceLayer &layer,
                         ReferenceOrder order);
/// Its block. Errors: see `emitBlock`.
Expected<Block> referenceBlock(const Parameters &machine, const ReferenceLayer &layer,
                               ReferenceOrder order);

/// Addresses for a layer by itself, one tensor behind the other.
Placement placeAlone(const Parameters &machine, const ConvLayer &layer);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MAPPING_REFERENCE_H
