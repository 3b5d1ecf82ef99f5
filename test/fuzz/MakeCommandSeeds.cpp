//===- MakeCommandSeeds.cpp - The seeds of fuzz_commands ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: make-command-seeds vectors.txt FOLDER: for each operation of the golden vectors a file
// with the first command of each form, as fuzz_commands reads it.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Command.h"

#include <cstdio>
#include <fstream>
#include <map>

using namespace tpuc::bm1684x;

int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
  std::map<std::pair<std::string, Form>, Command> first;
  std::ifstream vectors(argv[1]);
  for (std::string line; std::getline(vectors, line);)
    if (const auto command = assemble(line.substr(0, line.find(" | ")), argv[1]))
      first.try_emplace(
          {std::string(command->operation().name), static_cast<Form>(command->form())}, *command);
  for (const auto &[key, command] : first) {
    std::ofstream file(std::string(argv[2]) + "/" + key.first, std::ios::app | std::ios::binary);
    file.put(command.engine() == Engine::Tiu ? 0 : 1);
    const auto bytes = command.encoded();
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::printf("%zu commands\n", first.size());
  return 0;
}
