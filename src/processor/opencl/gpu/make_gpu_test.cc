#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/clock_testing.h"
#include "base/error.h"
#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "machine/gpu_entry.h"
#include "processor/opencl/gpu/gpu_processor.h"

namespace mete::opencl {
namespace {

// A pool whose second processor has these keys.
ProcessorEntry EntryOf(const std::string& keys) {
  const TempPath path(".toml");
  std::ofstream(path.str())
      << "name = \"p\"\n[[device]]\nname = \"d\"\n[[device.processor]]\nname = \"home\"\n"
      << "[[device.processor]]\nname = \"g\"\nkind = \"gpu\"\n"
      << keys;
  const std::vector<KindInFile> kinds = {{"cpu", nullptr}, {"gpu", ReadGpu}};
  return ReadPoolFile(path.str(), kinds).devices[0].processors.at(1);
}

TEST(GpuInPoolFile, HasADeviceAndAType) {
  const ProcessorEntry plain = EntryOf("");
  EXPECT_EQ(std::any_cast<GpuEntry>(plain.settings), GpuEntry());
  EXPECT_FALSE(plain.has_cores);
  const ProcessorEntry half = EntryOf("device = \"gpu:1/2\"\ntype = \"f16\"\n");
  EXPECT_EQ(std::any_cast<GpuEntry>(half.settings), (GpuEntry{"gpu:1/2", GpuType::kF16}));
  EXPECT_NE(half.timed_settings, plain.timed_settings);
  const ProcessorEntry exact = EntryOf("device = \"gpu:1/2\"\ntype = \"f16\"\nexact = true\n");
  EXPECT_EQ(std::any_cast<GpuEntry>(exact.settings), (GpuEntry{"gpu:1/2", GpuType::kF16, true}));
  EXPECT_NE(exact.timed_settings, half.timed_settings);
}

TEST(GpuInPoolFile, MayBeThereInEachTypeOnce) {
  const auto second = [](const std::string& keys) {
    return EntryOf("device = \"gpu:1\"\n[[device.processor]]\nname = \"g2\"\nkind = \"gpu\"\n" + keys);
  };
  EXPECT_EQ(second("device = \"gpu:1\"\ntype = \"f16\"\n").unit, "gpu:1");
  EXPECT_EQ(second("type = \"f32\"\n").unit, "gpu:1");  // the other one is gpu:0
  EXPECT_TELLS((void)second("device = \"gpu:1\"\n"),
               "is the same GPU as 'g', in the same type; got gpu:1 twice");
}

TEST(GpuInPoolFile, WithAWrongKeyIsRefused) {
  EXPECT_TELLS((void)EntryOf("device = \"mali\"\n"), "is no GPU; got 'mali', expected one like gpu:0");
  EXPECT_TELLS((void)EntryOf("type = \"u8\"\n"), "its type is unknown; got 'u8', expected f32 or f16");
  EXPECT_TELLS((void)EntryOf("exact = 1\n"), "'exact' is neither true nor false");
  EXPECT_TELLS((void)EntryOf("cores = \"0\"\n"), "'cores' is of cores, and a GPU has none");
  EXPECT_TELLS((void)EntryOf("speed = 0.5\n"), "'speed' is of cores, and a GPU has none");
  EXPECT_TELLS((void)EntryOf("launch_us = 3\n"), "launch_us");
}

// What METE_GPU says, and the program that finds GPUs. Each test is a process of its own under CTest.
std::string ErrorOfMaking(const char* choice, const char* program) {
  const TempPath cache;
  setenv("METE_CACHE", cache.str().c_str(), /*overwrite=*/1);
  setenv("METE_GPU", choice, /*overwrite=*/1);
  setenv("METE_GPUS_PROGRAM", program, /*overwrite=*/1);
  const auto gpu = MakeGpu({.name = "gpu", .kind = "gpu"}, SessionOptions::Estimated());
  const std::string error = ErrorOf([&] { gpu->CheckThere(); });
  EXPECT_EQ(ErrorOf([&] { (void)gpu->Prepare(Graph()); }), error);
  return error;
}

// A GPU whose driver does not answer, as `code` says, for three seconds each time.
struct Absent {
  explicit Absent(Code code)
      : gpu("gpu",
            [this, code](GpuProcessor::Look look, const CancelToken&) -> TriedDevice {
              looks.push_back(look);
              clock.Advance(std::chrono::seconds(3));
              Fail(code, "gpu", "does not answer, look {}", looks.size());
            },
            {.clock = clock}) {}
  std::string Check() {
    return ErrorOf([&] { gpu.CheckThere(); });
  }

  FakeClock clock;
  std::vector<GpuProcessor::Look> looks;
  const GpuProcessor gpu;
};

TEST(AbsentGpu, IsLookedForAgainAfterAPauseWhereTheReasonCanPass) {
  using Look = GpuProcessor::Look;
  Absent absent(Code::kUnavailable);
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 1");
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 1");
  absent.clock.Advance(GpuProcessor::kPause * std::chrono::seconds(3));
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 2");
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 2");
  EXPECT_EQ(absent.looks, (std::vector{Look::kFirst, Look::kAgain}));
}

TEST(AbsentGpu, StaysSoWhereTheReasonDoesNotPass) {
  Absent absent(Code::kFailedPrecondition);
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 1");
  absent.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(absent.Check(), "[gpu] does not answer, look 1");
}

TEST(MakeGpu, WhereGpusAreOffSaysSo) {
  const std::string error = ErrorOfMaking("off", "");
  EXPECT_NE(error.find("there is no such GPU"), std::string::npos) << error;
  EXPECT_NE(error.find("METE_GPU=off: no driver was asked"), std::string::npos) << error;
}

TEST(MakeGpu, WithoutTheProgramThatFindsThemSaysSo) {
  const std::string error = ErrorOfMaking("on", "/no/such/program");
  EXPECT_NE(error.find("there is no such GPU"), std::string::npos) << error;
  EXPECT_NE(error.find("/no/such/program"), std::string::npos) << error;
}

}  // namespace
}  // namespace mete::opencl
