//===- PostprocessOptions.h - What users say of boxes -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_POSTPROCESSOPTIONS_H
#define TPUC_TRANSFORMS_POSTPROCESSOPTIONS_H

#include "tpuc/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

/// What `--postprocess_options` says; nothing where it is silent. The names are those of the fields
/// in lower case with `_`, such as `score_threshold`. docs/postprocess.md explains each.
struct PostprocessOptions {
  std::optional<double> scoreThreshold; ///< 0 to 1.
  std::optional<double> nmsThreshold;   ///< 0 to 1.
  std::optional<int64_t> topK;          ///< 1 or more.
  std::optional<int64_t> keep;          ///< 1 to 1048576.
  std::optional<int64_t> numClasses;
  std::optional<int64_t> bins;
  std::optional<int64_t> background; ///< -1: none.
  std::optional<bool> agnostic;
  std::optional<bool> multiLabel;
  std::optional<bool> normalized;
  std::optional<bool> swapXy;
  std::optional<bool> cropMasks;
  std::optional<std::vector<int64_t>> classes;
  std::vector<std::vector<double>> anchors; ///< Width and height of each, a list for each level.
  std::vector<double> scaleXy;              ///< One for each level.
  std::vector<double> variances;            ///< Four.
  std::vector<int64_t> picture;             ///< Height and width.
  std::string letterbox;                    ///< center or normal.
  std::string boxes;                        ///< center or corners.
  std::string scores;                       ///< none, sigmoid or softmax.
  std::string decode;                       ///< chip or host.
};

/// The options in `text`: a JSON object, or `key=value,key=value` with values in JSON, where quotes
/// around words may be left out. Errors name --postprocess_options: text that is neither, an
/// unknown key, a value of another kind or range.
Expected<PostprocessOptions> parsePostprocessOptions(std::string_view text);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_POSTPROCESSOPTIONS_H
