//===- Commands.cpp - The commands of the CV18xx chips --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Commands.h"

#include <algorithm>

namespace tpuc::cv18xx {

using namespace mc;

namespace {

constexpr FieldSpec kTiu[] = {
    {Field::En, 0, 1},
    {Field::End, 1, 1},
    {Field::IdEn, 2, 1},
    {Field::Keep, 3, 1},
    {Field::Interrupt, 4, 1},
    {Field::Type, 5, 4},
    {Field::Function, 9, 5},
    {Field::Operands, 14, 2},
    {Field::Shift, 16, 6},
    {Field::LeftShift, 22, 5},
    {Field::ShiftSigned, 27, 1},
    {Field::Round, 28, 1},
    {Field::Kind, 30, 1},
    {Field::Requant, 31, 1},
    {Field::Id, 32, 16},
    {Field::Wait, 48, 16},
    {Field::Multiplier, 64, 32},
    {Field::Res0Sign, 96, 1},
    {Field::Opd0Sign, 97, 1},
    {Field::Opd1Sign, 98, 1},
    {Field::Opd2Sign, 99, 1},
    {Field::Res0Narrow, 100, 2},
    {Field::Opd0Narrow, 102, 2},
    {Field::Opd1Narrow, 104, 2},
    {Field::Opd2Narrow, 106, 1},
    {Field::Partial, 107, 2},
    {Field::Double, 109, 1},
    {Field::LeftTransposed, 110, 1},
    {Field::FpRound, 111, 1},
    {Field::Relu, 112, 2},
    {Field::ReluValue, 114, 8},
    {Field::PreExeType, 122, 1},
    {Field::Accumulate, 123, 1},
    {Field::Group0, 124, 4},
    {Field::InsX, 128, 4},
    {Field::InsY, 132, 4},
    {Field::InsXLast, 136, 4},
    {Field::InsYLast, 140, 4},
    {Field::DilX, 144, 4},
    {Field::DilY, 148, 4},
    {Field::InsValue, 160, 16},
    {Field::PadTop, 176, 4},
    {Field::PadBottom, 180, 4},
    {Field::PadLeft, 184, 4},
    {Field::PadRight, 188, 4},
    {Field::Res0N, 192, 12},
    {Field::Res0C, 204, 12},
    {Field::Res0H, 216, 12},
    {Field::Res0W, 228, 12},
    {Field::StrideX, 240, 5},
    {Field::StrideY, 245, 5},
    {Field::PreExe, 250, 2},
    {Field::Group1, 252, 4},
    {Field::Res0Addr, 256, 24},
    {Field::Opd0Addr, 280, 24},
    {Field::Opd1Addr, 304, 16},
    {Field::Opd2Addr, 320, 16},
    {Field::Opd0Const, 336, 1},
    {Field::Opd1Const, 337, 1},
    {Field::Opd2Const, 338, 1},
    {Field::SameStrides, 339, 1},
    {Field::Res0Layout, 340, 2},
    {Field::Opd0Layout, 342, 2},
    {Field::Opd1Layout, 344, 2},
    {Field::Opd2Layout, 346, 2},
    {Field::Opd0N, 352, 12},
    {Field::Opd0C, 364, 12},
    {Field::Group2, 380, 4},
    {Field::Opd0H, 384, 12},
    {Field::Opd0W, 396, 12},
    {Field::Opd1N, 408, 12},
    {Field::Opd1C, 420, 12},
    {Field::Opd1H, 432, 12},
    {Field::Opd1W, 444, 12},
    {Field::Opd2N, 456, 12},
    {Field::Opd2C, 468, 12},
    {Field::Opd2H, 480, 12},
    {Field::Opd2W, 492, 12},
    {Field::Group3, 508, 4},
    {Field::Layer, 512, 16},
    {Field::Res0StrN, 528, 16},
    {Field::Res0StrC, 544, 16},
    {Field::Res0StrH, 560, 16},
    {Field::Res0StrW, 576, 16},
    {Field::Res0StrB, 592, 16},
    {Field::Opd0StrN, 608, 16},
    {Field::Group4, 636, 4},
    {Field::Opd0StrC, 640, 16},
    {Field::Opd0StrH, 656, 16},
    {Field::Opd0StrW, 672, 16},
    {Field::Opd0StrB, 688, 16},
    {Field::Opd1StrN, 704, 16},
    {Field::Opd1StrC, 720, 16},
    {Field::Opd1StrH, 736, 16},
    {Field::Group5, 764, 4},
    {Field::Opd1StrW, 768, 16},
    {Field::Opd1StrB, 784, 16},
    {Field::Opd2StrN, 800, 16},
    {Field::Opd2StrC, 816, 16},
    {Field::Opd2StrH, 832, 16},
    {Field::Opd2StrW, 848, 16},
    {Field::Opd2StrB, 864, 16},
    {Field::Group6, 892, 4},
};
constexpr FieldSpec kTiu183x[] = {
    {Field::En, 0, 1},
    {Field::End, 1, 1},
    {Field::IdEn, 2, 1},
    {Field::Id, 3, 16},
    {Field::Wait, 19, 16},
    {Field::Keep, 35, 1},
    {Field::Interrupt, 36, 1},
    {Field::Type, 37, 4},
    {Field::Function, 41, 8},
    {Field::Operands, 49, 2},
    {Field::Shift, 51, 5},
    {Field::LeftShift, 56, 5},
    {Field::ShiftSigned, 61, 1},
    {Field::Round, 62, 1},
    {Field::Accumulate, 63, 1},
    {Field::Relu, 64, 1},
    {Field::LeftTransposed, 65, 1},
    {Field::Requant, 66, 1},
    {Field::Mdsum, 67, 1},
    {Field::Lookup, 68, 1},
    {Field::Res0Sign, 69, 1},
    {Field::Opd0Sign, 70, 1},
    {Field::Opd1Sign, 71, 1},
    {Field::Opd2Sign, 72, 1},
    {Field::Res0Narrow, 73, 1},
    {Field::Opd0Narrow, 74, 1},
    {Field::Opd1Narrow, 75, 1},
    {Field::Opd2Narrow, 76, 1},
    {Field::Opd0Const, 77, 1},
    {Field::Opd1Const, 78, 1},
    {Field::Opd2Const, 79, 1},
    {Field::SameStrides, 80, 1},
    {Field::Res0Layout, 81, 2},
    {Field::Opd0Layout, 83, 2},
    {Field::Opd1Layout, 85, 2},
    {Field::Opd2Layout, 87, 2},
    {Field::InsX, 89, 4},
    {Field::InsY, 93, 4},
    {Field::InsXLast, 97, 4},
    {Field::InsYLast, 101, 4},
    {Field::DilX, 105, 4},
    {Field::DilY, 109, 4},
    {Field::InsValue, 113, 8},
    {Field::Partial, 121, 2},
    {Field::Double, 123, 1},
    {Field::Group0, 124, 4},
    {Field::Res0N, 128, 12},
    {Field::Res0C, 140, 12},
    {Field::Res0H, 152, 12},
    {Field::Res0W, 164, 12},
    {Field::Res0Addr, 176, 24},
    {Field::Opd0Addr, 200, 24},
    {Field::Opd1Addr, 224, 16},
    {Field::Group1, 252, 4},
    {Field::Opd2Addr, 256, 16},
    {Field::Opd0C, 272, 12},
    {Field::Opd0H, 284, 12},
    {Field::Opd0W, 296, 12},
    {Field::Opd1H, 308, 12},
    {Field::Opd1W, 320, 12},
    {Field::PadTop, 332, 4},
    {Field::PadBottom, 336, 4},
    {Field::PadLeft, 340, 4},
    {Field::PadRight, 344, 4},
    {Field::StrideX, 348, 4},
    {Field::StrideY, 352, 4},
    {Field::InsValueFp, 356, 16},
    {Field::Group2, 380, 4},
    {Field::Opd0N, 384, 12},
    {Field::Opd1N, 396, 12},
    {Field::Opd1C, 408, 12},
    {Field::Opd2N, 420, 12},
    {Field::Opd2C, 432, 12},
    {Field::Opd2H, 444, 12},
    {Field::Opd2W, 456, 12},
    {Field::Multiplier, 468, 32},
    {Field::Kind, 500, 1},
    {Field::FpRound, 501, 3},
    {Field::Group3, 508, 4},
    {Field::Res0StrN, 512, 16},
    {Field::Res0StrC, 528, 16},
    {Field::Res0StrH, 544, 16},
    {Field::Res0StrW, 560, 16},
    {Field::Res0StrB, 576, 16},
    {Field::Opd0StrN, 592, 16},
    {Field::Opd0StrC, 608, 16},
    {Field::Group4, 636, 4},
    {Field::Opd0StrH, 640, 16},
    {Field::Opd0StrW, 656, 16},
    {Field::Opd0StrB, 672, 16},
    {Field::Opd1StrN, 688, 16},
    {Field::Opd1StrC, 704, 16},
    {Field::Opd1StrH, 720, 16},
    {Field::Opd1StrW, 736, 16},
    {Field::Group5, 764, 4},
    {Field::Opd1StrB, 768, 16},
    {Field::Opd2StrN, 784, 16},
    {Field::Opd2StrC, 800, 16},
    {Field::Opd2StrH, 816, 16},
    {Field::Opd2StrW, 832, 16},
    {Field::Opd2StrB, 848, 16},
    {Field::Layer, 864, 28},
    {Field::Group6, 892, 4},
};
constexpr FieldSpec kTdma[] = {
    {Field::Valid, 0, 1},           {Field::Compressed, 1, 1},     {Field::Last, 2, 1},
    {Field::Interrupt, 3, 1},       {Field::Barrier, 4, 1},        {Field::CheckBf16, 5, 1},
    {Field::Direction, 6, 2},       {Field::General, 10, 1},       {Field::TransposeMode, 11, 2},
    {Field::Parallel, 14, 1},       {Field::Outstanding, 15, 1},   {Field::Id, 16, 16},
    {Field::Function, 32, 3},       {Field::DstKind, 35, 2},       {Field::SrcKind, 37, 2},
    {Field::CompressSigned, 39, 1}, {Field::Matrix, 40, 1},        {Field::Int8Signed, 45, 1},
    {Field::ZeroGuard, 46, 1},      {Field::Truncate, 47, 1},      {Field::Wait, 48, 16},
    {Field::WaitDma, 64, 16},       {Field::WaitSdma, 80, 16},     {Field::Value, 96, 16},
    {Field::SrcBase, 112, 3},       {Field::LutIndex, 115, 1},     {Field::DstBase, 116, 3},
    {Field::LutBase, 119, 1},       {Field::DstStrH, 128, 16},     {Field::DstStrCLow, 144, 16},
    {Field::DstStrN, 160, 32},      {Field::SrcStrH, 192, 16},     {Field::SrcStrCLow, 208, 16},
    {Field::SrcStrN, 224, 32},      {Field::DstC, 256, 16},        {Field::SrcC, 272, 16},
    {Field::DstW, 288, 16},         {Field::DstH, 304, 16},        {Field::SrcW, 320, 16},
    {Field::SrcH, 336, 16},         {Field::DstAddrLow, 352, 32},  {Field::SrcAddrLow, 384, 32},
    {Field::SrcN, 416, 16},         {Field::DstAddrHigh, 432, 8},  {Field::SrcAddrHigh, 440, 8},
    {Field::SrcStrCHigh, 448, 16},  {Field::DstStrCHigh, 464, 16}, {Field::Bias0, 480, 8},
    {Field::Bias1, 488, 8},         {Field::Layer, 496, 16},
};

constexpr std::string_view kIntKinds[] = {"int8", "bf16"};
constexpr std::string_view kMoveKinds[] = {"none", "int8", "bf16"};
constexpr std::string_view kPartials[] = {"off", "add", "store", "both"};
constexpr std::string_view kLayouts[] = {"aligned", "compact", "channel", "strides"};

constexpr FieldInfo kFields[] = {
    {.id = Field::En, .name = "en", .preset = 1},
    {.id = Field::End, .name = "end"},
    {.id = Field::IdEn, .name = "id_en", .preset = 1},
    {.id = Field::Keep, .name = "keep"},
    {.id = Field::Interrupt, .name = "interrupt"},
    {.id = Field::Type, .name = "type"},
    {.id = Field::Function, .name = "function"},
    {.id = Field::Operands, .name = "operands"},
    {.id = Field::Shift, .name = "shift"},
    {.id = Field::LeftShift, .name = "left_shift"},
    {.id = Field::ShiftSigned, .name = "shift_signed", .preset = 1},
    {.id = Field::Round, .name = "round", .preset = 1},
    {.id = Field::Kind, .name = "kind", .names = kIntKinds},
    {.id = Field::Requant, .name = "requant"},
    {.id = Field::Id, .name = "id"},
    {.id = Field::Wait, .name = "wait"},
    {.id = Field::Multiplier, .name = "multiplier", .style = FieldStyle::Hex},
    {.id = Field::Res0Sign, .name = "res0_sign"},
    {.id = Field::Opd0Sign, .name = "opd0_sign"},
    {.id = Field::Opd1Sign, .name = "opd1_sign", .preset = 1},
    {.id = Field::Opd2Sign, .name = "opd2_sign", .preset = 1},
    {.id = Field::Res0Narrow, .name = "res0_narrow", .preset = 1},
    {.id = Field::Opd0Narrow, .name = "opd0_narrow", .preset = 1},
    {.id = Field::Opd1Narrow, .name = "opd1_narrow", .preset = 1},
    {.id = Field::Opd2Narrow, .name = "opd2_narrow", .preset = 1},
    {.id = Field::Partial, .name = "partial", .names = kPartials},
    {.id = Field::Double, .name = "double"},
    {.id = Field::LeftTransposed, .name = "left_transposed"},
    {.id = Field::FpRound, .name = "fp_round"},
    {.id = Field::Relu, .name = "relu"},
    {.id = Field::ReluValue, .name = "relu_value"},
    {.id = Field::PreExeType, .name = "pre_exe_type"},
    {.id = Field::Accumulate, .name = "accumulate"},
    {.id = Field::Group0, .name = "group0", .preset = 0},
    {.id = Field::InsX, .name = "ins_x"},
    {.id = Field::InsY, .name = "ins_y"},
    {.id = Field::InsXLast, .name = "ins_x_last"},
    {.id = Field::InsYLast, .name = "ins_y_last"},
    {.id = Field::DilX, .name = "dil_x"},
    {.id = Field::DilY, .name = "dil_y"},
    {.id = Field::InsValue, .name = "ins_value", .style = FieldStyle::Hex},
    {.id = Field::PadTop, .name = "pad_top"},
    {.id = Field::PadBottom, .name = "pad_bottom"},
    {.id = Field::PadLeft, .name = "pad_left"},
    {.id = Field::PadRight, .name = "pad_right"},
    {.id = Field::Res0N, .name = "res0_n"},
    {.id = Field::Res0C, .name = "res0_c"},
    {.id = Field::Res0H, .name = "res0_h"},
    {.id = Field::Res0W, .name = "res0_w"},
    {.id = Field::StrideX, .name = "stride_x", .preset = 1},
    {.id = Field::StrideY, .name = "stride_y", .preset = 1},
    {.id = Field::PreExe, .name = "pre_exe"},
    {.id = Field::Group1, .name = "group1", .preset = 1},
    {.id = Field::Res0Addr, .name = "res0_addr", .style = FieldStyle::Hex},
    {.id = Field::Opd0Addr, .name = "opd0_addr", .style = FieldStyle::Hex},
    {.id = Field::Opd1Addr, .name = "opd1_addr", .style = FieldStyle::Hex},
    {.id = Field::Opd2Addr, .name = "opd2_addr", .style = FieldStyle::Hex},
    {.id = Field::Opd0Const, .name = "opd0_const"},
    {.id = Field::Opd1Const, .name = "opd1_const"},
    {.id = Field::Opd2Const, .name = "opd2_const"},
    {.id = Field::SameStrides, .name = "same_strides"},
    {.id = Field::Res0Layout, .name = "res0_layout", .names = kLayouts},
    {.id = Field::Opd0Layout, .name = "opd0_layout", .names = kLayouts},
    {.id = Field::Opd1Layout, .name = "opd1_layout", .names = kLayouts},
    {.id = Field::Opd2Layout, .name = "opd2_layout", .names = kLayouts},
    {.id = Field::Opd0N, .name = "opd0_n"},
    {.id = Field::Opd0C, .name = "opd0_c"},
    {.id = Field::Group2, .name = "group2", .preset = 2},
    {.id = Field::Opd0H, .name = "opd0_h"},
    {.id = Field::Opd0W, .name = "opd0_w"},
    {.id = Field::Opd1N, .name = "opd1_n"},
    {.id = Field::Opd1C, .name = "opd1_c"},
    {.id = Field::Opd1H, .name = "opd1_h"},
    {.id = Field::Opd1W, .name = "opd1_w"},
    {.id = Field::Opd2N, .name = "opd2_n"},
    {.id = Field::Opd2C, .name = "opd2_c"},
    {.id = Field::Opd2H, .name = "opd2_h"},
    {.id = Field::Opd2W, .name = "opd2_w"},
    {.id = Field::Group3, .name = "group3", .preset = 3},
    {.id = Field::Layer, .name = "layer"},
    {.id = Field::Res0StrN, .name = "res0_str_n"},
    {.id = Field::Res0StrC, .name = "res0_str_c"},
    {.id = Field::Res0StrH, .name = "res0_str_h"},
    {.id = Field::Res0StrW, .name = "res0_str_w"},
    {.id = Field::Res0StrB, .name = "res0_str_b", .preset = 16},
    {.id = Field::Opd0StrN, .name = "opd0_str_n"},
    {.id = Field::Group4, .name = "group4", .preset = 4},
    {.id = Field::Opd0StrC, .name = "opd0_str_c"},
    {.id = Field::Opd0StrH, .name = "opd0_str_h"},
    {.id = Field::Opd0StrW, .name = "opd0_str_w"},
    {.id = Field::Opd0StrB, .name = "opd0_str_b", .preset = 16},
    {.id = Field::Opd1StrN, .name = "opd1_str_n"},
    {.id = Field::Opd1StrC, .name = "opd1_str_c"},
    {.id = Field::Opd1StrH, .name = "opd1_str_h"},
    {.id = Field::Group5, .name = "group5", .preset = 5},
    {.id = Field::Opd1StrW, .name = "opd1_str_w"},
    {.id = Field::Opd1StrB, .name = "opd1_str_b", .preset = 16},
    {.id = Field::Opd2StrN, .name = "opd2_str_n"},
    {.id = Field::Opd2StrC, .name = "opd2_str_c"},
    {.id = Field::Opd2StrH, .name = "opd2_str_h"},
    {.id = Field::Opd2StrW, .name = "opd2_str_w"},
    {.id = Field::Opd2StrB, .name = "opd2_str_b", .preset = 16},
    {.id = Field::Group6, .name = "group6", .preset = 6},
    {.id = Field::Mdsum, .name = "mdsum"},
    {.id = Field::Lookup, .name = "lookup"},
    {.id = Field::InsValueFp, .name = "ins_value_fp", .style = FieldStyle::Hex},
    {.id = Field::Valid, .name = "valid", .preset = 1},
    {.id = Field::Compressed, .name = "compressed"},
    {.id = Field::Last, .name = "last"},
    {.id = Field::Barrier, .name = "barrier", .preset = 1},
    {.id = Field::CheckBf16, .name = "check_bf16"},
    {.id = Field::Direction, .name = "direction"},
    {.id = Field::General, .name = "general"},
    {.id = Field::TransposeMode, .name = "transpose_mode"},
    {.id = Field::Parallel, .name = "parallel"},
    {.id = Field::Outstanding, .name = "outstanding"},
    {.id = Field::DstKind, .name = "dst_kind", .preset = 1, .names = kMoveKinds},
    {.id = Field::SrcKind, .name = "src_kind", .preset = 1, .names = kMoveKinds},
    {.id = Field::CompressSigned, .name = "compress_signed"},
    {.id = Field::Matrix, .name = "matrix"},
    {.id = Field::Int8Signed, .name = "int8_signed"},
    {.id = Field::ZeroGuard, .name = "zero_guard"},
    {.id = Field::Truncate, .name = "truncate"},
    {.id = Field::WaitDma, .name = "wait_dma"},
    {.id = Field::WaitSdma, .name = "wait_sdma"},
    {.id = Field::Value, .name = "value", .style = FieldStyle::Hex},
    {.id = Field::SrcBase, .name = "src_base"},
    {.id = Field::LutIndex, .name = "lut_index"},
    {.id = Field::DstBase, .name = "dst_base"},
    {.id = Field::LutBase, .name = "lut_base"},
    {.id = Field::DstStrH, .name = "dst_str_h"},
    {.id = Field::DstStrCLow, .name = "dst_str_c_low"},
    {.id = Field::DstStrN, .name = "dst_str_n"},
    {.id = Field::SrcStrH, .name = "src_str_h"},
    {.id = Field::SrcStrCLow, .name = "src_str_c_low"},
    {.id = Field::SrcStrN, .name = "src_str_n"},
    {.id = Field::DstC, .name = "dst_c"},
    {.id = Field::SrcC, .name = "src_c"},
    {.id = Field::DstW, .name = "dst_w"},
    {.id = Field::DstH, .name = "dst_h"},
    {.id = Field::SrcW, .name = "src_w"},
    {.id = Field::SrcH, .name = "src_h"},
    {.id = Field::DstAddrLow, .name = "dst_addr_low", .style = FieldStyle::Hex},
    {.id = Field::SrcAddrLow, .name = "src_addr_low", .style = FieldStyle::Hex},
    {.id = Field::SrcN, .name = "src_n"},
    {.id = Field::DstAddrHigh, .name = "dst_addr_high", .style = FieldStyle::Hex},
    {.id = Field::SrcAddrHigh, .name = "src_addr_high", .style = FieldStyle::Hex},
    {.id = Field::SrcStrCHigh, .name = "src_str_c_high"},
    {.id = Field::DstStrCHigh, .name = "dst_str_c_high"},
    {.id = Field::Bias0, .name = "bias0"},
    {.id = Field::Bias1, .name = "bias1"},
};

constexpr FieldGroup::Member kRes0[] = {
    {Field::Res0N, "n"}, {Field::Res0C, "c"}, {Field::Res0H, "h"}, {Field::Res0W, "w"}};
constexpr FieldGroup::Member kOpd0[] = {
    {Field::Opd0N, "n"}, {Field::Opd0C, "c"}, {Field::Opd0H, "h"}, {Field::Opd0W, "w"}};
constexpr FieldGroup::Member kOpd1[] = {
    {Field::Opd1N, "n"}, {Field::Opd1C, "c"}, {Field::Opd1H, "h"}, {Field::Opd1W, "w"}};
constexpr FieldGroup::Member kOpd2[] = {
    {Field::Opd2N, "n"}, {Field::Opd2C, "c"}, {Field::Opd2H, "h"}, {Field::Opd2W, "w"}};
constexpr FieldGroup::Member kRes0Str[] = {{Field::Res0StrN, "n"},
                                           {Field::Res0StrC, "c"},
                                           {Field::Res0StrH, "h"},
                                           {Field::Res0StrW, "w"},
                                           {Field::Res0StrB, "b"}};
constexpr FieldGroup::Member kOpd0Str[] = {{Field::Opd0StrN, "n"},
                                           {Field::Opd0StrC, "c"},
                                           {Field::Opd0StrH, "h"},
                                           {Field::Opd0StrW, "w"},
                                           {Field::Opd0StrB, "b"}};
constexpr FieldGroup::Member kOpd1Str[] = {{Field::Opd1StrN, "n"},
                                           {Field::Opd1StrC, "c"},
                                           {Field::Opd1StrH, "h"},
                                           {Field::Opd1StrW, "w"},
                                           {Field::Opd1StrB, "b"}};
constexpr FieldGroup::Member kOpd2Str[] = {{Field::Opd2StrN, "n"},
                                           {Field::Opd2StrC, "c"},
                                           {Field::Opd2StrH, "h"},
                                           {Field::Opd2StrW, "w"},
                                           {Field::Opd2StrB, "b"}};
constexpr FieldGroup::Member kPad[] = {
    {Field::PadTop, "t"}, {Field::PadBottom, "b"}, {Field::PadLeft, "l"}, {Field::PadRight, "r"}};
constexpr FieldGroup::Member kStride[] = {{Field::StrideY, "h"}, {Field::StrideX, "w"}};
constexpr FieldGroup::Member kDil[] = {{Field::DilY, "h"}, {Field::DilX, "w"}};
constexpr FieldGroup::Member kSrc[] = {
    {Field::SrcN, "n"}, {Field::SrcC, "c"}, {Field::SrcH, "h"}, {Field::SrcW, "w"}};
constexpr FieldGroup::Member kDst[] = {{Field::DstC, "c"}, {Field::DstH, "h"}, {Field::DstW, "w"}};
constexpr FieldGroup::Member kSrcStrC[] = {{Field::SrcStrCLow, ""}, {Field::SrcStrCHigh, ""}};
constexpr FieldGroup::Member kDstStrC[] = {{Field::DstStrCLow, ""}, {Field::DstStrCHigh, ""}};
constexpr FieldGroup::Member kSrcAddr[] = {{Field::SrcAddrLow, ""}, {Field::SrcAddrHigh, ""}};
constexpr FieldGroup::Member kDstAddr[] = {{Field::DstAddrLow, ""}, {Field::DstAddrHigh, ""}};
constexpr FieldGroup kGroups[] = {
    {"res0", false, kRes0},        {"opd0", false, kOpd0},        {"opd1", false, kOpd1},
    {"opd2", false, kOpd2},        {"res0_str", false, kRes0Str}, {"opd0_str", false, kOpd0Str},
    {"opd1_str", false, kOpd1Str}, {"opd2_str", false, kOpd2Str}, {"pad", false, kPad},
    {"stride", false, kStride},    {"dil", false, kDil},          {"src", false, kSrc},
    {"dst", false, kDst},          {"src_str_c", true, kSrcStrC}, {"dst_str_c", true, kDstStrC},
    {"src_addr", true, kSrcAddr},  {"dst_addr", true, kDstAddr},
};

// What tells commands apart lies at other places on the cv183x.
constexpr Wait kTiuWaits[] = {{Field::Wait, Engine::Dma}};
constexpr Wait kDmaWaits[] = {{Field::Wait, Engine::Tiu}};
constexpr EngineInfo tiuEngine(Bits type, Bits function) {
  return {.name = "TIU",
          .headBytes = 8,
          .opcode = {Field::Type, type},
          .sub = HeadField{Field::Function, function},
          .id = Field::Id,
          .waits = kTiuWaits};
}
constexpr EngineInfo kDmaEngine = {.name = "DMA",
                                   .headBytes = 8,
                                   .opcode = {Field::Direction, {6, 2}},
                                   .sub = HeadField{Field::Function, {32, 3}},
                                   .id = Field::Id,
                                   .waits = kDmaWaits};
constexpr EngineInfo kEngines[] = {tiuEngine({5, 4}, {9, 5}), kDmaEngine};
constexpr EngineInfo kEngines183x[] = {tiuEngine({37, 4}, {41, 8}), kDmaEngine};
constexpr FormInfo kForms[] = {{Form::Tiu, "tiu", Engine::Tiu, 112, kTiu},
                               {Form::Dma, "dma", Engine::Dma, 64, kTdma}};
constexpr FormInfo kForms183x[] = {{Form::Tiu, "tiu", Engine::Tiu, 112, kTiu183x},
                                   {Form::Dma, "dma", Engine::Dma, 64, kTdma}};

extern const CommandTable kTable, kTable183x;

constexpr OpInfo op(const CommandTable &table, Engine engine, unsigned opcode, unsigned sub,
                    std::string_view name) {
  return {.table = &table,
          .engine = engine,
          .opcode = static_cast<uint16_t>(opcode),
          .sub = static_cast<uint16_t>(sub),
          .name = name,
          .form = engine == Engine::Tiu ? Form::Tiu : Form::Dma};
}
struct TiuName {
  uint8_t type, function;
  std::string_view name;
};
constexpr TiuName kTiuNames[] = {
    {0, 0, "conv"},  {1, 0, "pool.max"}, {1, 1, "pool.avg"}, {1, 2, "depthwise"}, {2, 0, "matmul"},
    {3, 0, "mul"},   {3, 1, "mac"},      {3, 2, "add"},      {3, 3, "sub"},       {3, 4, "max"},
    {3, 5, "min"},   {3, 6, "shift"},    {3, 7, "and"},      {3, 8, "or"},        {3, 9, "xor"},
    {3, 10, "copy"}, {3, 12, "lookup"},  {1, 3, "pool.min"}, {3, 11, "ge"},
};
/// The cv183x has all but the last two.
constexpr size_t kNumTiu = std::size(kTiuNames), kNumTiu183x = kNumTiu - 2;
constexpr std::string_view kMoves[] = {"dma.load", "dma.store", "dma.global", "dma.local"};
constexpr std::string_view kTransposes[] = {"dma.load_transpose", "dma.store_transpose",
                                            "dma.global_transpose", "dma.local_transpose"};
constexpr std::string_view kFills[] = {"dma.load_fill", "dma.store_fill", "dma.global_fill",
                                       "dma.local_fill"};

template <size_t NumTiu> constexpr auto makeOps(const CommandTable &table) {
  std::array<OpInfo, NumTiu + 12> ops{};
  for (size_t i = 0; i < NumTiu; ++i)
    ops[i] = op(table, Engine::Tiu, kTiuNames[i].type, kTiuNames[i].function, kTiuNames[i].name);
  for (unsigned i = 0; i < 4; ++i) {
    ops[NumTiu + 3 * i] = op(table, Engine::Dma, i, 0, kMoves[i]);
    ops[NumTiu + 3 * i + 1] = op(table, Engine::Dma, i, 1, kTransposes[i]);
    ops[NumTiu + 3 * i + 2] = op(table, Engine::Dma, i, 4, kFills[i]);
  }
  return ops;
}

constexpr FieldLimit kLimits[] = {
    {.field = Field::En, .least = 1, .most = 1},
    {.field = Field::Valid, .least = 1, .most = 1},
    {.field = Field::SrcKind, .least = 1, .most = 2},
    {.field = Field::DstKind, .least = 1, .most = 2},
};

constexpr EngineId kStreamEngines[] = {Engine::Tiu, Engine::Dma};
constexpr uint8_t kCodes[] = {0, 2};
constexpr StreamInfo stream(std::string_view name, uint8_t magic) {
  return {.name = name,
          .engines = kStreamEngines,
          .header = HeaderInfo{
              .bytes = 8, .constant = magic, .engine = {16, 8}, .codes = kCodes, .length = {8, 8}}};
}

constexpr Chip kChips[] = {
    {"cv183x", 32, 0xA5, true, 0x1'0000'0000, 18802},
    {"cv182x", 8, 0xA6, false, 0, 1822},
    {"cv181x", 8, 0xA7, false, 0, 182202},
    {"cv180x", 2, 0xA8, false, 0, 182203},
};
constexpr StreamInfo kStreams[] = {stream("cv182x", 0xA6), stream("cv181x", 0xA7),
                                   stream("cv180x", 0xA8)};
constexpr StreamInfo kStreams183x[] = {stream("cv183x", 0xA5)};

constexpr uint16_t kNumOpcodes = 4, kNumSubs = 13;
constexpr auto kOps = makeOps<kNumTiu>(kTable);
constexpr auto kOps183x = makeOps<kNumTiu183x>(kTable183x);
constexpr auto kFieldIndex = indexFields<2, std::size(kFields)>(kForms);
constexpr auto kFieldIndex183x = indexFields<2, std::size(kFields)>(kForms183x);
constexpr auto kOpIndex = indexOps<2, kNumOpcodes, kNumSubs>(kOps);
constexpr auto kOpIndex183x = indexOps<2, kNumOpcodes, kNumSubs>(kOps183x);

constexpr CommandTable kTable = {.engines = kEngines,
                                 .fields = kFields,
                                 .forms = kForms,
                                 .ops = kOps,
                                 .groups = kGroups,
                                 .limits = kLimits,
                                 .streams = kStreams,
                                 .fieldIndex = kFieldIndex,
                                 .opIndex = kOpIndex,
                                 .numOpcodes = kNumOpcodes,
                                 .numSubs = kNumSubs};
constexpr CommandTable kTable183x = {.engines = kEngines183x,
                                     .fields = kFields,
                                     .forms = kForms183x,
                                     .ops = kOps183x,
                                     .groups = kGroups,
                                     .limits = kLimits,
                                     .streams = kStreams183x,
                                     .fieldIndex = kFieldIndex183x,
                                     .opIndex = kOpIndex183x,
                                     .numOpcodes = kNumOpcodes,
                                     .numSubs = kNumSubs};
static_assert(problemOf(kTable).empty());
static_assert(problemOf(kTable183x).empty());

} // namespace

std::span<const Chip> allChips() { return kChips; }

const Chip *findChip(std::string_view name) {
  const auto found = std::ranges::find(kChips, name, &Chip::name);
  return found == std::end(kChips) ? nullptr : found;
}

const CommandTable &commandTable(const Chip &chip) { return chip.is183x ? kTable183x : kTable; }

const StreamInfo &streamOf(const Chip &chip) {
  return *std::ranges::find(commandTable(chip).streams, chip.name, &StreamInfo::name);
}

} // namespace tpuc::cv18xx
