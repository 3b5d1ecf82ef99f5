//===- VlcTest.cpp - Compressed values ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::cv18xx;
using testing::HasSubstr;

namespace {

std::string hexOf(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

// Streams that the vendor's functional model unpacks to these values.
TEST(Vlc, StreamsAreTheVendors) {
  std::vector<uint16_t> integers;
  for (const int value : {0, 3, -3, 4, -5, 9, 0, 0, -12, 20, 3, 3, -4, 7, -100, 127, 5, -6})
    integers.push_back(static_cast<uint8_t>(value));
  const VlcParameters signedParameters = estimateVlc(integers, false, true);
  EXPECT_EQ(signedParameters, (VlcParameters{.isSigned = true, .bias0 = 2, .bias1 = 2}));
  EXPECT_EQ(hexOf(encodeVlc(integers, signedParameters)),
            "200000100202000000000000000000009e0d0000000000000000000000000000145122fd380220a0fff201"
            "20002010f0ff070000000000000000000000000000");
  const std::vector<uint16_t> floats = {0,     16256, 49024, 16128, 16000, 48960, 16320, 0,
                                        15396, 48292, 16448, 0,     16026, 15821, 48922, 16230};
  const VlcParameters parameters = estimateVlc(floats, true, false);
  EXPECT_EQ(parameters, (VlcParameters{.isBf16 = true, .bias0 = 125, .zeroGuard = true}));
  EXPECT_EQ(hexOf(encodeVlc(floats, parameters)),
            "200000207d8000000000000000000000380000000000000000000000000000007ed493b40c429c0a000800"
            "000c44420aa4d1a469060000000000000000000000");
}

TEST(Vlc, ValuesComeBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 600; ++i) {
    const bool isBf16 = i % 3 == 0;
    const bool isSigned = i % 3 == 1;
    const unsigned spread = 1 + static_cast<unsigned>(random() % 8);
    std::vector<uint16_t> values(1 + random() % 200);
    for (uint16_t &value : values) {
      const auto number = static_cast<uint16_t>(random() & ((1u << spread) - 1));
      value = isBf16 ? static_cast<uint16_t>((random() & 0x807F) | (110u + number) % 256 << 7)
                     : (isSigned && random() % 2 == 0 ? -number : number) & 0xFF;
      if (isBf16 && random() % 8 == 0)
        value = 0;
    }
    VlcParameters parameters = estimateVlc(values, isBf16, isSigned);
    if (i % 2 == 0) {
      parameters.bias0 = static_cast<uint8_t>(isBf16 ? random() : isSigned ? random() % 128 : 0);
      parameters.bias1 = static_cast<uint8_t>(isSigned ? random() % 127 : 0);
    }
    std::vector<uint8_t> stream = encodeVlc(values, parameters);
    EXPECT_LE(stream.size(), vlcBound(values.size(), isBf16));
    const size_t size = stream.size();
    stream.resize(size + 5, 0xA5);
    const auto decoded = decodeVlc(stream, values.size(), "here");
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(decoded->bytes, size);
    EXPECT_EQ(decoded->parameters, parameters);
    if (parameters.zeroGuard)
      for (uint16_t &value : values)
        value = (value & 0x7F80) == 0 ? 0 : value;
    ASSERT_EQ(decoded->values, values) << i;
  }
}

TEST(Vlc, DamagedStreamsAreRefused) {
  std::vector<uint16_t> values(40, 7);
  const std::vector<uint8_t> stream = encodeVlc(values, estimateVlc(values, false, true));
  const auto message = [&](std::vector<uint8_t> bytes) {
    const auto decoded = decodeVlc(bytes, values.size(), "here");
    return decoded ? std::string() : decoded.error().message();
  };
  EXPECT_EQ(message(stream), "");
  EXPECT_THAT(message({stream.begin(), stream.begin() + 20}), HasSubstr("before its payload"));
  EXPECT_THAT(message({stream.begin(), stream.end() - 16}), HasSubstr("the 16 that it states"));
  std::vector<uint8_t> damaged = stream;
  damaged[16] = 6 << 5;
  EXPECT_THAT(message(damaged), HasSubstr("block 0"));
  damaged = stream;
  damaged[2] = 0xFF;
  EXPECT_THAT(message(damaged), HasSubstr("at most 48"));
}

} // namespace
