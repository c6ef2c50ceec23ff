#include "processor/opencl/info/gpu_json.h"

#include <gtest/gtest.h>

#include "mete/error.h"

namespace mete::opencl {
namespace {

DeviceFacts SomeFacts() {
  DeviceFacts facts;
  facts.name = "gpu:0";
  facts.model = "Mali-G78";
  facts.compute_units = 14;
  facts.memory_bytes = int64_t{1} << 40;
  facts.most_group_sizes[2] = 64;
  facts.has_fine_svm = true;
  return facts;
}

TEST(GpuJson, FactsAreTheSameBehindIt) {
  EXPECT_EQ(DeviceFactsFromJson(ParseJson(ToJson(SomeFacts()).dump(), "x"), "x"), SomeFacts());
}

TEST(GpuJson, MissingAndWrongFactsAreRefusedByName) {
  const auto refused = [](auto change, const char* name) {
    nlohmann::ordered_json j = ToJson(SomeFacts());
    change(j);
    try {
      DeviceFactsFromJson(j, "x");
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
  };
  refused([](auto& j) { j.erase("driver"); }, "driver");
  refused([](auto& j) { j["driver"] = 3; }, "driver");
  refused([](auto& j) { j["model"] = std::string(1001, 'x'); }, "model");
  refused([](auto& j) { j["memory_bytes"] = -1; }, "memory_bytes");
  refused([](auto& j) { j["clock_mhz"] = 1.5; }, "clock_mhz");
  refused([](auto& j) { j["has_svm"] = 1; }, "has_svm");
  refused([](auto& j) { j["most_group_sizes"] = {1, 2}; }, "most_group_sizes");
  refused([](auto& j) { j = 7; }, "device");
}

TEST(GpuJson, ControlCharactersOfADriverAreNotPrinted) {
  nlohmann::ordered_json j = ToJson(SomeFacts());
  j["model"] = "\x1b[2J";
  EXPECT_EQ(DeviceFactsFromJson(j, "x").model, "?[2J");
}

}  // namespace
}  // namespace mete::opencl
