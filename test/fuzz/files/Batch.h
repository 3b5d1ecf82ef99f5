//===- Batch.h - Many changed files, one after another
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_FILES_BATCH_H
#define TEST_FUZZ_FILES_BATCH_H

#include "test/fuzz/common/Findings.h"
#include "test/fuzz/files/FileKind.h"

#include <filesystem>
#include <vector>

namespace tpuc::fuzz {

/// A seed and what is done to it.
struct FileMutation {
  uint64_t number = 0;
  size_t seed = 0;
  /// Tokens are changed, not bytes.
  bool isText = false;
  std::vector<uint64_t> mutations;
};

/// The case of that number; the first ones are the seeds as they are.
FileMutation mutationOf(const FileKind &kind, uint64_t number, uint64_t seed);

/// The changed file; what was done goes to `changes`.
std::string changedFile(const FileKind &kind, const FileMutation &which,
                        std::vector<Change> &changes);

/// Has the readers of `kind` work on cases, in a process of their own and in `folder`, which may
/// not exist before. Notes, for each case:
///   case NUMBER
///   begin STEP, then passed STEP or refused STEP: MESSAGE (mute where it names no place)
///   left FILE                    a tool left a file that should not be there
///   peak BYTES                   where the process had never more memory before
/// Steps are `read` and the names of the tools. Behind a case with more memory than `allowed` the
/// process ends, and behind one that left a file.
void runCases(const FileKind &kind, const std::vector<FileMutation> &cases,
              const std::filesystem::path &folder, const Limits &limits, const Allowance &allowed,
              const Notes &notes);

/// What came of the cases that a process ran, as far as it came; `ending` is its own.
std::vector<Outcome> outcomesOf(const Ending &ending, const Allowance &allowed);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_FILES_BATCH_H
