//===- OutputFile.cpp - Files that appear complete or not at all ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/OutputFile.h"

#include "tpuc/Support/PendingFiles.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tpuc {

struct OutputFile::State {
  /// As the user wrote it: what errors name.
  std::string path;
  /// What the temporary is renamed to: `path` with symbolic links resolved.
  std::string target;
  std::string temporary;
  /// Null for what is written directly.
  PendingFile *pending = nullptr;
  int descriptor = -1;
  bool seekable = false;
  /// Bytes that the descriptor has taken; `buffer` comes after them.
  uint64_t flushed = 0;
  std::vector<std::byte> buffer;
  std::optional<Error> failure;

  State() = default;
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() { discard(); }

  void discard();
  Expected<void> fail(const std::string &what, int error);
  Expected<void> writeAll(std::span<const std::byte> bytes, uint64_t offset);
  Expected<void> flush();
  Expected<void> openDirectly(int flags);
  Expected<void> openTemporary(std::optional<mode_t> mode);
};

namespace {

constexpr size_t kBlock = size_t(64) << 10;
constexpr size_t kBufferSize = 16 * kBlock;

std::string reason(int error) { return std::generic_category().message(error); }

bool isZero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes[0] == std::byte(0) &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// N of /dev/fd/N and its synonyms. Opening those by name would start at the beginning of a
/// redirected file again; duplicating the descriptor goes on where the others stopped.
std::optional<int> standardDescriptor(std::string_view path) {
  if (path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  for (std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix))
      continue;
    std::string_view digits = path.substr(prefix.size());
    int number = 0;
    auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (status == std::errc() && end == digits.data() + digits.size())
      return number;
  }
  return std::nullopt;
}

/// Follows symbolic links, also to a file that does not exist yet.
Expected<std::string> resolveLinks(const std::string &path) {
  constexpr int kMostLinks = 40; // what Linux allows
  std::filesystem::path current = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(current, error)))
      return current.string();
    std::filesystem::path next = std::filesystem::read_symlink(current, error);
    if (error)
      return makeError(path, "cannot be written: " + error.message());
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return makeError(path, "cannot be written: " + reason(ELOOP));
}

/// A name beside `target` that nobody has: hidden, so that patterns such as *.npz pass over it.
std::string temporaryName(const std::string &target) {
  std::filesystem::path path = target;
  constexpr size_t kLongestPart = 200; // of the 255 bytes that a name may have
  std::random_device random;
  uint64_t number = (uint64_t(random()) << 32) | random();
  path.replace_filename(fmt::format(
      ".{}.{}-{:016x}.tmp", path.filename().string().substr(0, kLongestPart), ::getpid(), number));
  return path.string();
}

} // namespace

void OutputFile::State::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
  if (pending && isPendingFileOfThisProcess(pending)) {
    ::unlink(temporary.c_str());
    releasePendingFile(pending);
  }
  pending = nullptr;
}

Expected<void> OutputFile::State::fail(const std::string &what, int error) {
  failure = Error{path, what + ": " + reason(error), ""};
  return tl::unexpected<Error>(*failure);
}

Expected<void> OutputFile::State::writeAll(std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    ssize_t count =
        seekable ? ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset))
                 : ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return fail("cannot be written", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

Expected<void> OutputFile::State::flush() {
  for (size_t begin = 0; begin < buffer.size(); begin += kBlock) {
    auto block = std::span(buffer).subspan(begin, std::min(kBlock, buffer.size() - begin));
    // Only in a temporary: what is written directly may hold something else there.
    bool hole = pending && block.size() == kBlock && isZero(block);
    if (!hole)
      if (Expected<void> written = writeAll(block, flushed); !written)
        return written;
    flushed += block.size();
  }
  buffer.clear();
  return {};
}

Expected<void> OutputFile::State::openDirectly(int flags) {
  std::optional<int> standard = standardDescriptor(path);
  descriptor =
      standard ? ::fcntl(*standard, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0)
    return fail("cannot be opened for writing", errno);
  return {};
}

Expected<void> OutputFile::State::openTemporary(std::optional<mode_t> mode) {
  constexpr int kAttempts = 8;
  int error = EEXIST;
  for (int i = 0; i < kAttempts && error == EEXIST; ++i) {
    temporary = temporaryName(target);
    pending = createPendingFile(temporary, [&] {
      descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      error = errno;
      return descriptor >= 0;
    });
    if (pending)
      break;
  }
  if (!pending) {
    std::string directory = std::filesystem::path(target).parent_path().string();
    return fail(fmt::format("no file can be created in directory '{}'",
                            directory.empty() ? "." : directory),
                error);
  }
  seekable = true;
  if (mode && ::fchmod(descriptor, *mode) != 0)
    return fail("the permissions of the old file cannot be given to the new one", errno);
  return {};
}

OutputFile::OutputFile(std::unique_ptr<State> state) : state(std::move(state)) {}
OutputFile::OutputFile(OutputFile &&) noexcept = default;
OutputFile &OutputFile::operator=(OutputFile &&) noexcept = default;
OutputFile::~OutputFile() = default;

Expected<OutputFile> OutputFile::create(const std::string &path) {
  if (path.empty())
    return makeError("", "the name of an output file is empty");
  if (path.find('\0') != std::string::npos)
    return makeError(path, "the name of an output file has a zero byte in it");
  auto state = std::make_unique<State>();
  state->path = path;
  struct stat status = {};
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (path.back() == '/' || (exists && S_ISDIR(status.st_mode)))
    return makeError(path, "is a directory", "the name of a file");

  Expected<void> opened;
  if (standardDescriptor(path) || (exists && !S_ISREG(status.st_mode))) {
    opened = state->openDirectly(O_WRONLY);
  } else {
    if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
      return makeError(path, "cannot be written: " + reason(errno));
    Expected<std::string> target = resolveLinks(path);
    if (!target)
      return propagate(target);
    state->target = *target;
    opened = state->openTemporary(
        exists ? std::optional<mode_t>(status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO))
               : std::nullopt);
  }
  if (!opened)
    return propagate(opened);
  state->buffer.reserve(kBufferSize);
  return OutputFile(std::move(state));
}

Expected<void> OutputFile::write(std::span<const std::byte> bytes) {
  if (state->failure)
    return tl::unexpected<Error>(*state->failure);
  while (!bytes.empty()) {
    size_t count = std::min(bytes.size(), kBufferSize - state->buffer.size());
    state->buffer.insert(state->buffer.end(), bytes.begin(), bytes.begin() + count);
    bytes = bytes.subspan(count);
    if (state->buffer.size() == kBufferSize)
      if (Expected<void> flushed = state->flush(); !flushed)
        return flushed;
  }
  return {};
}

Expected<void> OutputFile::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  assert(offset + bytes.size() <= size() && "only what is written can be overwritten");
  if (state->failure)
    return tl::unexpected<Error>(*state->failure);
  if (offset < state->flushed) {
    size_t before = std::min<uint64_t>(bytes.size(), state->flushed - offset);
    if (!state->seekable)
      return state->fail("cannot be written", ESPIPE);
    if (Expected<void> written = state->writeAll(bytes.first(before), offset); !written)
      return written;
    bytes = bytes.subspan(before);
    offset += before;
  }
  if (!bytes.empty())
    std::copy(bytes.begin(), bytes.end(), state->buffer.begin() + (offset - state->flushed));
  return {};
}

uint64_t OutputFile::size() const { return state->flushed + state->buffer.size(); }
const std::string &OutputFile::path() const { return state->path; }

const std::string &OutputFile::temporaryPath() const { return state->temporary; }

Expected<void> OutputFile::finish() {
  if (state->failure)
    return tl::unexpected<Error>(*state->failure);
  if (state->descriptor < 0)
    return {};
  if (Expected<void> flushed = state->flush(); !flushed)
    return flushed;
  // A hole at the end is not part of the file until its size says so.
  if (state->pending && ::ftruncate(state->descriptor, static_cast<off_t>(state->flushed)) != 0)
    return state->fail("cannot be written", errno);
  int descriptor = std::exchange(state->descriptor, -1);
  if (::close(descriptor) != 0 && errno != EINTR)
    return state->fail("cannot be written", errno);
  return {};
}

Expected<void> OutputFile::commit() {
  if (Expected<void> finished = finish(); !finished || !state->pending)
    return finished;
  if (::rename(state->temporary.c_str(), state->target.c_str()) != 0)
    return state->fail("the complete file cannot be renamed to this name", errno);
  releasePendingFile(std::exchange(state->pending, nullptr));
  return {};
}

namespace {

/// Locks folders against other runs that give files in them their names. A folder that cannot be
/// locked, on a file system without locks for instance, is not.
class FolderLocks {
public:
  explicit FolderLocks(const std::vector<OutputFile> &files) {
    // In one order for all processes, or two of them might wait for each other.
    std::map<std::pair<dev_t, ino_t>, int> folders;
    for (const OutputFile &file : files) {
      if (file.temporaryPath().empty())
        continue;
      const std::string folder = std::filesystem::path(file.temporaryPath()).parent_path().string();
      const int descriptor =
          ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      struct stat status = {};
      if (descriptor < 0)
        continue;
      if (::fstat(descriptor, &status) != 0 ||
          !folders.try_emplace({status.st_dev, status.st_ino}, descriptor).second)
        ::close(descriptor);
    }
    for (const auto &[folder, descriptor] : folders) {
      descriptors.push_back(descriptor);
      lock(descriptor);
    }
  }
  FolderLocks(const FolderLocks &) = delete;
  FolderLocks &operator=(const FolderLocks &) = delete;
  /// Closing unlocks.
  ~FolderLocks() {
    for (const int descriptor : descriptors)
      ::close(descriptor);
  }

private:
  /// Renaming takes no time: whoever holds a lock for seconds was stopped, or is somebody else.
  static void lock(int descriptor) {
    constexpr int kAttempts = 5000;
    for (int i = 0; i < kAttempts; ++i) {
      if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::vector<int> descriptors;
};

} // namespace

Expected<void> commitAll(std::vector<OutputFile> files) {
  for (OutputFile &file : files)
    if (Expected<void> finished = file.finish(); !finished)
      return finished;
  const FolderLocks locks(files);
  for (OutputFile &file : files)
    if (Expected<void> committed = file.commit(); !committed)
      return committed;
  return {};
}

Expected<void> writeFile(const std::string &path, std::string_view contents) {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return propagate(file);
  if (Expected<void> written = file->write(contents); !written)
    return written;
  return file->commit();
}

Expected<void> writeFileOrStdout(const std::string &path, std::string_view contents) {
  return writeFile(path == "-" ? "/dev/stdout" : path, contents);
}

} // namespace tpuc
