#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <thread>

#include "base/json.h"
#include "engine/model.h"
#include "engine/session_testing.h"
#include "mete/io.h"
#include "mete/log.h"

namespace mete {
namespace {

TEST_F(SessionTest, FastAndReferenceKernelsAndAllThreadsAgree) {
  Session reference(model_, {.reference = true});
  const std::vector<float> want = Run(reference, 0.02f);
  EXPECT_NEAR(want[0] + want[1] + want[2] + want[3] + want[4], 1, 1e-5f);
  for (const int threads : {1, 2, 4}) {
    Session session(model_, SessionOptions::Estimated(threads));
    EXPECT_EQ(session.stats().threads, threads);
    ExpectNear(Run(session, 0.02f), want);
  }
  const Model plain = Model::Load(file_.path(), {.optimize = false});
  Session session(plain, SessionOptions::Estimated());
  ExpectNear(Run(session, 0.02f), want);
}

TEST_F(SessionTest, SessionsOfAModelHaveTheirPackedWeightsInCommon) {
  Session first(model_, SessionOptions::Estimated());
  const int64_t one = ModelInternals::Of(model_).packed->bytes();
  EXPECT_GT(one, 0);
  EXPECT_EQ(one, first.stats().packed_bytes);
  {
    Session second(model_, SessionOptions::Estimated());
    EXPECT_EQ(ModelInternals::Of(model_).packed->bytes(), one);
    EXPECT_EQ(Run(second, 0.02f), Run(first, 0.02f));
    first = Session();  // the weights stay for the second
    EXPECT_EQ(ModelInternals::Of(model_).packed->bytes(), one);
    Run(second, 0.03f);
  }
  EXPECT_EQ(ModelInternals::Of(model_).packed->bytes(), 0);
}

TEST(SessionOfConcat, IsTheSameWithAndWithoutThePass) {
  const ModelFile file(ConcatNet());
  const Model in_place = Model::Load(file.path()),
              copied = Model::Load(file.path(), {.disabled_passes = {"concat-in-place"}});
  for (const bool reference : {false, true})
    for (const int threads : {1, 2}) {
      SessionOptions options = SessionOptions::Estimated(threads);
      options.reference = reference;
      Session a(in_place, options), b(copied, options);
      EXPECT_EQ(a.Explain().find("Concat "), std::string::npos);
      EXPECT_NE(b.Explain().find("Concat "), std::string::npos);
      for (const float step : {0.02f, 0.03f}) {
        const auto got = a.Run(std::vector{Ramp(kInput, step)}),
                   want = b.Run(std::vector{Ramp(kInput, step)});
        // the same sums in the same order
        for (size_t o = 0; o < want.size(); ++o) EXPECT_EQ(Values(got[o]), Values(want[o]));
      }
    }
}

TEST_F(SessionTest, RunsIntoTheCallersMemory) {
  Session session(model_, SessionOptions::Estimated());
  const Tensor input = Ramp(kInput, 0.01f);
  Tensor output(DType::kF32, {1, 5});
  const ConstView in[] = {input.view()};
  const View out[] = {output.mutable_view()};
  session.Run(in, out);
  EXPECT_EQ(Values(output), Run(session, 0.01f));
}

TEST_F(SessionTest, SeveralSessionsRunSideBySide) {
  Session alone(model_);
  std::vector<std::vector<float>> want;
  for (int i = 0; i < 4; ++i) want.push_back(Run(alone, 0.01f * float(i + 1)));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Session session(model_, SessionOptions::Estimated(2));
      for (int k = 0; k < 20; ++k) wrong[size_t(i)] += Run(session, 0.01f * float(i + 1)) != want[size_t(i)];
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(SessionTest, OneSessionServesSeveralThreads) {
  Session session(model_, SessionOptions::Estimated(2));
  std::vector<std::vector<float>> want;
  for (int i = 0; i < 4; ++i) want.push_back(Run(session, 0.01f * float(i + 1)));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) wrong[size_t(i)] += Run(session, 0.01f * float(i + 1)) != want[size_t(i)];
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(SessionTest, ShapesKnownOnlyAtRunTimeFromSeveralThreads) {
  const ModelFile file(NonZeroNet());
  Session session(Model::Load(file.path()), SessionOptions::Estimated());
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, 0);
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      std::vector<float> values(4, 0.0f);
      for (int k = 0; k <= i; ++k) values[size_t(k)] = 1;
      for (int k = 0; k < 20; ++k) {
        const auto out = session.Run(std::vector{Tensor::Floats({4}, values)});
        wrong[size_t(i)] += !(out.at(0).shape() == Shape{1, i + 1});
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

TEST_F(SessionTest, IsExplainedWhileItRuns) {
  Session session(model_, SessionOptions::Estimated(2));
  std::thread other([&] {
    for (int k = 0; k < 200; ++k) Run(session, 0.02f);
  });
  for (int k = 0; k < 200; ++k) EXPECT_NE(session.Explain().find("plan for"), std::string::npos);
  other.join();
}

TEST_F(SessionTest, MovesKeepRunning) {
  Session first(model_, SessionOptions::Estimated(2));
  const std::vector<float> want = Run(first, 0.02f);
  Session second(std::move(first));
  EXPECT_EQ(Run(second, 0.02f), want);
  Session third(model_);
  third = std::move(second);
  EXPECT_EQ(Run(third, 0.02f), want);
}

TEST_F(SessionTest, OutlivesItsModel) {
  auto session = [&] { return Session(Model::Load(file_.path()), SessionOptions::Estimated()); }();
  EXPECT_EQ(Run(session, 0.02f).size(), 5u);
}

TEST_F(SessionTest, ACancelledRunSaysSoAndTheNextOneWorks) {
  Session session(model_, SessionOptions::Estimated());
  const std::vector<float> want = Run(session, 0.02f);
  CancelToken token;
  token.Cancel();
  try {
    Run(session, 0.02f, {.cancel = &token});
    FAIL() << "did not throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kCancelled);
  }
  EXPECT_EQ(Run(session, 0.02f), want);
}

TEST_F(SessionTest, ARunWhoseDeadlineIsOverSaysSoAndTheNextOneWorks) {
  Session session(model_, SessionOptions::Estimated());
  const std::vector<float> want = Run(session, 0.02f);
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  try {
    Run(session, 0.02f, {.deadline = past});
    FAIL() << "did not throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
    EXPECT_NE(std::string(e.what()).find("ms before this step; try a later"), std::string::npos) << e.what();
  }
  EXPECT_EQ(Run(session, 0.02f, {.deadline = past + std::chrono::hours(1)}), want);
}

TEST_F(SessionTest, TheLogIsToldWhatNotesSay) {
  std::vector<std::string> told;
  SetLog([&](LogLevel, std::string_view line) { told.emplace_back(line); });
  const ModelFile file(OpenConvNet());
  const Model model = Model::Load(file.path());
  SetLog({});
  ASSERT_FALSE(model.notes().empty());
  ASSERT_EQ(told.size(), model.notes().size());
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], "[test] " + model.notes()[i]);
}

// Outputs of 2x8 and of 8x2 pixels have as many phases of stride 4, but others.
TEST_F(SessionTest, TransposedConvolutionsOfSmallOutputsHaveWeightsOfTheirOwn) {
  ModelProto proto = EmptyModel(17);
  AddInput(proto, "x", {1, 20, -1, -1}, {"", "", "H", "W"});
  const std::vector<float> weights = Values(Ramp({20, 20, 2, 2}, 1e-4f));
  AddRaw(proto, "w", TensorProto::FLOAT, {20, 20, 2, 2}, RawOf(weights));
  AddInts(AddOp(proto, "ConvTranspose", {"x", "w"}, {"y"}), "strides", {4, 4});
  AddOutput(proto, "y");
  const ModelFile file(proto);
  const Model model = Model::Load(file.path(), {.input_shapes = {{"x", {1, 20, 3, 3}}}});
  Session fast(model, SessionOptions::Estimated()), exact(model, {.reference = true});
  for (const Shape& shape : {Shape{1, 20, 1, 2}, Shape{1, 20, 2, 1}}) {
    const Tensor x = Ramp(shape, 0.02f);
    ExpectNear(Values(fast.Run({x})[0]), Values(exact.Run({x})[0]));
  }
}

TEST_F(SessionTest, WhatTakesTheLogMayCallTheSession) {
  SessionOptions options;
  options.tuning_cache = options.profile_cache = "";
  Session session(WideNet(WideOutput::kFloat), options);
  ASSERT_FALSE(session.settled());
  bool told = false;
  SetLog(
      [&](LogLevel, std::string_view line) {
        if (line.find("all kernels are measured") != line.npos) told = session.settled();
      },
      LogLevel::kDebug);
  session.Settle();
  SetLog({});
  EXPECT_TRUE(told);
}

TEST_F(SessionTest, IsCancelledFromAnotherThread) {
  Session session(model_, SessionOptions::Estimated());
  CancelToken token;
  std::thread other([&] { token.Cancel(); });
  EXPECT_THROW(while (true) Run(session, 0.02f, {.cancel = &token}), Error);
  other.join();
}

TEST_F(SessionTest, WrongInputsAreNamed) {
  Session session(model_, SessionOptions::Estimated());
  EXPECT_EQ(MessageOf([&] { session.Run(std::vector<Tensor>()); }),
            "[test] wrong number of inputs; got 0, expected 1");
  EXPECT_EQ(MessageOf([&] { session.Run(std::vector{Tensor(DType::kI64, kInput)}); }),
            "[data] wrong input type; got i64, expected f32");
  EXPECT_EQ(MessageOf([&] {
              session.Run(std::vector{Ramp({1, 3, 8, 8}, 1)});
            }),
            "[data] wrong input shape; got 1x3x8x8, expected 1x3x16x16");
  EXPECT_EQ(MessageOf([&] { session.Run(std::vector<Tensor>(1)); }),
            "[data] wrong input type; got unknown, expected f32");
}

TEST_F(SessionTest, WrongOutputsAreNamed) {
  Session session(model_, SessionOptions::Estimated());
  const Tensor input = Ramp(kInput, 1);
  const ConstView in[] = {input.view()};
  Tensor output(DType::kF32, {1, 4});
  const View wrong[] = {output.mutable_view()};
  EXPECT_EQ(MessageOf([&] { session.Run(in, {}); }), "[test] wrong number of outputs; got 0, expected 1");
  EXPECT_NE(MessageOf([&] {
              session.Run(in, wrong);
            }).find("[probabilities] wrong output shape; got 1x4, expected 1x5"),
            std::string::npos);
  const View null[] = {{nullptr, DType::kF32, {1, 5}}};
  EXPECT_EQ(MessageOf([&] { session.Run(in, null); }), "[probabilities] output has no data");
}

TEST_F(SessionTest, ATraceAccountsForTheWholeRun) {
  Session session(model_, SessionOptions::Estimated());
  Trace trace;
  Run(session, 0.02f, {.trace = &trace});
  int64_t sum = 0;
  for (const TraceEvent& e : trace.events) {
    EXPECT_LE(e.start_ns, e.end_ns);
    sum += e.end_ns - e.start_ns;
  }
  EXPECT_GT(trace.total_ns, 0);
  EXPECT_LE(sum, trace.total_ns);
  for (const char* row : {"[wait]", "[transfer]", "[layout]", "[other]"})
    EXPECT_NE(trace.TableByOperator().find(row), std::string::npos) << row;
}

// Equal slices: what is a thread's no other one computes, so that all are in the trace however busy the
// machine is.
TEST_F(SessionTest, ATraceHasALaneForEachThread) {
  SessionOptions options = SessionOptions::Estimated(2);
  options.policy = "equal";
  Session session(model_, options);
  Trace trace;
  Run(session, 0.02f, {.trace = &trace});
  EXPECT_EQ(trace.lanes, (std::vector<std::string>{"thread 0", "thread 1"}));
  EXPECT_EQ(trace.process, model_.name());
  std::set<int> workers;
  for (const TraceEvent& e : trace.events) workers.insert(e.worker);
  EXPECT_EQ(workers, (std::set<int>{0, 1}));
  EXPECT_EQ(trace.events[0].worker, 0);
  for (const StepInfo& s : session.Steps(trace)) EXPECT_TRUE(s.ns > 0 || s.kernel == "view") << s.node;
}

TEST_F(SessionTest, TellsWhichValuesLieInTheArenaWhen) {
  Session session(model_, SessionOptions::Estimated());
  const std::vector<ArenaValue> values = session.Arena();
  ASSERT_GT(values.size(), 1u);
  int64_t end = 0;
  for (const ArenaValue& a : values) {
    EXPECT_LE(a.first_step, a.last_step) << a.name;
    EXPECT_LT(size_t(a.last_step), session.Steps().size()) << a.name;
    EXPECT_GT(a.bytes, 0) << a.name;
    end = std::max(end, a.offset + a.bytes);
    for (const ArenaValue& b : values) {
      if (&a == &b || a.last_step < b.first_step || b.last_step < a.first_step) continue;
      EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
          << a.name << ", " << b.name;
    }
  }
  EXPECT_LE(end, session.stats().arena_bytes);
  EXPECT_GT(end, session.stats().arena_bytes - 64) << "the arena ends behind its last value";
}

TEST_F(SessionTest, CountsTheActivationsInUseOverARun) {
  Session session(model_, SessionOptions::Estimated());
  Trace trace;
  Run(session, 0.02f, {.trace = &trace});
  const TraceCounter counter = session.Activations(trace);
  ASSERT_GT(counter.points.size(), 2u);
  EXPECT_LE(counter.points.size(), session.Steps().size() + 1) << "views take no time";
  double most = 0, at_first = 0;
  for (size_t i = 0; i + 1 < counter.points.size(); ++i) {
    EXPECT_LE(counter.points[i].ns, counter.points[i + 1].ns);
    EXPECT_GT(counter.points[i].value, 0);
    most = std::max(most, counter.points[i].value);
  }
  for (const ArenaValue& a : session.Arena())
    if (a.first_step == 0) at_first += double(a.bytes);
  EXPECT_EQ(counter.points[0].value, at_first);
  EXPECT_LE(most, double(session.stats().arena_bytes));
  EXPECT_EQ(counter.points.back().value, 0);
  EXPECT_EQ(counter.points.back().ns, trace.total_ns);
  EXPECT_TRUE(session.Activations({}).points.empty());
}

TEST_F(SessionTest, ModelsAndSessionsThatAreEmptyGiveErrors) {
  const Model none;
  EXPECT_EQ(MessageOf([&] { (void)none.inputs(); }),
            "[model] it is empty: made by default, or moved from; try Model::Load()");
  EXPECT_THROW(Session{none}, Error);
  Model moved = model_;
  const Model taken = std::move(moved);
  for (const auto& use : {+[](const Model& m) { (void)m.name(); }, +[](const Model& m) { (void)m.outputs(); },
                          +[](const Model& m) { (void)m.notes(); }, +[](const Model& m) { (void)m.stats(); },
                          +[](const Model& m) { (void)m.metadata(); },
                          +[](const Model& m) { (void)m.Text(); }, +[](const Model& m) { (void)m.Dot(); }})
    EXPECT_NE(MessageOf([&] { use(moved); }).find("[model] it is empty"), std::string::npos);
  Session session(taken, SessionOptions::Estimated()), empty;
  const Session other = std::move(session);
  for (Session* s : {&session, &empty}) {
    EXPECT_NE(MessageOf([&] { s->Run({Ramp(kInput, 1)}); }).find("[session] it is empty"), std::string::npos);
    EXPECT_NE(MessageOf([&] {
                s->Run(std::span<const ConstView>(), std::span<const View>());
              }).find("[session] it is empty"),
              std::string::npos);
    for (const auto& use :
         {+[](const Session& m) { (void)m.Explain(); }, +[](const Session& m) { (void)m.Steps(); },
          +[](const Session& m) { (void)m.PlanJson(); }, +[](const Session& m) { (void)m.Notes(); },
          +[](const Session& m) { (void)m.stats(); }})
      EXPECT_NE(MessageOf([&] { use(*s); }).find("[session] it is empty"), std::string::npos);
  }
}

TEST_F(SessionTest, DefaultsAreThoseOfTheCommandLine) {
  const SessionOptions options;
  EXPECT_EQ(options.threads, 0);
  EXPECT_EQ(options.tune, Tune::kAfter);
  EXPECT_EQ(options.tuning_cache, CacheFolder());
  EXPECT_EQ(options.profile_cache, CacheFolder());
  const SessionOptions quick = SessionOptions::Estimated(2);
  EXPECT_EQ(quick.threads, 2);
  EXPECT_EQ(quick.tune, Tune::kNever);
}

TEST_F(SessionTest, TellsHowFarItsMakingIs) {
  std::vector<int> done;
  SessionOptions options = SessionOptions::Estimated();
  options.progress = [&](int d, int all) {
    done.push_back(d);
    EXPECT_EQ(all, model_.stats().nodes);
  };
  Session session(model_, options);
  ASSERT_EQ(int(done.size()), model_.stats().nodes);
  EXPECT_EQ(done.back(), model_.stats().nodes);
}

TEST_F(SessionTest, AShapeIsRefusedWhereTheFileFixesIt) {
  Session fixed(model_, SessionOptions::Estimated());
  EXPECT_EQ(MessageOf([&] {
              fixed.Run({Ramp({1, 3, 8, 8}, 1)});
            }),
            "[data] wrong input shape; got 1x3x8x8, expected 1x3x16x16");
  ModelProto open = ConvNet();
  open.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("N");
  const ModelFile file(open);
  const Model model = Model::Load(file.path());
  EXPECT_EQ(model.inputs()[0].declared, (Shape{-1, 3, 16, 16}));
  Session session(model, SessionOptions::Estimated());
  EXPECT_EQ(model.inputs()[0].dims, (std::vector<std::string>{"N", "", "", ""}));
  EXPECT_EQ(session.Run({Ramp({2, 3, 16, 16}, 1)})[0].shape(), (Shape{2, 5}));
  EXPECT_EQ(MessageOf([&] {
              session.Run({Ramp({2, 3, 8, 16}, 1)});
            }),
            "[data] wrong input shape; got 2x3x8x16, expected Nx3x16x16");
  Session two(Model::Load(file.path(), {.tensor_shapes = {{"", {2, 3, 16, 16}}}}),
              SessionOptions::Estimated());
  EXPECT_EQ(two.Run({Ramp({2, 3, 16, 16}, 1)})[0].shape(), (Shape{2, 5}));
}

TEST_F(SessionTest, StepsHaveThePredictionsOfThePlan) {
  using Json = nlohmann::ordered_json;
  Json plan = ParseJson(Session(model_, SessionOptions::Estimated()).PlanJson(), "plan");
  Json& steps = plan.at(Json::json_pointer("/groups/0/shares/0/threads/steps"));
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i]["predicted_us"] = double(i);
    steps[i]["blocks"] = {1};
  }
  SessionOptions options = SessionOptions::Estimated();
  options.plan_json = plan.dump();
  const std::vector<StepInfo> told = Session(model_, options).Steps();
  ASSERT_EQ(told.size(), steps.size());
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].predicted_us, double(i)) << told[i].node;
}

TEST_F(SessionTest, OneProblemOfAllNodesIsOneLine) {
  EXPECT_EQ(
      MessageOf([&] { Session(model_, {.policy = "equl"}); }),
      "[policy] unknown policy; got 'equl', expected one of equal, ratio, asymo, sani, adaptive; try equal");
  std::string plan = Session(model_, SessionOptions::Estimated()).PlanJson();
  for (size_t at; (at = plan.find("\"adaptive\"")) != std::string::npos;) plan.replace(at, 10, "\"magic\"");
  const std::string message = MessageOf([&] { Session(model_, {.plan_json = plan}); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.find(" others] unknown policy; got 'magic'"), std::string::npos) << message;
}

TEST_F(SessionTest, TextThatIsNoPlanIsToldInOurWords) {
  for (const char* text : {"{}", "[]", "3", "{\"format\": \"mete-plan\", \"version\": 2}", "not JSON"}) {
    const std::string message = MessageOf([&] { Session(model_, {.plan_json = text}); });
    EXPECT_TRUE(message.starts_with("[plan] the text is not a plan")) << message;
    EXPECT_NE(message.find("try what --save-plan writes"), std::string::npos) << message;
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
  }
}

TEST_F(SessionTest, WrongOptionsAreRejected) {
  EXPECT_THROW(Session(model_, {.threads = -1}), Error);
  EXPECT_THROW(Session(model_, {.cores = {100000}}), Error);
  EXPECT_THROW(Model::Load(file_.path(), {.disabled_passes = {"no such pass"}}), Error);
  EXPECT_THROW(Model::Load(file_.path() + ".missing"), Error);
}

TEST(SessionOfQuantized, HasNoConvolutionWithALargerError) {
  const std::string floats = Session(WideNet(WideOutput::kFloat), SessionOptions::Estimated()).Explain(),
                    quantized =
                        Session(WideNet(WideOutput::kQuantized), SessionOptions::Estimated()).Explain();
  EXPECT_NE(floats.find("winograd_f"), std::string::npos) << floats;
  EXPECT_EQ(quantized.find("winograd_f"), std::string::npos) << quantized;
}

// int4 and float8 weights, two scales: x + (w - z) * s, every number exact.
TEST(ModelTest, NarrowWeightsAreDequantized) {
  constexpr int32_t kFloat8E4M3FN = 17, kInt4 = 22;  // the installed schema may be older
  struct Case {
    int32_t type;
    std::string weights, zeros;
    std::vector<float> want;
  };
  for (const Case& c : {Case{kInt4, "\x1f\x72", std::string("\x10", 1), {-1, 1, 2 - 1.f, 7 - 1.f}},
                        Case{kFloat8E4M3FN, "\x38\x40\xb8\x01", std::string(2, '\0'), {1, 2, -1, 0x1p-9f}}}) {
    ModelProto m = EmptyModel(21);
    AddInput(m, "x", {2, 2});
    AddRaw(m, "w", c.type, {2, 2}, c.weights);
    AddRaw(m, "z", c.type, {2}, c.zeros);
    AddRaw(m, "s", TensorProto::FLOAT, {2}, RawOf<float>({1, 0.5f}));
    AddInt(AddOp(m, "DequantizeLinear", {"w", "s", "z"}, {"d"}), "axis", 0);
    AddOp(m, "Add", {"x", "d"}, {"y"});
    AddOutput(m, "y");
    const ModelFile file(m);
    for (const bool optimize : {true, false}) {
      Session session(Model::Load(file.path(), {.optimize = optimize}), SessionOptions::Estimated());
      const Tensor x[] = {Ramp({2, 2}, 0)};
      const std::vector<float> got = Values(session.Run(x)[0]);
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], c.want[i] * (i < 2 ? 1 : 0.5f)) << c.type << " " << i;
    }
  }
}

TEST(ModelTest, NarrowTypesAreInputsAndOutputs) {
  constexpr int32_t kFloat8E5M2 = 19, kInt4 = 22;
  ModelProto m = EmptyModel(21);
  AddInput(m, "x", {2, 3}, {}, kInt4);
  AddRaw(m, "s", TensorProto::FLOAT, {}, RawOf<float>({0.5f}));
  AddOp(m, "Transpose", {"x"}, {"t"});
  AddOp(m, "DequantizeLinear", {"t", "s"}, {"d"});
  AddInt(AddOp(m, "Cast", {"d"}, {"y"}), "to", kFloat8E5M2);
  AddOutput(m, "t");
  AddOutput(m, "y");
  const ModelFile file(m);
  for (const bool optimize : {true, false}) {
    const Model model = Model::Load(file.path(), {.optimize = optimize});
    EXPECT_EQ(model.inputs()[0].type, DType::kI4);
    Session session(model, SessionOptions::Estimated());
    const int8_t values[] = {-8, 7, 1, -1, 0, 3};
    const Tensor x[] = {Tensor::Of<int8_t>(DType::kI4, {2, 3}, values)};
    const std::vector<Tensor> got = session.Run(x);
    ASSERT_EQ(got[0].type(), DType::kI4);
    ASSERT_EQ(got[1].type(), DType::kF8E5M2);
    const double want[] = {-8, -1, 7, 0, 1, 3};
    for (int64_t i = 0; i < 6; ++i) {
      EXPECT_EQ(ElementAt(got[0].view(), i), want[i]);
      EXPECT_EQ(ElementAt(got[1].view(), i), want[i] / 2);
    }
    const Tensor bytes[] = {Tensor::Of<int8_t>(DType::kI8, {2, 3}, values)};
    EXPECT_THROW(session.Run(bytes), Error);
  }
}

// The levels are floats, so that no operator on bytes stands for the nodes, and all of them run.
TEST(ModelTest, QuantizedNetworksMayHaveFloatsOfEightBits) {
  constexpr int32_t kFloat8E4M3FN = 17;
  ModelProto m = EmptyModel(21);
  AddInput(m, "x", {2, 2});
  AddRaw(m, "s", TensorProto::FLOAT, {}, RawOf<float>({0.5f}));
  AddRaw(m, "z", kFloat8E4M3FN, {}, std::string(1, '\0'));
  AddRaw(m, "w", kFloat8E4M3FN, {2, 2}, "\x38\x40\xb8\x30");  // 1, 2, -1, 0.5
  AddOp(m, "QuantizeLinear", {"x", "s", "z"}, {"q"});
  AddOp(m, "DequantizeLinear", {"q", "s", "z"}, {"d"});
  AddOp(m, "DequantizeLinear", {"w", "s", "z"}, {"dw"});
  AddOp(m, "MatMul", {"d", "dw"}, {"p"});
  AddOp(m, "QuantizeLinear", {"p", "s", "z"}, {"qp"});
  AddOp(m, "DequantizeLinear", {"qp", "s", "z"}, {"y"});
  AddOutput(m, "y");
  const ModelFile file(m);
  for (const bool optimize : {true, false}) {
    Session session(Model::Load(file.path(), {.optimize = optimize}), SessionOptions::Estimated());
    const float values[] = {1, 0.53f, -2, 1000};  // 0.53 / 0.5 is rounded to 1, and 2000 to 448
    const Tensor x[] = {Tensor::Floats({2, 2}, values)};
    const std::vector<float> want = {0.25f, 1.125f, -112, 56};  // the last are rounded from -113 and 54
    EXPECT_EQ(Values(session.Run(x)[0]), want);
  }
}

TEST(ModelTest, TellsPortsAndStatistics) {
  const ModelFile file(ConvNet());
  const Model model = Model::Load(file.path());
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].name, "data");
  EXPECT_EQ(model.inputs()[0].shape, kInput);
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].shape, (Shape{1, 5}));
  EXPECT_GT(model.stats().flops, 0);
  EXPECT_GE(model.stats().parameters, 8 * 27 + 64 + 40);
  EXPECT_EQ(model.stats().constant_bytes % 4, 0);
  EXPECT_FALSE(model.Text().empty());
  EXPECT_NE(model.Dot().find("digraph"), std::string::npos);
  int nodes = 0;
  for (const auto& [op, count] : model.stats().operators) nodes += count;
  EXPECT_EQ(nodes, model.stats().nodes);
}

}  // namespace
}  // namespace mete
