#include "profile/profile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "dispatch/halves.h"
#include "processor/cpu/stored_profile.h"
#include "mete/error.h"
#include "profile/check.h"
#include "profile/probes.h"
#include "zoo/zoo.h"

namespace mete {
namespace {

// A profile from one small network: enough for a test of all functions, too little for good predictions.
const Profile& Measured() {
  static const Profile profile = MeasureProfile(ReadMachine(), {.seconds = 0, .probes = 1});
  return profile;
}

TEST(Probes, AsManyAreUsedAsAreAskedForAndThere) {
  EXPECT_EQ(ProbesToUse(1), 1);
  EXPECT_EQ(ProbesToUse(0), ZooProbes());
  EXPECT_EQ(ProbesToUse(1000), ZooProbes());
}

TEST(MeasureProfile, HasTimesOfEveryClusterAndServesThisMachine) {
  const Machine machine = ReadMachine();
  const Profile& profile = Measured();
  EXPECT_NO_THROW(Verify(profile));
  EXPECT_EQ(WhyNot(profile, KeyOf(machine), machine), "");
  ASSERT_EQ(profile.clusters.size(), machine.clusters.size());
  for (const ClusterProfile& c : profile.clusters) {
    EXPECT_GT(c.reference_ns, 0);
    for (const char* kernel :
         {"conv_1x1_f32", "conv_f32", "winograd_f2_f32", "winograd_f4_f32", "depthwise_f32"}) {
      ASSERT_TRUE(c.kernels.contains(kernel)) << kernel;
      EXPECT_GT(c.kernels.at(kernel).samples, 0);
      EXPECT_FALSE(c.kernels.at(kernel).ns.empty()) << kernel;
    }
    if (const Precision half = FastHalf(); half != Precision::kF32) {
      EXPECT_TRUE(c.kernels.contains(std::string("conv_") + Name(half)));
    }
  }
}

TEST(MeasureProfile, StopsWhenItIsCancelled) {
  CancelToken cancel;
  cancel.Cancel();
  try {
    MeasureProfile(ReadMachine(), {.seconds = 0, .cancel = &cancel, .probes = 1});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kCancelled);
  }
}

TEST(MeasureProfile, NeedsAFolderForTemporaryFiles) {
  const char* before = std::getenv("TMPDIR");
  const std::string old = before ? before : "";
  setenv("TMPDIR", "/proc/no such folder", 1);
  try {
    MeasureProfile(ReadMachine(), {.seconds = 0, .probes = 1});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kUnavailable);
    EXPECT_NE(std::string(e.what()).find("TMPDIR"), std::string::npos) << e.what();
  }
  if (before) setenv("TMPDIR", old.c_str(), 1);
  else unsetenv("TMPDIR");
}

TEST(StoredProfile, IsFoundAgainAndRefusedWhereItDoesNotServe) {
  const Machine machine = ReadMachine();
  const TempPath temporary;
  const std::string& folder = temporary.str();
  std::string why = "unset";
  EXPECT_EQ(LoadProfile(folder, machine, &why), nullptr);
  EXPECT_EQ(why, "");  // no profile was measured
  const std::string path = SaveProfile(folder, Measured());
  const auto loaded = LoadProfile(folder, machine, &why);
  ASSERT_NE(loaded, nullptr) << why;
  EXPECT_EQ(ToJson(*loaded), ToJson(Measured()));

  Profile stale = Measured();
  stale.key.sources = "of last year";
  SaveProfile(folder, stale);
  EXPECT_EQ(LoadProfile(folder, machine, &why), nullptr);
  EXPECT_NE(why.find("stale"), std::string::npos) << why;

  Profile foreign = Measured();
  foreign.key.cpu = "somebody else's";
  std::ofstream(path) << ToJson(foreign);  // copied from another machine
  EXPECT_EQ(LoadProfile(folder, machine, &why), nullptr);
  EXPECT_NE(why.find("another processor"), std::string::npos) << why;

  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(LoadProfile(folder, machine, &why), nullptr);
  EXPECT_NE(why.find(path), std::string::npos) << why;
}

Model SmallModel() {
  const TempPath file(".onnx");
  ZooMake("squeezenet1.1", file.str(), 1);
  return Model::Load(file.str());
}

TEST(CheckModels, ComparesEveryNodeThatComputes) {
  const Model model = SmallModel();
  const Machine machine = ReadMachine();
  const int core = machine.clusters[0].cores[0];
  const auto checks = CheckModels({model, LoadProbe(0)}, machine, Measured(), {.cores = {{core}}});
  ASSERT_EQ(checks.size(), 2u);
  ASSERT_EQ(checks[0].size(), 1u);
  EXPECT_NE(checks[1][0].nodes.size(), checks[0][0].nodes.size());
  const Check& check = checks[0][0];
  EXPECT_GT(check.drift, 0);
  EXPECT_TRUE(check.in_turns.empty());
  EXPECT_GT(check.nodes.size(), 26u);
  for (const CheckedNode& n : check.nodes) {
    EXPECT_GT(n.measured_ns, 0) << n.node;
    EXPECT_GT(n.predicted_ns, 0) << n.node;
    if (!n.product) continue;
    EXPECT_TRUE(n.op == "Conv" || n.op == "Gemm") << n.op;
  }
  EXPECT_THROW(CheckModels({model}, machine, Measured(), {.cores = {{4095}}}), Error);
}

TEST(CheckModels, HasACheckForEachCore) {
  const Machine machine = ReadMachine();
  const int core = machine.clusters[0].cores[0];
  const auto checks = CheckModels({SmallModel()}, machine, Measured(),
                                  {.cores = {{core}, {core, 0.9}}, .in_turns = true, .probes = 1});
  ASSERT_EQ(checks.size(), 1u);
  ASSERT_EQ(checks[0].size(), 2u);
  const Check &plain = checks[0][0], &slow = checks[0][1];
  ASSERT_EQ(slow.nodes.size(), plain.nodes.size());
  for (size_t i = 0; i < plain.nodes.size(); ++i)
    EXPECT_EQ(slow.nodes[i].predicted_ns, plain.nodes[i].predicted_ns / 0.9);
  for (const Check& check : checks[0]) {
    ASSERT_EQ(check.in_turns.size(), check.nodes.size());
    for (size_t i = 0; i < check.nodes.size(); ++i) {
      EXPECT_EQ(check.in_turns[i].measured_ns, check.nodes[i].measured_ns);
      EXPECT_GT(check.in_turns[i].predicted_ns, 0) << check.nodes[i].node;
    }
  }
}

TEST(CheckModels, StopsWhenItIsCancelled) {
  CancelToken cancel;
  cancel.Cancel();
  const Machine machine = ReadMachine();
  try {
    CheckModels({SmallModel()}, machine, Measured(),
                {.cores = {{machine.clusters[0].cores[0]}}, .cancel = &cancel});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kCancelled);
  }
}

TEST(CheckPlan, TimesWholeRuns) {
  const CheckedPlan plan = CheckPlan(SmallModel(), ReadMachine(), Measured(), {2, {}, {}, "adaptive"}, 0);
  EXPECT_GT(plan.predicted_ns, 0);
  EXPECT_GT(plan.least_ns, 0);
  EXPECT_GE(plan.median_ns, plan.least_ns);
}

TEST(ShareWithin, CountsThoseThatAreClose) {
  std::vector<CheckedNode> nodes(4);
  // the ratios are 0.9 to 1.2
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].measured_ns = 100;
    nodes[i].predicted_ns = 90 + 10 * double(i);
  }
  EXPECT_EQ(ShareWithin(nodes, 1, 0.101), 0.75);
  EXPECT_EQ(ShareWithin(nodes, 1.25, 0.101), 0.0);
  EXPECT_EQ(ShareWithin({}, 1, 0.1), 1);
}

}  // namespace
}  // namespace mete
