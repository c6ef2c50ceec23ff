#include "plan/placement.h"

#include "base/errors_testing.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/exchange.h"

namespace mete {
namespace {

const Placement kRows{SplitAxis::kRows, {0, 2}, {0.7, 0.3}};

TEST(Placement, PartsCoverAValueOnceInProportion) {
  const auto parts = PartsOn(kRows, {1, 3, 10, 10}, 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].part, Part::Of(2, {0, 7}));
  EXPECT_EQ(parts[1].processor, 2);
  EXPECT_EQ(parts[1].part, Part::Of(2, {7, 10}));
}

TEST(Placement, WhatHasNoRowsIsWholeOnTheLargest) {
  for (const Shape& shape : {Shape{1, 1000}, Shape{}, Shape::Unknown(), Shape{1, 3, 1, 1}}) {
    const auto parts = PartsOn(kRows, shape, 0);
    ASSERT_EQ(parts.size(), 1u) << ToString(shape);
    EXPECT_TRUE(parts[0].part.all());
    EXPECT_EQ(parts[0].processor, 0);
  }
}

TEST(Placement, TooFewRowsLeaveProcessorsWithoutAny) {
  const auto parts = PartsOn({SplitAxis::kRows, {0, 1, 2}, {0.45, 0.1, 0.45}}, {1, 3, 2, 2}, 0);
  EXPECT_EQ(parts[0].part, Part::Of(2, {0, 1}));
  EXPECT_EQ(parts[1].part, Part::Of(2, {1, 2}));
  EXPECT_EQ(parts[1].processor, 2);
}

// The channels that each processor has.
std::vector<int64_t> ChannelsOf(const std::vector<double>& shares, const Shape& shape) {
  Placement placement{SplitAxis::kChannels, {}, shares};
  for (size_t k = 0; k < shares.size(); ++k) placement.processors.push_back(int(k));
  std::vector<int64_t> channels(shares.size(), 0);
  for (const PlacedPart& p : PartsOn(placement, shape, 0)) channels[size_t(p.processor)] = p.part.rows.size();
  return channels;
}

TEST(Placement, ChannelsAreDividedInWholeBlocks) {
  using Channels = std::vector<int64_t>;
  EXPECT_EQ(ChannelsOf({0.503, 0.497}, {1, 512, 14, 14}), (Channels{256, 256}));
  EXPECT_EQ(ChannelsOf({0.71, 0.29}, {1, 64, 7, 7}), (Channels{48, 16}));
  EXPECT_EQ(ChannelsOf({0.503, 0.497}, {1, 1000}), (Channels{496, 504}));  // the last has what is left
  EXPECT_EQ(ChannelsOf({0.503, 0.497}, {1, 196, 192}), (Channels{96, 96}));
}

TEST(Placement, BlocksOfChannelsAreSmallerWhereThereAreFew) {
  using Channels = std::vector<int64_t>;
  EXPECT_EQ(ChannelsOf({0.6, 0.4}, {1, 24, 7, 7}), (Channels{16, 8}));
  EXPECT_EQ(ChannelsOf({0.6, 0.4}, {1, 5, 7, 7}), (Channels{3, 2}));
  EXPECT_EQ(ChannelsOf(std::vector<double>(8, 0.125), {1, 64, 7, 7}), Channels(8, 8));
}

TEST(Placement, BranchesAreWholeOnTheirOwners) {
  const Placement branches = OwnedBy({2, 0, 2});
  EXPECT_EQ(branches.processors, (std::vector<int>{0, 2}));
  EXPECT_EQ(branches, OwnedBy({2, 0, 2}));
  EXPECT_NE(branches, OwnedBy({2, 2, 0}));
  const auto parts = PartsOn(branches, {1, 3, 10, 10}, 2);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].processor, 2);
  EXPECT_TRUE(parts[0].part.all());
  EXPECT_EQ(PartsOn(branches, Shape::Unknown(), 1)[0].processor, 0);
  EXPECT_TELLS(PartsOn(branches, {1}, 3), "[placement] has no owner of live value 3; got 3 owners");
  EXPECT_EQ(ToText(branches, {"laptop", "pi", "phone"}), "branches: laptop 1 value, phone 2 values");
}

TEST(Placement, ManyProcessorsAlikeAreTakenByTheirNumber) {
  PoolCosts pool;
  for (int d = 0; d < 64; ++d)
    pool.processors.push_back({"d" + std::to_string(d), {1, 1, 100, 100}, {{10, 0}}});
  const std::vector<Placement> placements = PlacementsOf(pool);
  EXPECT_LT(placements.size(), 64u);
  EXPECT_EQ(placements[0].processors, std::vector{0});
  EXPECT_EQ(placements.back().processors.size(), 64u);
}

TEST(Exchange, OwnRowsAreNotSent) {
  PoolCosts pool;
  for (const char* name : {"a", "b", "c"}) pool.processors.push_back({name, {5, 2, 8, 8}, {}});
  const Value value{"v", DType::kF32, {1, 1, 10, 10}, Layout::kPlain, {}};  // 40 bytes per row
  Exchange exchange(pool);
  exchange.Need(2, value, Part::Of(2, {6, 10}), PartsOn(kRows, value.shape, 0));
  EXPECT_EQ(exchange.BytesTo(2), 40);
  ASSERT_EQ(exchange.To(2).size(), 1u);
  EXPECT_EQ(exchange.To(2)[0].from, 0);
  EXPECT_DOUBLE_EQ(exchange.ReadyUs(2), 5 + 5 + 40 + 2);  // 8 Mbit/s are 1 byte per microsecond
  EXPECT_DOUBLE_EQ(exchange.ReadyUs(1), 0);
}

TEST(Exchange, ATransferAloneIsReadyAsTheOnlyOneIs) {
  const Value value{"v", DType::kF32, {1, 1, 10, 10}, Layout::kPlain, {}};
  for (const LinkCosts& from : {LinkCosts{50, 1, 8, 3}, LinkCosts{1, 9, 2, 8}})
    for (const LinkCosts& to : {LinkCosts{7, 3, 8, 1}, LinkCosts{30, 2, 4, 80}}) {
      const PoolCosts pool{{{"a", from, {}}, {"b", to, {}}}};
      Exchange exchange(pool);
      exchange.Need(1, value, Part::All(), PartsOn(WholeOn(0), value.shape, 0));
      EXPECT_DOUBLE_EQ(AloneReadyUs({0, 1, 400}, pool), exchange.ReadyUs(1));
    }
}

// What `pi/1` gets from `pi/0` passes the memory, and takes nothing of what `a` sends over the network at the
// same time; nor does `pi/0` send both through one link.
TEST(Exchange, ProcessorsOfOneWorkerExchangeInItsMemory) {
  const LinkCosts network{50, 2, 8, 8}, memory{3, 1, 80, 80};  // 1 and 10 bytes per microsecond
  PoolCosts pool{{{"a", network, {}}, {"pi/0", network, {}}, {"pi/1", network, {}}}};
  for (size_t p : {1, 2}) pool.processors[p].memory = MemoryLink{"pi", memory};
  const Value value{"v", DType::kF32, {1, 1, 10, 10}, Layout::kPlain, {}};  // 40 bytes per row
  const auto thirds = PartsOn({SplitAxis::kRows, {0, 1, 2}, {0.2, 0.4, 0.4}}, value.shape, 0);
  Exchange exchange(pool);
  exchange.Need(0, value, Part::All(), thirds);
  exchange.Need(2, value, Part::All(), thirds);
  EXPECT_EQ(exchange.BytesTo(2), 240);
  EXPECT_EQ(exchange.KindOf(exchange.To(2)[0]), LinkKind::kNetwork);
  EXPECT_EQ(exchange.KindOf(exchange.To(2)[1]), LinkKind::kMemory);
  EXPECT_DOUBLE_EQ(exchange.ReadyUs(2), (2 + 1) + 50 + 50 + 80) << "two messages, 80 bytes of a";
  EXPECT_DOUBLE_EQ(exchange.ReadyUs(0), (2 + 2) + 50 + 320) << "320 bytes of both";
  EXPECT_DOUBLE_EQ(AloneReadyUs({1, 2, 160}, pool), 1 + 3 + 3 + 16);
  EXPECT_DOUBLE_EQ(AloneReadyUs({2, 0, 160}, pool), 2 + 50 + 50 + 160);
  for (ProcessorCosts& processor : pool.processors) processor.power = PowerCosts{0, 0, 1, 2};
  EXPECT_DOUBLE_EQ(JoulesToSend(exchange, pool), 3 * (320 + 80));
}

TEST(Exchange, PartsAlongTwoAxesHaveACornerInCommon) {
  const Value value{"v", DType::kF32, {1, 4, 10, 5}, Layout::kPlain, {}};
  EXPECT_EQ(CommonBytes(value, Part::Of(2, {0, 5}), Part::Of(1, {1, 2})), 5 * 5 * 4);
  EXPECT_EQ(CommonBytes(value, Part::All(), Part::Of(1, {1, 2})), 10 * 5 * 4);
  EXPECT_EQ(CommonBytes(value, Part::Of(2, {0, 5}), Part::Of(2, {7, 9})), 0);
}

}  // namespace
}  // namespace mete
