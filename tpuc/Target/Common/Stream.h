//===- Stream.h - Commands as they lie in memory -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_COMMON_STREAM_H
#define TPUC_TARGET_COMMON_STREAM_H

#include "tpuc/Target/Common/Command.h"

namespace tpuc::mc {

/// All commands of a stream, the end command included where `stream` has one. Errors name `where`
/// and the command's index and offset: what is no command, a wrong header, a missing end, commands
/// of an engine that another one announced and that are missing, bytes behind the end.
Expected<std::vector<Command>> parseStream(const CommandTable &table, const StreamInfo &stream,
                                           std::span<const uint8_t> bytes,
                                           const std::string &where);

/// The inverse of `parseStream`. Each command must be of an engine of the stream.
std::vector<uint8_t> encodeStream(const StreamInfo &stream, std::span<const Command> commands);

} // namespace tpuc::mc

#endif // TPUC_TARGET_COMMON_STREAM_H
