// Sessions on a pool whose GPU is not there: the answers are the CPU's, and the notes say why.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/errors_testing.h"
#include "engine/engine_testing.h"
#include "mete/pool.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

const Shape kInput{1, 3, 16, 16};
constexpr const char* kNoGpu =
    R"(echo '{"gpus":[],"left_out":["no platform"],"drivers":[],"failed":false,"files":[]}')";

// Each test is a process of its own under CTest, in whose environment it may write.
class AbsentGpu : public testing::Test {
 protected:
  AbsentGpu() {
    fs::create_directory(folder_.str());
    setenv("METE_CACHE", folder_.str().c_str(), /*overwrite=*/1);
    setenv("METE_GPU", "cpu", /*overwrite=*/1);
    for (const char* name : {"METE_GPUS_PROGRAM", "METE_OPENCL_LIBRARY", "OCL_ICD_VENDORS"}) unsetenv(name);
  }

  // In place of the program that asks the drivers.
  void WriteProgram(const std::string& script) const {
    const std::string path = folder_.str() + "/mete-gpus";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms(0755));
    setenv("METE_GPUS_PROGRAM", path.c_str(), /*overwrite=*/1);
  }

  void ExpectAnswersWithNote(const std::string& part) const {
    const Model model = Model::Load(file_.path());
    const int core = ThisDevice().cores.at(0);
    const Pool pool = Pool::FromList(fmt::format("cpu:{},gpu:0", core));
    PoolOptions options;
    options.kernels = SessionOptions::Estimated();
    Session session(model, pool, options);
    Session alone(model, SessionOptions::Estimated());
    for (const bool settled : {false, true}) {
      if (settled) session.Settle();
      RunReport report;
      const std::vector<float> got =
          Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.report = &report}).at(0));
      const std::vector<float> want = Values(alone.Run({Ramp(kInput, 0.02f)}).at(0));
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f) << i;
      EXPECT_TRUE(report.alone);
    }
    std::string notes;
    for (const std::string& note : session.Notes()) notes += note + "\n";
    EXPECT_NE(notes.find("this processor computes alone: "), std::string::npos) << notes;
    EXPECT_NE(notes.find(part), std::string::npos) << notes;
    EXPECT_TELLS((void)pool.Measure(model, options), part);
  }

  const TempPath folder_;
  const ModelFile file_{ConvNet()};
};

// The cores of a pool of three are measured, and kept under the names of theirs alone.
TEST_F(AbsentGpu, OfAPoolHindersNoOther) {
  const std::vector<int> cores = ThisDevice().cores;
  if (cores.size() < 2) GTEST_SKIP() << "this machine has one core";
  WriteProgram(kNoGpu);
  const Model model = Model::Load(file_.path());
  const std::string list = fmt::format("cpu:{},cpu:{}", cores[0], cores[1]);
  PoolOptions options;
  options.kernels = SessionOptions::Estimated();
  std::string measured;
  options.progress = [&](const std::string& what, int64_t, int64_t) { measured += what + "\n"; };
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    measured.clear();
    Session session(model, Pool::FromList(list + ",gpu:0"), options);
    session.Settle();
    std::string notes;
    for (const std::string& note : session.Notes()) notes += note + "\n";
    EXPECT_NE(notes.find("there is no such GPU"), std::string::npos) << notes;
    EXPECT_EQ(notes.find("computes alone: "), std::string::npos) << notes;
    EXPECT_EQ(session.pool_stats().parts.size(), 2u);
    EXPECT_EQ(measured.empty(), again) << measured;
    EXPECT_TRUE(Pool::FromList(list).Measured(model, options));
  }
}

TEST_F(AbsentGpu, ThatIsOff) {
  setenv("METE_GPU", "off", /*overwrite=*/1);
  ExpectAnswersWithNote("METE_GPU=off: no driver was asked");
}

TEST_F(AbsentGpu, WithoutTheProgramThatAsksDrivers) {
  setenv("METE_GPUS_PROGRAM", "/no/such/program", /*overwrite=*/1);
  ExpectAnswersWithNote("/no/such/program");
}

TEST_F(AbsentGpu, WhoseDriverCrashes) {
  WriteProgram("echo 'gpu:0: probe of f32' >&2\nkill -SEGV $$");
  ExpectAnswersWithNote("a driver failed: the program was ended by signal 11");
}

// What a child that hangs makes a session wait for is its deadline, and then its answer would be kept.
TEST_F(AbsentGpu, WhoseDriverHangsLetsASessionEnd) {
  const fs::path asked = fs::path(folder_.str()) / "asked";
  WriteProgram(fmt::format("PATH=/usr/bin:/bin\ntouch '{}'\nexec sleep 1000", asked.string()));
  const Model model = Model::Load(file_.path());
  {
    PoolOptions options;
    options.kernels = SessionOptions::Estimated();
    Session session(model, Pool::FromList(fmt::format("cpu:{},gpu:0", ThisDevice().cores.at(0))), options);
    (void)session.Run({Ramp(kInput, 0.02f)});
    while (!fs::exists(asked)) std::this_thread::yield();
  }
  for (const auto& kept : fs::directory_iterator(folder_.str()))
    EXPECT_FALSE(kept.path().filename().string().starts_with("gpus-")) << kept.path();
}

TEST_F(AbsentGpu, ThatNoDriverHas) {
  WriteProgram(kNoGpu);
  ExpectAnswersWithNote("there is no such GPU; this machine has 0 GPUs; try 'mete machine'; no platform");
}

}  // namespace
}  // namespace mete
