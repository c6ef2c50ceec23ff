#include "network/worker/weight_store.h"

#include <filesystem>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "run/time_graph.h"

namespace mete {
namespace {

constexpr int64_t kTensor = 40'000;       // bytes of each tensor
constexpr int64_t kFile = kTensor + 128;  // bytes of its file

class Weights {
 public:
  // Has room for `files` tensors on the disk and for `in_memory` tensors in memory.
  Weights(std::string folder, int files, int in_memory)
      : memory_(in_memory * kTensor),
        store(std::move(folder), files * kFile, [this](int64_t bytes, const std::string& what) {
          if (auto part = memory_.TryTake(bytes)) return std::move(*part);
          throw Error(Code::kResourceExhausted, "no memory for " + what + "; try --memory-gib");
        }) {}

  static Tensor Number(int64_t n) {
    Tensor tensor = MadeUp(DType::kF32, {kTensor / 4});
    tensor.mutable_view().as<float>()[0] = float(n);
    return tensor;
  }
  static Digest DigestOfNumber(int64_t n) { return DigestOf(Number(n).view()); }

  // Acts as a Store call, which keeps its tensors until it ends. Sends the tensors that the store lacks.
  void Send(int first, int last) {
    std::vector<Tensor> kept;
    for (int n = first; n < last; ++n)
      if (!Has(n)) {
        kept.push_back(store.Add(DigestOfNumber(n), Number(n), &note));
        ++sent;
      }
  }
  bool Has(int n) { return store.Has(DigestOfNumber(n)); }
  std::vector<Tensor> Deploy(int first, int last) {
    std::vector<Tensor> found;
    for (int n = first; n < last; ++n) found.push_back(store.Find(DigestOfNumber(n)));
    store.Trim();
    return found;
  }

 private:
  MemoryBudget memory_;

 public:
  WeightStore store;
  std::string note;
  int sent = 0;
};

bool AllThere(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.has_value(); });
}

TEST(WeightStore, AModelThatTheFolderHasNoRoomForIsKeptInMemoryAndSentOnce) {
  const TempPath folder;
  Weights weights(folder.str(), 3, 2);
  weights.Send(0, 5);
  EXPECT_NE(weights.note.find("try a larger --weights-gib"), std::string::npos) << weights.note;
  EXPECT_TRUE(AllThere(weights.Deploy(0, 5)));
  weights.Send(0, 5);
  EXPECT_EQ(weights.sent, 5);
}

TEST(WeightStore, AModelThatIsTooLargeForBothIsAnErrorEachTime) {
  const TempPath folder;
  Weights weights(folder.str(), 3, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_TELLS(weights.Send(0, 5), "no memory for weights that are not on its disk");
  EXPECT_TELLS(weights.Send(0, 5), "try a larger --weights-gib");
  weights.Send(10, 13);  // the store has given the room to another model
  EXPECT_TRUE(AllThere(weights.Deploy(10, 13)));
}

TEST(WeightStore, WhatADeploymentUsesStaysAndWhatNobodyUsesGoesLeastLatelyUsedFirst) {
  const TempPath folder;
  Weights weights(folder.str(), 4, 0);
  weights.Send(0, 2);
  const std::vector<Tensor> live = weights.Deploy(0, 2);
  weights.Send(2, 4);
  EXPECT_TRUE(AllThere(weights.Deploy(2, 4)));
  weights.Send(4, 6);
  EXPECT_EQ(weights.note, "");
  EXPECT_TRUE(AllThere(weights.Deploy(4, 6)));
  for (int n = 0; n < 6; ++n) EXPECT_EQ(weights.Has(n), n < 2 || n >= 4) << n;
}

TEST(WeightStore, WithoutAFolderWeightsAreInMemoryUntilOthersNeedIt) {
  Weights weights("", 4, 2);
  weights.Send(0, 2);
  EXPECT_TRUE(AllThere(weights.Deploy(0, 2)));
  EXPECT_TRUE(weights.Has(0) && weights.Has(1));
  weights.store.Trim();
  weights.Send(2, 4);
  EXPECT_TRUE(AllThere(weights.Deploy(2, 4)));
  EXPECT_FALSE(weights.Has(0));
}

TEST(WeightStore, WhatIsAnotherThanItsDigestSaysIsRefused) {
  Weights weights("", 1, 1);
  EXPECT_TELLS(weights.store.Add(Weights::DigestOfNumber(1), Weights::Number(2), &weights.note),
               "are not what was announced");
}

}  // namespace
}  // namespace mete
