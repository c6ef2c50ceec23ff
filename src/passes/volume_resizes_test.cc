// Tests of resizes of volumes that become resizes of slices.
#include <gtest/gtest.h>

#include "passes/graphs_testing.h"

namespace mete {
namespace {

struct Case {
  Shape in;
  std::vector<float> scales;  // or
  Ints sizes, axes;
};

ValueId Resized(Builder& b, ValueId x, const Case& c, Attributes a) {
  if (!c.axes.empty()) a.Set("axes", c.axes);
  if (!c.scales.empty()) return b.Op("Resize", {x, kNoValue, b.Floats(c.scales)}, a);
  return b.Op("Resize", {x, kNoValue, kNoValue, b.Ints(c.sizes)}, a);
}

bool HasVolume(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.op == "Resize" && graph.value(node.inputs[0]).shape.rank() == 5;
  });
}

TEST(SliceVolumeResizes, GivesTheSameForEveryMode) {
  const Case cases[] = {
      {{1, 3, 4, 5, 6}, {1, 1, 2, 2, 2}, {}, {}},          {{2, 3, 4, 5, 6}, {1, 1, 2, 2, 2}, {}, {}},
      {{2, 3, 4, 5, 6}, {1, 1, 0.7f, 1.5f, 0.4f}, {}, {}}, {{1, 3, 4, 5, 6}, {}, {1, 3, 7, 5, 9}, {}},
      {{2, 3, 4, 5, 6}, {}, {3, 8, 8}, {2, -1, 3}},        {{1, 3, 4, 5, 6}, {1.5f, 2.5f}, {}, {4, 2}}};
  for (const Case& c : cases)
    for (const char* mode : {"nearest", "linear"})
      for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
        Builder b;
        Attributes a;
        a.Set("mode", std::string(mode));
        a.Set("coordinate_transformation_mode", std::string(coordinates));
        Graph& g = b.Output(Resized(b, b.Input(c.in), c, a));
        ExpectSame(g, SliceVolumeConvolutions);
        EXPECT_FALSE(HasVolume(g)) << ToText(g);
      }
}

TEST(SliceVolumeResizes, FollowsConvolutionsWhicheverAxesChange) {
  for (const std::vector<float>& scales :
       {std::vector<float>{1, 1, 2, 1, 1}, {1, 1, 1, 2, 2}, {1, 1, 2, 2, 1}, {1, 1, 1, 1, 2}}) {
    Builder b;
    const ValueId x = b.Op("Conv", {b.Input({1, 2, 4, 4, 4}), b.Weight({3, 2, 1, 1, 1})});
    Graph& g = b.Output(b.Op("Conv", {Resized(b, x, {{}, scales, {}, {}}, {}), b.Weight({2, 3, 1, 1, 1})}));
    ExpectSame(g, SliceVolumeConvolutions);
    EXPECT_FALSE(HasVolume(g)) << ToText(g);
  }
}

// The value between is not larger than both ends.
TEST(SliceVolumeResizes, BeginsWithWhatMakesLess) {
  for (const bool deeper : {false, true}) {
    Builder b;
    const std::vector<float> scales =
        deeper ? std::vector<float>{1, 1, 4, 0.5f, 0.5f} : std::vector<float>{1, 1, 0.25f, 2, 2};
    Graph& g = b.Output(Resized(b, b.Input({2, 3, 4, 8, 8}), {{}, scales, {}, {}}, {}));
    ExpectSame(g, SliceVolumeConvolutions);
    int64_t most = 0;
    for (const Value& value : g.values) most = std::max(most, value.shape.Elements());
    EXPECT_EQ(most, 2 * 3 * 4 * 8 * 8) << ToText(g);
  }
}

// Two neighbouring axes, of which the last is none, have a fast kernel of their own; others have no form over
// slices.
TEST(SliceVolumeResizes, LeavesTheOthers) {
  const auto with = [](const std::string& name, Attribute value) {
    Attributes a;
    a.Set("mode", std::string("linear"));
    a.Set(name, std::move(value));
    return a;
  };
  Builder b;
  const ValueId x = b.Input({1, 3, 4, 5, 6});
  const Case all{{}, {1, 1, 2, 2, 2}, {}, {}};
  for (const std::vector<float>& scales :
       {std::vector<float>{1, 1, 2, 2, 1}, {1, 1, 2, 1, 1}, {1, 2, 2, 2, 2}})
    b.Output(Resized(b, x, {{}, scales, {}, {}}, {}));
  b.Output(Resized(b, x, all, with("mode", std::string("cubic"))));
  b.Output(Resized(b, x, all, with("antialias", int64_t{1})));
  b.Output(Resized(b, x, {{}, {}, {1, 3, 8, 9, 9}, {}},
                   with("keep_aspect_ratio_policy", std::string("not_larger"))));
  Graph& g = b.Output(b.Op("Resize", {x, kNoValue, b.Input({5})}));  // computed
  FoldConstants(g);
  Settle(g);
  EXPECT_FALSE(SliceVolumeConvolutions(g)) << ToText(g);
}

}  // namespace
}  // namespace mete
