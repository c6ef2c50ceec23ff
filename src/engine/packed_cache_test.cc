// Sessions that keep their packed weights in files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "engine/engine_testing.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// data 1x64x12x12 -> Conv 3x3, Relu, Conv 1x1 -> y 1x600x10x10, both with weights enough for a file each.
ModelProto LargeNet(float first_weight) {
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, 64, 12, 12});
  std::string w1 = Weights(500 * 64 * 9);
  w1.replace(0, sizeof(float), reinterpret_cast<const char*>(&first_weight), sizeof(float));
  AddRaw(m, "w1", TensorProto::FLOAT, {500, 64, 3, 3}, w1);
  AddRaw(m, "w2", TensorProto::FLOAT, {600, 500, 1, 1}, Weights(600 * 500));
  AddOp(m, "Conv", {"data", "w1"}, {"c1"}, "conv1");
  AddOp(m, "Relu", {"c1"}, {"r1"}, "relu1");
  AddOp(m, "Conv", {"r1", "w2"}, {"y"}, "conv2");
  AddOutput(m, "y");
  return m;
}

class PackedCache : public testing::Test {
 protected:
  struct Result {
    std::vector<float> y;
    SessionStats stats;
    std::string explained;
  };
  // Kernels by estimate: what is packed does not depend on times.
  Result Run(const Model& model, SessionOptions options) {
    options.tune = Tune::kNever;
    options.profile_cache.clear();
    if (options.threads == 0) options.threads = 1;
    Session session(model, options);
    return {Values(session.Run(std::vector{Ramp({1, 64, 12, 12}, 0.02f)}).at(0)), session.stats(),
            session.Explain()};
  }
  // Returns whether the explanation has this text once sizes such as " (1.2 MiB)" are left out of it.
  static bool Says(const Result& result, const std::string& text) {
    constexpr std::string_view kUnit = " MiB)";
    std::string explained = result.explained;
    for (size_t end = explained.find(kUnit); end != std::string::npos; end = explained.find(kUnit)) {
      const size_t begin = explained.rfind(" (", end);
      if (begin == std::string::npos) return false;
      explained.erase(begin, end + kUnit.size() - begin);
    }
    return explained.find(text) != std::string::npos;
  }
  std::vector<fs::path> Files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.str() + "/weights"))
      files.push_back(entry.path());
    return files;
  }

  const ModelFile file_{LargeNet(0.5f)};
  const Model model_ = Model::Load(file_.path());
  const TempPath folder_;
};

TEST_F(PackedCache, TheSecondSessionMapsAndGivesTheSameBits) {
  const Result without = Run(model_, {}), first = Run(model_, {.packed_cache = folder_.str()});
  EXPECT_EQ(without.stats.mapped_bytes, 0);
  EXPECT_EQ(without.explained.find("packed weights"), std::string::npos) << without.explained;
  EXPECT_EQ(first.stats.mapped_bytes, 0);
  EXPECT_TRUE(Says(first, ": 2 packed and written\n")) << first.explained;
  EXPECT_EQ(Files().size(), 2u);
  for (const int threads : {1, 2, 3}) {  // the same files
    const Result again = Run(model_, {.threads = threads, .packed_cache = folder_.str()});
    EXPECT_EQ(again.stats.mapped_bytes, again.stats.packed_bytes);
    EXPECT_TRUE(Says(again, ": 2 mapped\n")) << again.explained;
    EXPECT_EQ(again.y, without.y);
  }
  EXPECT_EQ(first.y, without.y);
}

TEST_F(PackedCache, ChangedWeightsArePackedAnew) {
  const SessionOptions options{.packed_cache = folder_.str()};
  Run(model_, options);
  const ModelFile other_file(LargeNet(0.25f));
  const Model other = Model::Load(other_file.path());
  const Result got = Run(other, options);
  EXPECT_TRUE(Says(got, ": 1 mapped, 1 packed and written\n")) << got.explained;
  EXPECT_EQ(got.y, Run(other, {}).y);
  EXPECT_EQ(Files().size(), 3u);
  EXPECT_GT(Run(model_, options).stats.mapped_bytes, 0) << "the files of the first are still there";
}

TEST_F(PackedCache, DamagedFilesAreWrittenAgain) {
  const SessionOptions options{.packed_cache = folder_.str()};
  const Result first = Run(model_, options);
  for (const fs::path& path : Files()) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10000) << "damage";
  }
  const Result second = Run(model_, options), third = Run(model_, options);
  EXPECT_EQ(second.stats.mapped_bytes, 0);
  EXPECT_NE(second.explained.find("its content is damaged; packed again"), std::string::npos)
      << second.explained;
  EXPECT_EQ(second.y, first.y);
  EXPECT_EQ(third.stats.mapped_bytes, third.stats.packed_bytes);
  EXPECT_EQ(third.y, first.y);
}

TEST_F(PackedCache, AFolderThatCannotBeMadeIsToldAbout) {
  std::ofstream(folder_.str()) << "in the way";
  const Result got = Run(model_, {.packed_cache = folder_.str()});
  EXPECT_NE(got.explained.find("cannot make its folder"), std::string::npos) << got.explained;
  EXPECT_EQ(got.y, Run(model_, {}).y);
}

TEST_F(PackedCache, TheReferenceHasNothingToKeep) {
  const Result got = Run(model_, {.reference = true, .packed_cache = folder_.str()});
  EXPECT_EQ(got.stats.mapped_bytes, 0);
  EXPECT_FALSE(fs::exists(folder_.str()));
}

}  // namespace
}  // namespace mete
