#include "plan/site/min_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace mete {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

class RandomPrices {
 public:
  explicit RandomPrices(uint32_t seed) : random_(seed) {
    const int layers = Pick(1, 12);
    for (int l = 0; l < layers; ++l) {
      prices.device.push_back(Pick(0, 20) == 0 ? kInfinite : Pick(0, 100));
      prices.server.push_back(Pick(0, 20) == 0 ? kInfinite : Pick(0, 40));
    }
    AddValue(-1, 0, layers);
    for (int l = 0; l + 1 < layers; ++l)
      for (int values = Pick(1, 2); values > 0; --values) AddValue(l, l + 1, layers);
  }

  int Pick(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

  CutPrices prices;

 private:
  // The next layer reads it, mostly, and up to two later ones, as around a block with a shortcut.
  void AddValue(int producer, int next, int layers) {
    std::set<int> readers;
    if (Pick(0, 4) > 0) readers.insert(next);
    for (int more = Pick(0, 2); more > 0; --more) readers.insert(Pick(next, layers - 1));
    prices.values.push_back(
        {producer, {readers.begin(), readers.end()}, Pick(0, 15) == 0 ? kInfinite : double(Pick(0, 60))});
  }

  std::mt19937 random_;
};

// The price of a division, counted in another way: value by value over pairs of a producer and a reader.
double Counted(const CutPrices& prices, unsigned device) {
  const auto here = [&](int layer) { return layer < 0 || (device >> layer & 1) != 0; };
  double price = 0;
  for (int l = 0; l < int(prices.device.size()); ++l)
    price += here(l) ? prices.device[size_t(l)] : prices.server[size_t(l)];
  for (const SentValue& value : prices.values) {
    bool sent = false;
    for (const int reader : value.readers) {
      if (!here(value.producer) && here(reader)) return kInfinite;
      sent = sent || (here(value.producer) && !here(reader));
    }
    if (sent) price += value.price;
  }
  return price;
}

unsigned BitsOf(const OnDevice& on_device) {
  unsigned bits = 0;
  for (size_t l = 0; l < on_device.size(); ++l) bits |= unsigned(on_device[l]) << l;
  return bits;
}

TEST(CheapestCut, IsTheCheapestOfAllDivisions) {
  int branching = 0, none = 0, mixed = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomPrices random(seed);
    const CutPrices& prices = random.prices;
    const int layers = int(prices.device.size());
    const ForcedLayers forced =
        seed % 3 ? ForcedLayers{} : ForcedLayers{random.Pick(-1, layers - 1), random.Pick(-1, layers - 1)};
    double least = kInfinite;
    for (unsigned device = 0; device < 1u << layers; ++device) {
      if (forced.device >= 0 && !(device >> forced.device & 1)) continue;
      if (forced.server >= 0 && (device >> forced.server & 1)) continue;
      least = std::min(least, Counted(prices, device));
    }
    const auto cut = CheapestCut(prices, forced);
    none += !cut;
    EXPECT_EQ(cut.has_value(), std::isfinite(least));
    if (!cut) continue;
    EXPECT_NEAR(Counted(prices, BitsOf(*cut)), least, 1e-6);
    EXPECT_EQ(PriceOf(prices, *cut), Counted(prices, BitsOf(*cut)));
    const auto device = std::count(cut->begin(), cut->end(), true);
    mixed += device > 0 && device < layers;
    // no prefix of the order: a layer of the server stands before one of the device
    branching += std::is_sorted(cut->rbegin(), cut->rend()) ? 0 : 1;
  }
  EXPECT_GT(mixed, 100);
  EXPECT_GT(branching, 20);
  EXPECT_GT(none, 10);
}

// Both readers are on the server because the value is sent once: 10, where twice would be 20 and the device's
// 15 less.
TEST(CheapestCut, SendsAValueWithTwoReadersOnce) {
  const CutPrices prices{{1, 7.5, 7.5}, {kInfinite, 1, 1}, {{0, {1, 2}, 10}}};
  EXPECT_EQ(CheapestCut(prices), (OnDevice{true, false, false}));
  EXPECT_EQ(PriceOf(prices, {true, false, false}), 13);
}

TEST(CheapestCut, SendsNothingBack) {
  // the server would be cheaper for the first layer and the device for the second one
  const CutPrices prices{{100, 1}, {1, 20}, {{-1, {0}, 1}, {0, {1}, 1}}};
  EXPECT_EQ(CheapestCut(prices), (OnDevice{false, false}));
  EXPECT_EQ(PriceOf(prices, {false, true}), kInfinite);
}

}  // namespace
}  // namespace mete
