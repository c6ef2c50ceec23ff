// Runs that are submitted and answered later.
#include "mete/session_pool.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/engine_testing.h"

namespace mete {
namespace {

const Shape kInput{1, 3, 16, 16};

// Returns the code of the Error that the future holds.
Code CodeOf(std::future<std::vector<Tensor>>& answer) {
  try {
    answer.get();
    return Code::kOk;
  } catch (const Error& e) {
    return e.code();
  }
}

// x 1 -> Loop without end that adds x to itself -> y
Model EndlessNet() {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  AddInput(m, "go", {}, {}, TensorProto::BOOL);
  NodeProto& loop = AddOp(m, "Loop", {"", "go", "x"}, {"y"}, "loop");
  auto* attribute = loop.add_attribute();
  attribute->set_name("body");
  attribute->set_type(AttributeProto::GRAPH);
  ModelProto body = EmptyModel();
  AddInput(body, "i", {}, {}, TensorProto::INT64);
  AddInput(body, "again", {}, {}, TensorProto::BOOL);
  AddInput(body, "sum", {1});
  AddOp(body, "Identity", {"again"}, {"again_out"});
  AddOp(body, "Add", {"sum", "x"}, {"sum_out"});
  AddOutput(body, "again_out");
  AddOutput(body, "sum_out");
  *attribute->mutable_g() = body.graph();
  AddOutput(m, "y");
  const ModelFile file(m);
  return Model::Load(file.path());
}

std::vector<Tensor> EndlessInputs() {
  const bool go = true;
  return {Tensor(DType::kF32, {1}), Tensor::Of<bool>(DType::kBool, {}, std::span(&go, 1))};
}

TEST(SessionPools, GiveTheAnswersOfASession) {
  const ModelFile file(ConvNet());
  const Model model = Model::Load(file.path());
  Session session(model, SessionOptions::Estimated());
  SessionPool sessions(model, {.sessions = 3, .session = SessionOptions::Estimated()});
  std::vector<std::future<std::vector<Tensor>>> answers;
  for (int i = 0; i < 40; ++i) answers.push_back(sessions.Submit({Ramp(kInput, 0.01f * float(i))}));
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(Values(answers[size_t(i)].get()[0]), Values(session.Run({Ramp(kInput, 0.01f * float(i))})[0]));
}

TEST(SessionPools, TakeRunsOfSeveralThreads) {
  const ModelFile file(ConvNet());
  SessionPool sessions(Model::Load(file.path()), {.sessions = 2, .session = SessionOptions::Estimated()});
  std::vector<int> answered(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i)
          answered[size_t(t)] += int(sessions.Submit({Ramp(kInput, 0.01f)}).get().size());
      });
  }
  EXPECT_EQ(answered, std::vector<int>(4, 10));
}

TEST(SessionPools, AnErrorOfARunIsThatOfItsAnswer) {
  const ModelFile file(ConvNet());
  SessionPool sessions(Model::Load(file.path()), {.session = SessionOptions::Estimated()});
  auto wrong = sessions.Submit({Ramp({1, 3, 8, 8}, 1)}), right = sessions.Submit({Ramp(kInput, 1)});
  EXPECT_EQ(CodeOf(wrong), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(right), Code::kOk);
}

TEST(SessionPools, AFullQueueSaysSoAndWhatWaitsIsAnswered) {
  CancelToken cancel;
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  std::future<std::vector<Tensor>> running, late, cancelled;
  {
    SessionPool sessions(EndlessNet(), {.most_waiting = 2, .session = SessionOptions::Estimated()});
    running = sessions.Submit(EndlessInputs(), {.cancel = &cancel});
    while (sessions.waiting() > 0) std::this_thread::yield();
    late = sessions.Submit(EndlessInputs(), {.deadline = past});
    cancelled = sessions.Submit(EndlessInputs(), {.cancel = &cancel});
    EXPECT_EQ(sessions.waiting(), 2u);
    try {
      sessions.Submit(EndlessInputs());
      FAIL() << "did not throw";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted);
      EXPECT_NE(std::string(e.what()).find("got one more than 2; try again later"), std::string::npos);
    }
    cancel.Cancel();
  }  // which waits for all of them
  EXPECT_EQ(CodeOf(running), Code::kCancelled);
  EXPECT_EQ(CodeOf(late), Code::kDeadlineExceeded);
  EXPECT_EQ(CodeOf(cancelled), Code::kCancelled);
}

TEST(SessionPools, WrongOptionsAreRefused) {
  const ModelFile file(ConvNet());
  const Model model = Model::Load(file.path());
  EXPECT_EQ(MessageOf([&] { SessionPool(model, {.sessions = 0}); }),
            "[sessions] are too few; got 0, expected 1 or more");
  EXPECT_EQ(MessageOf([&] { SessionPool(model, {.sessions = 2, .session = {.threads = 1, .cores = {0}}}); }),
            "[cores] cannot be divided among the sessions; got 1 for 2 sessions of 1 threads");
  EXPECT_EQ(MessageOf([&] { SessionPool(model, {.sessions = 2, .session = {.threads = -1}}); }),
            "[threads] cannot be negative; got -1, expected 0 or more");
  EXPECT_EQ(MessageOf([&] { SessionPool(model, {.sessions = 2, .most_waiting = 0}); }),
            "[most_waiting] is too small; got 0, expected 1 or more");
  EXPECT_EQ(MessageOf([&] { SessionPool(model, {.sessions = 2, .session = {.plan_json = "{}"}}); }),
            "[plan_json] has the threads and cores of one session; got a plan for 2 sessions, expected none");
  EXPECT_EQ(MessageOf([&] {
              SessionPool(model, {.sessions = 2, .session = {.threads = 1, .speeds = {1, 1, 0.5}}});
            }),
            "[speeds] cannot be divided among the sessions; got 3 for 2 sessions");
}

TEST(SessionPools, EachSessionHasItsPartOfTheCores) {
  const ModelFile file(ConvNet());
  const Model model = Model::Load(file.path());
  const std::string told = MessageOf([&] {
    SessionPool(model, {.sessions = 2, .session = {.threads = 1, .cores = {0, 100000}}});
  });
  EXPECT_NE(told.find("100000"), std::string::npos) << told;
  // A session that had both cores would say this as well.
  EXPECT_EQ(told.find("a core for each thread"), std::string::npos) << told;
}

}  // namespace
}  // namespace mete
