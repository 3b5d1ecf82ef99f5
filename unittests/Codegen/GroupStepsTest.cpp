//===- GroupStepsTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Schedule/GroupSteps.h"

#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Units with one layer of `cycles` each, behind one in which nothing is computed.
std::vector<ScheduleUnit> layers(std::initializer_list<int64_t> cycles) {
  std::vector<ScheduleUnit> units(1);
  for (int64_t each : cycles)
    units.push_back({.cycles = each});
  return units;
}

MovableLoad load(int64_t bytes, int64_t cycles, int64_t need) {
  return {.bytes = bytes, .cycles = cycles, .need = need, .last = need};
}

TEST(ScheduleLoads, RunsBesideTheLayerInFront) {
  std::vector<ScheduleUnit> units = layers({100, 100});
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(10, 30, 2)};
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[0].unit, 0);
  EXPECT_EQ(loads[1].unit, 1);
  // The first load, then both layers without a pause.
  EXPECT_EQ(*cycles, 230);
}

TEST(ScheduleLoads, LongLoadsBeginAsSoonAsTheEngineIsFree) {
  std::vector<ScheduleUnit> units = layers({100, 10, 10, 10});
  std::vector<MovableLoad> loads = {load(10, 5, 1), load(10, 60, 4)};
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[1].unit, 1);
  EXPECT_EQ(*cycles, 135);
}

TEST(ScheduleLoads, WithoutRoomALoadWaits) {
  std::vector<ScheduleUnit> units = layers({100, 100});
  units[1].bytes = 80;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(50, 30, 2)};
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[1].unit, 2);
  EXPECT_EQ(*cycles, 30 + 100 + 30 + 100);
}

TEST(ScheduleLoads, NotBeforeTheTensorIsThere) {
  std::vector<ScheduleUnit> units = layers({100, 100, 100});
  std::vector<MovableLoad> loads = {load(10, 30, 3)};
  loads[0].earliest = 2;
  ASSERT_TRUE(scheduleLoads(units, loads, 100, 100));
  EXPECT_EQ(loads[0].unit, 2);
}

TEST(ScheduleLoads, OthersPassWhatIsNotThereYet) {
  std::vector<ScheduleUnit> units = layers({100, 100, 100});
  std::vector<MovableLoad> loads = {load(10, 30, 3), load(10, 80, 3)};
  loads[0].earliest = 2;
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[0].unit, 2);
  EXPECT_EQ(loads[1].unit, 1);
  EXPECT_EQ(*cycles, 300);
}

TEST(ScheduleLoads, RoomThatIsCountedAlreadyIsNotCountedAgain) {
  std::vector<ScheduleUnit> units = layers({100, 100, 100});
  units[1].bytes = 50;
  units[2].bytes = 90;
  // Unit 2 has the room of the load among its bytes.
  std::vector<MovableLoad> loads = {load(50, 150, 3)};
  loads[0].last = 2;
  loads[0].counted = 2;
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[0].unit, 1);
  EXPECT_EQ(units[1].bytes, 100);
  EXPECT_EQ(units[2].bytes, 90);
  EXPECT_EQ(*cycles, 300);
}

TEST(ScheduleLoads, StoresWaitForWhatIsStored) {
  std::vector<ScheduleUnit> units = layers({100, 10});
  units.emplace_back();
  units[2].storeCycles = 50;
  std::vector<MovableLoad> loads;
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(*cycles, 150);
}

TEST(ScheduleLoads, LongLoadsComeBehindMovesThatLayersWaitFor) {
  std::vector<ScheduleUnit> units = layers({100, 20, 200, 100});
  units[2].moveCycles = 20;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(10, 150, 4)};
  const std::vector<ScheduleUnit> same = units;
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100, LoadOrder::BehindUrgent);
  ASSERT_TRUE(cycles);
  // In front of the move it would be over 50 cycles behind the first layer.
  EXPECT_EQ(loads[1].unit, 3);
  EXPECT_EQ(*cycles, 30 + 100 + 20 + 200 + 100);
  // One that is over by then does not wait.
  units = same;
  loads = {load(10, 30, 1), load(10, 100, 4)};
  ASSERT_TRUE(scheduleLoads(units, loads, 100, 100, LoadOrder::BehindUrgent));
  EXPECT_EQ(loads[1].unit, 1);
}

TEST(ScheduleLoads, MovesWaitWhereLoadsWouldBeLateOtherwise) {
  std::vector<ScheduleUnit> units = layers({100, 20, 50, 100});
  units[2].moveCycles = 20;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(10, 150, 4)};
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100, LoadOrder::BehindUrgent);
  ASSERT_TRUE(cycles);
  // Behind the move, the last layer would wait for 100 cycles; so the move waits for 50.
  EXPECT_EQ(loads[1].unit, 1);
  EXPECT_EQ(*cycles, 30 + 150 + 20 + 50 + 100);
}

TEST(ScheduleLoads, LongLoadsComeBehindStoresThatAreLoadedAgain) {
  std::vector<ScheduleUnit> units = layers({100, 0, 200, 100});
  units[2].storeCycles = 20;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(10, 20, 3), load(10, 150, 4)};
  loads[1].earliest = 3;
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100, LoadOrder::BehindUrgent);
  ASSERT_TRUE(cycles);
  EXPECT_EQ(loads[2].unit, 3);
  EXPECT_EQ(*cycles, 30 + 100 + 20 + 20 + 200 + 100);
}

TEST(ScheduleLoads, OnlyEarlyLoadsHaveToLeaveRoom) {
  std::vector<ScheduleUnit> units = layers({100, 100});
  units[2].bytes = 40;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(50, 30, 2)};
  std::vector<ScheduleUnit> narrow = units;
  ASSERT_TRUE(scheduleLoads(units, loads, 100, 60));
  EXPECT_EQ(loads[1].unit, 1);
  ASSERT_TRUE(scheduleLoads(narrow, loads, 100, 50));
  EXPECT_EQ(loads[1].unit, 2);
}

TEST(ScheduleLoads, WhatIsNeededAtATimeHasToFit) {
  std::vector<ScheduleUnit> units = layers({100});
  units[1].bytes = 60;
  std::vector<MovableLoad> loads = {load(50, 30, 1)};
  Expected<int64_t> cycles = scheduleLoads(units, loads, 100, 100);
  ASSERT_FALSE(cycles);
  EXPECT_EQ(cycles.error().message(), "110 bytes of local memory at a time; expected at most 100");
}

/// Of tiles, and of a second memory space.
Footprint twoSpaces(int64_t tiles, int64_t others) {
  Footprint bytes(tiles);
  bytes[1] = others;
  return bytes;
}

TEST(ScheduleLoads, SpacesShareNoRoom) {
  std::vector<ScheduleUnit> units = layers({100, 100});
  units[1].bytes = 80;
  std::vector<MovableLoad> loads = {load(10, 30, 1), load(50, 30, 2)};
  loads[1].space = 1;
  ASSERT_TRUE(scheduleLoads(units, loads, twoSpaces(100, 50), twoSpaces(100, 50)));
  EXPECT_EQ(loads[1].unit, 1);
  EXPECT_EQ(units[1].bytes, twoSpaces(90, 50));
}

TEST(ScheduleLoads, EachSpaceHasToHoldWhatIsInIt) {
  std::vector<ScheduleUnit> units = layers({100});
  std::vector<MovableLoad> loads = {load(50, 30, 1)};
  loads[0].space = 1;
  Expected<int64_t> cycles = scheduleLoads(units, loads, twoSpaces(1000, 49), twoSpaces(1000, 49));
  ASSERT_FALSE(cycles);
  EXPECT_EQ(cycles.error().message(), "50 bytes of memory space 1 at a time; expected at most 49");
}

/// A group of two layers: one tensor is loaded for the first, one flows, one is stored.
GroupPlan pair(unsigned tiles) {
  GroupPlan plan;
  plan.layers = {nullptr, nullptr};
  plan.counts[kAxisH] = tiles;
  plan.tensors.resize(3);
  plan.tensors[0].users.push_back({0, 0});
  plan.tensors[1].producer = 0;
  plan.tensors[1].users.push_back({1, 0});
  plan.tensors[2].producer = 1;
  plan.tensors[2].isStored = true;
  for (GroupTensor &tensor : plan.tensors) {
    tensor.bytes = 100;
    tensor.cycles = 40;
    tensor.numVersions = tiles;
  }
  plan.tensors[1].cycles = 0;
  plan.operands = {{0}, {1}};
  plan.results = {1, 2};
  plan.cycles = {100, 100};
  plan.moveCycles = {0, 0};
  plan.scratchBytes = {0, 0};
  return plan;
}

TEST(PlanSteps, SlicesOverlapWhereThereIsRoom) {
  GroupPlan plan = pair(4);
  ASSERT_TRUE(planSteps(plan, 1000));
  EXPECT_EQ(plan.tensors[0].transferStep, -1);
  EXPECT_EQ(plan.tensors[2].transferStep, 2);
  // The next tile is loaded while the second layer computes, so one place is enough.
  EXPECT_EQ(plan.tensors[0].buffers, 1);
  EXPECT_EQ(plan.estimate, 4 * 200 + 40 + 40);
}

TEST(PlanSteps, WithoutRoomTheyTakeTurns) {
  GroupPlan plan = pair(4);
  ASSERT_TRUE(planSteps(plan, 200));
  EXPECT_EQ(plan.tensors[0].transferStep, 0);
  EXPECT_EQ(plan.tensors[2].transferStep, 1);
  EXPECT_EQ(plan.estimate, 4 * (200 + 40 + 40));
  EXPECT_FALSE(planSteps(plan, 199));
}

TEST(PlanSteps, ConstantsStay) {
  GroupPlan plan = pair(4);
  plan.tensors.push_back(plan.tensors[0]);
  plan.tensors[3].isConstant = true;
  plan.operands[0].push_back(3);
  plan.tensors[3].numVersions = 1;
  ASSERT_TRUE(planSteps(plan, 1000));
  EXPECT_EQ(plan.tensors[3].buffers, 1);
  EXPECT_TRUE(plan.isAlwaysAlive(plan.tensors[3]));
}

TEST(PlanSteps, ASpaceOfItsOwnLeavesRoomForOverlap) {
  GroupPlan plan = pair(4);
  plan.tensors[0].space = 1;
  // Without it, slices take turns in 200 bytes.
  ASSERT_TRUE(planSteps(plan, twoSpaces(200, 100)));
  EXPECT_EQ(plan.tensors[0].transferStep, -1);
  EXPECT_FALSE(planSteps(plan, twoSpaces(200, 99)));
  EXPECT_FALSE(planSteps(plan, twoSpaces(199, 100)));
}

TEST(LocalLoad, CountsSlicesOfNeighbouringPeriods) {
  GroupPlan plan = pair(4);
  ASSERT_TRUE(planSteps(plan, 1000));
  // Step 0: the input, what flows, and the last tile on its way out. Step 1: the next input, what
  // flows, the result.
  const auto load = localLoad(plan);
  EXPECT_EQ(load[0], 300);
  EXPECT_EQ(load[1], 300);
}

} // namespace
