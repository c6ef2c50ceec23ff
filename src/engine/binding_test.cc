// Inputs and outputs that are bound by name once.
#include "mete/binding.h"

#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace mete {
namespace {

const Shape kInput{1, 3, 16, 16};

class Bindings : public testing::Test {
 protected:
  const ModelFile file_{ConvNet()};
  const Model model_ = Model::Load(file_.path());
  Session session_{model_, SessionOptions::Estimated()};
  Tensor input_ = Ramp(kInput, 0.02f);
  Tensor output_{DType::kF32, {1, 5}};
  Binding binding_{session_};
};

TEST_F(Bindings, RunReadsAndWritesTheCallersMemory) {
  binding_.BindInput("data", input_.view());
  binding_.BindOutput("probabilities", output_.mutable_view());
  binding_.Run();
  EXPECT_EQ(Values(output_), Values(session_.Run({input_})[0]));
  const Tensor other = Ramp(kInput, 0.03f);
  std::copy_n(other.as<float>(), other.elements(), input_.mutable_view().as<float>());
  binding_.Run();
  EXPECT_EQ(Values(output_), Values(session_.Run({other})[0]));
}

TEST_F(Bindings, TheLastMemoryOfAPortIsUsed) {
  Tensor second(DType::kF32, {1, 5});
  binding_.BindInput("data", input_.view());
  binding_.BindOutput("probabilities", output_.mutable_view());
  binding_.BindOutput("probabilities", second.mutable_view());
  binding_.Run();
  EXPECT_EQ(Values(output_), std::vector<float>(5, 0));
  EXPECT_EQ(Values(second), Values(session_.Run({input_})[0]));
}

TEST_F(Bindings, WhatDoesNotFitIsRefusedWhereItIsBound) {
  EXPECT_EQ(MessageOf([&] { binding_.BindInput("image", input_.view()); }),
            "[image] the model has no such input; expected one of 'data'");
  EXPECT_EQ(MessageOf([&] { binding_.BindOutput("data", output_.mutable_view()); }),
            "[data] the model has no such output; expected one of 'probabilities'");
  const Tensor small(DType::kF32, {1, 3, 8, 8});
  EXPECT_EQ(MessageOf([&] { binding_.BindInput("data", small.view()); }),
            "[data] wrong input shape; got 1x3x8x8, expected 1x3x16x16");
  Tensor integers(DType::kI64, {1, 5}), four(DType::kF32, {1, 4});
  EXPECT_EQ(MessageOf([&] { binding_.BindOutput("probabilities", integers.mutable_view()); }),
            "[probabilities] wrong output type; got i64, expected f32");
  EXPECT_NE(MessageOf([&] {
              binding_.BindOutput("probabilities", four.mutable_view());
            }).find("[probabilities] wrong output shape; got 1x4, expected 1x5"),
            std::string::npos);
  EXPECT_EQ(MessageOf([&] {
              binding_.BindOutput("probabilities", {nullptr, DType::kF32, {1, 5}});
            }),
            "[probabilities] output has no data");
}

TEST_F(Bindings, ARunTellsAllPortsWithoutMemory) {
  EXPECT_EQ(MessageOf([&] { binding_.Run(); }),
            "[data] the input has no memory; got none, expected that of a tensor; try "
            "Binding::BindInput(\"data\", ...)\n"
            "[probabilities] the output has no memory; got none, expected that of a tensor; try "
            "Binding::BindOutput(\"probabilities\", ...)");
}

TEST_F(Bindings, OutputsOfOpenSizesAreCheckedByTheRun) {
  const ModelFile file(OpenConvNet());
  Session session(Model::Load(file.path(), {.input_shapes = {{"data", kInput}}}),
                  SessionOptions::Estimated());
  const Tensor two = Ramp({2, 3, 16, 16}, 0.02f);
  Tensor output(DType::kF32, {2, 5});
  Binding binding(session);
  binding.BindInput("data", two.view());
  binding.BindOutput("probabilities", output.mutable_view());
  binding.Run();
  EXPECT_EQ(Values(output), Values(session.Run({two})[0]));
  binding.BindOutput("probabilities", output_.mutable_view());
  EXPECT_THROW(binding.Run(), Error);
}

}  // namespace
}  // namespace mete
