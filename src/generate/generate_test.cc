#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors_testing.h"
#include "engine/decoder_testing.h"
#include "generate/generator.h"

namespace mete {
namespace {

class GeneratorOfADecoder : public testing::Test {
 protected:
  const DecoderSize size_;
  const ModelFile file_{DecoderNet(size_).Make()};
  const Model model_ = Model::Load(file_.path(), {.input_shapes = {{"T", {1}}, {"P", {16}}}});
};

TEST_F(GeneratorOfADecoder, TheCacheStandsForEarlierTokens) {
  Session one(model_, SessionOptions::Estimated()), all(model_, SessionOptions::Estimated());
  Generator with_cache(model_, one);
  ASSERT_TRUE(with_cache.has_cache());
  const std::vector<int64_t> tokens{3, 1, 4, 1, 5, 9, 2, 6};
  for (size_t n = 1; n <= tokens.size(); ++n) {
    const std::vector<float> step = with_cache.Next(std::span(tokens).subspan(n - 1, 1));
    const std::vector<float> whole = Generator(model_, all).Next(std::span(tokens).first(n));
    ASSERT_EQ(step.size(), size_t(size_.vocabulary));
    ASSERT_EQ(whole.size(), step.size());
    EXPECT_EQ(with_cache.seen(), int64_t(n));
    // The sums have at most 4 * features products in each of the layers, in another order.
    float largest = 0;
    for (const float v : whole) largest = std::max(largest, std::abs(v));
    const float tolerance =
        std::numeric_limits<float>::epsilon() * float(4 * size_.features() * 2 * size_.layers) * largest;
    for (size_t i = 0; i < step.size(); ++i)
      EXPECT_NEAR(step[i], whole[i], tolerance) << n << " tokens, logit " << i;
  }
}

TEST_F(GeneratorOfADecoder, ARunThatFailsHasSeenNothing) {
  Session session(model_, SessionOptions::Estimated()), other(model_, SessionOptions::Estimated());
  Generator interrupted(model_, session), whole(model_, other);
  const std::vector<int64_t> tokens{3, 1, 4};
  (void)interrupted.Next(std::span(tokens).first(1));
  (void)whole.Next(std::span(tokens).first(1));
  const RunOptions late{.deadline = std::chrono::steady_clock::now() - std::chrono::hours(1)};
  EXPECT_THROW((void)interrupted.Next(std::span(tokens).subspan(1), late), Error);
  EXPECT_EQ(interrupted.seen(), 1);
  EXPECT_EQ(interrupted.Next(std::span(tokens).subspan(1)), whole.Next(std::span(tokens).subspan(1)));
}

// The same decoder, as files have it whose runs take one token each.
class GeneratorOfOneTokenARun : public testing::Test {
 protected:
  static ModelProto Proto() {
    ModelProto proto = DecoderNet().Make();
    auto& tokens = *proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    tokens.mutable_shape()->mutable_dim(1)->set_dim_value(1);
    return proto;
  }

  const ModelFile file_{Proto()};
  const Model model_ = Model::Load(file_.path(), {.input_shapes = {{"P", {16}}}});
};

TEST_F(GeneratorOfOneTokenARun, TakesTokensOneByOne) {
  Session session(model_, SessionOptions::Estimated()), other(model_, SessionOptions::Estimated());
  Generator at_once(model_, session), one_by_one(model_, other);
  const std::vector<int64_t> tokens{3, 1, 4};
  std::vector<float> last;
  for (size_t i = 0; i < tokens.size(); ++i) last = one_by_one.Next(std::span(tokens).subspan(i, 1));
  EXPECT_EQ(at_once.Next(tokens), last);
  EXPECT_EQ(at_once.seen(), 3);
}

// The first two runs have changed the cache when the third one fails.
TEST_F(GeneratorOfOneTokenARun, ALaterRunThatFailsTakesBackThoseBeforeIt) {
  Session session(model_, SessionOptions::Estimated()), other(model_, SessionOptions::Estimated());
  Generator failing(model_, session), whole(model_, other);
  (void)failing.Next(std::vector<int64_t>{7});
  (void)whole.Next(std::vector<int64_t>{7});
  const int64_t none = DecoderSize().vocabulary;  // one above the last token
  EXPECT_THROW((void)failing.Next(std::vector<int64_t>{3, 1, none}), Error);
  EXPECT_EQ(failing.seen(), 1);
  const std::vector<int64_t> tokens{5, 9};
  EXPECT_EQ(failing.Next(tokens), whole.Next(tokens));
  EXPECT_EQ(failing.seen(), 3);
}

TEST_F(GeneratorOfADecoder, RefusesNoToken) {
  Session session(model_, SessionOptions::Estimated());
  Generator generator(model_, session);
  EXPECT_TELLS(generator.Next({}), "got no token");
}

// Gives three logits: 100 in the branch for runs with earlier tokens and 0 in the other, the number of tokens
// of the run, and the number of all tokens. The cache is 1x1xPx1.
ModelProto DecoderWithBranches() {
  ModelProto proto = EmptyModel(17);
  AddInput(proto, "input_ids", {1, -1}, {"", "T"}, TensorProto::INT64);
  AddInput(proto, "past.0.key", {-1, 1, -1, 1}, {"batch", "", "P", ""});
  AddInput(proto, "use_cache_branch", {1}, {""}, TensorProto::BOOL);
  AddRaw(proto, "cache", TensorProto::INT64, {4}, RawOf(std::vector<int64_t>{1, 1, -1, 1}));
  AddRaw(proto, "row", TensorProto::INT64, {2}, RawOf(std::vector<int64_t>{1, 3}));
  AddRaw(proto, "hundred", TensorProto::FLOAT, {1}, RawOf(std::vector<float>{100}));
  AddRaw(proto, "zero", TensorProto::FLOAT, {1}, RawOf(std::vector<float>{0}));
  AddInt(AddOp(proto, "Cast", {"input_ids"}, {"ids"}), "to", TensorProto::FLOAT);
  AddOp(proto, "Reshape", {"ids", "cache"}, {"new"});
  AddInt(AddOp(proto, "Concat", {"past.0.key", "new"}, {"present.0.key"}), "axis", 2);
  NodeProto& branch = AddOp(proto, "If", {"use_cache_branch"}, {"branch"});
  AddTo(AddSubgraph(branch, "then_branch", {"with"}), "Identity", {"hundred"}, {"with"}, "");
  AddTo(AddSubgraph(branch, "else_branch", {"without"}), "Identity", {"zero"}, {"without"}, "");
  AddOp(proto, "Size", {"input_ids"}, {"count"});
  AddOp(proto, "Size", {"present.0.key"}, {"all"});
  for (const char* size : {"count", "all"})
    AddInt(AddOp(proto, "Cast", {size}, {std::string(size) + "_f32"}), "to", TensorProto::FLOAT);
  AddRaw(proto, "one", TensorProto::INT64, {1}, RawOf(std::vector<int64_t>{1}));
  AddOp(proto, "Reshape", {"count_f32", "one"}, {"count_row"});
  AddOp(proto, "Reshape", {"all_f32", "one"}, {"all_row"});
  AddInt(AddOp(proto, "Concat", {"branch", "count_row", "all_row"}, {"three"}), "axis", 0);
  AddOp(proto, "Reshape", {"three", "row"}, {"logits"});
  AddOutput(proto, "logits");
  AddOutput(proto, "present.0.key");
  return proto;
}

TEST(GeneratorOfBranches, SaysWhetherThereAreEarlierTokens) {
  const ModelFile file(DecoderWithBranches());
  const Model model = Model::Load(file.path(), {.input_shapes = {{"T", {1}}, {"P", {16}}}});
  Session session(model, SessionOptions::Estimated());
  Generator generator(model, session);
  EXPECT_EQ(generator.Next(std::vector<int64_t>{3, 1, 4}), (std::vector<float>{0, 3, 3}));
  EXPECT_EQ(generator.Next(std::vector<int64_t>{1}), (std::vector<float>{100, 1, 4}));
  // The branch for earlier tokens takes one new token in a run.
  EXPECT_EQ(generator.Next(std::vector<int64_t>{5, 9}), (std::vector<float>{100, 1, 6}));
}

TEST(PortsOfDecoder, NamesAllThatNoDecoderHas) {
  ModelProto proto = EmptyModel(17);
  AddInput(proto, "picture", {1, 3, 8, 8}, {});
  AddInput(proto, "past.0.key", {1, 2, -1, 4}, {"", "", "P", ""});
  AddOp(proto, "Relu", {"picture"}, {"present.1.key"});
  AddOp(proto, "Relu", {"past.0.key"}, {"other"});
  AddOutput(proto, "present.1.key");
  AddOutput(proto, "other");
  const ModelFile file(proto);
  const Model model = Model::Load(file.path());
  const std::string error = ErrorOf([&] { PortsOfDecoder(model); });
  EXPECT_NE(error.find("[picture] this input is none of a decoder"), std::string::npos) << error;
  EXPECT_NE(error.find("[past.0.key] no output has this cache"), std::string::npos) << error;
}

TEST(EmptyCache, HasOneOpenDimension) {
  Port port{.name = "past", .type = DType::kF32, .shape = {2, 4, 16, 8}, .declared = {-1, 4, -1, 8}};
  EXPECT_EQ(EmptyCache(port), (Shape{1, 4, 0, 8}));
  port.declared = {1, -1, -1, 8};
  port.dims = {"", "batch_size", "past_length", ""};
  EXPECT_EQ(EmptyCache(port), (Shape{1, 1, 0, 8}));
  port.declared = {1, 4, 127, 8};
  EXPECT_TELLS(EmptyCache(port), "cannot grow");
}

}  // namespace
}  // namespace mete
