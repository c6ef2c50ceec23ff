// Tests of lists that a Loop of unknown runs lets grow, beside plain loops.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/engine_testing.h"

namespace mete {
namespace {

constexpr int64_t kRows = 2, kColumns = 3;

// Loop(n): appends x + i to a list, and hands on a sum of all. Behind the loop `reader` reads the list.
ModelProto Growing(const std::function<void(ModelProto&)>& reader) {
  ModelProto m = EmptyModel(17);
  AddInput(m, "n", {}, {}, TensorProto::INT64);
  AddInput(m, "x", {kRows, kColumns});
  AddOp(m, "SequenceEmpty", {}, {"none"}, "none");
  NodeProto& loop = AddOp(m, "Loop", {"n", "", "none", "x"}, {"list", "sum"}, "loop");
  auto& a = *loop.add_attribute();
  a.set_name("body");
  a.set_type(AttributeProto::GRAPH);
  GraphProto& body = *a.mutable_g();
  for (const char* name : {"i", "go", "before", "partial"}) body.add_input()->set_name(name);
  for (const char* name : {"next", "after", "total"}) body.add_output()->set_name(name);
  const auto add = [&](const char* op, std::vector<const char*> in, const char* out) -> NodeProto& {
    NodeProto& n = *body.add_node();
    n.set_op_type(op);
    for (const char* name : in) n.add_input(name);
    n.add_output(out);
    return n;
  };
  add("Identity", {"go"}, "next");
  add("CastLike", {"i", "x"}, "number");
  add("Add", {"x", "number"}, "element");
  add("SequenceInsert", {"before", "element"}, "after");
  add("Add", {"partial", "element"}, "total");
  reader(m);
  AddOutput(m, "y");
  AddOutput(m, "sum");
  return m;
}

std::vector<Tensor> RunFor(const ModelProto& m, int64_t runs) {
  const ModelFile file(m);
  const Model model = Model::Load(file.path(), {});
  return Session(model, SessionOptions::Estimated())
      .Run({Tensor::Of<int64_t>(DType::kI64, {}, std::span(&runs, 1)), Ramp({kRows, kColumns}, 1)});
}

// The element of run i at a row and a column.
float Element(int64_t i, int64_t row, int64_t column) {
  return Ramp({kRows, kColumns}, 1).as<float>()[row * kColumns + column] + float(i);
}

TEST(GrowingSequences, AreJoinedAlongAnyAxis) {
  constexpr int64_t kRuns = 4;
  for (const bool fresh : {false, true})
    for (int64_t axis = fresh ? -3 : -2; axis < (fresh ? 3 : 2); ++axis) {
      SCOPED_TRACE(fmt::format("axis {} new_axis {}", axis, fresh));
      const std::vector<Tensor> got = RunFor(Growing([&](ModelProto& m) {
                                               NodeProto& join =
                                                   AddOp(m, "ConcatFromSequence", {"list"}, {"y"}, "join");
                                               AddInt(join, "axis", axis);
                                               AddInt(join, "new_axis", fresh);
                                             }),
                                             kRuns);
      const int64_t at = axis < 0 ? axis + (fresh ? 3 : 2) : axis;
      Shape shape{kRows, kColumns};
      if (fresh) shape = at == 0 ? Shape{kRuns, 2, 3} : at == 1 ? Shape{2, kRuns, 3} : Shape{2, 3, kRuns};
      else shape[int(at)] *= kRuns;
      ASSERT_EQ(got[0].shape(), shape);
      for (int64_t i = 0; i < kRuns; ++i)
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t c = 0; c < kColumns; ++c) {
            int64_t place = 0;
            if (fresh)
              place = at == 0   ? (i * 2 + r) * 3 + c
                      : at == 1 ? (r * kRuns + i) * 3 + c
                                : (r * 3 + c) * kRuns + i;
            else place = at == 0 ? (i * 2 + r) * 3 + c : r * 3 * kRuns + i * 3 + c;
            EXPECT_EQ(got[0].as<float>()[place], Element(i, r, c)) << i << r << c;
          }
      EXPECT_EQ(got[1].as<float>()[0], 5 * Element(0, 0, 0) + 6);  // x and 4 elements
    }
}

TEST(GrowingSequences, AreCountedAndAskedForAnElement) {
  const ModelProto length =
      Growing([](ModelProto& m) { AddOp(m, "SequenceLength", {"list"}, {"y"}, "length"); });
  EXPECT_EQ(*RunFor(length, 3)[0].as<int64_t>(), 3);
  EXPECT_EQ(RunFor(length, 3)[0].shape(), Shape{});
  const ModelProto last = Growing([](ModelProto& m) {
    AddRaw(m, "last", TensorProto::INT64, {}, RawOf<int64_t>({-1}));
    AddOp(m, "SequenceAt", {"list", "last"}, {"y"}, "at");
  });
  const Tensor y = RunFor(last, 5)[0];
  ASSERT_EQ(y.shape(), (Shape{kRows, kColumns}));
  EXPECT_EQ(y.as<float>()[4], Element(4, 1, 1));
  EXPECT_THROW((void)RunFor(last, 0), Error);
}

TEST(GrowingSequences, AreNotJoinedAlongAnAxisThatTheyLack) {
  for (const bool fresh : {false, true})
    for (const int64_t axis : {-5, -4, fresh ? 3 : 2, 7}) {
      const ModelProto m = Growing([&](ModelProto& model) {
        NodeProto& join = AddOp(model, "ConcatFromSequence", {"list"}, {"y"}, "join");
        AddInt(join, "axis", axis);
        AddInt(join, "new_axis", fresh);
      });
      EXPECT_THROW((void)RunFor(m, 3), Error) << fresh << " " << axis;
    }
}

// A list that is read in the loop as well.
TEST(GrowingSequences, OthersAreUnsupported) {
  ModelProto m =
      Growing([](ModelProto& model) { AddOp(model, "SequenceLength", {"list"}, {"y"}, "length"); });
  for (NodeProto& node : *m.mutable_graph()->mutable_node())
    if (node.op_type() == "Loop") {
      GraphProto& body = *node.mutable_attribute(0)->mutable_g();
      NodeProto& count = *body.add_node();
      count.set_op_type("SequenceLength");
      count.add_input("before");
      count.add_output("count");
      body.add_output()->set_name("count");
    }
  try {
    (void)RunFor(m, 3);
    ADD_FAILURE() << "a list that is read in the loop ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kUnimplemented) << e.what();
  }
}

}  // namespace
}  // namespace mete
