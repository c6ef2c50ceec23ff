#include "network/wire/wire.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/errors_testing.h"
#include "graph/ops/control_flow_testing.h"
#include "partition/random_graphs_testing.h"
#include "partition/share.h"
#include "src/network/wire/graph.pb.h"

namespace mete {
namespace {

FindWeight In(const std::map<Digest, Tensor>& weights) {
  return [&weights](const Digest& digest, DType, const Shape&) {
    const auto at = weights.find(digest);
    return at == weights.end() ? Tensor() : at->second;
  };
}

// x -> Conv with 8 KiB of weights -> y
Graph OneConv() {
  Builder b;
  b.Output(b.Conv(b.Input({1, 16, 8, 8}), 16, 14, 3));
  InferShapes(b.graph);
  return b.graph;
}

// Returns the bytes of OneConv() after `change` has changed the message.
template <class F>
std::string Changed(F change) {
  wire::Graph graph;
  graph.ParseFromString(PackGraph(OneConv()).bytes);
  change(graph);
  return graph.SerializeAsString();
}

TEST(Wire, GraphsComeBackAsTheyWere) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomGraph random(seed, 8);
    const PackedGraph packed = PackGraph(random.graph);
    const Graph graph = UnpackGraph(packed.bytes, In(packed.weights));
    EXPECT_EQ(ToText(graph), ToText(random.graph));
    const auto inputs = RandomInputs(random.graph, seed);
    const auto before = EvaluateAll(random.graph, inputs), after = EvaluateAll(graph, inputs);
    for (ValueId id : graph.outputs)
      EXPECT_EQ(std::memcmp(before[size_t(id)].data(), after[size_t(id)].data(), before[size_t(id)].bytes()),
                0);
  }
}

TEST(Wire, OperatorsOfTheProgramAreNotSent) {
  Graph graph;
  graph.inputs = {graph.AddValue("x", DType::kF32, {2})};
  graph.outputs = {graph.AddValue("y")};
  Attributes attributes;
  attributes.Set("mete_operator", std::string("my.company.Twice"));
  graph.AddNode("mete.Custom", "twice", graph.inputs, graph.outputs, attributes);
  EXPECT_TELLS((void)PackGraph(graph),
               "[twice] an operator of the program's own is not sent; got my.company.Twice");
}

TEST(Wire, NamesAreBytesInWhateverEncoding) {
  Graph graph = OneConv();
  graph.nodes[0].name = "Faltung \xfc";  // Latin-1
  graph.value(graph.outputs[0]).name = "\xff";
  const PackedGraph packed = PackGraph(graph);
  EXPECT_EQ(ToText(UnpackGraph(packed.bytes, In(packed.weights))), ToText(graph));
}

TEST(Wire, GraphsTravelWithoutWeightsWhereNobodyNeedsThem) {
  const Graph graph = OneConv();
  const auto made_up = [](const Digest&, DType type, const Shape& shape) { return Tensor(type, shape); };
  EXPECT_EQ(ToText(UnpackGraph(PackWithoutWeights(graph), made_up)), ToText(graph));
  // the bytes are equal, so that a measurement made for one graph is found for the other
  EXPECT_EQ(PackWithoutWeights(graph), PackWithoutWeights(OneConv()));
}

TEST(Wire, SharesTravelToo) {
  RandomGraph random(5, 10);
  std::vector<int> nodes;
  for (size_t n = 0; n < random.graph.nodes.size(); ++n) nodes.push_back(int(n));
  ShareGraph share = MakeShareGraph(random.graph, nodes,
                                    std::vector{ValuePart{random.graph.outputs[0], Part::Of(2, {0, 1})}});
  for (const bool of_bytes : {false, true}) {
    share.graph.share_of_bytes = of_bytes;
    const PackedGraph packed = PackGraph(share.graph);
    const Graph graph = UnpackGraph(packed.bytes, In(packed.weights));
    EXPECT_EQ(ToText(graph), ToText(share.graph));
    EXPECT_EQ(graph.share_of_bytes, of_bytes);
  }
}

// With weights within the bodies, which travel by their digests as others do.
TEST(Wire, KeepsBodies) {
  Builder b;
  const ValueId x = b.Input({64, 64});
  const ValueId flag = b.graph.AddValue("flag", DType::kBool, {});
  b.graph.inputs.push_back(flag);
  BodyBuilder branch;
  const ValueId y = branch.Input("y");
  branch.Output(branch.Op("Add", {y, branch.Constant("w", Tensor(DType::kF32, {64, 64}))}));
  Attributes inner = ReluOrNeg(), outer = ReluOrNeg();
  inner.Set("then_branch", branch.Take());
  BodyBuilder nested;
  const ValueId z = nested.Input("z");
  const ValueId always = nested.Constant("always", Tensor(DType::kBool, {}));
  nested.Output(nested.Op("If", {always, z}, inner));
  outer.Set("else_branch", nested.Take());
  b.Output(b.Op("If", {flag, x}, outer));
  InferShapes(b.graph);
  const PackedGraph packed = PackGraph(b.graph);
  ASSERT_EQ(packed.weights.size(), 1u);
  EXPECT_EQ(WeightsIn(packed.bytes), std::vector<Digest>{packed.weights.begin()->first});
  EXPECT_EQ(ToText(UnpackGraph(packed.bytes, In(packed.weights))), ToText(b.graph));
}

TEST(Wire, KeepsEveryKindOfAttribute) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  Attributes a;
  a.Set("i", int64_t(-5));
  a.Set("f", 0.5f);
  a.Set("s", std::string("words"));
  a.Set("is", Ints{1, -2, std::numeric_limits<int64_t>::min()});
  a.Set("fs", Floats{0.25f, -3});
  a.Set("ss", Strings{"a", ""});
  a.Set("t", Tensor::Ints(Ints{7, 8}));
  b.Output(b.Op("Relu", {x}, a));
  InferShapes(b.graph);
  const PackedGraph packed = PackGraph(b.graph);
  const Attributes back = UnpackGraph(packed.bytes, In(packed.weights)).nodes[0].attributes;
  EXPECT_EQ(back.Int("i", 0), -5);
  EXPECT_EQ(back.Float("f", 0), 0.5f);
  EXPECT_EQ(back.String("s", ""), "words");
  EXPECT_EQ(back.IntList("is"), a.IntList("is"));
  EXPECT_EQ(back.FloatList("fs"), a.FloatList("fs"));
  EXPECT_EQ(back.StringList("ss"), a.StringList("ss"));
  EXPECT_EQ(back.TensorOf("t")->as<int64_t>()[1], 8);
}

TEST(Wire, LargeConstantsTravelByThemselves) {
  const Graph graph = OneConv();
  const PackedGraph packed = PackGraph(graph);
  ASSERT_EQ(packed.weights.size(), 1u);
  EXPECT_LT(packed.bytes.size(), 500u);
  EXPECT_EQ(WeightsIn(packed.bytes), std::vector{packed.weights.begin()->first});
  EXPECT_EQ(packed.weights.begin()->first, DigestOf(packed.weights.begin()->second.view()));
  EXPECT_TELLS(UnpackGraph(packed.bytes, [](const Digest&, DType, const Shape&) { return Tensor(); }),
               "names a weight that is not here");
  EXPECT_TELLS(UnpackGraph(packed.bytes,
                           [](const Digest&, DType, const Shape&) {
                             return Tensor(DType::kF32, {14, 16, 9});
                           }),
               "got f32 14x16x9");
}

TEST(Wire, DigestsAreOfTypeShapeAndBytes) {
  const Tensor a(DType::kF32, {2, 3}), b(DType::kF32, {3, 2}), c(DType::kI32, {2, 3});
  EXPECT_EQ(DigestOf(a.view()), DigestOf(Tensor(DType::kF32, {2, 3}).view()));
  EXPECT_NE(DigestOf(a.view()), DigestOf(b.view()));
  EXPECT_NE(DigestOf(a.view()), DigestOf(c.view()));
  // "f32 1\n" and four zero bytes, by sha256sum
  EXPECT_EQ(ToHex(DigestOf(Tensor(DType::kF32, {1}).view())),
            "6c55c35bd2271a51013b5740ac116f994f4c0ab1e74fa56c8a740fd0da6c8a6d");
}

TEST(Wire, RefusesWhatIsNoGraph) {
  const FindWeight none = [](const Digest&, DType, const Shape&) { return Tensor(); };
  EXPECT_TELLS(UnpackGraph("\xff\xff\xff", none), "bytes that do not parse");
  EXPECT_TELLS(UnpackGraph("", none), "has another version; got 0, expected 2");
  const PackedGraph packed = PackGraph(OneConv());
  const auto refused = [&](auto change) {
    return ErrorOf([&] { UnpackGraph(Changed(change), In(packed.weights)); });
  };
  const auto expect = [&](auto change, const char* text) {
    EXPECT_NE(refused(change).find(text), std::string::npos) << refused(change);
  };
  expect([](wire::Graph& g) { g.set_version(3); }, "has another version; got 3");
  expect([](wire::Graph& g) { g.mutable_values(0)->set_type(99); }, "unknown type; got 99");
  expect([](wire::Graph& g) { g.mutable_values(2)->set_type(0); }, "has a shape but no type");
  expect(
      [](wire::Graph& g) {
        for (int i = 0; i < 100'001; ++i) g.add_inputs(0);
      },
      "has too many inputs; got 100002");
  expect(
      [](wire::Graph& g) {
        for (int i = 0; i < 90'000; ++i) g.add_inputs(0);
      },
      "and 89000 more");
  expect([](wire::Graph& g) { g.mutable_values(0)->set_dims(0, -1); }, "a dimension below 0");
  expect([](wire::Graph& g) { g.mutable_values(0)->set_dims(0, int64_t(1) << 40); }, "too large");
  expect(
      [](wire::Graph& g) {
        for (int i = 0; i < 9; ++i) g.mutable_values(0)->add_dims(1);
      },
      "too many dimensions");
  expect([](wire::Graph& g) { g.mutable_values(0)->set_name("\x1b[2J"); }, "cannot be printed");
  expect([](wire::Graph& g) { g.mutable_nodes(0)->set_name(std::string(2000, 'x')); },
         "more than 1000 letters");
  expect([](wire::Graph& g) { g.mutable_values(1)->mutable_constant()->set_raw("abc"); },
         "constant of the wrong size; got 3 bytes");
  expect([](wire::Graph& g) { g.mutable_values(1)->mutable_constant()->set_digest("abc"); },
         "digest of the wrong length; got 3");
  expect([](wire::Graph& g) { g.mutable_nodes(0)->add_attributes()->set_name("a"); },
         "attribute without a value");
}

TEST(Wire, RefusesConstantsThatAreNotWhatTheirValuesSay) {
  Builder b;
  b.Output(b.Op("Reshape", {b.Input({2, 3}), b.Ints({3, 2})}));
  InferShapes(b.graph);
  wire::Graph graph;
  graph.ParseFromString(PackGraph(b.graph).bytes);
  wire::Tensor& shape = *graph.mutable_values(1)->mutable_constant();
  shape.set_type(uint32_t(DType::kU8));
  shape.set_raw("ab");
  EXPECT_TELLS(UnpackGraph(graph.SerializeAsString(), {}),
               "constant does not fit its value; got u8 2, expected i64 2");
}

TEST(Wire, VerifiesTheGraph) {
  const PackedGraph packed = PackGraph(OneConv());
  const auto refused = [&](auto change) {
    return ErrorOf([&] { UnpackGraph(Changed(change), In(packed.weights)); });
  };
  const auto expect = [&](auto change, const char* text) {
    EXPECT_NE(refused(change).find(text), std::string::npos) << refused(change);
  };
  expect([](wire::Graph& g) { g.set_inputs(0, 77); }, "mentions value 77");
  expect([](wire::Graph& g) { g.mutable_nodes(0)->set_inputs(0, -5); }, "mentions value -5");
  expect([](wire::Graph& g) { g.mutable_nodes(0)->set_op("Magic"); }, "unknown operator Magic");
  expect([](wire::Graph& g) { g.mutable_values(2)->set_dims(2, 7); }, "but Conv gives");
  EXPECT_EQ(refused([](wire::Graph&) {}), "no error");
}

TEST(Wire, HasLimits) {
  const PackedGraph packed = PackGraph(OneConv());
  const auto unpack = [&](auto change) {
    WireLimits limits;
    change(limits);
    UnpackGraph(packed.bytes, In(packed.weights), limits);
  };
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_bytes = 10; }), "is too long");
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_values = 2; }), "is too large; got 3 values");
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_nodes = 0; }), "is too large; got 3 values and 1 nodes");
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_attributes = 0; }),
               "has too many attributes of a node; got 1");
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_value_bytes = 1000; }), "a value that is too large");
  EXPECT_TELLS(unpack([](WireLimits& l) { l.max_weight_bytes = 1000; }), "has too large constants");
  unpack([](WireLimits&) {});
}

TEST(Wire, RefusesGraphsThatAreNotInPlainOrder) {
  Graph graph = OneConv();
  graph.values[0].layout = Layout::kNhwc;
  EXPECT_TELLS(PackGraph(graph), "is not in plain order");
}

// Seeds are in tests/fuzz/wire_fuzz. METE_WRITE_SEEDS=1 writes them again after the format has changed.
TEST(Wire, SeedsOfTheFuzzerAreGraphs) {
  const std::filesystem::path folder = "tests/fuzz/wire_fuzz";
  if (std::getenv("METE_WRITE_SEEDS"))
    for (uint32_t seed = 1; seed <= 12; ++seed)
      std::ofstream(folder / std::to_string(seed), std::ios::binary)
          << PackGraph(RandomGraph(seed, int(seed) / 2 + 1).graph).bytes;
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(
        UnpackGraph(bytes, [](const Digest&, DType, const Shape&) { return Tensor(); }).nodes.empty())
        << entry.path();
    ++seeds;
  }
  EXPECT_GE(seeds, 10);
}

}  // namespace
}  // namespace mete
