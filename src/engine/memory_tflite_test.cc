// A TensorFlow Lite model that is loaded from memory.
#include <gtest/gtest.h>

#include "import/tflite/models_testing.h"
#include "mete/engine.h"

namespace mete {
namespace {

TEST(MemoryModels, ATfliteModelIsKnownByItsContent) {
  TfliteModel net;
  net.outputs = {net.Op(tflite::BuiltinOperator::RELU, {net.Input({1, 4})}, tflite::BuiltinOptions::NONE,
                        flatbuffers::Offset<void>(), {net.Value({1, 4})})};
  std::string bytes = net.Finish();
  const Model model = Model::LoadMemory({.bytes = std::as_bytes(std::span(std::as_const(bytes)))});
  bytes.assign(bytes.size(), '\0');
  EXPECT_EQ(model.file().format, "TensorFlow Lite");
  EXPECT_TRUE(model.file().opsets.empty());
  Session session(model, SessionOptions::Estimated());
  const std::vector<float> x{1, -2, 3, -4};
  const Tensor y = session.Run({Tensor::Floats({1, 4}, x)})[0];
  EXPECT_EQ(ElementsOf<float>(y), (std::vector<float>{1, 0, 3, 0}));
}

}  // namespace
}  // namespace mete
