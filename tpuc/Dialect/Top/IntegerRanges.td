//===- IntegerRanges.td - What integer attributes may be -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every integer attribute of an op states its range where the op declares it, and TableGen refuses
// one that does not. The rows become a table of the op, which is verified before its shape is
// inferred: see IntegerRanges.h.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_INTEGERRANGES
#define TPUC_DIALECT_TOP_INTEGERRANGES

include "mlir/IR/OpBase.td"

/// The largest stride, dilation, pad or count: products of two of them fit in 63 bits.
defvar Top_MostCount = 2147483647;
/// The largest extent that an attribute may state: kMostExtent of tpuc/Support/Sizes.h.
defvar Top_MostExtent = 1099511627776;
/// Tensors have at most this many dimensions.
defvar Top_MostRank = 8;

/// The integer attribute `base`, alone or an array of it, and what its elements may be.
class Top_RangedAttr<Attr base, string words, int low, int high>
    : Attr<base.predicate, base.summary # words> {
  let storageType = base.storageType;
  let returnType = base.returnType;
  let convertFromStorage = base.convertFromStorage;
  let constBuilderCall = base.constBuilderCall;
  let defaultValue = base.defaultValue;
  let valueType = base.valueType;
  let isOptional = base.isOptional;
  let baseAttr = base;
  /// The elements are least to most. Where `axisOf` is an operand, of which the rank is known, they
  /// are -(rank + more) to rank + behind - 1 instead.
  int least = low;
  int most = high;
  int axisOf = -1;
  int more = 0;
  int behind = 0;
}

class Top_AtLeast<Attr base, int low, int high = Top_MostCount>
    : Top_RangedAttr<base, ", at least " # low, low, high>;
class Top_Between<Attr base, int low, int high>
    : Top_RangedAttr<base, ", " # low # " to " # high, low, high>;
/// Any integer, for the `reason` that is given.
class Top_Free<Attr base, string reason>
    : Top_RangedAttr<base, " (any: " # reason # ")", -9223372036854775807, 9223372036854775807>;
/// A dimension of the tensor `operand`, or of one that has `added` more dimensions; negative: from
/// the back. `behind`: also the place behind the last.
class Top_AxisOf<Attr base, int operand, int added = 0, int end = 0>
    : Top_RangedAttr<base, ", a dimension",
                     !sub(0, Top_MostRank), !sub(!add(Top_MostRank, end), 1)> {
  let axisOf = operand;
  let more = added;
  let behind = !add(added, end);
}
/// A dimension of a tensor that is not known before shapes are.
class Top_SomeAxis<Attr base> : Top_AxisOf<base, -1>;

// What most ops have.
def Top_KernelShape : Top_AtLeast<I64ArrayAttr, 1>;
def Top_Strides : Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1>;
def Top_Dilations : Top_AtLeast<OptionalAttr<I64ArrayAttr>, 1>;
def Top_Inserts : Top_AtLeast<OptionalAttr<I64ArrayAttr>, 0>;
def Top_Pads : Top_AtLeast<OptionalAttr<I64ArrayAttr>, 0>;
def Top_Group : Top_AtLeast<DefaultValuedAttr<I64Attr, "1">, 1>;
/// An extent for each dimension.
def Top_Extents : Top_AtLeast<OptionalAttr<I64ArrayAttr>, 0, Top_MostExtent>;
/// The same, with -1 for one that is worked out or stays.
def Top_OpenExtents : Top_AtLeast<OptionalAttr<I64ArrayAttr>, -1, Top_MostExtent>;
/// Places along a dimension, as Python counts them.
def Top_Positions
    : Top_Free<OptionalAttr<I64ArrayAttr>, "places outside count as the nearest end">;
def Top_Position : Top_Free<OptionalAttr<I64Attr>, "places outside count as the nearest end">;
/// 0 or 1.
def Top_Choices : Top_Between<OptionalAttr<I64ArrayAttr>, 0, 1>;
/// Elements to add (or with a sign to take away) at one end of each dimension.
def Top_SignedPads : Top_Between<OptionalAttr<I64ArrayAttr>, !sub(0, Top_MostCount), Top_MostCount>;
/// An integer of 32 bits.
class Top_I32<Attr base> : Top_Between<base, !sub(-1, Top_MostCount), Top_MostCount>;

/// The row of an argument `name` in its op's table, in C++; empty for what is no integer.
class Top_RangeRow<Constraint argument, string name> {
  string text = !if(!isa<Top_RangedAttr>(argument),
      "{\"" # name # "\", " # !interleave([
          !cast<Top_RangedAttr>(argument).least, !cast<Top_RangedAttr>(argument).most,
          !cast<Top_RangedAttr>(argument).axisOf, !cast<Top_RangedAttr>(argument).more,
          !cast<Top_RangedAttr>(argument).behind], ", ") # "}", "");
}

/// Whether an argument is an integer attribute that states no range.
class Top_LacksRange<Constraint argument> {
  string base = !cond(
      !isa<OptionalAttr>(argument) : "" # !cast<OptionalAttr>(argument).baseAttr,
      !isa<DefaultValuedAttr>(argument) : "" # !cast<DefaultValuedAttr>(argument).baseAttr,
      true : "" # argument);
  bit value = !or(!eq(base, "I64Attr"), !eq(base, "I64ArrayAttr"));
}

/// The table of an op with these arguments, in C++, and the names of those that lack a range.
class Top_RangeTable<dag arguments> {
  list<int> places = !range(!size(arguments));
  list<string> rows = !filter(row, !foreach(i, places,
      Top_RangeRow<!getdagarg<Constraint>(arguments, i), !getdagname(arguments, i)>.text),
      !ne(row, ""));
  list<int> lacking = !filter(i, places,
      Top_LacksRange<!getdagarg<Constraint>(arguments, i)>.value);
  string names = !interleave(!foreach(i, lacking, !getdagname(arguments, i)), ", ");
  string text = [{
    /// What the op's integer attributes may be.
    static ::llvm::ArrayRef<::tpuc::top::IntegerRange> integerRanges() {
      }] # !if(!empty(rows), "return {};", [{static constexpr ::tpuc::top::IntegerRange kRows[] = {
          }] # !interleave(rows, ",\n          ") # [{};
      return kRows;}]) # [{
    }
  }];
}

/// The integer attributes of the op are within their ranges.
def Top_ChecksRanges : NativeOpTrait<"ChecksRanges"> { let cppNamespace = "::tpuc::top"; }

#endif // TPUC_DIALECT_TOP_INTEGERRANGES
