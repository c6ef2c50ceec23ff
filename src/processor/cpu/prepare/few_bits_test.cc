// Products of one row with weights in few bits.
#include <gtest/gtest.h>

#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

// The error of each weight is at most half a step of 1/127 or 1/7 of the largest weight, which is at most 1
// here.
TEST(FewBitsStep, TheErrorIsThatOfTheWeights) {
  for (const auto& [precision, step] : {std::pair{"w8", 1 / 127.0}, {"w4", 1 / 7.0}})
    for (const std::string product :
         {"Gemm(1x700, const 700x500, const 500) {",
          "Gemm(1x700, const 500x700, const 500) {transB=1, activation=\"Relu\", ",
          "MatMul(1x700, const 700x500, -, 1x500) {residual=1, "}) {
      const std::string line = product + "operands=\"" + precision + "\"}";
      OneNode node(line, 3);
      std::string kernel, reference;
      const Tensor want = node.Run({.reference = true}, &reference)[0];
      double magnitude = 0;
      for (int64_t k = 0; k < 700; ++k) magnitude += std::abs(node.data(0).as<float>()[k]);
      for (const int threads : {1, 2}) {
        const Tensor got = node.Run({.threads = threads}, &kernel)[0];
        ASSERT_TRUE(kernel.starts_with(std::string("matvec_") + precision + "_f32 ")) << kernel;
        double largest = 0;
        for (int64_t i = 0; i < want.elements(); ++i) {
          const double apart = std::abs(double(want.as<float>()[i]) - got.as<float>()[i]);
          ASSERT_LE(apart, 0.5 * step * magnitude + 1e-4) << line << " element " << i;
          largest = std::max(largest, apart);
        }
        EXPECT_GT(largest, 1e-5) << "the weights were not rounded";
      }
    }
}

TEST(FewBitsStep, SmallWeightsAndSeveralRowsStayInF32) {
  for (const std::string line :
       {"Gemm(1x70, const 70x50) {operands=\"w8\"}", "Gemm(2x700, const 700x500) {operands=\"w8\"}"}) {
    OneNode node(line, 3);
    std::string kernel;
    node.Run({}, &kernel);
    EXPECT_EQ(kernel.find("_w8_"), std::string::npos) << line << ": " << kernel;
  }
}

}  // namespace
}  // namespace mete
