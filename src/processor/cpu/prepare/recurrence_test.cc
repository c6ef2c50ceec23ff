// LSTM, GRU and RNN over odd sizes, which nodes/recurrence.txt has in part.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

struct Net {
  const char *op, *kernel, *attributes;
  int64_t gates, outputs;
};
constexpr Net kNets[] = {{"LSTM", "lstm", "", 4, 3},
                         {"GRU", "gru_f32", "linear_before_reset=1, ", 3, 2},
                         {"GRU", "gru_reset_first_f32", "", 3, 2},
                         {"RNN", "rnn", "", 1, 2}};

// The parameter is a part of the name of each test.
void PrintTo(const Net& net, std::ostream* out) { *out << net.kernel; }

struct Sizes {
  int64_t length, batch, inputs, hidden;
  const char* recurrent = "";  // the range of the recurrent weights
};

// Returns the node as a line; `lengths` may be empty. The initial states are given where there are lengths.
std::string LineOf(const Net& net, const Sizes& s, const std::string& direction,
                   const std::vector<int64_t>& lengths) {
  const int64_t directions = direction == "bidirectional" ? 2 : 1, rows = net.gates * s.hidden;
  std::string line = fmt::format("{}[{}]({}x{}x{}, const {}x{}x{}, const {}x{}x{}{}, const {}x{}", net.op,
                                 net.outputs, s.length, s.batch, s.inputs, directions, rows, s.inputs,
                                 directions, rows, s.hidden, s.recurrent, directions, 2 * rows);
  if (!lengths.empty()) {
    line += fmt::format(", i64 [{}]", fmt::join(lengths, ","));
    for (int64_t state = 1; state < net.outputs; ++state)
      line += fmt::format(", {}x{}x{}", directions, s.batch, s.hidden);
  }
  return line + fmt::format(") {{{}direction=\"{}\"}} -> {}", net.attributes, direction,
                            s.length == 0 ? "reference" : net.kernel);
}

class EachNet : public testing::TestWithParam<Net> {};

TEST_P(EachNet, EqualsTheReferenceOverOddSizes) {
  for (const int64_t hidden : {1, 3, 16, 37})
    for (const int64_t inputs : {1, 5, 40})
      for (const int64_t length : {0, 1, 7})
        for (const int64_t batch : {1, 3})
          for (const char* direction : {"forward", "reverse", "bidirectional"}) {
            const std::string line = LineOf(GetParam(), {length, batch, inputs, hidden}, direction, {});
            ExpectFastEqualsReference(ParseNode("sizes", line));
            if (HasFatalFailure()) return;
          }
}

TEST_P(EachNet, EqualsTheReferenceForSequencesOfOtherLengths) {
  for (const int64_t hidden : {3, 37})
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (const std::vector<int64_t>& lengths :
           {std::vector<int64_t>{0, 0, 0}, {7, 0, 1}, {2, 7, 6}, {3, 3, 3}}) {
        ExpectFastEqualsReference(
            ParseNode("lengths", LineOf(GetParam(), {7, 3, 5, hidden}, direction, lengths)));
        if (HasFatalFailure()) return;
      }
}

// Sequences whose inputs are multiplied in several parts: 1000 steps of 4 x 37 sums are 600 KB. The recurrent
// weights are so small that no step enlarges the rounding errors of the steps before it.
TEST_P(EachNet, EqualsTheReferenceForManySteps) {
  ExpectFastEqualsReference(ParseNode(
      "steps", LineOf(GetParam(), {1000, 3, 5, 37, " in -0.1 to 0.1"}, "bidirectional", {1000, 3, 801})));
}

INSTANTIATE_TEST_SUITE_P(All, EachNet, testing::ValuesIn(kNets),
                         [](const auto& net) { return std::string(net.param.kernel); });

TEST(RecurrenceStep, ALengthOutOfRangeIsRefused) {
  OneNode node("LSTM(7x3x5, const 1x12x5, const 1x12x3, -, i64 [7,8,0])", 1);
  try {
    node.Run({});
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("sequence_lens[1] is out of range; got 8, expected 0 to 7"),
              std::string::npos)
        << e.what();
  }
}

// Without Y the states lie in working memory.
TEST(RecurrenceStep, StatesAloneAreThoseOfAllOutputs) {
  for (const Net& net : kNets) {
    SCOPED_TRACE(net.kernel);
    const NodeText text = ParseNode("states", LineOf(net, {7, 3, 5, 37}, "bidirectional", {7, 0, 4}));
    OneNodeGraph one = MakeOneNodeGraph(text, 3);
    const std::vector<Tensor> want = OneNode(text, 3).Run({});
    one.graph.nodes[0].outputs[0] = kNoValue;
    CpuKernels cpu(KernelOptions{});
    const auto prepared = cpu.Prepare(one.graph, one.node(), Step{.threads = 1});
    ASSERT_TRUE(prepared->kernel().starts_with(net.kernel));
    std::vector<ConstView> in;
    for (const Tensor& t : one.data) in.push_back(t.view());
    std::vector<Tensor> got{Tensor()};
    std::vector<View> out{View()};
    for (size_t o = 1; o < want.size(); ++o) {
      got.emplace_back(want[o].type(), want[o].shape());
      out.push_back(got.back().mutable_view());
    }
    prepared->Execute(in, out);
    for (size_t o = 1; o < want.size(); ++o) ExpectEqual(want[o], got[o]);
  }
}

TEST(RecurrenceStep, ThreadsDivideTheStepsOfOneLargeSequence) {
  const OneNode small("LSTM(7x1x5, const 1x12x5, const 1x12x3)", 1),
      large("LSTM(7x1x5, const 1x512x5, const 1x512x128)", 1);
  EXPECT_EQ(OneNode(small).Reason({.threads = 2}), "");
  EXPECT_EQ(OneNode(large).Reason({.threads = 2}), "threads divide each step");
  EXPECT_EQ(OneNode(large).Reason({.threads = 1}), "");
}

}  // namespace
}  // namespace mete
