//===- RoundedFilters.h - Filters that were rounded before ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CONVERSION_TOPTOTPU_ROUNDEDFILTERS_H
#define TPUC_CONVERSION_TOPTOTPU_ROUNDEDFILTERS_H

#include "tpuc/Conversion/TopToTpu/QuantizedWeights.h"

#include <array>
#include <map>

namespace tpuc {

/// What quantizeWeights gives, for equal questions once: a network that is lowered several times,
/// with some layers otherwise, has most of its filters rounded alike each time. Of large networks,
/// the first filters are kept.
class RoundedFilters {
public:
  /// Those that were rounded so that sums are kept also answer where they need not be.
  QuantizedWeights quantized(const Tensor &filter, const Tensor *bias, const ChannelOrder &order,
                             const ProductScales &scales);
  /// How many questions were asked before.
  int64_t numKnown() const { return known; }

private:
  /// Hashes of the filter, and of all that says how it is rounded.
  using Key = std::array<uint64_t, 4>;

  std::map<Key, QuantizedWeights> made;
  size_t bytes = 0;
  int64_t known = 0;
};

} // namespace tpuc

#endif // TPUC_CONVERSION_TOPTOTPU_ROUNDEDFILTERS_H
