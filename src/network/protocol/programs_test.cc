#include "network/protocol/programs.h"

#include <filesystem>
#include <fstream>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/dynamic.h"

namespace mete {
namespace {

// The program of the second of three equal devices for a random graph.
struct SecondOfThree {
  explicit SecondOfThree(uint32_t seed) : random(seed, int(seed) / 2 + 3) {
    PoolCosts pool;
    for (const char* name : {"a", "b", "c"}) {
      pool.processors.push_back({name, {0, 0, 1e5, 1e5}, {}});
      pool.processors.back().layers.assign(LayersOf(random.graph).size(), {1000, 0});
    }
    program = ProgramsOf(random.graph, PlanPool(random.graph, pool))[1];
    packed = PackProgram(program);
    for (const pb::Stage& stage : packed.stages) *deploy.add_stages() = stage;
  }
  FindWeight Find() const {
    return [this](const Digest& digest, DType, const Shape&) { return packed.weights.at(digest); };
  }
  RandomGraph random;
  Program program;
  PackedProgram packed;
  pb::Deploy deploy;
};

TEST(Programs, ComeBackAsTheyWere) {
  int graphs = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const SecondOfThree second(seed);
    const Program back = UnpackProgram(second.deploy.stages(), 1, second.Find());
    const PackedProgram again = PackProgram(back);
    ASSERT_EQ(again.stages.size(), second.packed.stages.size());
    for (size_t s = 0; s < again.stages.size(); ++s) {
      EXPECT_EQ(again.stages[s].SerializeAsString(), second.packed.stages[s].SerializeAsString());
      graphs += !back.stages[s].graph.nodes.empty();
    }
    EXPECT_EQ(WeightsIn(second.deploy.stages()).size(), second.packed.weights.size());
  }
  EXPECT_GT(graphs, 20);
}

TEST(Programs, WhatDoesNotFitIsRefused) {
  const SecondOfThree second(4);
  const auto unpack = [&](auto change) {
    pb::Deploy deploy = second.deploy;
    for (pb::Stage& stage : *deploy.mutable_stages())
      if (stage.needs_size() > 0) {
        change(stage);
        break;
      }
    UnpackProgram(deploy.stages(), 1, second.Find());
  };
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.mutable_needs(0)->set_type(99); }), "unknown type");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.mutable_needs(0)->clear_sources(); }), "without all its sources");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.mutable_needs(0)->mutable_shape()->set_d(0, int64_t(1) << 60); }),
               "that does not fit");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.mutable_needs(0)->mutable_shape()->set_d(0, -1); }),
               "that does not fit");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.clear_inputs(); }), "other inputs or outputs");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.clear_holds(); }), "");
  EXPECT_TELLS(unpack([](pb::Stage& s) { s.set_graph("nonsense"); }), "[graph from another device]");
}

// Seeds are in tests/fuzz/program_fuzz. METE_WRITE_SEEDS=1 writes them again after the format has changed.
TEST(Programs, SeedsOfTheFuzzerAreDeployments) {
  const std::filesystem::path folder = "tests/fuzz/program_fuzz";
  if (std::getenv("METE_WRITE_SEEDS"))
    for (uint32_t seed = 1; seed <= 12; ++seed)
      std::ofstream(folder / std::to_string(seed), std::ios::binary)
          << SecondOfThree(seed).deploy.SerializeAsString();
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    pb::Deploy deploy;
    ASSERT_TRUE(deploy.ParseFromString({std::istreambuf_iterator<char>(file), {}})) << entry.path();
    const auto made_up = [](const Digest&, DType type, const Shape& shape) { return Tensor(type, shape); };
    EXPECT_FALSE(UnpackProgram(deploy.stages(), 1, made_up).stages.empty());
    ++seeds;
  }
  EXPECT_GE(seeds, 10);
}

}  // namespace
}  // namespace mete
