//===- OutputFile.h - Files that appear complete or not at all --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_OUTPUTFILE_H
#define TPUC_SUPPORT_OUTPUTFILE_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

/// A file that appears under its name when it is complete, or not at all: it is written under a
/// temporary name in the same directory and renamed by `commit`. Until then, an existing file of
/// that name stays as it was. When the object goes away without `commit`, or the program is ended
/// by `exit`, Ctrl-C, SIGTERM or the like, the temporary is removed (PendingFiles.h).
///
/// - A symbolic link stays a link; the file that it points to is replaced.
/// - Permissions are those of the replaced file, or those that the umask gives to a new one. A file
///   that the user may not write is refused, though the directory would allow to replace it.
/// - Devices, pipes and /dev/stdout, /dev/stderr and /dev/fd/N are written directly.
/// - Blocks of 64 KiB of zeros become holes in the file.
/// - Data is not forced to the disk (no fsync): this is about interrupted runs, not power failures.
///
/// Not for use by two threads at once; different objects are independent.
class OutputFile {
public:
  /// Opens the temporary. Errors name `path` and the reason: a directory, no such directory, no
  /// permission, a full or read-only file system.
  static Expected<OutputFile> create(const std::string &path);

  OutputFile(OutputFile &&) noexcept;
  OutputFile &operator=(OutputFile &&) noexcept;
  /// Removes what was not committed.
  ~OutputFile();

  /// Appends. The first error, a full disk for instance, stays: every later call gives it again.
  Expected<void> write(std::span<const std::byte> bytes);
  Expected<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// Overwrites bytes that were already written: `offset + bytes.size()` is at most `size()`.
  /// An error for pipes and the like, once the bytes have left.
  Expected<void> overwrite(uint64_t offset, std::span<const std::byte> bytes);
  /// The bytes written so far.
  uint64_t size() const;
  const std::string &path() const;

  /// Writes what is buffered and closes the file. It can be read under `temporaryPath`, and what
  /// commit has left to do is to rename it; only that may be called afterwards.
  Expected<void> finish();
  /// The name that a finished file has until it is committed.
  const std::string &temporaryPath() const;
  /// Finishes the file and gives it its name. Nothing may be called afterwards.
  Expected<void> commit();

private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

/// Finishes all files before the first one gets its name: where the disk has no room for all of
/// them, none appears. They get their names in the order given while their folders are locked
/// (flock), so that of two runs which write the same files one gives all of them. What others refer
/// to comes before them.
Expected<void> commitAll(std::vector<OutputFile> files);

/// Writes a whole file through OutputFile.
Expected<void> writeFile(const std::string &path, std::string_view contents);
/// The same for the value of an option; `-` is stdout.
Expected<void> writeFileOrStdout(const std::string &path, std::string_view contents);

} // namespace tpuc

#endif // TPUC_SUPPORT_OUTPUTFILE_H
