// Operators that a program registers.
#include "mete/custom_operator.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/engine_testing.h"

namespace mete {
namespace {

// Registers an operator of the domain "test" once in the process.
void Register(const std::string& name, decltype(CustomOperator::shapes) shapes,
              decltype(CustomOperator::kernel) kernel) {
  RegisterOperator({"test", name, 1, std::move(shapes), std::move(kernel)});
}

std::vector<OutputType> SameAsInput(const OperatorNode& node) {
  return {{node.inputs[0].type, node.inputs[0].shape}};
}

void Nothing(const OperatorNode&, std::span<const View>) {}

// x 2x3 -> Relu -> node "mine" of the operator -> Relu -> y
ModelProto Net(const std::string& domain, const std::string& op) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2, 3});
  AddOp(m, "Relu", {"x"}, {"a"});
  AddOp(m, op, {"a"}, {"b"}, "mine").set_domain(domain);
  AddOp(m, "Relu", {"b"}, {"y"});
  AddOutput(m, "y");
  return m;
}

NodeProto& Mine(ModelProto& m) { return *m.mutable_graph()->mutable_node(1); }

Tensor Counting() { return Tensor::Floats({2, 3}, std::vector<float>{-1, 2, 3, 4, 5, 6}); }

std::vector<float> RunNet(const ModelProto& m, const SessionOptions& options = SessionOptions::Estimated(2)) {
  const ModelFile file(m);
  Session session(Model::Load(file.path()), options);
  return Values(session.Run({Counting()})[0]);
}

TEST(CustomOperators, AreComputedByTheirKernelWithTheirAttributes) {
  Register("Scale", SameAsInput, [](const OperatorNode& node, std::span<const View> outputs) {
    const auto by = node.attributes.Ints("activation");  // the name of an attribute of Mete's own
    EXPECT_EQ(node.attributes.String("mode", "none"), "fast");
    EXPECT_EQ(node.attributes.Int("missing", 7), 7);
    EXPECT_TRUE(node.attributes.Has("mode"));
    EXPECT_FALSE(node.attributes.Has("mete_operator"));
    for (int64_t i = 0; i < outputs[0].elements(); ++i)
      outputs[0].as<float>()[i] = node.inputs[0].as<float>()[i] * float(by[0] + by[1]);
  });
  ModelProto m = Net("test", "Scale");
  AddInts(Mine(m), "activation", {1, 2});
  AddString(Mine(m), "mode", "fast");
  for (const bool reference : {false, true}) {
    SessionOptions options = SessionOptions::Estimated(2);
    options.reference = reference;
    EXPECT_EQ(RunNet(m, options), (std::vector<float>{0, 6, 9, 12, 15, 18}));
  }
}

TEST(CustomOperators, ShapesMayDependOnConstants) {
  Register(
      "Rows",
      [](const OperatorNode& node) -> std::vector<OutputType> {
        if (!node.inputs[1].data) throw Error(Code::kInvalidArgument, "[rows] are no constant");
        return {{node.inputs[0].type, {node.inputs[1].as<int64_t>()[0], node.inputs[0].shape[1]}}};
      },
      [](const OperatorNode& node, std::span<const View> outputs) {
        for (int64_t i = 0; i < outputs[0].elements(); ++i)
          outputs[0].as<float>()[i] = node.inputs[0].as<float>()[i];
      });
  ModelProto m = Net("test", "Rows");
  AddRaw(m, "rows", TensorProto::INT64, {1}, RawOf<int64_t>({1}));
  Mine(m).add_input("rows");
  EXPECT_EQ(RunNet(m), (std::vector<float>{0, 2, 3}));
}

TEST(CustomOperators, ShapesMayDependOnDataOfTheRun) {
  Register(
      "Positive",
      [](const OperatorNode& node) -> std::vector<OutputType> {
        const ConstView& x = node.inputs[0];
        if (!x.data) return {{DType::kF32, Shape::Unknown()}};
        return {
            {DType::kF32, {std::count_if(x.as<float>(), x.as<float>() + 6, [](float v) { return v > 0; })}}};
      },
      [](const OperatorNode& node, std::span<const View> outputs) {
        const auto* x = node.inputs[0].as<float>();
        std::copy_if(x, x + 6, outputs[0].as<float>(), [](float v) { return v > 0; });
      });
  EXPECT_EQ(RunNet(Net("test", "Positive")), (std::vector<float>{2, 3, 4, 5, 6}));
}

TEST(CustomOperators, TakeOpenDimensions) {
  Register(
      "Turned",
      [](const OperatorNode& node) -> std::vector<OutputType> {
        return {{DType::kF32, {node.inputs[0].shape[1], node.inputs[0].shape[0]}}};
      },
      [](const OperatorNode& node, std::span<const View> outputs) {
        const ConstView& x = node.inputs[0];
        for (int64_t row = 0; row < x.shape[0]; ++row)
          for (int64_t column = 0; column < x.shape[1]; ++column)
            outputs[0].as<float>()[column * x.shape[0] + row] = x.as<float>()[row * x.shape[1] + column];
      });
  ModelProto m = Net("test", "Turned");
  auto& shape = *m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("N");
  const ModelFile file(m);
  Session session(Model::Load(file.path()), SessionOptions::Estimated());
  for (const int64_t rows : {1, 2, 5}) {
    const Tensor y = session.Run({Ramp({rows, 3}, -0.1f)})[0];
    EXPECT_EQ(y.shape(), (Shape{3, rows}));
    EXPECT_EQ(Values(y)[size_t(rows)], Values(Ramp({rows, 3}, -0.1f))[1]);
  }
}

TEST(CustomOperators, ErrorsOfTheKernelHaveTheNodesName) {
  Register("Fails", SameAsInput,
           [](const OperatorNode&, std::span<const View>) { throw std::runtime_error("the sensor is off"); });
  EXPECT_EQ(MessageOf([] { RunNet(Net("test", "Fails")); }),
            "[mine] [test.Fails] the operator failed: the sensor is off");
}

TEST(CustomOperators, ErrorsOfShapesHaveTheNodesName) {
  Register(
      "NoShapes", [](const OperatorNode&) { return std::vector<OutputType>(); }, Nothing);
  const std::string told = MessageOf([] { RunNet(Net("test", "NoShapes")); });
  EXPECT_NE(told.find("[mine] the shape function of NoShapes gives too few outputs; got 0, expected 1"),
            std::string::npos)
      << told;
}

TEST(CustomOperators, AnAttributeOfAnotherTypeIsTold) {
  Register("WrongType", SameAsInput,
           [](const OperatorNode& node, std::span<const View>) { (void)node.attributes.Float("by", 1); });
  ModelProto m = Net("test", "WrongType");
  AddInt(Mine(m), "by", 2);
  EXPECT_EQ(MessageOf([&] { RunNet(m); }),
            "[mine] [by] the attribute has another type; got 2, expected a number");
}

TEST(CustomOperators, WhatIsNotRegisteredIsRefusedWithAdvice) {
  const std::string told = MessageOf([] { RunNet(Net("test", "Unknown")); });
  EXPECT_NE(told.find("test.Unknown"), std::string::npos) << told;
  EXPECT_NE(told.find("try --operators FILE.so, in C++ RegisterOperator()"), std::string::npos) << told;
}

TEST(CustomOperators, AreRegisteredOnceAndInADomainOfTheirOwn) {
  Register("Once", SameAsInput, Nothing);
  EXPECT_EQ(MessageOf([] { Register("Once", SameAsInput, Nothing); }),
            "[test.Once] the operator is registered already; got another one, expected one of each name; try "
            "another domain or name");
  for (const char* domain : {"", "ai.onnx", "mete", "mete.x"})
    EXPECT_NE(MessageOf([&] {
                RegisterOperator({domain, "Relu", 1, SameAsInput, Nothing});
              }).find("an operator cannot have this domain"),
              std::string::npos)
        << domain;
  for (const char* name : {"", "x.Once"})
    EXPECT_NE(
        MessageOf([&] { Register(name, SameAsInput, Nothing); }).find("cannot be the name of an operator"),
        std::string::npos);
  EXPECT_EQ(MessageOf([] { Register("NoKernel", SameAsInput, nullptr); }),
            "[test.NoKernel] the operator has no kernel; expected a function");
}

TEST(CustomOperators, ALibraryThatDoesNotFitIsTold) {
  const auto told = [](const char* wrong) {
    setenv("METE_TEST_OPERATORS", wrong, 1);
    const std::string message = MessageOf([] { LoadOperators(METE_OPERATORS_LIBRARY); });
    unsetenv("METE_TEST_OPERATORS");
    return message;
  };
  EXPECT_NE(told("newer").find("built for other headers; got version 2, expected 1"), std::string::npos);
  EXPECT_NE(told("throws").find("the library's registration of its operators failed: no licence"),
            std::string::npos);
}

TEST(CustomOperators, ALibraryRegistersItsOperatorsOnce) {
  LoadOperators(METE_OPERATORS_LIBRARY);
  LoadOperators(METE_OPERATORS_LIBRARY);
  ModelProto m = Net("test.operators", "Scale");
  AddFloat(Mine(m), "by", 2);
  EXPECT_EQ(RunNet(m), (std::vector<float>{0, 4, 6, 8, 10, 12}));
}

// The domain is the program's own, and so are the meanings of names that ONNX has as well.
TEST(CustomOperators, NamesOfOnnxHaveNoMeaningOfOnnx) {
  std::string told;
  const auto shapes = [&](const OperatorNode& node) {
    told = std::to_string(node.attributes.Int("dtype", -1)) + " " +
           std::to_string(node.attributes.Int("to", -1));
    return SameAsInput(node);
  };
  RegisterOperator({"test", "Constant", 1, shapes, Nothing});
  ModelProto m = Net("test", "Constant");
  AddInt(Mine(m), "dtype", 1);
  AddInt(Mine(m), "to", 100);
  (void)RunNet(m);
  EXPECT_EQ(told, "1 100");
}

TEST(CustomOperators, WhatIsNoLibraryOfOperatorsIsTold) {
  EXPECT_NE(MessageOf([] {
              LoadOperators("no-such-library.so");
            }).find("[no-such-library.so] the library of operators cannot be loaded: "),
            std::string::npos);
}

}  // namespace
}  // namespace mete
