//===- TiuFields.h - Bit positions of the TIU's forms -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_TIUFIELDS_H
#define TPUC_TARGET_BM1684X_MACHINE_TIUFIELDS_H

#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

namespace tpuc::bm1684x::tiufields {

inline constexpr FieldSpec kLong[] = {
    {Field::CmdShort, 0, 1},     {Field::CmdId, 1, 20},       {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},      {Field::SubOpcode, 45, 5},   {Field::EuHalfEn, 50, 1},
    {Field::OpdNum, 51, 2},      {Field::PadMode, 53, 2},     {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},     {Field::IntrEn, 63, 1},      {Field::ResAdd, 64, 1},
    {Field::Relu, 65, 1},        {Field::LeftTran, 66, 1},    {Field::KernelRotate, 68, 1},
    {Field::Opd0Sign, 69, 1},    {Field::Opd1Sign, 70, 1},    {Field::Opd2Sign, 71, 1},
    {Field::Res0Prec, 72, 3},    {Field::Opd0Prec, 75, 3},    {Field::Opd1Prec, 78, 3},
    {Field::Opd2Prec, 81, 3},    {Field::Opd0Const, 84, 1},   {Field::Opd1Const, 85, 1},
    {Field::Opd2Const, 86, 1},   {Field::Res0Str, 87, 3},     {Field::Opd0Str, 90, 3},
    {Field::Opd1Str, 93, 3},     {Field::Opd2Str, 96, 3},     {Field::ResAddSign, 99, 1},
    {Field::Opd3Const, 126, 1},  {Field::Opd0XIns0, 128, 4},  {Field::Opd0YIns0, 132, 4},
    {Field::Opd1XIns0, 136, 4},  {Field::Opd1YIns0, 140, 4},  {Field::Opd0UpPad, 144, 4},
    {Field::Opd0DnPad, 148, 4},  {Field::Opd0LfPad, 152, 4},  {Field::Opd0RtPad, 156, 4},
    {Field::ResOpXStr, 160, 4},  {Field::ResOpYStr, 164, 4},  {Field::Res0HShift, 168, 4},
    {Field::Res0WShift, 172, 4}, {Field::Opd0HShift, 176, 4}, {Field::Opd0WShift, 180, 4},
    {Field::Opd1HShift, 184, 4}, {Field::Opd1WShift, 188, 4}, {Field::LaneMask, 192, 64},
    {Field::Res0N, 256, 16},     {Field::Res0C, 272, 16},     {Field::Res0H, 288, 16},
    {Field::Res0W, 304, 16},     {Field::Opd0N, 320, 16},     {Field::Opd0C, 336, 16},
    {Field::Opd0H, 352, 16},     {Field::Opd0W, 368, 16},     {Field::Opd1N, 384, 16},
    {Field::Opd1C, 400, 16},     {Field::Opd1H, 416, 16},     {Field::Opd1W, 432, 16},
    {Field::Res0NStr, 448, 16},  {Field::Res0CStr, 464, 16},  {Field::Opd0NStr, 480, 16},
    {Field::Opd0CStr, 496, 16},  {Field::Opd1NStr, 512, 16},  {Field::Opd1CStr, 528, 16},
    {Field::Round, 544, 16},     {Field::Opd2CStr, 560, 16},  {Field::Res0Addr, 576, 32},
    {Field::Opd0Addr, 608, 32},  {Field::Opd1Addr, 640, 32},  {Field::Opd2Addr, 672, 32},
    {Field::Res0HStr, 704, 32},  {Field::Res0WStr, 736, 32},  {Field::Opd0HStr, 768, 32},
    {Field::Opd0WStr, 800, 32},  {Field::Opd1HStr, 832, 32},  {Field::Opd1WStr, 864, 32},
    {Field::Opd2HStr, 896, 32},  {Field::Opd2WStr, 928, 32},  {Field::Res1Addr, 960, 32},
    {Field::Opd3Addr, 992, 32}};

inline constexpr FieldSpec kConv[] = {
    {Field::CmdShort, 0, 1},      {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},       {Field::SubOpcode, 45, 5},  {Field::Opd0Sign, 50, 1},
    {Field::Opd1Sign, 51, 1},     {Field::Opd2Sign, 52, 1},   {Field::PadMode, 53, 2},
    {Field::CmdIdEn, 55, 4},      {Field::PwrStep, 59, 4},    {Field::ResAdd, 63, 1},
    {Field::KernelRotate, 64, 1}, {Field::Res0Prec, 65, 3},   {Field::Opd0Prec, 68, 3},
    {Field::Opd1Const, 71, 1},    {Field::Opd2Const, 72, 1},  {Field::Opd0UpPad, 73, 4},
    {Field::Opd0DnPad, 77, 4},    {Field::Opd0LfPad, 81, 4},  {Field::Opd0RtPad, 85, 4},
    {Field::ResOpXStr, 89, 4},    {Field::ResOpYStr, 93, 4},  {Field::Opd3Const, 97, 1},
    {Field::Opd0Str, 98, 3},      {Field::Res0Addr, 101, 26}, {Field::IntrEn, 127, 1},
    {Field::Opd0XIns0, 128, 4},   {Field::Opd0YIns0, 132, 4}, {Field::Opd1XIns0, 136, 4},
    {Field::Opd1YIns0, 140, 4},   {Field::Opd0NStr, 144, 16}, {Field::Res0N, 160, 16},
    {Field::Res0C, 176, 16},      {Field::Res0H, 192, 16},    {Field::Res0W, 208, 16},
    {Field::Opd0C, 224, 16},      {Field::Opd0H, 240, 16},    {Field::Opd0W, 256, 16},
    {Field::Opd1H, 272, 16},      {Field::Opd1W, 288, 16},    {Field::Opd0CStr, 304, 16},
    {Field::Opd0Addr, 320, 32},   {Field::Opd1Addr, 352, 32}, {Field::Opd2Addr, 384, 32},
    {Field::Res1Addr, 416, 32},   {Field::Opd3Addr, 448, 32}, {Field::Opd0HStr, 480, 16},
    {Field::Opd0WStr, 496, 16}};

inline constexpr FieldSpec kPorD[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::KernelRotate, 50, 1},
    {Field::Opd0Sign, 51, 1},   {Field::Opd1Sign, 52, 1},   {Field::PadMode, 53, 2},
    {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},    {Field::Opd1Const, 63, 1},
    {Field::Opd2Const, 64, 1},  {Field::Opd3Const, 65, 1},  {Field::Res0Prec, 66, 3},
    {Field::Opd0Prec, 69, 3},   {Field::Opd0XIns0, 72, 4},  {Field::Opd0YIns0, 76, 4},
    {Field::Opd1XIns0, 80, 4},  {Field::Opd1YIns0, 84, 4},  {Field::Opd0UpPad, 88, 4},
    {Field::Opd0DnPad, 92, 4},  {Field::Opd0LfPad, 96, 4},  {Field::Opd0RtPad, 100, 4},
    {Field::ResOpXStr, 104, 4}, {Field::ResOpYStr, 108, 4}, {Field::Round, 112, 3},
    {Field::Opd2Sign, 126, 1},  {Field::IntrEn, 127, 1},    {Field::Res0N, 128, 16},
    {Field::Res0C, 144, 16},    {Field::Res0H, 160, 16},    {Field::Res0W, 176, 16},
    {Field::Opd0H, 192, 16},    {Field::Opd0W, 208, 16},    {Field::Opd1H, 224, 16},
    {Field::Opd1W, 240, 16},    {Field::Res0Addr, 256, 32}, {Field::Opd0Addr, 288, 32},
    {Field::Opd1Addr, 320, 32}, {Field::Opd2Addr, 352, 32}, {Field::Res1Addr, 384, 32},
    {Field::Opd3Addr, 416, 32}};

inline constexpr FieldSpec kMatMul[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::ResAdd, 50, 1},
    {Field::LeftTran, 51, 1},   {Field::Opd0Const, 52, 1},  {Field::Opd2Const, 53, 1},
    {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},    {Field::IntrEn, 63, 1},
    {Field::Opd0Sign, 64, 1},   {Field::Opd1Sign, 65, 1},   {Field::Opd2Sign, 66, 1},
    {Field::Res0Prec, 67, 3},   {Field::Opd0Prec, 70, 3},   {Field::Round, 73, 3},
    {Field::Res0C, 112, 16},    {Field::Res0W, 128, 16},    {Field::Opd0N, 144, 16},
    {Field::Opd0C, 160, 16},    {Field::Opd0W, 176, 16},    {Field::Opd1W, 208, 16},
    {Field::Res0Addr, 224, 32}, {Field::Opd0Addr, 256, 32}, {Field::Opd1Addr, 288, 32},
    {Field::Opd2Addr, 320, 32}, {Field::Opd3Addr, 352, 32}};

inline constexpr FieldSpec kMatMul2[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd0Sign, 50, 1},
    {Field::Opd1Sign, 51, 1},   {Field::Res0Prec, 52, 3},   {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},    {Field::Opd2Const, 63, 1},  {Field::Res0C, 64, 16},
    {Field::Res0W, 80, 16},     {Field::Opd1C, 96, 16},     {Field::Opd1W, 112, 16},
    {Field::Opd0Prec, 128, 3},  {Field::Opd0Const, 131, 1}, {Field::Opd1Const, 132, 1},
    {Field::ResAdd, 133, 1},    {Field::Res0Addr, 134, 25}, {Field::IntrEn, 159, 1},
    {Field::Opd0Addr, 160, 32}, {Field::Opd1Addr, 192, 32}, {Field::Opd2Addr, 224, 32}};

inline constexpr FieldSpec kArith[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd0Const, 50, 1},
    {Field::Opd1Const, 51, 1},  {Field::Opd2Const, 52, 1},  {Field::OpdNum, 53, 2},
    {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},    {Field::IntrEn, 63, 1},
    {Field::Res0Prec, 64, 3},   {Field::Opd0Prec, 67, 3},   {Field::Opd1Prec, 70, 3},
    {Field::Opd2Prec, 73, 3},   {Field::Opd0Sign, 76, 1},   {Field::Opd1Sign, 77, 1},
    {Field::Res0Str, 78, 3},    {Field::Opd0Str, 81, 3},    {Field::Opd1Str, 84, 3},
    {Field::Round, 87, 3},      {Field::Res0N, 96, 16},     {Field::Res0C, 112, 16},
    {Field::Res0H, 128, 16},    {Field::Res0W, 144, 16},    {Field::Res0Addr, 160, 32},
    {Field::Opd0Addr, 192, 32}, {Field::Opd1Addr, 224, 32}, {Field::Opd2Addr, 256, 32},
    {Field::Res0NStr, 288, 16}, {Field::Res0CStr, 304, 16}, {Field::Opd0NStr, 320, 16},
    {Field::Opd0CStr, 336, 16}, {Field::Opd1NStr, 352, 16}, {Field::Opd1CStr, 368, 16},
    {Field::Res0HStr, 384, 20}, {Field::Res0WStr, 404, 20}, {Field::Opd0HStr, 424, 20},
    {Field::Opd2Sign, 444, 1},  {Field::Opd0WStr, 448, 20}, {Field::Opd1HStr, 468, 20},
    {Field::Opd1WStr, 488, 20}};

inline constexpr FieldSpec kSegment[] = {
    {Field::CmdShort, 0, 1}, {Field::CmdId, 1, 20},     {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},  {Field::SubOpcode, 45, 5}, {Field::Res0Prec, 52, 3},
    {Field::CmdIdEn, 55, 4}, {Field::PwrStep, 59, 4},   {Field::IntrEn, 63, 1},
    {Field::Res0C, 64, 16},  {Field::Res0W, 80, 16},    {Field::Res0Addr, 96, 32}};

inline constexpr FieldSpec kRequant[] = {
    {Field::CmdShort, 0, 1},   {Field::CmdId, 1, 20},     {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},    {Field::SubOpcode, 45, 5}, {Field::Opd0Sign, 50, 1},
    {Field::Opd2Sign, 51, 1},  {Field::Res0Prec, 52, 3},  {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},   {Field::Opd1Const, 63, 1}, {Field::Opd0Prec, 64, 3},
    {Field::Round, 67, 6},     {Field::Res0Addr, 73, 27}, {Field::Opd0Addr, 100, 27},
    {Field::IntrEn, 127, 1},   {Field::Res0N, 128, 16},   {Field::Res0C, 144, 16},
    {Field::Res0H, 160, 16},   {Field::Res0W, 176, 16},   {Field::Opd1Addr, 192, 32},
    {Field::Opd2Addr, 224, 32}};

inline constexpr FieldSpec kTranspose[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},     {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5}, {Field::Res0Prec, 50, 3},
    {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},   {Field::IntrEn, 63, 1},
    {Field::Res0N, 64, 16},     {Field::Res0C, 80, 16},    {Field::Res0H, 96, 16},
    {Field::Res0W, 112, 16},    {Field::Opd0C, 128, 16},   {Field::Opd0W, 144, 16},
    {Field::Res0Addr, 192, 32}, {Field::Opd0Addr, 224, 32}};

inline constexpr FieldSpec kScatterGather[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd3Const, 50, 1},
    {Field::IntrEn, 51, 1},     {Field::Opd0Str, 52, 3},    {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},    {Field::Opd2Const, 63, 1},  {Field::Res0N, 64, 16},
    {Field::Res0C, 80, 16},     {Field::Res0H, 96, 16},     {Field::Res0W, 112, 16},
    {Field::Opd0H, 128, 16},    {Field::Opd0W, 144, 16},    {Field::Opd1C, 160, 16},
    {Field::Opd1W, 176, 16},    {Field::Res0Prec, 192, 3},  {Field::Res0Addr, 195, 29},
    {Field::Opd0Prec, 224, 3},  {Field::Opd0Addr, 227, 29}, {Field::Opd1Prec, 256, 3},
    {Field::Opd1Addr, 259, 29}, {Field::Opd2Addr, 288, 32}, {Field::Res1Addr, 320, 32},
    {Field::Opd3Addr, 352, 32}};

inline constexpr FieldSpec kScatterGatherLine[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd3Const, 53, 1},
    {Field::IntrEn, 54, 1},     {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},
    {Field::Opd2Const, 63, 1},  {Field::Res0Prec, 64, 3},   {Field::Opd1Prec, 67, 3},
    {Field::Opd0Str, 70, 3},    {Field::Res0N, 80, 16},     {Field::Res0C, 96, 16},
    {Field::Res0H, 112, 16},    {Field::Res0W, 128, 16},    {Field::Opd0H, 144, 16},
    {Field::Res0Addr, 160, 32}, {Field::Opd0Addr, 192, 32}, {Field::Opd1Addr, 224, 32},
    {Field::Opd2Addr, 256, 32}, {Field::Res1Addr, 288, 32}};

inline constexpr FieldSpec kLinearArith[] = {
    {Field::Opd0WStr, 0, 1},   {Field::Opd1WStr, 1, 1},   {Field::Opd2Const, 2, 1},
    {Field::Res0Prec, 3, 3},   {Field::Opd0Prec, 6, 3},   {Field::Opd1Prec, 9, 3},
    {Field::Round, 12, 3},     {Field::Opd0Sign, 15, 1},  {Field::Opd1Sign, 16, 1},
    {Field::StartTid, 17, 6},  {Field::Res0C, 23, 8},     {Field::Res0W, 31, 8},
    {Field::Opcode, 41, 4},    {Field::SubOpcode, 45, 5}, {Field::OpdNum, 51, 2},
    {Field::PwrStep, 59, 4},   {Field::Res0Addr, 64, 16}, {Field::Opd0Addr, 80, 16},
    {Field::Opd1Addr, 96, 16}, {Field::Opd2Addr, 112, 16}};

inline constexpr FieldSpec kSfu[] = {
    {Field::CmdShort, 0, 1},   {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},    {Field::SubOpcode, 45, 5},  {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},   {Field::IntrEn, 63, 1},     {Field::Res0Prec, 64, 3},
    {Field::Opd0Prec, 67, 3},  {Field::Round, 70, 2},      {Field::Res0N, 80, 16},
    {Field::Res0C, 96, 16},    {Field::Res0H, 112, 16},    {Field::Res0W, 128, 16},
    {Field::Opd1N, 144, 16},   {Field::Res0Addr, 160, 32}, {Field::Opd0Addr, 192, 32},
    {Field::Opd1Addr, 224, 32}};

inline constexpr FieldSpec kLinear[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd1Const, 50, 1},
    {Field::Opd2Const, 51, 1},  {Field::Res0Prec, 52, 3},   {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},    {Field::IntrEn, 63, 1},     {Field::Res0N, 64, 16},
    {Field::Res0C, 80, 16},     {Field::Res0H, 96, 16},     {Field::Res0W, 112, 16},
    {Field::Res0Addr, 128, 32}, {Field::Opd0Addr, 160, 32}, {Field::Opd1Addr, 192, 32},
    {Field::Opd2Addr, 224, 32}};

inline constexpr FieldSpec kCompare[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},  {Field::Opd0Const, 50, 1},
    {Field::Opd1Const, 51, 1},  {Field::Opd2Const, 52, 1},  {Field::Opd3Const, 53, 1},
    {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},    {Field::IntrEn, 63, 1},
    {Field::Opd0Prec, 64, 3},   {Field::Opd2Prec, 67, 3},   {Field::Opd0Str, 70, 3},
    {Field::Opd1Str, 73, 3},    {Field::Opd0Sign, 127, 1},  {Field::Res0N, 128, 16},
    {Field::Res0C, 144, 16},    {Field::Res0H, 160, 16},    {Field::Res0W, 176, 16},
    {Field::Res0Addr, 192, 32}, {Field::Res1Addr, 224, 32}, {Field::Opd0Addr, 256, 32},
    {Field::Opd1Addr, 288, 32}, {Field::Opd2Addr, 320, 32}, {Field::Opd3Addr, 352, 32}};

inline constexpr FieldSpec kVector[] = {
    {Field::CmdShort, 0, 1},    {Field::CmdId, 1, 20},     {Field::CmdIdDep, 21, 20},
    {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5}, {Field::Opd0Sign, 50, 1},
    {Field::Opd1Sign, 51, 1},   {Field::Round, 52, 3},     {Field::CmdIdEn, 55, 4},
    {Field::PwrStep, 59, 4},    {Field::IntrEn, 63, 1},    {Field::Res0Prec, 64, 3},
    {Field::Opd0Prec, 67, 3},   {Field::Opd1Prec, 70, 3},  {Field::Res0Addr, 73, 32},
    {Field::Opd0Addr, 128, 32}, {Field::Res0C, 176, 16},   {Field::Res0W, 192, 16},
    {Field::Opd0C, 208, 16},    {Field::Opd0W, 224, 16},   {Field::Opd1W, 240, 16},
    {Field::Opd1Addr, 256, 32}, {Field::Opd2Addr, 288, 32}};

inline constexpr FieldSpec kSys[] = {{Field::CmdId, 1, 20},      {Field::CmdIdDep, 21, 20},
                                     {Field::Opcode, 41, 4},     {Field::SubOpcode, 45, 5},
                                     {Field::CmdIdEn, 55, 4},    {Field::PwrStep, 59, 4},
                                     {Field::IntrEn, 63, 1},     {Field::CmdIdEng1, 64, 20},
                                     {Field::CmdIdEng2, 84, 20}, {Field::CmdIdEng3, 104, 20}};

inline constexpr FieldSpec kSysWrite[] = {{Field::CmdId, 1, 20},    {Field::CmdIdDep, 21, 20},
                                          {Field::Opcode, 41, 4},   {Field::SubOpcode, 45, 5},
                                          {Field::RegValid, 50, 2}, {Field::RegIndex, 52, 7},
                                          {Field::RegValue, 64, 64}};

} // namespace tpuc::bm1684x::tiufields

#endif // TPUC_TARGET_BM1684X_MACHINE_TIUFIELDS_H
