//===- MappedFile.h - Files read by mapping them ----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_MAPPEDFILE_H
#define TPUC_SUPPORT_MAPPEDFILE_H

#include "tpuc/Support/Error.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tpuc {

/// A regular file mapped into memory, read only. Pages are read when they are first touched, so a
/// file may be larger than the memory. Whoever hands out pointers into it shares its ownership.
///
/// A file that another process shortens while it is mapped ends the program with SIGBUS; files that
/// tpuc writes are replaced as a whole (OutputFile.h), which leaves the old mapping intact.
class MappedFile {
public:
  /// Errors: missing, unreadable, a directory or another special file, not enough address space.
  /// An empty file gives empty `bytes()`.
  static Expected<std::shared_ptr<const MappedFile>> open(const std::string &path);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {address, size}; }

  /// Lets the pages that lie wholly in `part` leave the memory; touching them reads them again. For
  /// whoever has copied something out. A `part` outside the mapping is left alone.
  void release(std::span<const std::byte> part) const;

private:
  MappedFile(const std::byte *address, size_t size);

  const std::byte *address;
  size_t size;
};

/// `MappedFile::release` for bytes of whatever file is mapped there; nothing happens to bytes that
/// lie elsewhere. For whoever is done with a large tensor and does not know where it came from.
void releaseMapped(std::span<const std::byte> part);

} // namespace tpuc

#endif // TPUC_SUPPORT_MAPPEDFILE_H
