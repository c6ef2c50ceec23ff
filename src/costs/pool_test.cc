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
}

}  // namespace
}  // namespace mete
