//===- NpyTest.cpp -------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/Npy.h"
#include "unittests/Support/TempFolder.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A .npy file with this dictionary.
std::string npy(const std::string &dictionary, const std::string &data = "", int major = 1) {
  size_t length = dictionary.size();
  std::string text = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    text += static_cast<char>(length >> (8 * i));
  return text + dictionary + data;
}

std::string header(const std::string &descr, const std::string &shape,
                   const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The text is copied: the tensor may be a view of it.
Expected<Tensor> parse(const std::string &text) {
  auto owner = std::make_shared<std::string>(text);
  return parseNpy(bytesOf(*owner), owner, "in");
}

std::string message(const std::string &text) {
  Expected<Tensor> tensor = parse(text);
  return tensor ? "no error" : tensor.error().message();
}

} // namespace

TEST(Npy, HeaderRoundTrip) {
  for (DataType type : kAllDataTypes) {
    if (npyType(type) != type)
      continue;
    for (const Shape &shape : {Shape(), Shape{3}, Shape{0}, Shape{1, 2, 3, 4, 5, 6, 7, 8}}) {
      std::string text = npyHeader(type, shape);
      EXPECT_EQ(text.size() % 64, 0u);
      EXPECT_EQ(text.back(), '\n');
      Expected<NpyHeader> parsed = parseNpyHeader(bytesOf(text), "in");
      ASSERT_TRUE(parsed) << parsed.error().message();
      EXPECT_EQ(parsed->type, type);
      EXPECT_EQ(parsed->shape, shape);
      EXPECT_EQ(parsed->dataOffset, text.size());
      EXPECT_FALSE(parsed->fortranOrder || parsed->bigEndian);
    }
  }
  EXPECT_EQ(npyHeader(DataType::F32, {3}).substr(10, 56),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), ");
}

TEST(Npy, FileRoundTrip) {
  TempFolder folder;
  Tensor tensor = Tensor::of<int16_t>({2, 2}, {1, -2, 300, -400});
  ASSERT_TRUE(writeNpy(folder.path("a.npy"), tensor));
  Expected<Tensor> back = readNpy(folder.path("a.npy"));
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->isWritable()) << "mapped, not copied";
  EXPECT_EQ(back->shape(), tensor.shape());
  EXPECT_THAT(back->data<int16_t>(), ElementsAre(1, -2, 300, -400));
  EXPECT_THAT(readNpy(folder.path("b.npy")).error().message(), HasSubstr("No such file"));
}

TEST(Npy, FortranOrderAndByteOrder) {
  // Column after column, big endian: [[1, 2, 3], [4, 5, 6]].
  std::string data;
  for (char value : {1, 4, 2, 5, 3, 6})
    data += {'\0', value};
  Expected<Tensor> tensor = parse(npy(header(">i2", "(2, 3)", "True"), data));
  ASSERT_TRUE(tensor);
  EXPECT_THAT(tensor->data<int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  tensor = parse(npy(header("<i2", "(1, 6)", "True"), data));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->data<int16_t>()[1], 0x400) << "a row is the same in both orders";
  tensor = parse(npy(header("|u1", "(2, 1, 3, 2)", "True"), "abcdefghijkl"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(tensor->rawBytes().data()), 12),
            "agciekbhdjfl");
}

TEST(Npy, BoolsAreNormalized) {
  Expected<Tensor> tensor = parse(npy(header("|b1", "(4,)"), std::string("\x00\x01\x02\xff", 4)));
  ASSERT_TRUE(tensor);
  EXPECT_THAT(tensor->data<uint8_t>(), ElementsAre(0, 1, 1, 1));
}

TEST(Npy, ScalarsEmptyAndVersions) {
  EXPECT_EQ(parse(npy(header("<f4", "()"), std::string(4, '\0')))->shape(), Shape());
  EXPECT_EQ(parse(npy(header("<f8", "(2, 0)")))->shape(), (Shape{2, 0}));
  for (int version : {1, 2, 3})
    EXPECT_TRUE(parse(npy(header("|u1", "(3L,)"), "abc", version))) << version;
  EXPECT_TRUE(parse(npy("{\"shape\":(1),\"x\":1}")).error().message().size() > 0);
  EXPECT_TRUE(parse(npy("{\"shape\":(1,),\"descr\":\"u1\",\"fortran_order\":False}", "a")))
      << "any order, either quote, no last comma";
}

TEST(Npy, MalformedHeadersAreRefused) {
  for (const char *dictionary :
       {"", "{", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}"})
    EXPECT_THAT(message(npy(dictionary, "1234")), HasSubstr("header is malformed")) << dictionary;
}

TEST(Npy, SizesThatLie) {
  EXPECT_EQ(message(npy(header("<f4", "(3,)"), "12345678")),
            "in: has 8 bytes of elements, but shape [3] of f32; expected 12 bytes");
  EXPECT_THAT(message(npy(header("<f4", "(1,)"), "12345")), HasSubstr("expected 4 bytes"));
  EXPECT_THAT(message(npy(header("<f4", "(9223372036854775807, 4)"))),
              HasSubstr("too many elements"));
  EXPECT_THAT(message(npy(header("<f4", "(1,1,1,1,1,1,1,1,1)"), "1234")),
              HasSubstr("9 dimensions"));
  EXPECT_THAT(message(npy(header("<f4", "(1152921504606846975,)"))), HasSubstr("bytes"));
  std::string whole = npy(header("<f4", "(2,)"), "12345678");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse(whole.substr(0, size))) << size;
  std::string lie = whole;
  lie[9] = '\x7f';
  EXPECT_THAT(message(lie), HasSubstr("cut off"));
  lie = npy(header("<f4", "(2,)"), "12345678", 2);
  lie[11] = '\x7f';
  EXPECT_THAT(message(lie), HasSubstr("expected at most 65524"));
  lie[6] = '\x04';
  EXPECT_THAT(message(lie), HasSubstr("version 4.0; expected 1.0, 2.0 or 3.0"));
}

TEST(Npy, ForeignTypesAreRefusedByName) {
  EXPECT_EQ(message(npy(header("<c8", "(1,)"))),
            "in: has numpy type '<c8' (complex numbers), which tpuc cannot read; expected a float, "
            "integer or bool type");
  EXPECT_THAT(message(npy(header("|O", "(1,)"))), HasSubstr("Python objects"));
  EXPECT_THAT(message(npy(header("<U3", "(1,)"))), HasSubstr("(strings)"));
  EXPECT_THAT(message(npy(header("|S3", "(1,)"))), HasSubstr("byte strings"));
  EXPECT_THAT(message(npy(header("<M8[ns]", "(1,)"))), HasSubstr("dates"));
  EXPECT_THAT(message(npy(header("<f16", "(1,)"))), HasSubstr("floats of 16 bytes"));
  EXPECT_THAT(message(npy(header("<V2", "(1,)"))), HasSubstr("astype(numpy.float32)"));
  EXPECT_THAT(message(npy(header("<f1", "(1,)"))), HasSubstr("astype(numpy.float32)"));
  EXPECT_THAT(message(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }")),
              HasSubstr("structured"));
}

TEST(Npy, NarrowTypesAreWidenedExactly) {
  auto widen = [](DataType type, std::vector<uint8_t> bytes, int64_t count) {
    Tensor tensor(type, {count});
    std::transform(bytes.begin(), bytes.end(), tensor.mutableBytes().begin(),
                   [](uint8_t b) { return std::byte(b); });
    return widenForNpz(tensor);
  };
  constexpr float kInf = INFINITY;
  EXPECT_THAT(widen(DataType::I4, {0x8f, 0x07}, 3).data<int8_t>(), ElementsAre(-1, -8, 7));
  EXPECT_THAT(widen(DataType::U4, {0x8f, 0x07}, 3).data<uint8_t>(), ElementsAre(15, 8, 7));
  EXPECT_THAT(widen(DataType::BF16, {0x80, 0xbf, 0x80, 0x7f}, 2).data<float>(),
              ElementsAre(-1.f, kInf));
  EXPECT_THAT(widen(DataType::F8E4M3FN, {0x7e, 0x01, 0x38}, 3).data<float>(),
              ElementsAre(448.f, std::ldexp(1.f, -9), 1.f));
  EXPECT_THAT(widen(DataType::F8E5M2, {0x7b, 0x01, 0xfc}, 3).data<float>(),
              ElementsAre(57344.f, std::ldexp(1.f, -16), -kInf));
  EXPECT_THAT(widen(DataType::F8E4M3FNUZ, {0x7f, 0x01, 0x40}, 3).data<float>(),
              ElementsAre(240.f, std::ldexp(1.f, -10), 1.f));
  EXPECT_THAT(widen(DataType::F8E5M2FNUZ, {0x7f, 0x01, 0x40}, 3).data<float>(),
              ElementsAre(57344.f, std::ldexp(1.f, -17), 1.f));
  EXPECT_TRUE(std::isnan(widen(DataType::F8E4M3FN, {0x7f}, 1).data<float>()[0]));
  EXPECT_TRUE(std::isnan(widen(DataType::F8E4M3FNUZ, {0x80}, 1).data<float>()[0]));
}
