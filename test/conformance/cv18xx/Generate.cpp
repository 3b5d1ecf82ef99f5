//===- Generate.cpp - Random legal commands -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/cv18xx/Generate.h"

#include <algorithm>

namespace tpuc::cv18xx::conformance {

namespace detail {

Maker &Maker::shape(Field n, const Extents &extents) {
  struct Group {
    Field fields[4];
  };
  constexpr Group kGroups[] = {{Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W},
                               {Field::Opd0N, Field::Opd0C, Field::Opd0H, Field::Opd0W},
                               {Field::Opd1N, Field::Opd1C, Field::Opd1H, Field::Opd1W},
                               {Field::Opd2N, Field::Opd2C, Field::Opd2H, Field::Opd2W},
                               {Field::SrcN, Field::SrcC, Field::SrcH, Field::SrcW}};
  for (const Group &group : kGroups)
    if (group.fields[0] == n)
      for (size_t i = 0; i < 4; ++i)
        set(group.fields[i], extents[i]);
  return *this;
}

Maker &Maker::strides(Field n, const View &view) {
  struct Group {
    Field fields[4];
  };
  constexpr Group kGroups[] = {
      {Field::Res0StrN, Field::Res0StrC, Field::Res0StrH, Field::Res0StrW},
      {Field::Opd0StrN, Field::Opd0StrC, Field::Opd0StrH, Field::Opd0StrW},
      {Field::Opd1StrN, Field::Opd1StrC, Field::Opd1StrH, Field::Opd1StrW}};
  for (const Group &group : kGroups)
    if (group.fields[0] == n)
      for (size_t i = 0; i < 4; ++i)
        set(group.fields[i], view.strides[i]);
  return *this;
}

} // namespace detail

void changeFields(Command &command, Random &random) {
  constexpr std::array kKept = {Field::Id,      Field::Wait,      Field::End,     Field::Interrupt,
                                Field::IdEn,    Field::Last,      Field::Barrier, Field::SrcBase,
                                Field::DstBase, Field::DstAddrLow};
  const std::span<const mc::FieldSpec> fields = command.info().fields;
  const auto any = [&]() -> const mc::FieldSpec & {
    return fields[random.below(static_cast<uint32_t>(fields.size()))];
  };
  Command changed = command;
  const unsigned count = 1 + random.below(2);
  for (unsigned i = 0; i < count; ++i) {
    const mc::FieldSpec &spec = any();
    const auto isThis = [&](Field kept) { return mc::FieldId(kept) == spec.field; };
    if (std::ranges::any_of(kKept, isThis))
      continue;
    const uint64_t now = changed.get(spec.field);
    const uint64_t values[] = {0,
                               1,
                               now + 1,
                               now - 1,
                               now * 2,
                               changed.get(any().field),
                               random.next(),
                               random.below(64),
                               spec.bits().mask()};
    changed.trySet(spec.field, values[random.below(std::size(values))] & spec.bits().mask());
  }
  // It may be another operation now, or none.
  if (auto decoded =
          mc::decode(command.table(), command.engine(), changed.encoded(), "a changed command"))
    command = *decoded;
}

std::vector<Recipe> allRecipes() {
  using Function = Command (*)(const Chip &, Random &, bool);
  const auto recipe = [](std::string_view name, Function make) {
    return Recipe{name, [make](const Chip &chip, Random &random) {
                    const bool isBf16 = random.oneIn(2);
                    Case one{&chip, make(chip, random, isBf16), random.next() >> 24, Content::Bits};
                    if (isBf16 || random.oneIn(4))
                      one.content = random.oneIn(3)   ? Content::Special
                                    : random.oneIn(4) ? Content::Large
                                                      : Content::Floats;
                    return one;
                  }};
  };
  return {recipe("conv", detail::makeConv),
          recipe("pool", detail::makePool),
          recipe("matrix", detail::makeMatrix),
          recipe("elementwise", detail::makeElementwise),
          recipe("lookup", detail::makeLookup),
          recipe("move", detail::makeMove),
          recipe("conversion", detail::makeConversion),
          recipe("matrix move", detail::makeMatrixMove),
          recipe("compressed", detail::makeCompressed),
          recipe("image move", detail::makeImageMove),
          {"table index", [](const Chip &chip, Random &random) {
             return Case{&chip, detail::makeTableIndex(chip, random, true), random.next() >> 24,
                         Content::Floats};
           }}};
}

} // namespace tpuc::cv18xx::conformance
