//===- DetectorAnchors.h - The anchors that detectors were trained with -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_DETECTORANCHORS_H
#define TPUC_TRANSFORMS_DETECTORANCHORS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Transforms/PostprocessOptions.h"

#include <string_view>
#include <vector>

namespace tpuc {

/// Width and height of the anchors of all levels, of which each has `counts`, those with the
/// smallest stride first: what the options say, or what the authors of `version` published for as
/// many levels. Errors: others than `counts` says, or none are known.
Expected<std::vector<double>> anchorsOf(std::string_view version, const PostprocessOptions &options,
                                        const std::vector<int64_t> &counts);

/// The factors of centres that the authors of `version` published for as many levels; else none.
std::vector<double> usualScaleXy(std::string_view version, size_t numLevels);

/// Width and height of the priors of SSD in pixels of an input of these extents: for levels of
/// 3, 6, 6, ... priors, scales from 0.2 to 0.95 of its shorter side (Liu et al. 2016, 2.2; the
/// first level has 0.1, and two of 0.2). Errors: levels of other counts.
Expected<std::vector<double>> priorsOf(const std::vector<int64_t> &counts, int64_t inputHeight,
                                       int64_t inputWidth);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_DETECTORANCHORS_H
