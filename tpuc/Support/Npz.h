//===- Npz.h - Tensors as numpy's .npz files ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TPUC_SUPPORT_NPZ_H
#define TPUC_SUPPORT_NPZ_H

#include "tpuc/Support/Npy.h"
#include "tpuc/Support/OutputFile.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tpuc {

struct ZipEntry;

/// What is known of a tensor in an npz file without reading its elements.
struct NpzEntry {
  DataType type = DataType::F32;
  Shape shape;
  /// Deflated; otherwise stored.
  bool compressed = false;
  /// `read` gives a view into the file instead of a copy.
  bool borrowable = false;
  /// Bytes that the entry takes in the file.
  uint64_t storedBytes = 0;
};

/// An npz file (a zip archive of .npy files), mapped. It may come from anywhere: every size is
/// checked against what the file can hold before memory is taken for it, and never is more than
/// 1032 times the compressed size taken, which is what deflate reaches at best.
///
/// After `open` nothing changes any more: all functions can be called from several threads.
class NpzReader {
public:
  /// Reads the directory of the archive. Errors: as MappedFile::open; not a zip archive, truncated,
  /// entries that overlap, that leave the file or that bear the same name, encrypted entries,
  /// compression other than deflate, directories.
  static Expected<NpzReader> open(const std::string &path);
  /// The same for an archive in memory, which `owner` keeps alive. `where` names it in errors.
  static Expected<NpzReader> fromMemory(std::span<const std::byte> bytes,
                                        std::shared_ptr<const void> owner,
                                        const std::string &where);

  /// The names of the tensors in the order of the directory: entry `a/b.npy` is `a/b`.
  const std::vector<std::string> &names() const { return nameList; }
  bool contains(std::string_view name) const;

  /// Errors: no such name (says which there are), not a .npy file, a type that tpuc has not.
  Expected<NpzEntry> info(std::string_view name) const;

  /// The tensor `name`: a view into the mapped file when the entry is stored, in C order, little
  /// endian and aligned to its element, as everything that NpzWriter writes; otherwise a copy.
  /// Where a copy is made, the entry's CRC is checked; a view is not even looked at (`verify`).
  Expected<Tensor> read(std::string_view name) const;

  /// Checks the CRC of the entry `name`, however it is stored.
  Expected<void> verify(std::string_view name) const;
  /// The same where `read` gives a view of the entry. With `read`, which checks what it copies, it
  /// is checked once.
  Expected<void> verifyView(std::string_view name) const;
  /// Checks all of them; gives the first error.
  Expected<void> verify() const;

  /// What stands behind the data of all entries: their names, places, sizes and CRCs. Two files of
  /// the same directory hold the same tensors, but for damage, which the CRCs tell.
  std::span<const std::byte> directory() const;

  /// What errors name: the path.
  const std::string &where() const { return place; }

private:
  struct Entry {
    uint64_t dataOffset = 0;
    uint64_t compressedSize = 0;
    uint64_t uncompressedSize = 0;
    uint32_t crc = 0;
    bool compressed = false;
  };

  NpzReader() = default;
  Expected<void> readDirectory();
  Expected<void> addEntry(const ZipEntry &entry);
  Expected<const Entry *> find(std::string_view name) const;
  std::string placeOf(std::string_view name) const;
  std::span<const std::byte> rawBytes(const Entry &entry) const;
  Expected<NpyHeader> readHeader(const Entry &entry, const std::string &entryPlace) const;
  Expected<Tensor> readStored(const Entry &entry, const NpyHeader &header,
                              const std::string &entryPlace) const;
  Expected<Tensor> readCompressed(const Entry &entry, const NpyHeader &header,
                                  const std::string &entryPlace) const;

  std::string place;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::vector<std::string> nameList;
  /// In the order of `nameList`.
  std::vector<Entry> entries;
  uint64_t directoryOffset = 0;
  std::unordered_map<std::string, size_t> indexOf;
};

/// Writes an npz file: entries stored, their elements at multiples of 64 in the file, zip64 where
/// sizes need it. The bytes depend on nothing but the calls (no time stamps). The file appears when
/// `close` succeeds, or not at all (OutputFile.h). numpy.load reads it.
///
/// Tensors that come in pieces need a file that can be written out of order, not a pipe, because
/// their CRC stands before them.
class NpzWriter {
public:
  static Expected<NpzWriter> create(const std::string &path);

  NpzWriter(NpzWriter &&) noexcept;
  NpzWriter &operator=(NpzWriter &&) noexcept;
  /// What was not closed is discarded.
  ~NpzWriter();

  /// Writes `widenForNpz(tensor)` as entry `name` + ".npy". Names are UTF-8 without zero bytes,
  /// neither empty nor ending in '/', at most 64,996 bytes, and each is used once.
  Expected<void> add(const std::string &name, const Tensor &tensor);

  /// For elements that come in pieces: begin, append until the shape is filled, end. `type` must be
  /// one that `npyType` leaves alone; the pieces are little-endian elements in C order, cut
  /// anywhere. More or fewer bytes than the shape takes are an error.
  Expected<void> beginTensor(const std::string &name, DataType type, const Shape &shape);
  Expected<void> append(std::span<const std::byte> bytes);
  Expected<void> endTensor();

  /// Writes the directory and gives the file its name. Nothing may be called afterwards.
  Expected<void> close();
  /// The same without the name: the complete file, to be committed by the caller.
  Expected<OutputFile> finish();

private:
  struct State;
  explicit NpzWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace tpuc

#endif // TPUC_SUPPORT_NPZ_H
