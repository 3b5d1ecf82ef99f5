//===- SampleTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Preprocess/Preprocess.h"
#include "tpuc/Support/Npz.h"
#include "unittests/Support/TempFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class SampleTest : public testing::Test {
protected:
  std::string npy(const std::string &name, const Tensor &tensor) {
    const std::string path = folder.path(name);
    EXPECT_TRUE(writeNpy(path, tensor));
    return path;
  }

  std::string npz(const NamedTensors &tensors) {
    const std::string path = folder.path("in.npz");
    Expected<NpzWriter> writer = NpzWriter::create(path);
    EXPECT_TRUE(writer);
    for (const auto &[name, tensor] : tensors)
      EXPECT_TRUE(writer->add(name, tensor));
    EXPECT_TRUE(writer->close());
    return path;
  }

  std::string write(const std::string &name, const std::string &bytes) {
    writeAll(folder.path(name), bytes);
    return folder.path(name);
  }

  /// The message without the folder's name.
  std::string message(const std::vector<std::string> &files, const std::vector<InputSpec> &inputs) {
    Expected<NamedTensors> sample = readSample(files, inputs);
    if (sample)
      return "no error";
    std::string text = sample.error().message();
    const std::string prefix = folder.path("");
    for (size_t at; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

  TempFolder folder;
};

const InputSpec kImage{"image", DataType::F32, {1, 3}, {}};
const InputSpec kMask{"mask", DataType::I64, {-1}, {}};
const Tensor kImageArray = Tensor::of<float>({1, 3}, {1, 2, 3});
const Tensor kMaskArray = Tensor::of<int64_t>({2}, {-5, 7});

} // namespace

TEST_F(SampleTest, NpzByName) {
  const std::string path =
      npz({{"mask", kMaskArray}, {"other", kMaskArray}, {"image", kImageArray}});
  Expected<NamedTensors> sample =
      readSample(std::vector{path}, std::vector<InputSpec>{kImage, kMask});
  ASSERT_TRUE(sample) << sample.error().message();
  ASSERT_EQ(sample->size(), 2u);
  EXPECT_EQ((*sample)[0].first, "image");
  EXPECT_THAT((*sample)[0].second.data<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ((*sample)[1].first, "mask");
  EXPECT_THAT((*sample)[1].second.data<int64_t>(), ElementsAre(-5, 7));
}

TEST_F(SampleTest, OneArrayIsTheOneInput) {
  Expected<NamedTensors> sample =
      readSample(std::vector{npz({{"x", kImageArray}})}, std::vector<InputSpec>{kImage});
  ASSERT_TRUE(sample) << sample.error().message();
  EXPECT_EQ((*sample)[0].first, "image");
}

TEST_F(SampleTest, NpyInOrder) {
  Expected<NamedTensors> sample =
      readSample(std::vector{npy("b.png", kMaskArray), npy("a", kImageArray)},
                 std::vector<InputSpec>{kMask, kImage});
  ASSERT_TRUE(sample) << sample.error().message();
  EXPECT_EQ((*sample)[0].first, "mask");
  EXPECT_THAT((*sample)[0].second.data<int64_t>(), ElementsAre(-5, 7));
  EXPECT_THAT((*sample)[1].second.data<float>(), ElementsAre(1, 2, 3));
}

TEST_F(SampleTest, NamesThatDoNotMatchAreListedOnBothSides) {
  EXPECT_EQ(message({npz({{"x", kImageArray}, {"y", kMaskArray}})}, {kImage, kMask}),
            "in.npz: holds no 'image', but 'x' f32 [1, 3], 'y' i64 [2]; expected the inputs "
            "'image' f32 [1, 3], 'mask' i64 [?]");
  EXPECT_EQ(message({npz({})}, {kImage}),
            "in.npz: holds no 'image', but nothing; expected the inputs 'image' f32 [1, 3]");
  NamedTensors many;
  for (int i = 0; i < 20; ++i)
    many.emplace_back("t" + std::to_string(i), kMaskArray);
  EXPECT_THAT(message({npz(many)}, {kImage}), HasSubstr("'t7' i64 [2] and 12 more; expected"));
}

TEST_F(SampleTest, ShapesMustBeTheSame) {
  for (const Shape &shape : {Shape{3}, Shape{3, 1}, Shape{1, 3, 1}, Shape{1, 4}}) {
    const Tensor array(DataType::F32, shape);
    EXPECT_EQ(message({npy("a.npy", array)}, {kImage}),
              "a.npy: f32 " + shape.str() + "; expected shape [1, 3] for input 'image'");
    EXPECT_EQ(message({npz({{"image", array}})}, {kImage}),
              "in.npz: 'image': f32 " + shape.str() + "; expected shape [1, 3] for input 'image'");
  }
  EXPECT_EQ(message({npy("a.npy", kImageArray)}, {{"x", DataType::F32, {-1, 4, -1}, {}}}),
            "a.npy: f32 [1, 3]; expected shape [?, 4, ?] for input 'x'");
}

TEST_F(SampleTest, ElementsAreConvertedWithinTheirKind) {
  const auto read = [&](const Tensor &array, DataType type) {
    Expected<NamedTensors> sample =
        readSample(std::vector{npy("a.npy", array)},
                   std::vector<InputSpec>{{"x", type, array.shape().vec(), {}}});
    EXPECT_TRUE(sample) << sample.error().message();
    return (*sample)[0].second;
  };
  const Tensor wide = Tensor::of<double>({2}, {0.5, -3});
  EXPECT_THAT(read(wide, DataType::F32).data<float>(), ElementsAre(0.5f, -3.0f));
  EXPECT_THAT(read(wide, DataType::F16).data<uint16_t>(), ElementsAre(0x3800, 0xC200));
  EXPECT_THAT(read(kMaskArray, DataType::I8).data<int8_t>(), ElementsAre(-5, 7));
  const Tensor bits = Tensor::of<uint8_t>({2}, {0, 1});
  EXPECT_EQ(read(bits, DataType::Bool).type(), DataType::Bool);
  EXPECT_THAT(read(read(bits, DataType::Bool), DataType::I32).data<int32_t>(), ElementsAre(0, 1));
  EXPECT_EQ(read(Tensor::of<int8_t>({3}, {-8, 0, 7}), DataType::I4).type(), DataType::I4);
}

TEST_F(SampleTest, ElementsThatDoNotFitAreNamed) {
  const auto refused = [&](const Tensor &array, DataType type) {
    return message({npy("a.npy", array)}, {{"x", type, array.shape().vec(), {}}});
  };
  EXPECT_EQ(refused(kImageArray, DataType::I64),
            "a.npy: elements of type f32; expected i64 for input 'x'");
  EXPECT_EQ(refused(kMaskArray, DataType::F32),
            "a.npy: elements of type i64; expected f32 for input 'x'");
  EXPECT_EQ(refused(kMaskArray, DataType::U8),
            "a.npy: i64 element -5; expected values of u8 for input 'x'");
  EXPECT_EQ(refused(Tensor::of<int64_t>({1}, {300}), DataType::I8),
            "a.npy: i64 element 300; expected values of i8 for input 'x'");
  EXPECT_EQ(refused(Tensor::of<uint64_t>({1}, {~uint64_t(0)}), DataType::I64),
            "a.npy: u64 element 18446744073709551615; expected values of i64 for input 'x'");
  std::vector<int32_t> values(1500, 1);
  values.back() = 2;
  EXPECT_EQ(refused(Tensor::of<int32_t>({1500}, std::span<const int32_t>(values)), DataType::Bool),
            "a.npy: i32 element 2; expected values of bool for input 'x'");
}

TEST_F(SampleTest, FilesAndInputsAreCounted) {
  const std::string a = npy("a.npy", kImageArray);
  EXPECT_EQ(message({a}, {kImage, kMask}), "a.npy: 1 file; expected 2, for the inputs 'image' f32 "
                                           "[1, 3], 'mask' i64 [?], or one npz file");
  EXPECT_EQ(message({a, a}, {kImage}),
            "a.npy,a.npy: 2 files; expected 1, for the inputs 'image' f32 [1, 3], or one npz file");
  EXPECT_EQ(message({a, npz({{"image", kImageArray}})}, {kImage, kMask}),
            "in.npz: is an npz file among others; expected one npz file with all inputs, or a "
            "picture or .npy file for each");
}

TEST_F(SampleTest, UnreadableFiles) {
  EXPECT_EQ(message({folder.path("none.npy")}, {kImage}),
            "none.npy: cannot be read: No such file or directory");
  EXPECT_EQ(message({write("a.npz", "PK\3\4 nothing of use")}, {kImage}).substr(0, 6), "a.npz:");
  std::string bytes = readAll(npy("a.npy", kImageArray));
  bytes.pop_back();
  EXPECT_EQ(message({write("short.npy", bytes)}, {kImage}).substr(0, 10), "short.npy:");
  EXPECT_EQ(message({write("empty", "")}, {kImage}),
            "empty: is empty; expected a .npy, .npz or picture file");
  EXPECT_EQ(message({write("text", "no array")}, {kImage}),
            "text: is not an array; expected a .npy or .npz file: input 'image' takes no picture");
}

TEST_F(SampleTest, StringsAndObjectsAreNamed) {
  for (const char *type : {"<U3", "|O"}) {
    std::string dictionary =
        std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (1,), }\n";
    std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0' +
                        static_cast<char>(dictionary.size()) + '\0' + dictionary +
                        std::string(12, 'x');
    const std::string text = message({write("a.npy", bytes)}, {kMask});
    EXPECT_THAT(text, HasSubstr("a.npy: "));
    EXPECT_THAT(text, HasSubstr(type));
  }
}

TEST_F(SampleTest, DamagedElementsAreFound) {
  const std::string path = npz({{"image", kImageArray}});
  std::string bytes = readAll(path);
  const float two = 2;
  const size_t at = bytes.find(std::string(reinterpret_cast<const char *>(&two), sizeof(two)));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 1;
  EXPECT_THAT(message({write("in.npz", bytes)}, {kImage}), HasSubstr("in.npz: 'image': "));
}
