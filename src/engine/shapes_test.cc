// Sessions whose inputs change their shapes: the bits are those of a session made for each shape.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/decoder_testing.h"

namespace mete {
namespace {

void ExpectSameBits(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t o = 0; o < want.size(); ++o) {
    ASSERT_EQ(got[o].shape(), want[o].shape()) << "output " << o;
    EXPECT_EQ(std::memcmp(got[o].data(), want[o].data(), want[o].bytes()), 0) << "output " << o;
  }
}

class ShapesOfADecoder : public testing::Test {
 protected:
  Model Loaded(int64_t tokens, int64_t length) const {
    return Model::Load(file_.path(), {.input_shapes = {{"T", {tokens}}, {"P", {length}}}});
  }
  // The session of a model that is loaded for these sizes alone.
  std::vector<Tensor> RunFixed(const std::vector<Tensor>& inputs, const SessionOptions& options) {
    return Session(Loaded(inputs[0].shape()[1], inputs[1].shape()[2]), options).Run(inputs);
  }

  const DecoderSize size_;
  const ModelFile file_{DecoderNet(size_).Make()};
};

TEST_F(ShapesOfADecoder, EachLengthHasTheBitsOfASessionMadeForIt) {
  for (const bool reference : {false, true})
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(testing::Message() << "reference " << reference << ", threads " << threads);
      SessionOptions options = SessionOptions::Estimated(threads);
      options.reference = reference;
      Session session(Loaded(1, 16), options);
      std::vector<Tensor> inputs = DecoderInputs(size_, {3});
      for (int64_t length = 0; length < 12; ++length) {
        SCOPED_TRACE(testing::Message() << "length " << length);
        const std::vector<Tensor> got = session.Run(inputs);
        ExpectSameBits(got, RunFixed(inputs, options));
        inputs = {Tensor::Of<int64_t>(DType::kI64, {1, 1}, std::vector{(length * 7) % size_.vocabulary}),
                  got[1], got[2]};
      }
      EXPECT_EQ(session.shape_stats().note, "");
      EXPECT_EQ(session.shape_stats().passes, 2) << "only the length of the cache changes";
    }
}

TEST_F(ShapesOfADecoder, APromptAndThenSingleTokens) {
  const SessionOptions options = SessionOptions::Estimated();
  Session session(Loaded(2, 16), options);
  std::vector<Tensor> inputs = DecoderInputs(size_, {3, 1, 4, 1, 5});
  for (const std::vector<int64_t>& next : std::vector<std::vector<int64_t>>{{9}, {2}, {6, 5, 3}, {5}}) {
    const std::vector<Tensor> got = session.Run(inputs);
    ExpectSameBits(got, RunFixed(inputs, options));
    inputs = {Tensor::Of<int64_t>(DType::kI64, {1, int64_t(next.size())}, next), got[1], got[2]};
  }
  EXPECT_EQ(session.shape_stats().note, "");
}

TEST_F(ShapesOfADecoder, MemoryGrowsByTheCacheAlone) {
  const SessionOptions options = SessionOptions::Estimated();
  Session session(Loaded(1, 16), options);
  std::vector<Tensor> inputs = DecoderInputs(size_, {3});
  for (int64_t length = 0; length < size_.longest - 1; ++length) {
    const std::vector<Tensor> got = session.Run(inputs);
    inputs = {inputs[0], got[1], got[2]};
  }
  const int64_t length = inputs[1].shape()[2];
  Session last(Loaded(1, length), options);
  const ShapeStats grown = session.shape_stats(), fixed = last.shape_stats();
  EXPECT_LE(grown.arena_bytes, 2 * fixed.arena_bytes) << "an arena that has to grow doubles";
  EXPECT_EQ(grown.packed_bytes, fixed.packed_bytes);
  EXPECT_EQ(grown.kept, 1 + options.kept_shapes);
  EXPECT_EQ(grown.planned, size_.longest - 1) << "length 16 is the constructor's";
}

TEST_F(ShapesOfADecoder, MistakesInShapesNameTheInput) {
  Session session(Loaded(1, 16), SessionOptions::Estimated());
  const std::vector<Tensor> good = DecoderInputs(size_, {3});
  const auto message = [&](size_t input, const Tensor& tensor) {
    std::vector<Tensor> inputs = good;
    inputs[input] = tensor;
    return MessageOf([&] { session.Run(inputs); });
  };
  EXPECT_EQ(message(1, Tensor(DType::kF32, {2, 5, 4, 8})),
            "[past_k] wrong input shape; got 2x5x4x8, expected 2x4xPx8");
  EXPECT_EQ(message(1, Tensor(DType::kF32, {2, 4, 8})),
            "[past_k] wrong input shape; got 2x4x8, expected 2x4xPx8");
  EXPECT_EQ(message(2, Tensor(DType::kF32, {2, 4, 3, 8})),
            "[past_v] wrong input shape; got 2x4x3x8, expected 2x4xPx8 with P=0 as in input 'past_k'");
  EXPECT_EQ(message(0, Tensor(DType::kF32, {1, 1})), "[tokens] wrong input type; got f32, expected i64");
  // a position behind the last one of the table: only the model's nodes know
  std::vector<Tensor> inputs = good;
  inputs[1] = inputs[2] = Tensor(DType::kF32, {2, 4, size_.longest, 8});
  EXPECT_NE(MessageOf([&] { session.Run(inputs); }), "");
  ExpectSameBits(session.Run(good), RunFixed(good, SessionOptions::Estimated()));
}

TEST(Shapes, ABatchAndAPictureOfAnySize) {
  const ModelFile file(OpenConvNet());
  for (const int threads : {1, 2}) {
    const SessionOptions options = SessionOptions::Estimated(threads);
    const Model model = Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}});
    Session session(model, options);
    const int64_t packed = session.shape_stats().packed_bytes;
    EXPECT_GT(packed, 0);
    for (const Shape& shape :
         {Shape{1, 3, 16, 16}, {4, 3, 16, 16}, {2, 3, 16, 16}, {1, 3, 16, 16}, {3, 3, 9, 20}, {1, 3, 3, 3}}) {
      SCOPED_TRACE(ToString(shape));
      const Tensor input = Ramp(shape, 0.02f);
      Session fixed(Model::Load(file.path(), {.input_shapes = {{"data", shape}}}), options);
      ExpectSameBits(session.Run({input}), fixed.Run({input}));
    }
    EXPECT_EQ(session.shape_stats().packed_bytes, packed) << "weights are packed once for all shapes";
    EXPECT_EQ(session.shape_stats().note, "");
  }
}

TEST(Shapes, ATunedSessionComputesOtherShapesInTheWaysThatItHasChosen) {
  const ModelFile file(OpenConvNet());
  SessionOptions options;
  options.threads = 1;
  options.tuning_cache = options.profile_cache = "";
  const Model model = Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}});
  Session session(model, options);
  const Tensor one = Ramp({1, 3, 16, 16}, 0.02f), two = Ramp({2, 3, 16, 16}, 0.02f);
  const std::vector<float> want = Values(session.Run({one})[0]), got = Values(session.Run({two})[0]);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i], want[i]) << "the first picture is the same one";
  EXPECT_EQ(session.shape_stats().packed_bytes, session.stats().packed_bytes);
}

TEST(Shapes, TheLeastLatelyUsedPlanGoes) {
  const ModelFile file(OpenConvNet());
  SessionOptions options = SessionOptions::Estimated();
  options.kept_shapes = 2;
  Session session(Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}}), options);
  const auto planned_after = [&](int64_t batch) {
    session.Run({Ramp({batch, 3, 16, 16}, 0.02f)});
    EXPECT_LE(session.shape_stats().kept, 1 + 2);
    return session.shape_stats().planned;
  };
  EXPECT_EQ(planned_after(1), 1);
  EXPECT_EQ(planned_after(2), 2);
  EXPECT_EQ(planned_after(3), 3);
  EXPECT_EQ(planned_after(2), 3);
  EXPECT_EQ(planned_after(4), 4);  // takes the place of 3
  EXPECT_EQ(planned_after(2), 4);
  EXPECT_EQ(planned_after(3), 5);
  EXPECT_EQ(planned_after(1), 5) << "the constructor's plan stays";
  EXPECT_EQ(session.shape_stats().kept, 3);
}

TEST(Shapes, FewerThanOneKeptShapeIsRefused) {
  const ModelFile file(OpenConvNet());
  const Model model = Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}});
  SessionOptions options = SessionOptions::Estimated();
  options.kept_shapes = 0;
  EXPECT_EQ(MessageOf([&] { Session(model, options); }),
            "[kept_shapes] cannot be that few; got 0, expected 1 or more");
}

TEST(Shapes, OutputsInTheCallersMemoryHaveTheShapesThatFollow) {
  const ModelFile file(OpenConvNet());
  Session session(Model::Load(file.path(), {.input_shapes = {{"data", {1, 3, 16, 16}}}}),
                  SessionOptions::Estimated());
  const Tensor input = Ramp({3, 3, 16, 16}, 0.02f);
  Tensor right(DType::kF32, {3, 5}), wrong(DType::kF32, {1, 5});
  const ConstView in[] = {input.view()};
  const View out[] = {right.mutable_view()}, small[] = {wrong.mutable_view()};
  session.Run(in, out);
  EXPECT_EQ(Values(right), Values(session.Run({input})[0]));
  EXPECT_EQ(MessageOf([&] { session.Run(in, small); }),
            "[probabilities] wrong output; got f32 1x5, expected f32 3x5");
}

// A Reshape to a fixed number of rows: the model takes one batch only, and says so for any other.
TEST(Shapes, AModelThatTakesOneSizeSaysWhichNodeDoesNotFit) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {-1, 4}, {"N"});
  AddRaw(m, "w", TensorProto::FLOAT, {3, 4}, Weights(12));
  AddOp(m, "Add", {"x", "w"}, {"y"}, "add1");
  AddOutput(m, "y");
  const ModelFile file(m);
  Session session(Model::Load(file.path(), {.input_shapes = {{"N", {3}}}}), SessionOptions::Estimated());
  EXPECT_TRUE(Contains(MessageOf([&] { session.Run({Ramp({2, 4}, 1)}); }), "[add1] shapes cannot be"));
  EXPECT_EQ(session.Run({Ramp({1, 4}, 1)})[0].shape(), (Shape{3, 4})) << "one row is broadcast";
  EXPECT_TRUE(Contains(session.Notes().at(0), "the passes run for each shape: [add1]"));
  EXPECT_EQ(session.shape_stats().note, session.Notes().at(0));
}

}  // namespace
}  // namespace mete
