// What is said of fields that Mete does not know.
#include <gtest/gtest.h>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

std::string Message(const std::string& net) { return MessageOf(net, "", Code::kInvalidArgument); }

std::string ReluWith(const std::string& name, const std::string& parameters) {
  return "layer { name: '" + name + "' type: 'ReLU' bottom: 'data' top: '" + name + "' relu_param { " +
         parameters + " } }\n";
}

TEST(UnknownField, IsToldWithItsLayerAndTheFieldsThatThereAre) {
  EXPECT_EQ(Message(kInput + std::string("\n") + ReluWith("one", "engine: CAFFE") +
                    ReluWith("two", "\n  slope: 1\n")),
            "[net:4:8, layer two] ReLUParameter has an unknown field; got slope, expected one of "
            "negative_slope, engine");
}

TEST(UnknownField, IsToldWithAFieldOfASimilarName) {
  ExpectHas(Message(kInput + ReluWith("l", "negativeslope: 1")),
            ", layer l] ReLUParameter has an unknown field; got negativeslope, expected one of "
            "negative_slope, engine; try negative_slope");
  // The many fields of a convolution are not listed then.
  ExpectHas(Message(Single("Convolution", "convolution_param { num_outputs: 3 }")),
            ", layer l] ConvolutionParameter has an unknown field; got num_outputs; try num_output");
}

TEST(UnknownField, OfManyLayersIsToldOnce) {
  std::string net = kInput;
  for (int i = 0; i < 30; ++i) net += "\n" + ReluWith("r" + std::to_string(i), "slope: 1");
  const std::string message = Message(net);
  ExpectHas(message, "layer r0 and 29 others] ReLUParameter has an unknown field; got slope");
  EXPECT_EQ(message.find("r1"), std::string::npos) << message;
}

TEST(UnknownField, OfManyNamesAreToldUpToABound) {
  std::string parameters;
  for (int i = 0; i < 50; ++i) parameters += "field" + std::to_string(i) + ": 1\n";
  const std::string message = Message(kInput + ReluWith("l", parameters));
  ExpectHas(message, "got field9,");
  EXPECT_EQ(message.find("field10"), std::string::npos) << message;
  ExpectHas(message, "... and 40 more");
}

TEST(UnknownField, OfOldLayersAndOutsideOfLayers) {
  ExpectHas(
      Message("input: 'x' input_dim: 1 layers { name: 'v1' type: RELU bottom: 'x' top: 'y' relu_param { "
              "slope: 1 } }"),
      ", layer v1] ReLUParameter has an unknown field; got slope");
  EXPECT_EQ(Message(kInput + ReluWith("l", "") + "state { phases: TEST }"),
            "[net:2:15] NetState has an unknown field; got phases, expected one of phase, level, stage; try "
            "phase");
}

TEST(UnknownField, OfALayerOrOfWhatCaffeWritesIsIgnored) {
  EXPECT_EQ(Summary(Import(Single("ReLU", "transform_param { x: 1 } wished: 2")).graph), "Relu -> y 2x4x6x5");
  EXPECT_EQ(Summary(Import("wished: 1 " + Single("ReLU", "")).graph), "Relu -> y 2x4x6x5");
}

}  // namespace
}  // namespace mete
