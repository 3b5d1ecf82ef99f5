//===- RunFiles.h - The files that a run reads and writes -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_RUNFILES_H
#define TPUC_SUPPORT_RUNFILES_H

#include "tpuc/Support/Error.h"

#include <span>
#include <string>
#include <vector>

namespace tpuc {

/// The files of a run, which are checked before anything is done: no output may take the place of
/// an input, or of another output.
///
/// Two names mean one file where they lead to the same device and inode, through links as well.
/// A file that does not exist yet is known by its folder and its name. `-`, devices, pipes and
/// folders are no files here.
class RunFiles {
public:
  /// `what` is how errors call the file: an option, or what it is for. An empty `path` is none.
  void reads(std::string what, std::string path);
  void reads(const std::string &what, std::span<const std::string> paths);
  void writes(std::string what, std::string path);

  /// Errors: an output that is an input, or that is another output; says which.
  Expected<void> check() const;
  /// The same for one more output, whose name was not known before. Errors: it is an input.
  Expected<void> checkWrites(const std::string &path) const;

private:
  struct File {
    std::string what;
    std::string path;
  };

  std::vector<File> inputs;
  std::vector<File> outputs;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_RUNFILES_H
