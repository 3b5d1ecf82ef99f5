//===- NpzTest.cpp -------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/ZipDirectory.h"
#include "unittests/Support/TempFolder.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <zlib.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Expected<NpzReader> open(const std::string &archive) {
  auto owner = std::make_shared<std::string>(archive);
  return NpzReader::fromMemory(std::as_bytes(std::span(owner->data(), owner->size())), owner, "in");
}

/// The first error that reading everything gives.
std::string firstError(const std::string &archive) {
  Expected<NpzReader> reader = open(archive);
  if (!reader)
    return reader.error().message();
  for (const std::string &name : reader->names()) {
    if (Expected<NpzEntry> info = reader->info(name); !info)
      return info.error().message();
    if (Expected<Tensor> tensor = reader->read(name); !tensor)
      return tensor.error().message();
  }
  Expected<void> verified = reader->verify();
  return verified ? "no error" : verified.error().message();
}

std::string deflate(const std::string &text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

/// An archive entry after entry, whatever the entries say.
class Archive {
public:
  void add(const std::string &name, const std::string &data, uint64_t inflatedSize,
           const std::string &inflated, uint16_t method = 0) {
    ZipEntry entry;
    entry.name = name;
    entry.headerOffset = text.size();
    entry.compressedSize = entry.uncompressedSize = data.size();
    entry.crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(inflated.data()), inflated.size()));
    text += zipLocalHeader(entry) + data;
    entry.method = method;
    entry.uncompressedSize = inflatedSize;
    entries.push_back(entry);
  }
  void stored(const std::string &name, const std::string &data) {
    add(name, data, data.size(), data);
  }
  void deflated(const std::string &name, const std::string &data) {
    add(name, deflate(data), data.size(), data, 8);
  }

  /// The directory says what `entries` say; the writer knows only stored ones.
  std::string finish() {
    std::string result = text;
    uint64_t begin = text.size();
    for (const ZipEntry &entry : entries) {
      std::string one = zipDirectory({&entry, 1}, 0);
      one.resize(46 + entry.name.size());
      uint16_t flags = entry.encrypted ? 1 : 0;
      auto method = static_cast<uint16_t>(entry.method);
      std::memcpy(&one[8], &flags, 2);
      std::memcpy(&one[10], &method, 2);
      result += one;
    }
    std::string end("PK\x05\x06\0\0\0\0", 8);
    auto count = static_cast<uint16_t>(entries.size());
    auto size = static_cast<uint32_t>(result.size() - begin);
    auto offset = static_cast<uint32_t>(begin);
    end.append(reinterpret_cast<char *>(&count), 2).append(reinterpret_cast<char *>(&count), 2);
    end.append(reinterpret_cast<char *>(&size), 4).append(reinterpret_cast<char *>(&offset), 4);
    return result + end + std::string(2, '\0');
  }

  std::string text;
  std::vector<ZipEntry> entries;
};

std::string npyOf(DataType type, const Shape &shape) {
  return npyHeader(type, shape) + std::string(byteSize(type, shape.numElements()), 'x');
}

std::string sampleArchive() {
  Archive archive;
  archive.stored("a.npy", npyOf(DataType::F32, {4}));
  archive.deflated("b/c.npy", npyOf(DataType::I16, {100}));
  return archive.finish();
}

} // namespace

TEST(Npz, RoundTripOfEveryType) {
  TempFolder folder;
  std::string path = folder.path("a.npz");
  Expected<NpzWriter> writer = NpzWriter::create(path);
  ASSERT_TRUE(writer);
  std::vector<Tensor> tensors;
  for (DataType type : kAllDataTypes) {
    Tensor tensor(type, {3, 5});
    for (std::byte &element : tensor.mutableBytes())
      element = std::byte(1);
    ASSERT_TRUE(writer->add(std::string(dataTypeName(type)), tensor));
    tensors.push_back(widenForNpz(tensor));
  }
  ASSERT_TRUE(writer->add("scalar", Tensor::of<double>({}, {2.5})));
  ASSERT_TRUE(writer->add("empty", Tensor(DataType::F32, {2, 0})));
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer->close());
  EXPECT_THAT(folder.files(), ElementsAre("a.npz"));

  Expected<NpzReader> reader = NpzReader::open(path);
  ASSERT_TRUE(reader) << reader.error().message();
  ASSERT_EQ(reader->names().size(), kAllDataTypes.size() + 2);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string &name = reader->names()[i];
    EXPECT_EQ(name, dataTypeName(kAllDataTypes[i]));
    Expected<NpzEntry> info = reader->info(name);
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->borrowable && !info->compressed);
    Expected<Tensor> tensor = reader->read(name);
    ASSERT_TRUE(tensor);
    EXPECT_FALSE(tensor->isWritable());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->rawBytes().data()) % 64, 0u) << name;
    EXPECT_EQ(tensor->type(), tensors[i].type());
    EXPECT_EQ(tensor->shape(), tensors[i].shape());
    EXPECT_TRUE(std::ranges::equal(tensor->rawBytes(), tensors[i].rawBytes()));
  }
  EXPECT_EQ(reader->read("scalar")->data<double>()[0], 2.5);
  EXPECT_EQ(reader->read("empty")->shape(), (Shape{2, 0}));
  EXPECT_TRUE(reader->verify());
  EXPECT_TRUE(reader->contains("f32") && !reader->contains("f33"));
}

TEST(Npz, ViewsOutliveTheReaderAndTheFile) {
  TempFolder folder;
  Expected<NpzWriter> writer = NpzWriter::create(folder.path("a.npz"));
  ASSERT_TRUE(writer->add("a", Tensor::of<int32_t>({3}, {1, 2, 3})));
  ASSERT_TRUE(writer->close());
  Tensor tensor = *NpzReader::open(folder.path("a.npz"))->read("a");
  std::filesystem::remove(folder.path("a.npz"));
  EXPECT_THAT(tensor.data<int32_t>(), ElementsAre(1, 2, 3));
}

TEST(Npz, PiecesGiveTheSameBytes) {
  TempFolder folder;
  Tensor tensor = Tensor::of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  Expected<NpzWriter> whole = NpzWriter::create(folder.path("whole"));
  Expected<NpzWriter> pieces = NpzWriter::create(folder.path("pieces"));
  for (std::string name : {"a", "a longer name", "ü"}) {
    ASSERT_TRUE(whole->add(name, tensor));
    ASSERT_TRUE(pieces->beginTensor(name, tensor.type(), tensor.shape()));
    for (std::byte byte : tensor.rawBytes())
      ASSERT_TRUE(pieces->append({&byte, 1}));
    ASSERT_TRUE(pieces->endTensor());
  }
  ASSERT_TRUE(whole->close());
  ASSERT_TRUE(pieces->close());
  EXPECT_EQ(readAll(folder.path("whole")), readAll(folder.path("pieces")));
  EXPECT_EQ(firstError(readAll(folder.path("whole"))), "no error");
}

TEST(Npz, WriterRefusesMisuse) {
  TempFolder folder;
  Expected<NpzWriter> writer = NpzWriter::create(folder.path("a"));
  Tensor tensor = Tensor::of<uint8_t>({2}, {1, 2});
  ASSERT_TRUE(writer->add("a", tensor));
  EXPECT_THAT(writer->add("a", tensor).error().message(), HasSubstr("'a': is written twice"));
  for (const std::string &name :
       {std::string(), std::string("x/"), std::string("x\0y", 3), std::string("\xff"),
        std::string("\xed\xa0\x80"), std::string(64997, 'n')})
    EXPECT_FALSE(writer->add(name, tensor)) << name;
  EXPECT_TRUE(writer->add(std::string(64996, 'n'), tensor));
  EXPECT_FALSE(writer->append(tensor.rawBytes()));
  EXPECT_FALSE(writer->endTensor());
  EXPECT_THAT(writer->beginTensor("b", DataType::BF16, {2}).error().message(),
              HasSubstr("numpy has no type bf16; expected f32"));
  ASSERT_TRUE(writer->beginTensor("b", DataType::U8, {3}));
  ASSERT_TRUE(writer->append(tensor.rawBytes()));
  EXPECT_THAT(writer->endTensor().error().message(), HasSubstr("1 bytes less"));
  EXPECT_THAT(writer->append(tensor.rawBytes()).error().message(), HasSubstr("1 bytes more"));
  EXPECT_FALSE(writer->add("c", tensor));
  EXPECT_FALSE(writer->close());
}

TEST(Npz, FullDiskLeavesNothing) {
  Expected<NpzWriter> writer = NpzWriter::create("/dev/full");
  Tensor tensor(DataType::F32, {1 << 20});
  EXPECT_EQ(writer->add("a", tensor).error().message(),
            "/dev/full: cannot be written: No space left on device");
  EXPECT_FALSE(writer->close());
}

TEST(Npz, ReadsBothKindsOfEntries) {
  Expected<NpzReader> reader = open(sampleArchive());
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_THAT(reader->names(), ElementsAre("a", "b/c"));
  EXPECT_EQ(reader->info("b/c")->shape, Shape{100});
  EXPECT_TRUE(reader->info("b/c")->compressed);
  EXPECT_EQ(reader->read("b/c")->data<int16_t>()[99], 0x7878);
  EXPECT_TRUE(reader->verify());
}

TEST(Npz, UnalignedEntriesAreCopiedAndChecked) {
  // A header of 75 bytes: the elements are at an odd offset.
  Archive archive;
  archive.stored("a.npy", "\x93NUMPY" + npyHeader(DataType::U16, {2}).substr(6, 2) +
                              std::string("\x41\0", 2) +
                              std::string("{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}"
                                          "         \n",
                                          65) +
                              "abcd");
  Expected<NpzReader> reader = open(archive.finish());
  ASSERT_TRUE(reader) << reader.error().message();
  Expected<Tensor> tensor = reader->read("a");
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_TRUE(tensor->isWritable());
  EXPECT_FALSE(reader->info("a")->borrowable);
  EXPECT_EQ(tensor->data<uint16_t>()[1], 0x6463);
  std::string damaged = archive.finish();
  damaged[damaged.find("abcd")] = 'z';
  EXPECT_THAT(open(damaged)->read("a").error().message(), HasSubstr("is damaged: CRC"));
}

TEST(Npz, DamageIsSeen) {
  // Stored and mapped: only on request.
  std::string stored = sampleArchive();
  stored[stored.find("xxxx")] = 'y';
  EXPECT_TRUE(open(stored)->read("a"));
  EXPECT_THAT(open(stored)->verify("a").error().message(), HasSubstr("in: 'a': is damaged: CRC"));
  Archive archive;
  archive.add("a.npy", deflate(npyOf(DataType::U8, {9})), npyOf(DataType::U8, {9}).size(), "other",
              8);
  EXPECT_THAT(open(archive.finish())->read("a").error().message(), HasSubstr("is damaged: CRC"));
}

TEST(Npz, MissingNamesAreExplained) {
  Expected<NpzReader> reader = open(sampleArchive());
  EXPECT_EQ(reader->read("b/d").error().message(),
            "in: holds no tensor 'b/d'; expected 'b/c', 'a'");
  EXPECT_FALSE(reader->info("x"));
  EXPECT_FALSE(reader->verify("x"));
  EXPECT_THAT(open(Archive().finish())->read("a").error().message(),
              HasSubstr("the file holds no tensor"));
  Archive many;
  for (int i = 0; i < 20; ++i)
    many.stored("layer" + std::to_string(i) + ".npy", npyOf(DataType::U8, {1}));
  EXPECT_THAT(open(many.finish())->read("layr7").error().message(),
              AllOf(HasSubstr("expected 'layer7', "), HasSubstr(" or one of 15 others")));
}

TEST(Npz, TruncatedAnywhere) {
  std::string whole = sampleArchive();
  ASSERT_EQ(firstError(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(firstError(whole.substr(0, size)), "no error") << size;
}

TEST(Npz, AnyFlippedBitIsHarmless) {
  std::string whole = sampleArchive();
  size_t noticed = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    std::string text = firstError(flipped);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    noticed += text != "no error";
  }
  // The rest are dates, versions, and what is known twice.
  EXPECT_GT(noticed, whole.size() * 8 / 2);
}

TEST(Npz, HostileArchives) {
  std::string array = npyOf(DataType::U8, {10});
  auto one = [&](auto change) {
    Archive archive;
    archive.deflated("a.npy", array);
    change(archive);
    return firstError(archive.finish());
  };
  EXPECT_EQ(one([](Archive &) {}), "no error");
  EXPECT_EQ(one([](Archive &a) { a.entries[0].encrypted = true; }),
            "in: 'a.npy': is encrypted; expected an archive without a password");
  EXPECT_EQ(one([](Archive &a) { a.entries[0].method = 12; }),
            "in: 'a.npy': has compression method 12; expected 0 (stored) or 8 (deflated)");
  EXPECT_THAT(one([](Archive &a) { a.entries[0].uncompressedSize = 1 << 30; }),
              HasSubstr("claims to inflate"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].uncompressedSize += 1; }),
              HasSubstr("takes 139 bytes in the archive; expected 138 for shape [10] of u8"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].method = 0; }), HasSubstr("its sizes differ"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].compressedSize += 1; }),
              HasSubstr("reaches beyond its end"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].compressedSize -= 1; }), HasSubstr("is damaged"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].headerOffset += 1; }),
              HasSubstr("not where its directory says"));
  EXPECT_THAT(one([](Archive &a) { a.entries[0].name = "b.npy"; }), HasSubstr("another name"));
  EXPECT_THAT(one([](Archive &a) { a.entries.push_back(a.entries[0]); }), HasSubstr("overlaps"));
  EXPECT_THAT(one([&](Archive &a) { a.stored("a.npy", array); }),
              HasSubstr("'a': is in the archive twice"));
  EXPECT_THAT(one([&](Archive &a) { a.stored("a", array); }), HasSubstr("twice"));
  EXPECT_THAT(one([](Archive &a) { a.stored("d/", ""); }), HasSubstr("is a directory"));
  EXPECT_THAT(one([](Archive &a) { a.stored("t.npy", "text"); }),
              HasSubstr("in: 't': is not a .npy array"));
  EXPECT_THAT(firstError(""), HasSubstr("is empty"));
  EXPECT_THAT(firstError("text"), HasSubstr("is not an npz file"));
  EXPECT_THAT(firstError(array), HasSubstr("is a single .npy array"));
  std::string fewer = sampleArchive();
  fewer[fewer.size() - 12] = fewer[fewer.size() - 14] = 1;
  EXPECT_THAT(firstError(fewer), HasSubstr("has 2 entries, not 1 as it says"));
}

TEST(Npz, ShapesThatLieTakeNoMemory) {
  // A header that promises 2^59 bytes: refused before anything is allocated.
  std::string liar = npyHeader(DataType::U8, {int64_t(1) << 59}) + "few";
  Archive archive;
  archive.deflated("a.npy", liar);
  archive.stored("b.npy", liar);
  Expected<NpzReader> reader = open(archive.finish());
  ASSERT_TRUE(reader);
  EXPECT_THAT(reader->read("a").error().message(), HasSubstr("expected 576460752303423616 for"));
  EXPECT_FALSE(reader->info("a"));
  EXPECT_FALSE(reader->read("b"));
}

TEST(Npz, ThreadsReadTogether) {
  Expected<NpzReader> reader = open(sampleArchive());
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&reader, &good, i] {
      for (int round = 0; round < 100; ++round)
        good[i] += reader->read(round % 2 ? "a" : "b/c").has_value();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(good, ElementsAre(100, 100, 100, 100));
}

TEST(NpzReader, DamageOfViewsIsFoundAnywhere) {
  TempFolder folder;
  const std::string path = folder.path("large.npz");
  constexpr int64_t kElements = (3 << 18) + 1000;
  Tensor large(DataType::F32, Shape{kElements});
  for (int64_t i = 0; i < kElements; ++i)
    large.mutableData<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 1009);
  Expected<NpzWriter> writer = NpzWriter::create(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add("small", Tensor(DataType::I8, Shape{7})));
  ASSERT_TRUE(writer->add("large", large));
  ASSERT_TRUE(writer->add("none", Tensor(DataType::F32, Shape{0})));
  ASSERT_TRUE(writer->close());

  const std::string whole = readAll(path);
  for (const char *name : {"small", "large", "none"})
    ASSERT_TRUE(open(whole)->verifyView(name));
  const size_t begin = whole.size() / 8;
  for (const size_t at : {begin, whole.size() / 2, whole.size() - 1500}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    Expected<NpzReader> reader = open(damaged);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->verifyView("small"));
    Expected<void> verified = reader->verifyView("large");
    ASSERT_FALSE(verified) << at;
    EXPECT_THAT(verified.error().message(), HasSubstr("in: 'large': is damaged: CRC "));
  }
}

TEST(NpzReader, DirectoryStandsForTheTensors) {
  TempFolder folder;
  const auto directoryOf = [&](float value) {
    const std::string path = folder.path("a.npz");
    Tensor tensor(DataType::F32, Shape{4});
    tensor.mutableData<float>()[2] = value;
    Expected<NpzWriter> writer = NpzWriter::create(path);
    EXPECT_TRUE(writer && writer->add("x", tensor) && writer->close());
    const std::string archive = readAll(path);
    const auto reader = open(archive);
    const auto bytes = reader->directory();
    EXPECT_LT(bytes.size(), 200U);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(directoryOf(1), directoryOf(1));
  EXPECT_NE(directoryOf(1), directoryOf(2));
}
