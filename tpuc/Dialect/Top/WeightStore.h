//===- WeightStore.h - The constant tensors of a module --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_WEIGHTSTORE_H
#define TPUC_DIALECT_TOP_WEIGHTSTORE_H

#include "tpuc/Support/Npz.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>
#include <optional>

namespace tpuc::top {

/// The constant tensors of a module, by name: those of its weight file, mapped when they are first
/// read, and on top of them those that passes have made. Thread safe.
class WeightStore {
public:
  WeightStore() = default;
  /// Checks the file against `digest` unless that is empty (weightDigest). Each tensor is checked
  /// against its CRC when it is read first: its reader finds in the caches what that has looked at.
  /// Errors: as NpzReader::open; another file's weights.
  static Expected<std::shared_ptr<WeightStore>> open(const std::string &path,
                                                     llvm::StringRef digest = "");
  /// A file that this process has just written, whose tensors are not checked again.
  static Expected<std::shared_ptr<WeightStore>> openWritten(const std::string &path);

  bool contains(llvm::StringRef name) const;
  /// The tensor `name`, in the type in which the file stores it. Errors: no such name, damage.
  Expected<Tensor> read(llvm::StringRef name) const;
  /// Its shape, without reading it. Errors: the same.
  Expected<Shape> shape(llvm::StringRef name) const;
  /// Adds `tensor`, or puts it in the place of the one that there is.
  void set(llvm::StringRef name, Tensor tensor);
  /// Forgets a tensor that was added; what the file holds under that name is read again.
  void forget(llvm::StringRef name);
  /// `wanted`, or with the first number behind it that makes it new.
  std::string freeName(llvm::StringRef wanted) const;

  /// Writes the tensors `names`, in that order, to the npz `path`, which the caller commits.
  /// Errors: as NpzWriter; a name that there is not.
  Expected<OutputFile> save(const std::string &path, const std::vector<std::string> &names) const;

private:
  mutable std::mutex mutex;
  std::optional<NpzReader> file;
  /// Those of the file that are whole; all of them, where this process has written the file.
  mutable llvm::StringSet<> whole;
  bool isOwn = false;
  llvm::StringMap<Tensor> made;
};

/// What the module attribute of this name says: the SHA-256, in hexadecimal digits, of the
/// directory of the weight file, which holds the names, places, sizes and CRCs of all tensors. So a
/// module and weights of two runs are told apart, and no run has to read all weights for it.
inline constexpr llvm::StringLiteral kWeightDigest = "module.weight_sha256";
std::string weightDigest(const NpzReader &file);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_WEIGHTSTORE_H
