// Tests of recurrent layers and of what bounds the nodes and constants that a few numbers of a net make.
#include <gtest/gtest.h>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

std::string Indicator(const std::string& name, int64_t steps, int64_t sequences) {
  return fmt::format(
      "layer {{ name: '{0}' type: 'ContinuationIndicator' top: '{0}' continuation_indicator_param {{ "
      "time_step: {1} batch_size: {2} }} }} ",
      name, steps, sequences);
}

std::string Lstm(const std::string& name, int64_t units, const std::string& more = "") {
  return fmt::format(
      "layer {{ name: '{0}' type: 'LSTM' bottom: 'x' bottom: 'on' top: '{0}' recurrent_param {{ num_output: "
      "{1} {2} }} }} ",
      name, units, more);
}

std::string LstmWeights(int64_t features, int64_t units) {
  return Model("l", {{4 * units, features}, {4 * units}, {4 * units, units}});
}

TEST(CaffeLstm, MayHaveOneFeatureOrOneUnit) {
  for (const auto& [features, units] : {std::pair{1, 4}, std::pair{3, 1}, std::pair{1, 1}}) {
    const std::string net = InputLayer("x", {5, 2, features}) + Indicator("on", 5, 2) + Lstm("l", units);
    const Graph g = Import(net, LstmWeights(features, units)).graph;
    EXPECT_EQ(ToString(g.value(g.outputs.at(0)).shape), fmt::format("5x2x{}", units));
  }
}

// A line of text is one sequence in the file, and a session may take several.
TEST(CaffeLstm, TakesAnotherBatchThanAnIndicatorOfSequencesThatGoOn) {
  const std::string net = InputLayer("x", {5, 3, 2}) + Indicator("on", 5, 1) + Lstm("l", 4);
  const Graph g = Import(net, LstmWeights(2, 4)).graph;
  EXPECT_EQ(ToString(g.value(g.outputs.at(0)).shape), "5x3x4");
}

TEST(CaffeLstm, BecomesANodeForEachStepWithinABound) {
  const auto net = [](int64_t steps, int layers) {
    std::string text = InputLayer("x", {steps, 1, 2}) + InputLayer("on", {steps, 1});
    for (int i = 0; i < layers; ++i) text += Lstm(i == 0 ? "l" : "l" + std::to_string(i), 4);
    return text;
  };
  EXPECT_NO_THROW(Import(net(1, 1), LstmWeights(2, 4)));
  EXPECT_NO_THROW(Import(net(300, 1), LstmWeights(2, 4)));
  ExpectHas(MessageOf(net(16385, 1), LstmWeights(2, 4), Code::kInvalidArgument),
            "[l] its second bottom is not known before a run, so that each step becomes a node; got 16385 "
            "steps, expected at most 16384");
  // Together, too: the second of two layers of 8193 steps.
  ExpectHas(MessageOf(net(8193, 2), LstmWeights(2, 4), Code::kInvalidArgument), "[l1] its second bottom");
}

TEST(CaffeLstm, BadParameters) {
  const auto message = [](const std::string& layers) {
    return MessageOf(InputLayer("x", {5, 2, 3}) + layers, LstmWeights(3, 4), Code::kInvalidArgument);
  };
  const std::string on = Indicator("on", 5, 2);
  ExpectHas(message(on + Lstm("l", 4, "expose_hidden: true")), "expose_hidden is not supported; got true");
  // With its states as bottoms and tops, too.
  ExpectHas(
      message(on + InputLayer("h", {1, 2, 4}) +
              "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' bottom: 'h' bottom: 'h' top: 'y' "
              "top: 'yh' top: 'yc' recurrent_param { num_output: 4 expose_hidden: true } }"),
      "expose_hidden is not supported; got true");
  ExpectHas(
      message(on + InputLayer("h", {1, 2, 4}) +
              "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' bottom: 'h' bottom: 'h' top: 'y' "
              "recurrent_param { num_output: 4 } }"),
      "got 4 bottoms and 1 tops, expected 2 or 3 and 1");
  ExpectHas(message(on + InputLayer("still", {3, 7}) +
                    "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' bottom: 'still' top: 'y' "
                    "recurrent_param { num_output: 4 } }"),
            "the third bottom must have features of each sequence; got 3x7, expected 2 rows");
  ExpectHas(message(on + Lstm("l", 0)), "num_output is out of range; got 0, expected 1 to 1048576");
  ExpectHas(message(on + Lstm("l", (1 << 20) + 1)), "num_output is out of range; got 1048577");
  ExpectHas(message(Indicator("on", 4, 2) + Lstm("l", 4)), "got 4x2, expected 5x2");
  ExpectHas(message(InputLayer("on", {5, 3}) + Lstm("l", 4)), "got 5x3, expected 5x2");
  ExpectHas(message(Indicator("on", 0, 2)), "time_step and batch_size must be from 1 on; got 0 and 2");
  ExpectHas(message("layer { name: 'r' type: 'Reverse' bottom: 'x' top: 'y' reverse_param { axis: 3 } }"),
            "[r] axis is out of range; got 3");
}

TEST(CaffeConstants, ThatLayersMakeAreBoundedTogether) {
  const std::string large = Indicator("a", 40 << 20, 1);  // 160 MiB, of 256
  ExpectHas(MessageOf(large + Indicator("b", 40 << 20, 1), "", Code::kInvalidArgument),
            "[b] too much memory for its indicator; got 41943040x1 floats, expected at most 268435456 bytes "
            "with those of the layers before it");
  const std::string boxes = InputLayer("map", {1, 1, 8000, 8000}) +
                            "layer { name: 'p' type: 'PriorBox' bottom: 'map' bottom: 'map' top: 'y' "
                            "prior_box_param { min_size: 4 } }";
  ExpectHas(MessageOf(boxes, "", Code::kInvalidArgument), "[p] too much memory for its boxes");
}

}  // namespace
}  // namespace mete
