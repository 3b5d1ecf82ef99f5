//===- WeightStore.cpp - The constant tensors of a module ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/WeightStore.h"
#include "tpuc/Support/MappedFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace tpuc;
using namespace tpuc::top;

std::string top::weightDigest(const NpzReader &file) {
  const std::span<const std::byte> directory = file.directory();
  const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(directory.data()),
                                      directory.size());
  return llvm::toHex(llvm::SHA256::hash(bytes), /*LowerCase=*/true);
}

Expected<std::shared_ptr<WeightStore>> WeightStore::open(const std::string &path,
                                                         llvm::StringRef digest) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  if (std::string found = weightDigest(*reader); !digest.empty() && digest != found)
    return makeError(path,
                     "holds other weights than the module was written with: its directory has the "
                     "SHA-256 " +
                         found,
                     digest.str() + ", as the module says");
  auto store = std::make_shared<WeightStore>();
  store->file = std::move(*reader);
  return store;
}

Expected<std::shared_ptr<WeightStore>> WeightStore::openWritten(const std::string &path) {
  Expected<NpzReader> reader = NpzReader::open(path);
  if (!reader)
    return propagate(reader);
  auto store = std::make_shared<WeightStore>();
  store->file = std::move(*reader);
  store->isOwn = true;
  return store;
}

static tl::unexpected<Error> noFile(llvm::StringRef name) {
  return makeError("weight '" + name.str() + "'", "the module has no weight file that holds it");
}

bool WeightStore::contains(llvm::StringRef name) const {
  std::lock_guard lock(mutex);
  return made.contains(name) || (file && file->contains(name));
}

Expected<Tensor> WeightStore::read(llvm::StringRef name) const {
  {
    std::lock_guard lock(mutex);
    if (auto found = made.find(name); found != made.end())
      return found->second;
    if (!file)
      return noFile(name);
    if (isOwn || whole.contains(name))
      return file->read(name);
  }
  // The file stays as it is, so that other threads need not wait.
  if (Expected<void> verified = file->verifyView(name); !verified)
    return propagate(verified);
  std::lock_guard lock(mutex);
  whole.insert(name);
  return file->read(name);
}

Expected<Shape> WeightStore::shape(llvm::StringRef name) const {
  std::lock_guard lock(mutex);
  if (auto found = made.find(name); found != made.end())
    return found->second.shape();
  if (!file)
    return noFile(name);
  Expected<NpzEntry> entry = file->info(name);
  if (!entry)
    return propagate(entry);
  return entry->shape;
}

void WeightStore::set(llvm::StringRef name, Tensor tensor) {
  std::lock_guard lock(mutex);
  made[name] = std::move(tensor);
}

void WeightStore::forget(llvm::StringRef name) {
  std::lock_guard lock(mutex);
  made.erase(name);
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
