#include "kernels/fast/elementwise/select.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

std::vector<float> Select(const Shape& out, const Shape& mask_shape, const std::vector<uint8_t>& mask,
                          const Shape& yes_shape, const std::vector<float>& yes, const Shape& no_shape,
                          const std::vector<float>& no, int64_t cut) {
  const SelectPlan plan{BroadcastOf(mask_shape, out), BroadcastOf(yes_shape, out),
                        BroadcastOf(no_shape, out)};
  std::vector<float> to(static_cast<size_t>(out.Elements()), -7);
  RunSelect(plan, mask.data(), yes.data(), no.data(), {0, cut}, to.data());
  RunSelect(plan, mask.data(), yes.data(), no.data(), {cut, out.Elements()}, to.data());
  return to;
}

// Every byte but 0 is true, and all bits of an element arrive, those of a NaN included.
TEST(SelectF32, TakesEveryElementByItsMask) {
  OnEveryTarget([](const std::string&) {
    RandomData random(3);
    const Shape out{3, 5, 67};
    std::vector<uint8_t> mask(5 * 67);
    for (uint8_t& m : mask) m = random.Int(0, 1) ? 0 : static_cast<uint8_t>(random.Int(1, 255));
    const std::vector<float> yes = random.Floats(3 * 67), no = {NAN};
    const std::vector<float> got = Select(out, {5, 67}, mask, {3, 1, 67}, yes, {}, no, 100);
    for (size_t e = 0; e < got.size(); ++e) {
      const float want = yes[e / (5 * 67) * 67 + e % 67];
      if (mask[e % (5 * 67)]) {
        ASSERT_EQ(got[e], want) << "element " << e;
      } else {
        ASSERT_TRUE(std::isnan(got[e])) << "element " << e;
      }
    }
  });
}

TEST(SelectF32, AMaskMayHaveOneElementForEachRow) {
  OnEveryTarget([](const std::string&) {
    RandomData random(4);
    const Shape out{9, 300};
    const std::vector<uint8_t> mask = {1, 0, 0, 1, 1, 0, 1, 0, 1};
    const std::vector<float> yes = random.Floats(9 * 300), no = random.Floats(9 * 300);
    for (const int64_t cut : {0, 299, 301, 1000}) {
      const std::vector<float> got = Select(out, {9, 1}, mask, out, yes, out, no, cut);
      for (size_t e = 0; e < got.size(); ++e) ASSERT_EQ(got[e], mask[e / 300] ? yes[e] : no[e]) << e;
    }
  });
}

}  // namespace
}  // namespace mete
