#include "processor/opencl/info/gpu_json.h"

#include <gtest/gtest.h>

#include "mete/error.h"

namespace mete::opencl {
namespace {

GpuList SomeGpus() {
  GpuList list;
  list.left_out = {"another one: its numbers are big-endian"};
  list.drivers = {"/etc/OpenCL/vendors/mali.icd"};
  Gpu& gpu = list.gpus.emplace_back();
  gpu.facts.name = "gpu:0";
  gpu.facts.model = "Mali-G78";
  gpu.facts.compute_units = 14;
  gpu.facts.memory_bytes = int64_t{1} << 40;
  gpu.facts.most_group_sizes[2] = 64;
  gpu.facts.has_fine_svm = true;
  gpu.proved.computes_f32 = true;
  gpu.proved.dot8 = "arm";
  gpu.proved.map = {12.5, 40};
  gpu.proved.problems = {"f16: the compiler says no"};
  gpu.proved.out_of_time = true;
  return list;
}

TEST(GpuJson, FactsAreTheSameBehindIt) {
  EXPECT_EQ(GpuListFromJson(ParseJson(ToJson(SomeGpus()).dump(), "x"), "x"), SomeGpus());
}

TEST(GpuJson, MissingAndWrongFactsAreRefusedByName) {
  const auto refused = [](auto change, const char* name) {
    nlohmann::ordered_json j = ToJson(SomeGpus());
    change(j, j["gpus"][0]);
    try {
      GpuListFromJson(j, "x");
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
  };
  refused([](auto&, auto& gpu) { gpu.erase("driver"); }, "driver");
  refused([](auto&, auto& gpu) { gpu["driver"] = 3; }, "driver");
  refused([](auto&, auto& gpu) { gpu["model"] = std::string(4001, 'x'); }, "model");
  refused([](auto&, auto& gpu) { gpu["memory_bytes"] = -1; }, "memory_bytes");
  refused([](auto&, auto& gpu) { gpu["clock_mhz"] = 1.5; }, "clock_mhz");
  refused([](auto&, auto& gpu) { gpu["has_svm"] = 1; }, "has_svm");
  refused([](auto&, auto& gpu) { gpu["most_group_sizes"] = {1, 2}; }, "most_group_sizes");
  refused([](auto&, auto& gpu) { gpu["f32_gflops"] = -2.5; }, "f32_gflops");
  refused([](auto&, auto& gpu) { gpu["map"] = 12.5; }, "map");
  refused([](auto&, auto& gpu) { gpu["map"].erase("p95_us"); }, "p95_us");
  refused([](auto&, auto& gpu) { gpu["map"]["median_us"] = "fast"; }, "map");
  refused([](auto&, auto& gpu) { gpu["launch_asleep"]["p95_us"] = -1; }, "launch_asleep");
  refused([](auto&, auto& gpu) { gpu["problems"] = {1}; }, "problems");
  refused([](auto&, auto& gpu) { gpu.erase("out_of_time"); }, "out_of_time");
  refused([](auto& j, auto&) { j.erase("drivers"); }, "drivers");
  refused([](auto& j, auto&) { j["left_out"] = std::vector<std::string>(101); }, "left_out");
  refused([](auto& j, auto& gpu) { j["gpus"] = std::vector<nlohmann::ordered_json>(101, gpu); }, "gpus");
  refused([](auto& j, auto&) { j["gpus"] = {7}; }, "a GPU");
  refused([](auto& j, auto&) { j = 7; }, "a list of GPUs");
}

TEST(GpuJson, ControlCharactersOfADriverAreNotPrinted) {
  nlohmann::ordered_json j = ToJson(SomeGpus());
  j["gpus"][0]["model"] = "\x1b[2J";
  EXPECT_EQ(GpuListFromJson(j, "x").gpus[0].facts.model, "?[2J");
}

}  // namespace
}  // namespace mete::opencl
