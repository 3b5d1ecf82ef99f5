//===- MappedFile.cpp - Files read by mapping them ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tpuc {

namespace {

tl::unexpected<Error> cannotRead(const std::string &path, int error) {
  return makeError(path, "cannot be read: " + std::generic_category().message(error));
}

/// The files that are mapped now, by their addresses.
struct Mappings {
  std::mutex mutex;
  std::map<const std::byte *, const MappedFile *> files;

  static Mappings &all() {
    static Mappings mappings;
    return mappings;
  }
};

} // namespace

MappedFile::MappedFile(const std::byte *address, size_t size) : address(address), size(size) {
  if (size == 0)
    return;
  Mappings &mappings = Mappings::all();
  std::lock_guard lock(mappings.mutex);
  mappings.files[address] = this;
}

Expected<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait forever.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return cannotRead(path, errno);
  auto closer = std::shared_ptr<void>(nullptr, [descriptor](void *) { ::close(descriptor); });
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0)
    return cannotRead(path, errno);
  if (S_ISDIR(status.st_mode))
    return makeError(path, "is a directory", "a file");
  if (!S_ISREG(status.st_mode))
    return makeError(path, "is not a regular file, which is needed to map it");
  auto size = static_cast<size_t>(status.st_size);
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED)
    return cannotRead(path, errno);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte *>(address), size));
}

void MappedFile::release(std::span<const std::byte> part) const {
  if (part.data() < address || part.data() + part.size() > address + size)
    return;
  auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  size_t begin = (static_cast<size_t>(part.data() - address) + page - 1) / page * page;
  size_t end = static_cast<size_t>(part.data() - address) + part.size();
  end = end == size ? end : end / page * page;
  // The pages are those of the file, unchanged: losing them loses nothing.
  if (begin < end)
    ::madvise(const_cast<std::byte *>(address) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (size == 0)
    return;
  Mappings &mappings = Mappings::all();
  std::lock_guard lock(mappings.mutex);
  mappings.files.erase(address);
  ::munmap(const_cast<std::byte *>(address), size);
}

void releaseMapped(std::span<const std::byte> part) {
  Mappings &mappings = Mappings::all();
  std::lock_guard lock(mappings.mutex);
  auto next = mappings.files.upper_bound(part.data());
  if (next != mappings.files.begin())
    std::prev(next)->second->release(part);
}

} // namespace tpuc
