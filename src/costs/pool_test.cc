#include "costs/pool.h"

#include <cmath>

#include "base/errors_testing.h"

namespace mete {
namespace {

PoolCosts Good() { return {{{"a", {10, 5, 100, 100}, {{20, 5}}}, {"b", {10, 5, 100, 100}, {{40, 0}}}}}; }

TEST(PoolCosts, TellsWhatContradictsItself) {
  Verify(Good(), 1);
  const auto expect = [](auto change, const char* problem) {
    PoolCosts pool = Good();
    change(pool);
    EXPECT_TELLS(Verify(pool, 1), problem);
  };
  expect([](PoolCosts& p) { p.processors.clear(); }, "there are none");
  expect([](PoolCosts& p) { p.processors[1].name = "a"; }, "[a] two processors have this name");
  expect([](PoolCosts& p) { p.processors[1].layers.clear(); }, "[b] has other layers; got 0, expected 1");
  expect([](PoolCosts& p) { p.processors[0].layers[0].us = -1; }, "[a] layer 0 takes no such time");
  expect([](PoolCosts& p) { p.processors[0].layers[0].least_us = 21; }, "[a] layer 0 takes no such time");
  expect([](PoolCosts& p) { p.processors[0].layers[0].least_by_channels_us = 21; },
         "[a] layer 0 takes no such time; got 20 us, at least 21");
  expect([](PoolCosts& p) { p.processors[0].layers[0].us = NAN; }, "[a] layer 0 takes no such time");
  expect([](PoolCosts& p) { p.processors[0].link.latency_us = -1; }, "[a] a link takes no such time");
  expect([](PoolCosts& p) { p.processors[1].link.up_mbit_per_s = 0; }, "[b] a link has no such rate");
  expect(
      [](PoolCosts& p) {
        p.processors[1].power = PowerCosts{1, -2};
      },
      "[b] takes no such power; got -2 W");
  expect(
      [](PoolCosts& p) {
        p.processors[0].link.up_mbit_per_s = 0;
        p.processors[1].layers.clear();
      },
      "[b] has other layers");
  expect([](PoolCosts& p) { p.processors[0].layers[0] = {.why_not = "no kernel"}; },
         "[a] is the home and cannot compute all layers: no kernel");
  expect([](PoolCosts& p) { p.processors[1].layers[0].why_not = "no kernel"; },
         "[b] layer 0 takes a time and cannot be computed; got 40 us, expected 0");
  const MemoryLink memory{"pi", {1, 1, 1000, 1000}};
  expect(
      [](PoolCosts& p) {
        p.processors[0].co_run = CoRun{"", 1};
      },
      "[a] is slowed by others of a device without a name");
  expect(
      [](PoolCosts& p) {
        p.processors[0].co_run = CoRun{"chip", 0.9};
      },
      "[a] is not slowed by others; got 0.9 times its time alone, expected 1 or more");
  expect([&](PoolCosts& p) { p.processors[0].memory = memory; },
         "[a] is the home and shares the memory of a worker; got 'pi', expected none");
  expect(
      [&](PoolCosts& p) {
        p.processors[1].memory = MemoryLink{"", memory.link};
      },
      "[b] shares the memory of a device without a name");
  expect(
      [&](PoolCosts& p) {
        p.processors[1].memory = MemoryLink{"pi", {1, 1, 0, 1}};
      },
      "[b] a link has no such rate; got 0 Mbit/s");
}

TEST(PoolCosts, LinksFollowFromTheLowestCommonNode) {
  const LinkCosts memory{1, 1, 1000, 2000};
  const ProcessorCosts home{"home", {0, 0, 100, 100}, {}}, gpu{"gpu", {2, 1, 900, 900}, {}};
  ProcessorCosts pi0{"pi/cpu:0", {100, 9, 90, 90}, {}}, pi1 = pi0, phone0 = pi0;
  pi0.memory = pi1.memory = MemoryLink{"pi", memory};
  phone0.memory = MemoryLink{"phone", memory};
  const auto expect = [](const ProcessorCosts& a, const ProcessorCosts& b, LinkKind kind,
                         const LinkCosts& out, const LinkCosts& in) {
    const LinksBetween links = LinkBetween(a, b);
    EXPECT_EQ(links.kind, kind);
    EXPECT_EQ(&links.out, &out);
    EXPECT_EQ(&links.in, &in);
  };
  expect(home, gpu, LinkKind::kNetwork, home.link, gpu.link);
  expect(gpu, pi0, LinkKind::kNetwork, gpu.link, pi0.link);
  expect(pi0, pi1, LinkKind::kMemory, pi0.memory->link, pi1.memory->link);
  expect(pi1, phone0, LinkKind::kNetwork, pi1.link, phone0.link);
  EXPECT_EQ(BestLinkOf(gpu), gpu.link);
  EXPECT_EQ(BestLinkOf(pi0), (LinkCosts{1, 1, 1090, 2090}));
}

// Returns three processors, of which the first two share a memory.
PoolCosts Slowed(double first, double second) {
  PoolCosts pool = Good();
  pool.processors.push_back({"c", {}, {{1, 1}}});
  pool.processors[0].co_run = CoRun{"chip", first};
  pool.processors[1].co_run = CoRun{"chip", second};
  return pool;
}

std::vector<double> Together(const PoolCosts& pool, std::vector<int> processors, std::vector<double> us) {
  SlowTogether(pool, processors, us);
  return us;
}

TEST(CoRun, SlowsAProcessorAsLongAsAnotherOneComputes) {
  using Us = std::vector<double>;
  EXPECT_EQ(Together(Slowed(1.5, 1.5), {0, 1}, {10, 4}), (Us{12, 6}));
  EXPECT_EQ(Together(Slowed(1.5, 1.5), {1, 0}, {4, 10}), (Us{6, 12}));  // by the processors, not their order
  EXPECT_EQ(Together(Slowed(2, 1), {0, 1}, {10, 4}), (Us{12, 4}));
  EXPECT_EQ(Together(Slowed(1, 1), {0, 1}, {10, 4}), (Us{10, 4}));
  EXPECT_EQ(Together(Slowed(1.5, 1.5), {0, 1}, {10, 0}), (Us{10, 0}));  // the other does not compute
  EXPECT_EQ(Together(Slowed(1.5, 1.5), {0, 2}, {10, 4}), (Us{10, 4}));  // the other has a memory of its own
  EXPECT_EQ(Together(Slowed(1.5, 1.5), {0, 1, 2}, {4, 4, 9}), (Us{6, 6, 9}));
}

TEST(CoRun, MoreWorkNeverShortensATime) {
  for (double us = 0; us < 20; us += 0.5)
    for (double other = 0; other < 20; other += 0.5) {
      const auto less = Together(Slowed(1.3, 1.7), {0, 1}, {us, other}),
                 more = Together(Slowed(1.3, 1.7), {0, 1}, {us + 0.5, other});
      EXPECT_LE(less[0], more[0]);
      EXPECT_LE(less[1], more[1] + 1e-9);
      EXPECT_GE(less[0], us);
      EXPECT_LE(less[0], us * 1.3 + 1e-9);
    }
}

TEST(PoolCosts, WhatAProcessorLacksIsTheHomes) {
  PoolCosts pool{{{"a", {10, 5, 100, 100}, {{20, 5}, {30, 5}}}, {"b", {10, 5, 100, 100}, {{40, 0}, {}}}}};
  pool.processors[1].layers[1].why_not = "no kernel";
  Verify(pool, 2);
  EXPECT_TRUE(CanCompute(pool.processors[1], 0, 1));
  EXPECT_FALSE(CanCompute(pool.processors[1], 0, 2));
  EXPECT_DOUBLE_EQ(UsWithHome(pool, 0), 50);
  EXPECT_DOUBLE_EQ(UsWithHome(pool, 1), 70);
  EXPECT_EQ(Scaled(pool.processors[1].layers[1], 2), pool.processors[1].layers[1]);
}

TEST(SlowTogether, AShareThatCannotBeComputedSlowsNoOther) {
  PoolCosts pool = Good();
  for (ProcessorCosts& processor : pool.processors) processor.co_run = CoRun{"chip", 1.5};
  std::vector<double> us{10, INFINITY};
  SlowTogether(pool, std::vector{0, 1}, us);
  EXPECT_EQ(us, (std::vector<double>{10, INFINITY}));
}

TEST(PoolCosts, BeforeAnyMeasurementNothingTakesTime) {
  const PoolCosts pool = WithoutTimes({"a", "b"}, 3);
  Verify(pool, 3);
  EXPECT_EQ(NamesOf(pool), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(UsWithHome(pool, 1), 0);
}

}  // namespace
}  // namespace mete
