//===- PendingFiles.h - Temporaries that a signal must not leave behind *- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_PENDINGFILES_H
#define TPUC_SUPPORT_PENDINGFILES_H

#include <functional>
#include <string>

namespace tpuc {

struct PendingFile;

/// Runs `create`, which makes the file `path` and says whether it did, and has the file removed
/// should `exit` or one of the signals SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ and
/// SIGABRT end this process before `releasePendingFile`. No such signal takes effect in between.
/// Returns null when `create` made nothing.
///
/// The first call installs the signal handlers; a signal that is ignored stays ignored. After
/// removing the files, the handler hands the signal to whoever had it before, by default to the
/// end of the program, so that the exit status is that of the signal.
PendingFile *createPendingFile(const std::string &path, const std::function<bool()> &create);

/// The file was renamed or removed: a signal leaves `path` alone from now on.
void releasePendingFile(PendingFile *file);

/// Removes the files of this process now: for whoever ends it without `exit`.
void removePendingFiles();

/// Whether this process called `createPendingFile`: the child of a fork must leave the files of its
/// parent alone.
bool isPendingFileOfThisProcess(const PendingFile *file);

} // namespace tpuc

#endif // TPUC_SUPPORT_PENDINGFILES_H
