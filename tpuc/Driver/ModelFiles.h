//===- ModelFiles.h - The files that a network leaves -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_MODELFILES_H
#define TPUC_DRIVER_MODELFILES_H

#include <string>
#include <string_view>

namespace tpuc {

/// The files of the network `model` that stand beside its module file.
struct ModelFiles {
  /// `model` with the folder of `moduleFile` in front.
  ModelFiles(std::string_view moduleFile, std::string_view model);

  std::string originModule() const { return stem + "_origin.mlir"; }
  /// What is left of the source model, in its own format, whose files end in `ending`.
  std::string optimizedSource(std::string_view ending) const {
    return stem + "_opt" + std::string(ending);
  }
  std::string testInput() const { return stem + "_in_f32.npz"; }
  std::string topOutputs() const { return stem + "_top_outputs.npz"; }
  /// Without a folder: what `module.weight_file` says.
  std::string originWeights() const { return model + "_top_origin_weight.npz"; }
  std::string topWeights() const { return model + "_top_f32_all_weight.npz"; }

  /// Of the network lowered for `chip` in `mode`: what variantName gives.
  std::string loweredModule(std::string_view chip, std::string_view mode) const {
    return lowered(stem, chip, mode) + "_tpu.mlir";
  }
  std::string loweredOutputs(std::string_view chip, std::string_view mode) const {
    return lowered(stem, chip, mode) + "_tpu_outputs.npz";
  }
  std::string loweredWeights(std::string_view chip, std::string_view mode) const {
    return lowered(model, chip, mode) + "_tpu_weight.npz";
  }

  /// Of the network with addresses, from which the model file is made.
  std::string finalModule(std::string_view chip, std::string_view mode) const {
    return lowered(stem, chip, mode) + "_final.mlir";
  }
  std::string finalWeights(std::string_view chip, std::string_view mode) const {
    return lowered(model, chip, mode) + "_final_weight.npz";
  }

private:
  static std::string lowered(const std::string &name, std::string_view chip,
                             std::string_view mode) {
    return name + "_" + std::string(chip) + "_" + std::string(mode);
  }

  std::string model;
  std::string stem;
};

/// What files of a lowering are called after: `mode` (int8_sym), and behind it, with a quantize
/// table, the name of that file without its folder and its ending: `int8_sym_table`.
std::string variantName(const std::string &mode, const std::string &quantizeTable);

} // namespace tpuc

#endif // TPUC_DRIVER_MODELFILES_H
