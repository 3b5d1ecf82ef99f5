//===- WeightStore.cpp - The constant tensors of a module ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WeightStore.h"
#include "tpuc/Support/MappedFile.h"

using namespace tpuc;
using namespace tpuc::top;

Expected<std::shared_ptr<WeightStore>> WeightStore::open(const std::string &path) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  auto store = std::make_shared<WeightStore>();
  store->file = std::move(*reader);
  return store;
}

bool WeightStore::contains(llvm::StringRef name) const {
  std::lock_guard lock(mutex);
  return made.contains(name) || (file && file->contains(name));
}

Expected<Tensor> WeightStore::read(llvm::StringRef name) const {
  std::lock_guard lock(mutex);
  if (auto found = made.find(name); found != made.end())
    return found->second;
  if (!file)
    return makeError("weight '" + name.str() + "'", "the module has no weight file that holds it");
  return file->read(name);
}

void WeightStore::set(llvm::StringRef name, Tensor tensor) {
  std::lock_guard lock(mutex);
  made[name] = std::move(tensor);
}

std::string WeightStore::freeName(llvm::StringRef wanted) const {
  std::string name = wanted.str();
  for (int number = 1; contains(name); ++number)
    name = wanted.str() + "_" + std::to_string(number);
  return name;
}

Expected<OutputFile> WeightStore::save(const std::string &path,
                                       const std::vector<std::string> &names) const {
  Expected<NpzWriter> writer = NpzWriter::create(path);
  if (!writer)
    return propagate(writer);
  for (const std::string &name : names) {
    Expected<Tensor> tensor = read(name);
    if (!tensor)
      return propagate(tensor);
    if (Expected<void> added = writer->add(name, *tensor); !added)
      return propagate(added);
    releaseMapped(tensor->rawBytes());
  }
  return writer->finish();
}
