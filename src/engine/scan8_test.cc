// Tests of Scan in the form of opset 8, beside a plain loop: it scans each sequence of a batch.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace mete {
namespace {

// Inputs: lengths (optional), s (2), x (2 x 3) and w (); the body gives s + x as the next state, and
// w * (s + x).
ModelProto ScanModel(bool has_lengths, bool reversed) {
  ModelProto m = EmptyModel(8);
  if (has_lengths) AddInput(m, "lengths", {2}, {}, TensorProto::INT64);
  AddInput(m, "s", {2});
  AddInput(m, "x", {2, 3});
  AddInput(m, "w", {});
  NodeProto& node = AddOp(m, "Scan", {has_lengths ? "lengths" : "", "s", "x"}, {"last", "all"}, "scan");
  AddInt(node, "num_scan_inputs", 1);
  if (reversed) AddInts(node, "directions", {1});
  auto& a = *node.add_attribute();
  a.set_name("body");
  a.set_type(AttributeProto::GRAPH);
  GraphProto& body = *a.mutable_g();
  for (const char* name : {"state", "element"}) body.add_input()->set_name(name);
  for (const char* name : {"sum", "times"}) body.add_output()->set_name(name);
  const auto add = [&](const char* op, const char* left, const char* right, const char* out) {
    NodeProto& n = *body.add_node();
    n.set_op_type(op);
    n.add_input(left);
    n.add_input(right);
    n.add_output(out);
  };
  add("Add", "state", "element", "sum");
  add("Mul", "sum", "w", "times");
  AddOutput(m, "last");
  AddOutput(m, "all");
  return m;
}

Tensor FloatsOf(const Shape& shape, const std::vector<float>& values) {
  return Tensor::Floats(shape, values);
}

std::vector<Tensor> RunScan(bool reversed, const std::vector<int64_t>& lengths) {
  const ModelFile file(ScanModel(!lengths.empty(), reversed));
  const Model model = Model::Load(file.path(), {});
  std::vector<Tensor> inputs{FloatsOf({2}, {10, 20}), FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6}),
                             FloatsOf({}, {2})};
  if (!lengths.empty()) inputs.insert(inputs.begin(), Tensor::Ints(lengths));
  return Session(model, SessionOptions::Estimated()).Run(inputs);
}

void ExpectScan(bool reversed, const std::vector<int64_t>& lengths) {
  const std::vector<Tensor> got = RunScan(reversed, lengths);
  ASSERT_EQ(got[0].shape(), Shape{2});
  ASSERT_EQ(got[1].shape(), (Shape{2, 3}));
  for (int64_t row = 0; row < 2; ++row) {
    const int64_t length = lengths.empty() ? 3 : lengths[size_t(row)];
    float state = row == 0 ? 10 : 20;
    for (int64_t i = 0; i < 3; ++i) {
      const float x = float(row * 3 + (reversed ? length - 1 - i : i) + 1);
      if (i < length) state += x;
      EXPECT_EQ(got[1].as<float>()[row * 3 + i], i < length ? 2 * state : 0) << row << " " << i;
    }
    EXPECT_EQ(got[0].as<float>()[row], state);
  }
}

TEST(Scan8, RunsForEachSequenceOfABatch) {
  for (const bool reversed : {false, true})
    for (const std::vector<int64_t>& lengths :
         {std::vector<int64_t>{}, std::vector<int64_t>{3, 2}, std::vector<int64_t>{0, 1}}) {
      SCOPED_TRACE(fmt::format("reversed {} lengths {}", reversed, fmt::join(lengths, " ")));
      ExpectScan(reversed, lengths);
    }
}

TEST(Scan8, ALengthBeyondTheSequenceIsRefused) {
  EXPECT_THROW((void)RunScan(false, {3, 4}), Error);
  EXPECT_THROW((void)RunScan(false, {-1, 3}), Error);
}

}  // namespace
}  // namespace mete
