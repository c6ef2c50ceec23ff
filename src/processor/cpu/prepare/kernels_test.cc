// Every family of fast kernels but convolutions (conv_test.cc), prepared as the engine does it, against the
// reference over odd shapes; and the cache of packed weights of all families.
#include "processor/cpu/prepare/kernels.h"

#include <cstring>

#include "base/fused.h"
#include "base/matmul_view.h"
#include "base/temp_path_testing.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

TEST(CpuDepthwise, MatchesTheReference) {
  for (int64_t k : {3, 5, 4})
    for (int64_t stride : {1, 2, 3})
      ExpectFastEqualsReference({"Conv",
                                 {{2, 11, 9, 37}, {37, 1, k, k}, {37}},
                                 {1, 2},
                                 With({kNhwc,
                                       {"group", int64_t{37}},
                                       {"strides", Ints{stride, stride}},
                                       {"pads", Ints{1, 2, 1, 0}},
                                       {"activation", std::string("Clip")},
                                       {"activation_alpha", -0.5f},
                                       {"activation_beta", 0.75f}})},
                                "depthwise");
}

TEST(CpuMatrix, ViewsMatchTheReference) {
  const std::pair<const char*, Attribute> scale{kScale, 0.25f}, heads{kPermA, Ints{0, 2, 1, 3}},
      back{kPermY, Ints{0, 2, 1, 3}};
  for (const int64_t images : {1, 3}) {  // fewer products than threads, and more
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 13, 2, 17}, {images, 70, 2, 17}},
                               {},
                               With({scale, heads, {kPermB, Ints{0, 2, 3, 1}}})},
                              "gemm");
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 1, 13, 9}, {images, 9, 1, 70}},
                               {},
                               With({back, {kPermB, Ints{0, 2, 1, 3}}})},
                              "gemm");
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 13, 2, 17}, {images, 2, 70, 17}},
                               {},
                               With({heads, back, {kPermB, Ints{0, 1, 3, 2}}})},
                              "gemm");
  }
  ExpectFastEqualsReference({"mete.MatMul", {{2, 13}, {13, 2}}, {}, With({scale})}, "gemm");
  ExpectFastEqualsReference({"mete.MatMul", {{13, 2}, {13, 70}}, {}, With({{kPermA, Ints{1, 0}}})},
                            "reference: elements of a row lie apart");
}

TEST(CpuMatrix, MatchesTheReference) {
  ExpectFastEqualsReference({"Gemm", {{7, 13}, {13, 19}, {19}}, {1, 2}, {}}, "gemm");
  ExpectFastEqualsReference(
      {"Gemm", {{7, 13}, {19, 13}, {7, 19}}, {1}, With({{"transB", int64_t{1}}, {"alpha", 0.5f}})}, "gemm");
  ExpectFastEqualsReference({"Gemm",
                             {{1, 113}, {19, 113}, {19}},
                             {1, 2},
                             With({{"transB", int64_t{1}}, {"activation", std::string("Sigmoid")}})},
                            "matvec_rows");
  ExpectFastEqualsReference({"Gemm", {{1, 113}, {113, 19}, {1, 19}}, {1, 2}, {}}, "matvec_columns");
  ExpectFastEqualsReference({"MatMul", {{2, 3, 5, 8}, {8, 33}}, {1}, {}}, "gemm");
  ExpectFastEqualsReference({"MatMul", {{2, 3, 5, 8}, {2, 3, 8, 33}}, {}, {}}, "gemm");
  ExpectFastEqualsReference({"MatMul", {{4, 5, 8}, {8, 6}}, {}, {}}, "gemm");
}

TEST(CpuPool, AWholeImageHasTheSameBitsWithAnyThreads) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    const Case large{op, {{2, 40, 41, 90}}, {}, With({kNhwc})};
    const Tensor want = OneNode(large, 5).Run({1, {}, false})[0];
    for (const int threads : {2, 3, 4}) {
      const Tensor got = OneNode(large, 5).Run({threads, {}, false})[0];
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0)
          << op << " with " << threads << " threads";
    }
  }
  ExpectFastEqualsReference({"GlobalAveragePool", {{2, 40, 41, 90}}, {}, With({kNhwc})}, "global_pool");
}

TEST(CpuPool, MatchesTheReference) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    ExpectFastEqualsReference(
        {op,
         {{2, 9, 8, 19}},
         {},
         With({kNhwc, {"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}})},
        "pool");
    ExpectFastEqualsReference(
        {op,
         {{1, 9, 8, 5}},
         {},
         With({kNhwc, {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}})},
        "pool");
  }
  for (const char* padding_counts : {"count_include_pad", "mete_caffe"}) {
    const Attributes attributes = With({kNhwc,
                                        {"kernel_shape", Ints{3, 3}},
                                        {"strides", Ints{2, 2}},
                                        {"pads", Ints{1, 1, 1, 1}},
                                        {padding_counts, int64_t{1}},
                                        {"ceil_mode", int64_t{1}}});
    ExpectFastEqualsReference({"AveragePool", {{1, 9, 8, 5}}, {}, attributes}, "pool");
  }
  ExpectFastEqualsReference({"GlobalAveragePool", {{2, 9, 8, 19}}, {}, With({kNhwc})}, "global_pool");
  ExpectFastEqualsReference({"GlobalMaxPool", {{2, 9, 8, 19}}, {}, With({kNhwc})}, "global_pool");
}

TEST(CpuPool, AMaximumOverNanIsNanOnBoth) {
  OneNode node({"MaxPool", {{1, 5, 5, 3}}, {}, With({kNhwc, {"kernel_shape", Ints{2, 2}}})}, 1);
  node.SetInput(0, 7, NAN);
  std::string kernel;
  const auto want = node.Run({1, {}, true}, &kernel), got = node.Run({1, {}, false}, &kernel);
  int nans = 0;
  for (int64_t i = 0; i < want[0].elements(); ++i) {
    EXPECT_EQ(std::isnan(want[0].as<float>()[i]), std::isnan(got[0].as<float>()[i])) << i;
    nans += std::isnan(got[0].as<float>()[i]);
  }
  EXPECT_EQ(nans, 2);  // pixel (0, 2) is in two windows
}

TEST(CpuElementwise, MatchesTheReferenceOverBroadcasts) {
  const Attributes program = With({{"ops", Strings{"Mul", "Add", "Sigmoid"}},
                                   {"args", Ints{0, 1, -1, 3, 2, -1, 4, -1, -1}},
                                   {"params", Floats{0, 0, 0, 0, 0, 0}}});
  ExpectFastEqualsReference({"mete.Elementwise", {{2, 3, 5, 7}, {7}, {}}, {}, program}, "elementwise");
  ExpectFastEqualsReference({"mete.Elementwise", {{2, 3, 5, 7}, {2, 1, 1, 7}, {2, 3, 5, 7}}, {}, program},
                            "elementwise");
  ExpectFastEqualsReference({"mete.Elementwise", {{1, 30, 50, 33}, {1, 1, 1, 33}, {1, 1, 1, 1}}, {}, program},
                            "elementwise");
}

TEST(CpuRows, MatchesTheReference) {
  ExpectFastEqualsReference({"Softmax", {{5, 7, 33}}, {}, {}}, "softmax");
  ExpectFastEqualsReference({"Softmax", {{1, 33, 1, 1}}, {}, With({{"axis", int64_t{1}}})}, "softmax");
  ExpectFastEqualsReference({"LogSoftmax", {{5, 33}}, {}, {}}, "log_softmax");
  ExpectFastEqualsReference({"LayerNormalization", {{5, 7, 33}, {33}, {33}}, {1, 2}, {}}, "layer_norm");
  ExpectFastEqualsReference({"RMSNormalization", {{5, 33}, {33}}, {1}, {}}, "rms_norm");
}

TEST(CpuLrn, MatchesTheReference) {
  ExpectFastEqualsReference(
      {"LRN", {{2, 3, 5, 37}}, {}, With({kNhwc, {"size", int64_t{5}}, {"alpha", 0.5f}, {"bias", 2.0f}})},
      "lrn");
  ExpectFastEqualsReference({"LRN", {{1, 3, 5, 9}}, {}, With({kNhwc, {"size", int64_t{4}}, {"beta", 0.6f}})},
                            "lrn");
}

TEST(CpuMovement, MatchesTheReferenceForEveryOrderThatItTakes) {
  for (const Ints& perm :
       std::vector<Ints>{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}, {2, 0, 1, 3}, {2, 1, 0, 3}, {1, 2, 3, 0}})
    ExpectFastEqualsReference({"Transpose", {{2, 3, 5, 7}}, {}, With({{"perm", perm}})}, "transpose");
  ExpectFastEqualsReference({"Transpose", {{1, 3, 1, 7}}, {}, With({{"perm", Ints{3, 2, 1, 0}}})},
                            "transpose");
  // the pixels are divided
  ExpectFastEqualsReference({"Transpose", {{2, 3, 301, 307}}, {}, With({{"perm", Ints{0, 2, 3, 1}}})},
                            "transpose");
  ExpectFastEqualsReference({"Transpose", {{1, 301, 307, 3}}, {}, With({{"perm", Ints{0, 3, 1, 2}}})},
                            "transpose");
  // the blocks are ranges of images
  ExpectFastEqualsReference({"Transpose", {{5, 3, 71, 70}}, {}, With({{"perm", Ints{0, 2, 3, 1}}})},
                            "transpose");
  ExpectFastEqualsReference({"Transpose", {{5, 71, 70, 3}}, {}, With({{"perm", Ints{0, 3, 1, 2}}})},
                            "transpose");
  // channels are shuffled, pixels are divided
  for (const Shape& x : {Shape{1, 28, 27, 2, 58}, Shape{1, 28, 27, 58, 2}, Shape{1, 14, 14, 5, 29}})
    ExpectFastEqualsReference({"Transpose", {x}, {}, With({{"perm", Ints{0, 1, 2, 4, 3}}})}, "transpose_f32");
  ExpectFastEqualsReference({"Concat", {{2, 3, 5}, {2, 1, 5}, {2, 4, 5}}, {}, With({{"axis", int64_t{1}}})},
                            "concat");
  // the rows are divided
  ExpectFastEqualsReference({"Concat", {{300, 29}, {300, 30}}, {}, With({{"axis", int64_t{1}}})}, "concat");
  Case split{"Split", {{2, 7, 5}}, {}, With({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}})};
  split.outputs = 2;
  ExpectFastEqualsReference(split, "split");
}

TEST(CpuKernels, SaysWhyTheReferenceRuns) {
  OneNode node({"Gemm", {{3, 2}, {3, 4}}, {1}, With({{"transA", int64_t{1}}})}, 1);
  std::string kernel;
  node.Run({1, {}, false}, &kernel);
  EXPECT_EQ(kernel, "reference: A is transposed");
}

// All weights have the same bytes and one folder: what one kernel, size or target has packed must not be used
// by another.
TEST(CpuPackedCache, GivesEveryFamilyItsOwnWeights) {
  const Shape x{1, 9, 8, 192};
  const std::pair<const char*, Attribute> three_by_three{"pads", Ints{1, 1, 1, 1}};
  const std::vector<Case> cases = {
      {"Conv", {x, {192, 192, 3, 3}}, {1}, With({kNhwc, three_by_three})},
      {"Conv", {{1, 9, 8, 384}, {384, 96, 3, 3}}, {1}, With({kNhwc, three_by_three, {"group", int64_t{4}}})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc, {kSumPiece, int64_t{100}}})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc, {kSumPiece, int64_t{200}}})},
      {"Conv",
       {{1, 3, 4, 36864}, {36864, 1, 3, 3}},
       {1},
       With({kNhwc, three_by_three, {"group", int64_t{36864}}})},
      {"MatMul", {{3, 576}, {576, 576}}, {1}, {}},
      {"MatMul", {{3, 1152}, {1152, 288}}, {1}, {}},
      {"MatMul", {{4, 3, 288}, {4, 288, 288}}, {1}, {}},
      {"mete.MatMul", {{2, 2, 3, 288}, {2, 2, 288, 288}}, {1}, With({{kPermB, Ints{1, 0, 2, 3}}})},
      {"Gemm", {{3, 576}, {576, 576}}, {1}, With({{"transB", int64_t{1}}})},
      {"Gemm", {{3, 576}, {576, 576}}, {1}, With({{"alpha", 2.f}})},
  };
  const std::optional<ConvAlgorithm> algorithms[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2,
                                                     ConvAlgorithm::kWinogradF4};
  const TempPath folder;
  for (const std::string& target : AvailableTargets()) {
    ForceTarget(target);
    for (size_t i = 0; i < cases.size(); ++i)
      for (const auto& algorithm : algorithms) {
        if (algorithm != ConvAlgorithm::kDirect && i > 0) continue;
        OneNode node(cases[i], 11);
        for (int64_t e = 0; e < node.data(1).elements(); ++e)
          node.SetInput(1, e, float(e * 37 % 101 - 50) * 0.01f);
        const KernelOptions plain{2, {}, false, algorithm},
            kept{.threads = 2, .conv = algorithm, .packed_cache = folder.str()};
        std::string kernel;
        const Tensor want = node.Run(plain, &kernel)[0];
        SCOPED_TRACE(kernel + " case " + std::to_string(i));
        EXPECT_EQ(node.MappedBytes(kept), 0);
        EXPECT_GT(node.MappedBytes(kept), 0);
        const Tensor got = node.Run(kept, &kernel)[0];
        ASSERT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
      }
  }
  ForceTarget("best");
}

}  // namespace
}  // namespace mete
