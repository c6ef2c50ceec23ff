#include "processor/opencl/find/find_gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "mete/engine.h"
#include "processor/opencl/find/ask_child.h"
#include "processor/opencl/find/find_gpus_testing.h"
#include "processor/opencl/find/gpu_cache.h"
#include "processor/opencl/find/mapped_files.h"
#include "processor/opencl/info/gpu_json.h"

namespace mete::opencl {
namespace {

namespace fs = std::filesystem;

GpuAnswer OneGpu(const std::string& model, const std::string& type) {
  GpuAnswer answer;
  DeviceFacts& facts = answer.list.gpus.emplace_back().facts;
  facts.name = "gpu:0";
  facts.model = model;
  facts.type = type;
  return answer;
}

std::string TextOf(const GpuAnswer& answer) { return JsonText(ToJson(answer), -1); }

std::string AnswerText(const std::vector<std::string>& files = {}) {
  GpuAnswer answer = OneGpu("Mali-G78", "gpu");
  answer.files = files;
  return TextOf(answer);
}

// A script that prints the text.
std::string Print(const std::string& text) { return fmt::format("cat << 'X'\n{}\nX", text); }

// A shell script in place of mete-gpus.
class FindGpusBy : public testing::Test {
 protected:
  FindGpusBy() {
    fs::create_directory(folder_.str());
    options_.program = folder_.str() + "/mete-gpus";
    options_.cache_folder = folder_.str() + "/cache";
    fs::create_directory(drivers());
  }

  std::string drivers() const { return folder_.str() + "/vendors"; }
  std::string Register(const std::string& name) const {
    std::ofstream(drivers() + "/" + name) << "lib.so\n";
    return drivers() + "/" + name;
  }

  void Write(const std::string& script) const {
    // A new file each time: the kernel does not run one that is open for writing.
    fs::remove(options_.program);
    std::ofstream(options_.program) << "#!/bin/sh\nPATH=/usr/bin:/bin\n" << script << "\n";
    fs::permissions(options_.program, fs::perms(0755));
  }
  std::string path(const std::string& name) const { return folder_.str() + "/" + name; }
  size_t Asked() const {  // how many times a script with kCount was run
    std::error_code missing;
    const uintmax_t bytes = fs::file_size(path("asked"), missing);
    return missing ? 0 : size_t(bytes);
  }
  std::string CountAnd(const std::string& script) const {
    return fmt::format("printf x >> '{}'\n{}", path("asked"), script);
  }
  // The reason of a child that fails.
  std::string Reason(const std::string& script) {
    Write(script);
    const GpuList list = FindGpus(options_);
    EXPECT_TRUE(list.gpus.empty());
    EXPECT_EQ(list.left_out.size(), 1u);
    return list.left_out.empty() ? "" : list.left_out[0];
  }

  const Variable choice_{"METE_GPU", nullptr}, loader_{"METE_OPENCL_LIBRARY", nullptr},
      files_{"OCL_ICD_FILENAMES", nullptr};
  const TempPath folder_;
  const Variable vendors_{"OCL_ICD_VENDORS", (folder_.str() + "/vendors").c_str()};
  FindGpusOptions options_;
};

TEST_F(FindGpusBy, TheLastLineOfTheChildIsTheAnswer) {
  Write(fmt::format("echo a driver says hello\nprintf 'half a line'\necho\ncat << 'X'\n{}\nX", AnswerText()));
  const GpuList list = FindGpus(options_);
  ASSERT_EQ(list.gpus.size(), 1u);
  EXPECT_EQ(list.gpus[0].facts.model, "Mali-G78");
}

TEST_F(FindGpusBy, ACrashIsAReasonWithTheLastWords) {
  const std::string reason = Reason("echo 'gpu:0: probe of f16' >&2\nkill -SEGV $$");
  EXPECT_HAS(reason, "signal 11");
  EXPECT_HAS(reason, "probe of f16");
  EXPECT_HAS(reason, "METE_GPU=off");
  EXPECT_HAS(Reason("kill -ABRT $$"), "it said nothing");
  EXPECT_HAS(Reason("exit 3"), "status 3");
}

TEST_F(FindGpusBy, AHangIsAReasonAtTheDeadline) {
  options_.deadline = std::chrono::milliseconds(50);
  EXPECT_HAS(Reason("echo loading\nexec sleep 1000"), "hangs");
  // also where the output ends before the child does
  EXPECT_HAS(Reason("exec sleep 1000 > /dev/null 2>&1"), "hangs");
}

// The deadline is far: what ends the child, and the wait of the second caller for it, is the token.
TEST_F(FindGpusBy, AHangEndsWhenNobodyWaitsAnyMore) {
  for (const char* hang : {"exec sleep 1000", "exec sleep 1000 > /dev/null 2>&1"}) {
    SCOPED_TRACE(hang);
    fs::remove(path("asked"));
    Write(CountAnd(hang));
    CancelToken cancel;
    options_.deadline = std::chrono::hours(1);
    options_.cancel = &cancel;
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; ++i)
      callers.emplace_back([&] { EXPECT_TELLS(FindGpus(options_), "drivers are asked no longer"); });
    while (Asked() == 0) std::this_thread::yield();
    cancel.Cancel();
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(Asked(), 1u);
    EXPECT_FALSE(KnownGpus(options_));
  }
}

TEST_F(FindGpusBy, NonsenseIsAReason) {
  EXPECT_HAS(Reason("true"), "no JSON");
  EXPECT_HAS(Reason("echo nonsense"), "no JSON");
  EXPECT_HAS(Reason("printf '{}'"), "no JSON");  // without the end of the line it may be half an answer
  EXPECT_HAS(Reason("echo '{}'"), "gpus");
  EXPECT_HAS(Reason("echo 7"), "a list of GPUs");
  EXPECT_HAS(Reason(R"(printf '\377\376\n')"), "no JSON");
  EXPECT_HAS(Reason("head -c 200 /dev/zero | tr '\\0' '['\necho"), "nested");
  EXPECT_HAS(Reason("yes"), "too much");
}

TEST_F(FindGpusBy, AMissingProgramIsAReason) {
  options_.program = path("none");
  const GpuList list = FindGpus(options_);
  ASSERT_EQ(list.left_out.size(), 1u);
  EXPECT_HAS(list.left_out[0], "status 127");
}

TEST_F(FindGpusBy, OffAsksNothing) {
  Write(CountAnd(""));
  const Variable off("METE_GPU", "off");
  EXPECT_HAS(FindGpus(options_).left_out.at(0), "METE_GPU=off");
  EXPECT_EQ(Asked(), 0u);
}

TEST_F(FindGpusBy, AnAnswerIsKeptUntilAFileChanges) {
  std::ofstream(path("a driver.so")) << "1";
  Write(CountAnd(Print(AnswerText({FileFacts(path("a driver.so"))}))));
  const GpuList list = FindGpus(options_);
  EXPECT_EQ(FindGpus(options_), list);
  EXPECT_EQ(Asked(), 1u);
  std::ofstream(path("a driver.so")) << "22";
  FindGpus(options_);
  EXPECT_EQ(Asked(), 2u);
  {
    const Variable other("METE_GPU", "cpu");
    FindGpus(options_);
    EXPECT_EQ(Asked(), 3u);
  }
  fs::remove(path("a driver.so"));
  FindGpus(options_);
  EXPECT_EQ(Asked(), 4u);
}

TEST_F(FindGpusBy, WhatIsKnownAsksNobody) {
  Write(CountAnd(fmt::format("cat << 'X'\n{}\nX", AnswerText())));
  EXPECT_FALSE(KnownGpus(options_));
  EXPECT_EQ(Asked(), 0u);
  const GpuList list = FindGpus(options_);
  EXPECT_EQ(KnownGpus(options_), list);
  EXPECT_EQ(Asked(), 1u);
  const Variable off("METE_GPU", "off");
  ASSERT_TRUE(KnownGpus(options_));
  EXPECT_HAS(KnownGpus(options_)->left_out.at(0), "METE_GPU=off");
}

TEST_F(FindGpusBy, AFailureIsKeptUntilSomeoneTriesAgain) {
  Write(CountAnd("exit 1"));
  FindGpus(options_);
  EXPECT_HAS(FindGpus(options_).left_out.at(0), "status 1");
  EXPECT_EQ(Asked(), 1u);
  options_.failures = Failures::kTryAgain;
  FindGpus(options_);
  EXPECT_EQ(Asked(), 2u);
}

TEST_F(FindGpusBy, MayFindMoreWhereADriverDidNotAnswerInTime) {
  EXPECT_FALSE(MayFindMore(options_));  // nobody has looked
  Write("exit 1");
  FindGpus(options_);
  EXPECT_FALSE(MayFindMore(options_));
  options_.failures = Failures::kTryAgain;
  options_.deadline = std::chrono::milliseconds(50);
  Write("exec sleep 1000");
  FindGpus(options_);
  EXPECT_TRUE(MayFindMore(options_));
  const Variable off("METE_GPU", "off");
  EXPECT_FALSE(MayFindMore(options_));
}

TEST_F(FindGpusBy, ADriverThatCrashesHidesNoGpuOfOthers) {
  const std::string crash = Register("a.icd"), cpu = Register("b.icd"), gpu = Register("c.icd");
  Register("no driver.txt");
  Write(CountAnd(fmt::format(
      "case \"$*\" in\n\"--driver {}\") ;;\n\"--driver {}\") {}\nexit 0;;\n\"--driver {}\") {}\nexit 0;;\n"
      "esac\nkill -SEGV $$",
      crash, cpu, Print(TextOf(OneGpu("a CPU", "cpu"))), gpu, Print(TextOf(OneGpu("a GPU", "gpu"))))));
  const GpuList list = FindGpus(options_);
  ASSERT_EQ(list.gpus.size(), 2u);
  EXPECT_EQ(list.gpus[0].facts.name, "gpu:0");
  EXPECT_EQ(list.gpus[0].facts.model, "a GPU");
  EXPECT_EQ(list.gpus[1].facts.name, "gpu:1");
  EXPECT_EQ(list.gpus[1].facts.model, "a CPU");
  EXPECT_EQ(list.drivers, (std::vector{cpu, gpu}));
  ASSERT_EQ(list.left_out.size(), 2u);
  EXPECT_HAS(list.left_out[0], "signal 11");
  EXPECT_TRUE(list.left_out[1].starts_with("a.icd: ")) << list.left_out[1];
  EXPECT_EQ(Asked(), 4u);
  EXPECT_EQ(FindGpus(options_), list);
  EXPECT_EQ(Asked(), 4u);
  options_.failures = Failures::kTryAgain;  // the driver may have been mended
  EXPECT_EQ(FindGpus(options_), list);
  EXPECT_EQ(Asked(), 8u);
}

TEST_F(FindGpusBy, TheOnlyDriverIsNotAskedTwice) {
  Register("a.icd");
  Write(CountAnd("exit 1"));
  FindGpus(options_);
  EXPECT_EQ(Asked(), 1u);
}

TEST_F(FindGpusBy, AnAnswerWithoutAllProbesIsKeptForThisProcessAlone) {
  GpuAnswer answer = OneGpu("slow", "gpu");
  answer.list.gpus[0].proved.out_of_time = true;
  Write(CountAnd(Print(TextOf(answer))));
  EXPECT_EQ(FindGpus(options_), answer.list);
  EXPECT_EQ(FindGpus(options_), answer.list);
  EXPECT_EQ(Asked(), 1u);
  EXPECT_FALSE(fs::exists(options_.cache_folder));
  EXPECT_TRUE(MayFindMore(options_));
  options_.failures = Failures::kTryAgain;
  EXPECT_EQ(FindGpus(options_), answer.list);
  EXPECT_EQ(Asked(), 2u);
}

TEST_F(FindGpusBy, DamagedFilesAndMissingFoldersAreNoAnswer) {
  Write(CountAnd(Print(AnswerText())));
  FindGpus(options_);
  for (const auto& kept : fs::directory_iterator(options_.cache_folder))
    std::ofstream(kept.path()) << "{\"key\": 3";
  EXPECT_EQ(FindGpus(options_).gpus.size(), 1u);
  EXPECT_EQ(Asked(), 2u);
  options_.cache_folder = "";
  FindGpus(options_);
  EXPECT_EQ(Asked(), 3u);
  options_.cache_folder = "/proc/nowhere";
  EXPECT_EQ(FindGpus(options_).gpus.size(), 1u);
  EXPECT_EQ(Asked(), 4u);
}

TEST(GpusProgram, IsTheOneThatTheEnvironmentNames) {
  const Variable own("METE_GPUS_PROGRAM", "/somewhere/mete-gpus");
  EXPECT_EQ(GpusProgram(), "/somewhere/mete-gpus");
}

TEST(LoadedFiles, AreThoseOfThisProgram) {
  const std::vector<std::string> files = LoadedFiles();
  const std::string own = fs::read_symlink("/proc/self/exe").string();
#ifndef METE_EMULATED  // under an emulator the files are also the emulator's
  EXPECT_NE(std::find(files.begin(), files.end(), own), files.end());
#endif
  EXPECT_FALSE(files.empty());
  EXPECT_EQ(FileFacts("/nowhere"), "/nowhere missing");
}

}  // namespace
}  // namespace mete::opencl
