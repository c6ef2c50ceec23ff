// Every family of fast kernels over the nodes of its text files.
#include <filesystem>
#include <set>

#include "dispatch/dispatch.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {

// The parameter is a part of the name of each test.
void PrintTo(const KernelFamily& family, std::ostream* out) { *out << family.name; }

namespace {

const std::filesystem::path kTestNodes = "src/processor/cpu/prepare/nodes",
                            kBenchNodes = "bench/kernels/nodes";

class Families : public testing::TestWithParam<KernelFamily> {
 protected:
  std::vector<NodeText> NodesIn(const std::filesystem::path& folder) {
    return ReadNodes(folder / (std::string(GetParam().name) + ".txt"));
  }
  bool Has(std::string_view op) const { return FamilyOf(op) && FamilyOf(op)->name == GetParam().name; }
};

TEST_P(Families, EachNodeEqualsTheReference) {
  for (const NodeText& node : NodesIn(kTestNodes)) {
    ASSERT_FALSE(node.expected.empty()) << node.where;
    ExpectFastEqualsReference(node);
    if (HasFatalFailure()) return;
  }
}

// Dispatch has told costs/ the same of the node.
TEST_P(Families, EachNodeHasAKernelThatDispatchNames) {
  std::vector<KernelOptions> options{
      {}, {.dispatch = {.plain_sums = true}}, {.dispatch = {.least_exact = true}}};
  for (const ConvAlgorithm conv : {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2,
                                   ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6})
    options.push_back({.dispatch = {.conv = conv, .plain_sums = true}});
  for (const NodeText& text : NodesIn(kTestNodes))
    for (const KernelOptions& with : options) {
      SCOPED_TRACE(text.where + ": " + text.text);
      const OneNodeGraph one = MakeOneNodeGraph(text, 11);
      CpuKernels cpu(with);
      const auto prepared = cpu.Prepare(one.graph, one.node(), Step{.threads = 1});
      const std::string kernel = prepared->kernel().substr(0, prepared->kernel().find(' '));
      std::string why;
      const auto fast = FastKernelOf(one.graph, one.node(), with.dispatch, &why);
      if (fast) {
        const std::vector<std::string> names = KernelNames(*fast);
        EXPECT_NE(std::find(names.begin(), names.end(), kernel), names.end()) << kernel;
      } else {
        EXPECT_EQ(kernel, "reference");
        EXPECT_EQ(prepared->reason(), why);
      }
    }
}

TEST_P(Families, EachOperatorHasANodeThatTheFamilyComputes) {
  std::set<std::string, std::less<>> computed;
  for (const NodeText& node : NodesIn(kTestNodes)) {
    EXPECT_TRUE(Has(node.op)) << node.where;
    if (!node.expected.starts_with("reference")) computed.insert(node.op);
  }
  for (const std::string_view op : GetParam().operators) EXPECT_TRUE(computed.contains(op)) << op;
}

TEST_P(Families, TheBenchmarkHasNodes) {
  const std::vector<NodeText> nodes = NodesIn(kBenchNodes);
  EXPECT_FALSE(nodes.empty());
  for (const NodeText& node : nodes) EXPECT_TRUE(Has(node.op)) << node.where;
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(KernelFamilies()),
                         [](const auto& family) { return std::string(family.param.name); });

TEST(FamilyTable, EachFileOfNodesBelongsToAFamily) {
  std::set<std::string> names{"tiles"};  // the benchmark measures these nodes with every tile
  for (const KernelFamily& family : KernelFamilies()) names.insert(family.name);
  for (const auto& folder : {kTestNodes, kBenchNodes})
    for (const auto& file : std::filesystem::directory_iterator(folder))
      EXPECT_TRUE(names.contains(file.path().stem())) << file.path();
}

TEST(FamilyTable, AnOperatorBelongsToOneFamily) {
  std::set<std::string_view> seen;
  for (const KernelFamily& family : KernelFamilies())
    for (const std::string_view op : family.operators) EXPECT_TRUE(seen.insert(op).second) << op;
  EXPECT_EQ(FamilyOf("NoSuch"), nullptr);
}

}  // namespace
}  // namespace mete
