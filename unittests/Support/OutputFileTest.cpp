//===- OutputFileTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/MappedFile.h"
#include "unittests/Support/TempFolder.h"

#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Runs `body` in a child process; gives what waitpid says.
int inChild(const std::function<void()> &body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

unsigned modeOf(const std::string &path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

constexpr uid_t kNobody = 65534;

void becomeNobody() {
  if (geteuid() == 0)
    ASSERT_EQ(setresuid(kNobody, kNobody, kNobody), 0);
}

} // namespace

TEST(OutputFile, AppearsOnCommit) {
  TempFolder folder;
  std::string path = folder.path("a");
  writeAll(path, "old");
  {
    Expected<OutputFile> file = OutputFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new contents"));
    EXPECT_EQ(readAll(path), "old");
    EXPECT_EQ(folder.files().size(), 2u);
    ASSERT_TRUE(file->commit());
  }
  EXPECT_EQ(readAll(path), "new contents");
  EXPECT_THAT(folder.files(), ElementsAre("a"));
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  TempFolder folder;
  std::string path = folder.path("a");
  writeAll(path, "old");
  {
    Expected<OutputFile> file = OutputFile::create(path);
    ASSERT_TRUE(file->write(std::string(5 << 20, 'x')));
    OutputFile moved = std::move(*file);
    ASSERT_TRUE(moved.write("y"));
    Expected<OutputFile> other = OutputFile::create(folder.path("b"));
    *other = std::move(moved);
  }
  EXPECT_EQ(readAll(path), "old");
  EXPECT_THAT(folder.files(), ElementsAre("a"));
}

TEST(OutputFile, OverwritesInBufferAndFile) {
  TempFolder folder;
  std::string expected(3 << 20, 'x');
  Expected<OutputFile> file = OutputFile::create(folder.path("a"));
  ASSERT_TRUE(file->write(expected));
  ASSERT_TRUE(file->write("yz"));
  expected += "yz";
  // In the file, in the buffer, across both.
  for (size_t offset : {size_t(5), expected.size() - 2, (size_t(3) << 20) - 1}) {
    ASSERT_TRUE(file->overwrite(offset, std::as_bytes(std::span("AB", 2))));
    expected.replace(offset, 2, "AB");
  }
  EXPECT_EQ(file->size(), expected.size());
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(readAll(folder.path("a")), expected);
}

TEST(OutputFile, ZerosBecomeHoles) {
  TempFolder folder;
  std::string expected = "x" + std::string(16 << 20, '\0');
  ASSERT_TRUE(writeFile(folder.path("a"), expected));
  EXPECT_EQ(readAll(folder.path("a")), expected);
  struct stat status = {};
  ASSERT_EQ(stat(folder.path("a").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 4 << 20);
}

TEST(OutputFile, KeepsPermissions) {
  TempFolder folder;
  mode_t old = umask(027);
  ASSERT_TRUE(writeFile(folder.path("new"), ""));
  writeAll(folder.path("old"), "");
  ASSERT_EQ(chmod(folder.path("old").c_str(), 0606), 0);
  ASSERT_TRUE(writeFile(folder.path("old"), "x"));
  umask(old);
  EXPECT_EQ(modeOf(folder.path("new")), 0640u);
  EXPECT_EQ(modeOf(folder.path("old")), 0606u);
}

TEST(OutputFile, FollowsLinks) {
  TempFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  writeAll(folder.path("sub/target"), "old");
  std::filesystem::create_symlink("sub/target", folder.path("link"));
  std::filesystem::create_symlink("link", folder.path("second"));
  std::filesystem::create_symlink("sub/missing", folder.path("dangling"));
  std::filesystem::create_symlink("loop", folder.path("loop"));
  ASSERT_TRUE(writeFile(folder.path("second"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(readAll(folder.path("sub/target")), "new");
  ASSERT_TRUE(writeFile(folder.path("dangling"), "made"));
  EXPECT_EQ(readAll(folder.path("sub/missing")), "made");
  EXPECT_THAT(writeFile(folder.path("loop"), "").error().message(),
              HasSubstr("Too many levels of symbolic links"));
}

TEST(OutputFile, LongNamesFit) {
  TempFolder folder;
  std::string longest(255, 'n');
  ASSERT_TRUE(writeFile(folder.path(longest), "x"));
  EXPECT_THAT(folder.files(), ElementsAre(longest));
  EXPECT_FALSE(writeFile(folder.path(longest + "n"), "x"));
  EXPECT_THAT(folder.files(), ElementsAre(longest));
}

TEST(OutputFile, SaysWhyItCannotBeCreated) {
  TempFolder folder;
  auto message = [](const std::string &path) { return OutputFile::create(path).error().message(); };
  EXPECT_EQ(message(folder.path("")),
            folder.path("") + ": is a directory; expected the name of a file");
  EXPECT_THAT(message(folder.path("no/file")), HasSubstr("No such file or directory"));
  EXPECT_THAT(message(folder.path("no/")), HasSubstr("is a directory"));
  EXPECT_THAT(message(""), HasSubstr("is empty"));
  EXPECT_THAT(message(std::string("a\0b", 3)), HasSubstr("zero byte"));
}

TEST(OutputFile, ReadOnlyDirectory) {
  TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  int status = inChild([&] {
    becomeNobody();
    Expected<OutputFile> file = OutputFile::create(folder.path("a"));
    _exit(!file && file.error().message().find("Permission denied") != std::string::npos ? 3 : 4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(OutputFile, ReadOnlyFileInWritableDirectory) {
  TempFolder folder;
  writeAll(folder.path("a"), "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  std::filesystem::permissions(folder.path("a"), std::filesystem::perms(0444));
  int status = inChild([&] {
    becomeNobody();
    _exit(writeFile(folder.path("a"), "new") ? 4 : 3);
  });
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(readAll(folder.path("a")), "old");
}

TEST(OutputFile, FullDevice) {
  Expected<void> written = writeFile("/dev/full", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message(), "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_TRUE(writeFile("/dev/null", "x"));
}

TEST(OutputFile, FullDisk) {
  TempFolder folder;
  std::string disk = folder.path("disk");
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "no right to mount a small file system to fill";
  writeAll(disk + "/a", "old");
  Expected<void> written;
  {
    Expected<OutputFile> file = OutputFile::create(disk + "/a");
    written = file->write(std::string(4 << 20, 'x'));
    EXPECT_FALSE(file->write("more")) << "the first error stays";
    EXPECT_FALSE(file->commit());
  }
  Expected<void> short1 = writeFile(disk + "/b", std::string(300 << 10, 'x'));
  std::string kept = readAll(disk + "/a");
  size_t files = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(disk))
    ++files;
  umount(disk.c_str());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message(), disk + "/a: cannot be written: No space left on device");
  EXPECT_FALSE(short1) << "seen when the buffer is written, at the latest by commit";
  EXPECT_EQ(kept, "old");
  EXPECT_EQ(files, 1u);
}

TEST(OutputFile, FileSizeLimitEndsTheProgramCleanly) {
  TempFolder folder;
  int status = inChild([&] {
    rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    (void)writeFile(folder.path("a"), std::string(1 << 20, 'x'));
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(OutputFile, SignalsLeaveNothing) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    // A shell's background jobs, nohup and others start programs that ignore some of them.
    struct sigaction current = {};
    sigaction(signal, nullptr, &current);
    if (signal != SIGTERM && current.sa_handler == SIG_IGN)
      continue;
    TempFolder folder;
    int status = inChild([&] {
      Expected<OutputFile> a = OutputFile::create(folder.path("a"));
      Expected<OutputFile> b = OutputFile::create(folder.path("b"));
      Expected<OutputFile> done = OutputFile::create(folder.path("done"));
      if (!a || !b || !done || !done->commit() || folder.files().size() != 3)
        _exit(5);
      raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal << " " << status;
    EXPECT_THAT(folder.files(), ElementsAre("done"));
  }
}

TEST(OutputFile, SignalsThatAreIgnoredStayIgnored) {
  TempFolder folder;
  int status = inChild([&] {
    std::signal(SIGHUP, SIG_IGN);
    Expected<OutputFile> file = OutputFile::create(folder.path("a"));
    raise(SIGHUP);
    if (!file->commit())
      _exit(5);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_THAT(folder.files(), ElementsAre("a"));
}

TEST(OutputFile, ExitLeavesNothing) {
  TempFolder folder;
  int status = inChild([&] {
    static Expected<OutputFile> *file =
        new Expected<OutputFile>(OutputFile::create(folder.path("a")));
    (void)file;
    std::exit(7);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(OutputFile, ForkedChildrenLeaveTheFileAlone) {
  TempFolder folder;
  Expected<OutputFile> file = OutputFile::create(folder.path("a"));
  ASSERT_TRUE(file->write("x"));
  inChild([&] { raise(SIGTERM); });
  inChild([&] { OutputFile mine = std::move(*file); });
  EXPECT_EQ(folder.files().size(), 1u);
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(readAll(folder.path("a")), "x");
}

TEST(OutputFile, StandardOutputIsWrittenDirectly) {
  TempFolder folder;
  std::string path = folder.path("out");
  int status = inChild([&] {
    if (!std::freopen(path.c_str(), "w", stdout))
      _exit(5);
    // As a shell's redirection, which others write to as well.
    if (write(STDOUT_FILENO, "before ", 7) != 7 || !writeFile("/dev/stdout", "mine ") ||
        !writeFile("/dev/fd/1", "again ") || write(STDOUT_FILENO, "after", 5) != 5)
      _exit(6);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(readAll(path), "before mine again after");
}

TEST(MappedFile, MapsAndOutlivesTheName) {
  TempFolder folder;
  writeAll(folder.path("a"), "hello");
  Expected<std::shared_ptr<const MappedFile>> file = MappedFile::open(folder.path("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(writeFile(folder.path("a"), "replaced"));
  auto bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()), "hello");
  writeAll(folder.path("empty"), "");
  EXPECT_TRUE((*MappedFile::open(folder.path("empty")))->bytes().empty());
}

TEST(MappedFile, SaysWhyNot) {
  TempFolder folder;
  auto message = [](const std::string &path) { return MappedFile::open(path).error().message(); };
  EXPECT_EQ(message(folder.path("no")),
            folder.path("no") + ": cannot be read: No such file or directory");
  EXPECT_EQ(message(folder.path()), folder.path() + ": is a directory; expected a file");
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(message(folder.path("pipe")), HasSubstr("not a regular file"));
  EXPECT_THAT(message("/dev/null"), HasSubstr("not a regular file"));
  writeAll(folder.path("secret"), "x");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder.path("secret"), std::filesystem::perms(0));
  int status = inChild([&] {
    becomeNobody();
    _exit(message(folder.path("secret")).find("Permission denied") != std::string::npos ? 3 : 4);
  });
  EXPECT_EQ(WEXITSTATUS(status), 3);
}
