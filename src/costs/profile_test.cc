#include "costs/profile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/errors_testing.h"
#include "graph/node_text/node_text.h"

namespace mete {
namespace {

Machine TwoClusters() {
  Machine machine{"CPU", {{"cluster0", {0, 1}}, {"cluster1", {2, 3}}}};
  return machine;
}

Fit FitOf(std::map<std::string, double> ns) {
  Fit fit;
  fit.ns = ns;
  fit.samples = 9;
  fit.within = 0.875;
  fit.spread = 0.0625;
  for (const auto& [thing, each] : ns) fit.things.push_back(thing);
  return fit;
}

Profile Sample() {
  Profile profile{{"CPU", "avx2", "0.1.0", "abc"}, 12.5, 100, 200, 30000, {}};
  for (const Cluster& cluster : TwoClusters().clusters) {
    ClusterProfile c{cluster.name, cluster.cores, {1 << 20, 32 << 20}, {}, 5e6, 1800000, "performance", 47.5};
    c.kernels["Softmax"] = FitOf({{"byte", 0.5}, {"node", 100}});
    c.kernels["mete.Elementwise"] = FitOf({{"byte", 0.25}});
    profile.clusters.push_back(c);
  }
  profile.clusters[1].kernels["Softmax"] = FitOf({{"byte", 2}, {"node", 300}});
  return profile;
}

Graph SoftmaxGraph(const std::string& op = "Softmax") {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {2, 100}),
                y = graph.AddValue("y", DType::kF32, {2, 100});
  graph.AddNode(op, "node", {x}, {y});
  return graph;
}

TEST(Profile, SurvivesItsFile) {
  const Profile profile = Sample();
  EXPECT_EQ(ToJson(ProfileFromJson(ToJson(profile), "file")), ToJson(profile));
}

TEST(Profile, GarbageIsAnErrorThatNamesTheFile) {
  const std::string good = ToJson(Sample());
  for (const std::string& text :
       std::vector<std::string>{"", "{", "[1]", good.substr(0, good.size() / 2), "{\"format\": 3}"}) {
    try {
      ProfileFromJson(text, "profile.json");
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("profile.json"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("mete profile"), std::string::npos) << e.what();
    }
  }
}

// The error names the file and the impossible value.
TEST(Profile, NonsenseInAFileIsAnErrorThatNamesBoth) {
  const auto error_of = [](const std::string& what, const std::string& nonsense) {
    std::string text = ToJson(Sample());
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), nonsense);
    try {
      ProfileFromJson(text, "profile.json");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const auto& [what, nonsense, said] :
       std::vector<std::array<std::string, 3>>{{"\"samples\": 9", "\"samples\": 1e300", "samples"},
                                               {"\"khz\": 1800000", "\"khz\": -1", "khz"},
                                               {"\"spread\": 0.0625", "\"spread\": -3", "spread"},
                                               {"0.875", "7", "within 10 %"},
                                               {"\"version\": 4", "\"version\": 3", "version 4"},
                                               {"\"take_ns\": 100", "\"take_ns\": -100", "-100"}}) {
    const std::string error = error_of(what, nonsense);
    for (const std::string& part : {std::string("[profile.json]"), said, std::string("mete profile")})
      EXPECT_NE(error.find(part), std::string::npos) << part << " in '" << error << "'";
  }
  Profile empty = Sample();
  empty.clusters[0].kernels["Softmax"].ns.clear();
  EXPECT_THROW(Verify(empty), Error);
}

TEST(Profile, OneOfWhatIsToBeAListIsNone) {
  for (const auto& [what, kind] : {std::pair("/clusters/0/cores", "list"), std::pair("/clusters", "list"),
                                   std::pair("/clusters/0/kernels", "object")}) {
    nlohmann::json j = nlohmann::json::parse(ToJson(Sample()));
    const nlohmann::json::json_pointer at(what);
    const nlohmann::json first = *j.at(at).begin();
    j[at] = kind == std::string("list") ? first : nlohmann::json{first};
    EXPECT_TELLS(ProfileFromJson(j.dump(), "profile.json"),
                 at.back() + " must be a" + (kind[0] == 'o' ? "n " : " ") + kind);
  }
}

TEST(Profile, TimesThatCannotBeAreNamedAllAtOnce) {
  Profile profile = Sample();
  profile.take_ns = -1;
  profile.clusters[0].caches = {0, -1};
  profile.clusters[1].kernels["Softmax"].ns["byte"] = std::numeric_limits<double>::quiet_NaN();
  profile.clusters[1].kernels["Softmax"].ns["not a thing"] = 1;
  try {
    Verify(profile);
    FAIL();
  } catch (const Error& e) {
    for (const char* part :
         {"-1", "cluster0", "near cache", "last cache", "cluster1, Softmax", "'byte'", "'not a thing'"})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " in " << e.what();
  }
}

TEST(Profile, OfAnotherMachineOrOlderKernelsDoesNotServe) {
  const Profile profile = Sample();
  const ProfileKey key = profile.key;
  EXPECT_EQ(WhyNot(profile, key, TwoClusters()), "");
  EXPECT_NE(WhyNot(profile, {"other CPU", "avx2", "0.1.0", "abc"}, TwoClusters()).find("processor"),
            std::string::npos);
  EXPECT_NE(WhyNot(profile, {"CPU", "avx512", "0.1.0", "abc"}, TwoClusters()).find("instruction set"),
            std::string::npos);
  EXPECT_NE(WhyNot(profile, {"CPU", "avx2", "0.2.0", "abc"}, TwoClusters()).find("version"),
            std::string::npos);
  EXPECT_NE(WhyNot(profile, {"CPU", "avx2", "0.1.0", "new"}, TwoClusters()).find("stale"), std::string::npos);
  Machine more = TwoClusters();
  more.clusters.push_back({"cluster2", {4}});
  EXPECT_NE(WhyNot(profile, key, more).find("cluster2"), std::string::npos);
}

// A process that may not use all cores numbers the clusters by the cores that it may use.
TEST(Profile, OfOtherCoresDoesNotServe) {
  const Profile profile = Sample();
  Machine few = TwoClusters();
  few.clusters[0].cores = {1};
  EXPECT_EQ(WhyNot(profile, profile.key, few), "");
  EXPECT_NE(WhyNot(profile, profile.key, {"CPU", {{"cluster0", {2, 3}}}}).find("expected 2"),
            std::string::npos);
  Profile of_one = profile;
  of_one.clusters[0].cores = {0};
  EXPECT_NE(WhyNot(of_one, profile.key, TwoClusters()).find("other cores"), std::string::npos);
}

TEST(Predict, AddsUpWhatThingsTake) {
  const Profile profile = Sample();
  const Graph graph = SoftmaxGraph();
  const NodePrediction p = Predict(profile.clusters[0], graph, graph.nodes[0], RunOf(graph));
  EXPECT_EQ(p.kernel, "Softmax");
  EXPECT_NEAR(p.ns, 0.5 * 1600 + 100, 1e-9);  // 200 values read and written
  EXPECT_FALSE(p.known);                      // the fit has no unit for its outputs
}

TEST(Predict, WhatNoProbeHadIsTakenForElementwiseAndSaysSo) {
  const Profile profile = Sample();
  const Graph graph = SoftmaxGraph("Selu");
  const NodePrediction p = Predict(profile.clusters[0], graph, graph.nodes[0], RunOf(graph));
  EXPECT_NEAR(p.ns, 0.25 * 1600, 1e-9);
  EXPECT_FALSE(p.known);
}

// The units of a fast kernel say nothing about the reference.
TEST(Predict, ANodeThatOnlyTheReferenceComputesIsAGuess) {
  const Profile profile = Sample();
  Graph graph = SoftmaxGraph();
  graph.value(graph.nodes[0].inputs[0]).shape = graph.value(graph.nodes[0].outputs[0]).shape = {20, 10};
  graph.nodes[0].attributes.Set("axis", int64_t{0});
  NodePrediction p = Predict(profile.clusters[0], graph, graph.nodes[0], RunOf(graph));
  EXPECT_EQ(p.kernel, "Softmax, reference");
  EXPECT_NEAR(p.ns, 0.25 * 1600, 1e-9);
  EXPECT_FALSE(p.known);
  ClusterProfile fast = profile.clusters[0];
  fast.kernels["mete.Elementwise"] = FitOf({{"byte", 0.001}});
  p = Predict(fast, graph, graph.nodes[0], RunOf(graph));
  EXPECT_NEAR(p.ns, 200, 1e-9);  // a nanosecond for each output
}

Graph ConvGraph(int64_t kernel, Attributes attributes) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 14, 14, 64}),
                y = graph.AddValue("y", DType::kF32, {1, 14, 14, 64}),
                w = graph.AddConstant("w", Tensor(DType::kF32, {64, 64, kernel, kernel}));
  attributes.Set("layout", std::string("NHWC"));
  graph.AddNode("Conv", "conv", {x, w}, {y}, attributes);
  return graph;
}

// A 3x3 convolution, which can be computed in three ways.
Graph ConvGraph() {
  Attributes attributes;
  attributes.Set("pads", Ints{1, 1, 1, 1});
  return ConvGraph(3, attributes);
}

// A kernel without a probe is predicted by the units of its stand-in, and says so.
TEST(Predict, AStandInGivesItsTimes) {
  Attributes attributes;
  attributes.Set("sum_piece", int64_t{32});
  const Graph graph = ConvGraph(1, attributes);
  ClusterProfile profile = Sample().clusters[0];
  profile.kernels["conv_1x1_f32"] = FitOf({{"node", 700}});
  const NodePrediction p = Predict(profile, graph, graph.nodes[0], RunOf(graph));
  EXPECT_EQ(p.kernel, "conv_pieces_f32");
  EXPECT_NEAR(p.ns, 700, 1e-9);
  EXPECT_FALSE(p.known);
}

// The sums of bytes are a quarter as long as those of floats, where no probe had such a kernel.
TEST(Predict, AConvolutionOfBytesIsGuessedFromOneOfFloats) {
  const OneNodeGraph one = MakeOneNodeGraph(
      ParseNode("test",
                "QLinearConv(u8 2x6x7x40, const scalar in 0.5 to 0.5, const u8 scalar, const i8 9x40x1x1, "
                "const 9 in "
                "0.00045 to 0.0008, const i8 9 in 0 to 0, const scalar in 0.02 to 0.02, const u8 scalar) "
                "{layout=\"NHWC\"}"),
      1);
  ClusterProfile profile = Sample().clusters[0];
  const std::vector<Work> works = WorksOf({one.graph, one.node(), profile.caches, RunOf(one.graph)});
  ASSERT_EQ(works.size(), 1u);
  const auto strips = works[0].amounts.find("strip of rows x panel x k");
  ASSERT_NE(strips, works[0].amounts.end());
  profile.kernels["conv_1x1_f32"] = FitOf({{"strip of rows x panel x k", 3}});
  const NodePrediction p = Predict(profile, one.graph, one.node(), RunOf(one.graph));
  EXPECT_EQ(p.kernel, "conv_bytes");
  EXPECT_NEAR(p.ns, 3 * strips->second, 1e-9);
  EXPECT_EQ(std::fmod(strips->second, 10), 0) << "40 channels are 10 quads";
  EXPECT_FALSE(p.known);
}

// Winograd's units are the same for floats and for bytes, so a profile of floats is enough.
TEST(Predict, AConvolutionOfBytesMayHaveSumsInF32) {
  const auto layer = [](const char* more) {
    return MakeOneNodeGraph(
        ParseNode("test",
                  fmt::format("QLinearConv(u8 1x16x16x32, const scalar in 0.5 to 0.5, const u8 scalar, const "
                              "i8 32x32x3x3, const scalar in 0.0003 to 0.0003, const i8 scalar in 0 to 0, "
                              "const scalar in 0.02 to 0.02, const u8 scalar) {{layout=\"NHWC\"{}}}",
                              more)),
        1);
  };
  const OneNodeGraph exact = layer(""), floats = layer(", operands=\"f32\"");
  ClusterProfile profile = Sample().clusters[0];
  const std::vector<Work> works = WorksOf({floats.graph, floats.node(), profile.caches, RunOf(floats.graph)});
  ASSERT_EQ(works.size(), 3u);
  // A profile in which only nodes as such take time: 900 ns or 400 ns.
  for (const Work* work : {&works[0], &works[2]}) {
    std::map<std::string, double> units;
    for (const auto& [unit, amount] : work->amounts)
      units[unit] = unit != "node" ? 0 : work->kernel == "conv_bytes" ? 900 : 400;
    profile.kernels[work->key()] = FitOf(units);
  }
  const auto predict = [&](const OneNodeGraph& one) {
    return Predict(profile, one.graph, one.node(), RunOf(one.graph));
  };
  EXPECT_EQ(predict(exact).kernel, "conv_bytes");
  EXPECT_NEAR(predict(exact).ns, 900, 1e-9);
  EXPECT_EQ(predict(floats).kernel, "winograd_f4_f32");
  EXPECT_NEAR(predict(floats).ns, 400, 1e-9);
  EXPECT_TRUE(predict(floats).known);
}

// A way without a measured time must not be chosen as the fastest.
TEST(Predict, TakesAWayThatWasMeasured) {
  const Graph graph = ConvGraph();
  ClusterProfile profile = Sample().clusters[0];
  const auto works = WorksOf({graph, graph.nodes[0], profile.caches, RunOf(graph)});
  ASSERT_EQ(works.size(), 3u);  // directly, and two by Winograd
  for (size_t way = 0; way < works.size(); ++way) {
    profile.kernels.clear();
    std::map<std::string, double> ns;
    for (const auto& [thing, amount] : works[way].amounts) ns[thing] = 1;
    profile.kernels[works[way].key()] = FitOf(ns);
    const NodePrediction p = Predict(profile, graph, graph.nodes[0], RunOf(graph));
    EXPECT_EQ(p.kernel, works[way].key());
    EXPECT_TRUE(p.known);
  }
}

// No probe has the kernel of a quantized product: its arithmetic must count, and rather too much than too
// little.
TEST(Predict, ArithmeticThatNoProbeHadIsNotTakenForFree) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kU8, {10, 100}),
                w = graph.AddValue("w", DType::kU8, {100, 50});
  const ValueId y = graph.AddValue("y", DType::kI32, {10, 50});
  graph.AddNode("MatMulInteger", "node", {x, w}, {y});
  const NodePrediction p = Predict(Sample().clusters[0], graph, graph.nodes[0], RunOf(graph));
  EXPECT_GE(p.ns, 2 * 10 * 100 * 50);
  EXPECT_FALSE(p.known);
  EXPECT_TRUE(PredictCosts(graph, Sample(), TwoClusters()).nodes[0].guessed);
}

// Two clusters cannot compute the same convolution in different ways, because its weights are packed for one
// way.
TEST(PredictCosts, AllClustersComputeANodeInTheWayThatIsFastestTogether) {
  const Graph graph = ConvGraph();
  // `first` and `second` are the times on the two clusters by way; the last way is never the fastest.
  const auto costs = [&](std::vector<double> first, std::vector<double> second) {
    Profile profile = Sample();
    for (size_t c = 0; c < 2; ++c) {
      const auto works = WorksOf({graph, graph.nodes[0], profile.clusters[c].caches, RunOf(graph)});
      for (size_t way = 0; way < works.size(); ++way) {
        std::map<std::string, double> ns;
        for (const auto& [thing, amount] : works[way].amounts) ns[thing] = 0;
        ns["node"] = (c == 0 ? first : second)[way];
        profile.clusters[c].kernels[works[way].key()] = FitOf(ns);
      }
    }
    return PredictCosts(graph, profile, TwoClusters()).nodes[0].core_ns;
  };
  EXPECT_EQ(costs({1000, 2000, 9000}, {2000, 1900, 9000}), (std::vector<double>{1000, 2000}));
  EXPECT_EQ(costs({1000, 1010, 9000}, {4000, 2000, 9000}), (std::vector<double>{1010, 2000}));
}

TEST(PredictCosts, HasATimeForEachCluster) {
  const Profile profile = Sample();
  const Costs costs = PredictCosts(SoftmaxGraph(), profile, TwoClusters());
  ASSERT_EQ(costs.nodes.size(), 1u);
  EXPECT_NEAR(costs.nodes[0].core_ns[0], 900, 1e-9);
  EXPECT_NEAR(costs.nodes[0].core_ns[1], 3500, 1e-9);
  EXPECT_EQ(costs.take_ns, (std::vector<int64_t>{100, 100}));
  Machine other = TwoClusters();
  other.clusters[1].name = "cluster9";
  EXPECT_THROW(PredictCosts(SoftmaxGraph(), profile, other), Error);
}

}  // namespace
}  // namespace mete
