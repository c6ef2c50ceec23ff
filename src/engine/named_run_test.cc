// Runs whose inputs and outputs are given by name.
#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace mete {
namespace {

// a 2, b 2 -> sum a + b, difference a - b
Model TwoInputs() {
  ModelProto m = EmptyModel();
  AddInput(m, "a", {2});
  AddInput(m, "b", {2});
  AddOp(m, "Add", {"a", "b"}, {"sum"});
  AddOp(m, "Sub", {"a", "b"}, {"difference"});
  AddOutput(m, "sum");
  AddOutput(m, "difference");
  const ModelFile file(m);
  return Model::Load(file.path());
}

class NamedRuns : public testing::Test {
 protected:
  static Tensor Two(float first, float second) { return Tensor::Floats({2}, std::vector{first, second}); }

  Session session_{TwoInputs(), SessionOptions::Estimated()};
};

TEST_F(NamedRuns, GiveAllOutputsInTheModelsOrder) {
  const std::vector<Tensor> out = session_.Run({{"b", Two(1, 2)}, {"a", Two(5, 7)}});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{6, 9}));
  EXPECT_EQ(Values(out[1]), (std::vector<float>{4, 5}));
}

TEST_F(NamedRuns, GiveTheOutputsThatAreAskedForInTheirOrder) {
  const std::map<std::string, Tensor> inputs{{"a", Two(5, 7)}, {"b", Two(1, 2)}};
  const std::vector<Tensor> out = session_.Run(inputs, {"difference", "sum", "difference"});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{4, 5}));
  EXPECT_EQ(Values(out[1]), (std::vector<float>{6, 9}));
  EXPECT_EQ(Values(out[2]), (std::vector<float>{4, 5}));
}

TEST_F(NamedRuns, TellAllWrongNamesAtOnce) {
  const std::map<std::string, Tensor> inputs{{"a", Two(5, 7)}, {"c", Two(1, 2)}};
  EXPECT_EQ(MessageOf([&] {
              session_.Run(inputs, {"sum", "product", "quotient"});
            }),
            "[c] the model has no such input; expected one of 'a', 'b'\n"
            "[b] the input has no tensor; got 2 tensors, expected one for each of 'a', 'b'\n"
            "[product] the model has no such output; expected one of 'sum', 'difference'\n"
            "[quotient] the model has no such output; expected one of 'sum', 'difference'");
}

TEST_F(NamedRuns, CheckTheTensorsAsOtherRunsDo) {
  const std::map<std::string, Tensor> inputs{{"a", Two(5, 7)}, {"b", Tensor(DType::kF32, {3})}};
  EXPECT_EQ(MessageOf([&] { session_.Run(inputs); }), "[b] wrong input shape; got 3, expected 2");
}

TEST_F(NamedRuns, NeedASession) {
  Session empty;
  EXPECT_NE(MessageOf([&] {
              empty.Run({{"a", Two(1, 2)}});
            }).find("[session] it is empty"),
            std::string::npos);
}

TEST_F(NamedRuns, TheSessionKnowsItsModel) { EXPECT_EQ(session_.model().outputs()[1].name, "difference"); }

}  // namespace
}  // namespace mete
