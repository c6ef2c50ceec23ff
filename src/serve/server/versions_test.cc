#include "serve/server/versions.h"

#include <gtest/gtest.h>

#include "serve/server/infer_job.h"

namespace mete::serve {
namespace {

// models/digits.onnx as a version of a model.
class VersionsTest : public testing::Test {
 protected:
  std::shared_ptr<Loaded> Digits(const std::string& version) {
    const SlotCores cores{SessionOptions::Estimated(), 1};
    auto model = std::make_unique<ServedModel>("models/digits.onnx", "", cores, slots_);
    return std::make_shared<Loaded>("net", version, std::move(model), ModelSettings(), slots_, *metrics_);
  }

  std::unique_ptr<Metrics> metrics_ = MakeMetrics({"cpu"}, "");
  Slots slots_{{}, [](const Start& start, std::vector<std::unique_ptr<Job>> jobs) {
                 return LetLoadCompute(jobs) ? Computed{} : ComputeJobs(start, std::move(jobs));
               }};
  Versions versions_;
};

TEST_F(VersionsTest, AModelIsReadyWhileAnotherVersionOfItIsLoadedOrFails) {
  EXPECT_TRUE(versions_.AllReady());
  versions_.Begin("net", "1");
  EXPECT_FALSE(versions_.AllReady());
  versions_.Ready(Digits("1"));
  EXPECT_TRUE(versions_.AllReady());
  versions_.Begin("net", "2");
  EXPECT_TRUE(versions_.AllReady());
  EXPECT_FALSE(versions_.IsReady("net", "2"));
  versions_.Failed("net", "2", "it is damaged");
  EXPECT_TRUE(versions_.AllReady());
  versions_.Begin("other", "1");  // another model's is another matter
  EXPECT_FALSE(versions_.AllReady());
  versions_.Failed("other", "1", "it is damaged");
  EXPECT_FALSE(versions_.AllReady());
  versions_.Unload("other");
  EXPECT_TRUE(versions_.AllReady());
}

}  // namespace
}  // namespace mete::serve
