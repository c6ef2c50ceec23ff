#include "mete/pool.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/errors_testing.h"
#include "engine/engine_testing.h"
#include "engine/model.h"
#include "engine/pool/pool_internals.h"
#include "plan/plan.h"

namespace mete {
namespace {

const Shape kInput{1, 3, 16, 16};

// Pools whose figures are kept in a folder of the test's own.
class PoolTest : public testing::Test {
 protected:
  PoolTest() {
    std::filesystem::create_directory(folder_.str());
    setenv("METE_CACHE", folder_.str().c_str(), 1);
  }
  ~PoolTest() override { unsetenv("METE_CACHE"); }

  void SetUp() override {
    cores_ = ThisDevice().cores;
    if (cores_.size() < 2) GTEST_SKIP() << "this process may use one core alone";
  }

  std::string List() const { return fmt::format("cpu:{},cpu:{}", cores_[0], cores_[1]); }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.str() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // A home, and an emulated processor with more keys.
  std::string PoolFileWith(const std::string& more) const {
    return Write("pool.toml", fmt::format("name = \"two\"\n[[device]]\nname = \"here\"\n"
                                          "[[device.processor]]\nname = \"big\"\ncores = \"{}\"\n"
                                          "[[device.processor]]\nname = \"gpu\"\nkind = \"emulated\"\n"
                                          "cores = \"{}\"\n{}",
                                          cores_[0], cores_[1], more));
  }
  // Every layer is divided over both processors, whatever it takes.
  static PoolOptions Patient() {
    PoolOptions options;
    options.deadline_ms = 1e6;  // a busy machine is late without having failed
    options.kernels = SessionOptions::Estimated();
    return options;
  }
  static PoolOptions Divided() {
    PoolOptions options = Patient();
    options.planner = "layerwise";
    options.keep_plan = true;
    return options;
  }
  std::vector<float> Expected(float step) {
    Session session(model_, SessionOptions::Estimated());
    return Values(session.Run({Ramp(kInput, step)}).at(0));
  }

  const TempPath folder_;
  const ModelFile file_{ConvNet()};
  const Model model_ = Model::Load(file_.path());
  std::vector<int> cores_;
};

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f) << i;
}

TEST_F(PoolTest, NamesItsProcessorsTheHomeFirst) {
  const Pool pool = Pool::FromList(List());
  ASSERT_EQ(pool.processors().size(), 2u);
  EXPECT_EQ(pool.processors()[0].name, fmt::format("cpu:{}", cores_[0]));
  EXPECT_EQ(pool.processors()[1].cores, std::vector{cores_[1]});
  EXPECT_TRUE(pool.is_here());
  EXPECT_EQ(Pool::FromList("cpu").processors().size(), 1u);
  const Pool file = Pool::FromFile(PoolFileWith("speed = 0.5\n"));
  EXPECT_EQ(file.name(), "two");
  EXPECT_EQ(file.processors().at(0).kind, "cpu");
  EXPECT_EQ(file.processors().at(1).kind, "emulated");
  EXPECT_EQ(file.processors().at(1).speed, 0.5);
}

TEST_F(PoolTest, WithExactBytesHasOtherTimesWhereAGpuHasF16) {
  const auto settings = [](const Pool& pool) {
    std::vector<std::string> texts;
    for (const ProcessorEntry& p : PoolInternals::Of(pool).file.devices.at(0).processors)
      texts.push_back(p.timed_settings);
    return texts;
  };
  const Pool pool = Pool::FromList("cpu:0,gpu:0,gpu:1/2:f16");
  EXPECT_EQ(settings(pool.WithExactBytes(false)), settings(pool));
  EXPECT_EQ(settings(pool.WithExactBytes()),
            (std::vector<std::string>{"", "gpu:0 f32", "gpu:1/2 f16, exact bytes"}));
  EXPECT_EQ(pool.WithExactBytes().processors().at(2).name, "gpu:1/2:f16");
}

TEST_F(PoolTest, RefusesPoolsThatContradictThemselves) {
  EXPECT_TELLS((void)Pool().processors(), "it is empty");
  EXPECT_TELLS((void)Pool::FromList("cpu:0,npu:1"), "npu:1");
  EXPECT_TELLS((void)Pool::FromProcessors({}), "are none");
  EXPECT_TELLS((void)Pool::FromProcessors({{"a", {0}}, {"a", {1}}}), "twice");
  EXPECT_TELLS((void)Pool::FromProcessors({{"a", {0}, 2}}), "0.01 to 1");
  const Pool shared = Pool::FromProcessors({{"a", {cores_[0]}}, {"b", {cores_[0]}}});
  EXPECT_TELLS(Session session(model_, shared), "shares core");
}

// Drivers need not be there: the plan is refused before the GPU is needed.
TEST_F(PoolTest, RefusesAGivenPlanWithAGroupOnOneGpuInBothTypes) {
  const std::string list = fmt::format("cpu:{},gpu:0,gpu:0:f16", cores_[0]);
  const Graph& graph = DivisibleOf(model_);
  const int layers = int(LayersOf(graph).size());
  PoolOptions options = Patient();
  const auto given = [&](std::vector<int> processors) {
    Plan plan;
    plan.groups.push_back({0, layers, {SplitAxis::kRows, std::move(processors), {0.5, 0.5}}, {}, 0});
    NamePlan(plan, graph, {fmt::format("cpu:{}", cores_[0]), "gpu:0", "gpu:0:f16"}, "mine");
    DeriveShares(plan, graph);
    return ToJson(plan, graph);
  };
  options.plan_json = given({1, 2});
  EXPECT_TELLS(Session(model_, Pool::FromList(list), options),
               "[group 1] has parts on gpu:0 and gpu:0:f16, which are the same hardware (here/gpu:0)");
}

TEST_F(PoolTest, ASessionMeasuresOnceAndGivesTheAnswersOfOneProcessor) {
  const Pool pool = Pool::FromList(List());
  EXPECT_FALSE(pool.Measured(model_));
  Session session(model_, pool, Divided());
  const std::optional<PoolFigures> measured = pool.Measured(model_);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->layers_us.size(), 2u);
  EXPECT_EQ(measured->links.size(), 1u);
  RunReport report;
  ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.report = &report}).at(0)),
             Expected(0.02f));
  EXPECT_FALSE(report.alone);
  EXPECT_EQ(report.compute_us.size(), 2u);
  EXPECT_EQ(report.processors, (std::vector{pool.processors()[0].name, pool.processors()[1].name}));
  const PoolStats stats = session.pool_stats();
  EXPECT_EQ(stats.requests, 1);
  EXPECT_GT(stats.groups, 1);
  ASSERT_EQ(stats.parts.size(), 2u);
  EXPECT_GT(stats.parts[0].weights_bytes, 0) << "of the whole model on the home";
  EXPECT_NE(stats.plan.find(pool.processors()[0].name + "+" + pool.processors()[1].name), std::string::npos);
  EXPECT_NE(session.PlanText().find(stats.plan), std::string::npos);  // the summary is a part of the text
  bool measures = false;
  PoolOptions again = Divided();
  again.progress = [&](const std::string& what, int64_t, int64_t) { measures |= what.find("measur") == 0; };
  Session second(model_, pool, again);
  EXPECT_FALSE(measures);
}

bool Has(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST_F(PoolTest, OthersComputeWhatAProcessorLacks) {
  const Pool pool = Pool::FromFile(PoolFileWith("lacks_operators = [\"Softmax\"]\n"));
  Session session(model_, pool, Divided());
  RunReport report;
  ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.report = &report}).at(0)),
             Expected(0.02f));
  EXPECT_FALSE(report.alone);
  const std::string lack = "cannot compute layer 'conv3': no kernel for operator Softmax";
  EXPECT_TRUE(Has(session.Notes(), "gpu " + lack + "; others do"));
  const PoolPlan plan = pool.Plan(model_);
  EXPECT_TRUE(plan.processors.at(0).lacks.empty());
  EXPECT_EQ(plan.processors.at(1).lacks, std::vector{lack});
  EXPECT_TRUE(std::isinf(plan.processors.at(1).alone_us));
  EXPECT_EQ(plan.best_alone, 0);
}

TEST_F(PoolTest, AProcessorThatCanComputeNothingHasNoPart) {
  const Pool pool = Pool::FromFile(PoolFileWith("lacks = [\"f32\"]\n"));
  Session session(model_, pool, Patient());
  RunReport report;
  ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.report = &report}).at(0)),
             Expected(0.02f));
  EXPECT_TRUE(report.alone);
  EXPECT_TRUE(Has(session.Notes(), "gpu cannot compute layer 'conv1' and 3 more: gpu cannot compute f32"));
}

// Nobody has measured the model, and the processor builds kernels.
TEST_F(PoolTest, AProcessorThatBuildsKernelsIsMeasuredBehindTheFirstAnswer) {
  const Pool pool = Pool::FromFile(PoolFileWith("prepare_ms = 1\n"));
  Session session(model_, pool, Divided());
  ExpectNear(Values(session.Run({Ramp(kInput, 0.02f)}).at(0)), Expected(0.02f));
  EXPECT_TRUE(Has(session.Notes(), "kernels of gpu are being built; big computes alone until then"));
  session.Settle();
  EXPECT_TRUE(session.settled());
  EXPECT_TRUE(pool.Measured(model_, Divided()));
  RunReport report;
  ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.03f)}, {.report = &report}).at(0)),
             Expected(0.03f));
  EXPECT_FALSE(report.alone);
  EXPECT_TRUE(Has(session.Notes(), "kernels of gpu are built; from now on: "));
}

TEST_F(PoolTest, WhatWasMeasuredIsOfTheKernelsThatMeasuredIt) {
  const Pool cores = Pool::FromList(List());
  PoolOptions options = Divided(), reference = Divided(), wide = Divided();
  reference.kernels.reference = true;
  wide.kernels.threads = 2;
  (void)cores.Measure(model_, options);
  EXPECT_TRUE(cores.Measured(model_, options));
  EXPECT_FALSE(cores.Measured(model_, reference));
  EXPECT_TRUE(cores.Measured(model_, wide));  // each processor has a thread for each of its cores
  const Pool whole = Pool::FromList("cpu");
  (void)whole.Measure(model_, options);
  EXPECT_TRUE(whole.Measured(model_, options));
  EXPECT_FALSE(whole.Measured(model_, wide));
}

TEST_F(PoolTest, ABrokenFileOfWhatWasMeasuredIsNotedAndMeasuredAgain) {
  const Pool pool = Pool::FromList(List());
  const PoolFigures figures = pool.Measure(model_, Divided());
  const std::string& text = figures.json;
  const size_t format = text.find("\"format\":") + 9;
  for (const std::string& broken :
       {text.substr(0, text.size() / 2), text.substr(0, format) + "7" + text.substr(format + 1)}) {
    std::ofstream(figures.path) << broken;
    std::string notes;
    PoolOptions options = Divided();
    options.note = [&](const std::string& note) { notes += note + "\n"; };
    EXPECT_FALSE(pool.Measured(model_, options));
    Session session(model_, pool, options);
    EXPECT_NE(notes.find("(it has to be measured again)"), std::string::npos) << notes;
    EXPECT_TRUE(pool.Measured(model_, options));
  }
}

TEST_F(PoolTest, AnotherShapeIsComputedByTheHomeAlone) {
  const ModelFile open(OpenConvNet());
  const Model model = Model::Load(open.path(), {.input_shapes = {{"data", kInput}}});
  Session session(model, Pool::FromList(List()), Divided());
  Session one(model, SessionOptions::Estimated());
  EXPECT_EQ(session.shape_stats().planned, 1);
  const Shape shapes[] = {{2, 3, 16, 16}, {1, 3, 9, 20}, kInput, {2, 3, 16, 16}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(ToString(shape));
    const Tensor input = Ramp(shape, 0.02f);
    RunReport report;
    const std::vector<Tensor> got = session.Run(std::vector{input}, {.report = &report}),
                              want = one.Run({input});
    ASSERT_EQ(got.at(0).shape(), want.at(0).shape());
    const bool other = !(shape == kInput);
    if (other) EXPECT_EQ(Values(got[0]), Values(want[0]));
    else ExpectNear(Values(got[0]), Values(want[0]));
    EXPECT_EQ(report.alone, other);
    EXPECT_GT(report.us, 0);
    EXPECT_EQ(report.compute_us.size(), other ? 0u : 2u);
  }
  EXPECT_EQ(
      session.Notes(),
      std::vector<std::string>{
          "the plan is for the shapes for which the model was loaded (data 1x3x16x16), and the home "
          "computes others alone, such as 2x3x16x16; for a plan of that shape load the model with --shape "
          "data=2x3x16x16, in C++ LoadOptions::input_shapes"});
  const ShapeStats stats = session.shape_stats(), want = one.shape_stats();
  EXPECT_EQ(stats.kept, 3);
  EXPECT_EQ(stats.planned, 3);
  EXPECT_EQ(stats.passes, want.passes);
  EXPECT_EQ(stats.packed_bytes, want.packed_bytes);
  EXPECT_EQ(session.pool_stats().requests, 1) << "of the plan";
}

TEST_F(PoolTest, AnotherShapeIsWrittenToTheCallersMemoryAndKeptAsOnOneCpu) {
  const ModelFile open(OpenConvNet());
  const Model model = Model::Load(open.path(), {.input_shapes = {{"data", kInput}}});
  PoolOptions options = Divided();
  options.kernels.kept_shapes = 1;
  Session session(model, Pool::FromList(List()), options);
  Session one(model, SessionOptions::Estimated());
  for (const int64_t batch : {2, 3, 2}) {
    const Tensor input = Ramp({batch, 3, 16, 16}, 0.02f);
    Tensor output(DType::kF32, {batch, 5});
    session.Run(std::vector<ConstView>{input.view()}, std::vector<View>{output.mutable_view()});
    EXPECT_EQ(Values(output), Values(one.Run({input}).at(0)));
    Tensor small(DType::kF32, {1, 5});
    EXPECT_TELLS(session.Run(std::vector<ConstView>{input.view()}, std::vector<View>{small.mutable_view()}),
                 "wrong output");
  }
  EXPECT_EQ(session.shape_stats().kept, 2);
  EXPECT_EQ(session.shape_stats().planned, 4);
}

TEST_F(PoolTest, ShapesThatTheFileDoesNotAllowAreRefusedAsOnOneCpu) {
  const ModelFile open(OpenConvNet());
  const Model model = Model::Load(open.path(), {.input_shapes = {{"data", kInput}}});
  Session session(model, Pool::FromList(List()), Divided()), one(model, SessionOptions::Estimated());
  for (const Shape& shape : {Shape{1, 4, 16, 16}, Shape{1, 3, 16}, Shape{1, 3, 1, 1}}) {
    const std::string message = MessageOf([&] { one.Run({Ramp(shape, 0.02f)}); });
    EXPECT_NE(message, "");
    EXPECT_EQ(MessageOf([&] { session.Run({Ramp(shape, 0.02f)}); }), message);
  }
  EXPECT_TRUE(session.Notes().empty());
}

TEST_F(PoolTest, SeveralThreadsMayBringDifferentShapes) {
  const ModelFile open(OpenConvNet());
  const Model model = Model::Load(open.path(), {.input_shapes = {{"data", kInput}}});
  Session session(model, Pool::FromList(List()), Divided()), one(model, SessionOptions::Estimated());
  std::vector<std::thread> threads;
  for (const int64_t batch : {1, 2, 3}) {
    const Tensor input = Ramp({batch, 3, 16, 16}, 0.02f);
    threads.emplace_back([&session, input, want = Values(one.Run({input}).at(0))] {
      for (int i = 0; i < 10; ++i) ExpectNear(Values(session.Run({input}).at(0)), want);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session.pool_stats().requests, 10);
  EXPECT_EQ(session.Notes().size(), 1u);
}

TEST_F(PoolTest, AHomeOfAnotherKindRefusesAnotherShape) {
  const ModelFile open(OpenConvNet());
  const Model model = Model::Load(open.path(), {.input_shapes = {{"data", kInput}}});
  const std::string path = Write("gpu.toml", fmt::format("name = \"gpu\"\n[[device]]\nname = \"here\"\n"
                                                         "[[device.processor]]\nname = \"gpu\"\n"
                                                         "kind = \"emulated\"\ncores = \"{}\"\n",
                                                         cores_[0]));
  PoolOptions options = Patient();
  Session session(model, Pool::FromFile(path), options);
  EXPECT_EQ(MessageOf([&] {
              session.Run({Ramp({2, 3, 16, 16}, 0.02f)});
            }),
            "[data] wrong input shape; got 2x3x16x16, expected 1x3x16x16; try --shape data=2x3x16x16, in C++ "
            "LoadOptions::input_shapes");
  EXPECT_EQ(session.shape_stats().kept, 1);
}

TEST_F(PoolTest, ASessionWritesToTheCallersMemory) {
  Session session(model_, Pool::FromList(List()), Divided());
  const Tensor input = Ramp(kInput, 0.02f);
  Tensor output(DType::kF32, model_.outputs()[0].shape);
  const std::vector<ConstView> in{input.view()};
  const std::vector<View> out{output.mutable_view()};
  session.Run(in, out);
  ExpectNear(Values(output), Expected(0.02f));
  EXPECT_TELLS(session.Run(in, std::vector<View>{}), "wrong number of outputs");
}

TEST_F(PoolTest, ASavedPlanRunsAgainWithTheSameGroups) {
  const Pool pool = Pool::FromList(List());
  const std::string saved = Session(model_, pool, Divided()).PlanJson();
  PoolOptions options = Patient();
  options.plan_json = saved;
  Session session(model_, pool, options);
  EXPECT_EQ(session.PlanJson(), saved);
  ExpectNear(Values(session.Run({Ramp(kInput, 0.03f)}).at(0)), Expected(0.03f));
  EXPECT_EQ(session.PlanJson(), saved);
}

TEST_F(PoolTest, APlanHasTheThreadsOfEachShareAndDecidesThem) {
  const Pool pool = Pool::FromList(List());
  std::string plan = Session(model_, pool, Divided()).PlanJson();
  const auto replace = [&](const std::string& what, const std::string& with) {
    int count = 0;
    for (size_t at = 0; (at = plan.find(what, at)) != std::string::npos; at += with.size(), ++count)
      plan.replace(at, what.size(), with);
    return count;
  };
  EXPECT_GT(replace("\"policy\": \"adaptive\"", "\"policy\": \"equal\""), 1) << plan;
  PoolOptions options = Patient();
  options.plan_json = plan;
  Session session(model_, pool, options);
  EXPECT_EQ(session.PlanJson(), plan);
  ExpectNear(Values(session.Run({Ramp(kInput, 0.03f)}).at(0)), Expected(0.03f));
  EXPECT_GT(replace("\"threads\": 1", "\"threads\": 2"), 1) << plan;
  options.plan_json = plan;
  EXPECT_TELLS(Session(model_, pool, options), "the plan's threads are not this processor's; got 2 threads");
}

TEST_F(PoolTest, RefusesPlansOfOthers) {
  const Pool pool = Pool::FromList(List());
  const std::string saved = Session(model_, pool, Divided()).PlanJson();
  const auto message = [&](const Model& model, const Pool& on, const std::string& plan) {
    PoolOptions options = Divided();
    options.plan_json = plan;
    return MessageOf([&] { Session session(model, on, options); });
  };
  const Pool turned = Pool::FromList(fmt::format("cpu:{},cpu:{}", cores_[1], cores_[0]));
  EXPECT_NE(message(model_, turned, saved).find("is for another pool"), std::string::npos);
  const ModelFile other(ConcatNet());
  EXPECT_NE(message(Model::Load(other.path()), pool, saved).find("is for another model"), std::string::npos);
  EXPECT_NE(message(model_, pool, saved.substr(0, saved.size() / 2)).find("[plan]"), std::string::npos);
  const Pool one = Pool::FromProcessors({{"cpu", {cores_[0]}}});
  const Model plain = Model::Load(
      file_.path(), {.disabled_passes = {"layout", "cancel-transposes", "fuse-matmul", "fuse-epilogues",
                                         "fuse-elementwise", "concat-in-place"}});
  const std::string threads = Session(plain, SessionOptions::Estimated()).PlanJson();
  EXPECT_NE(message(plain, one, threads).find("the plan's threads are not this processor's"),
            std::string::npos);
  SessionOptions on_cpu = SessionOptions::Estimated();
  on_cpu.plan_json = saved;
  EXPECT_TELLS(Session session(model_, on_cpu), "is for another");
}

TEST_F(PoolTest, AFailedProcessorCostsOneRetryAndIsNoted) {
  (void)Pool::FromFile(PoolFileWith("")).Measure(model_, Divided());  // a fault is not a part of what is kept
  const Pool pool = Pool::FromFile(PoolFileWith("fails = \"run 20\"\n"));
  std::vector<std::string> notes;
  std::mutex mutex;
  PoolOptions options = Divided();
  options.note = [&](const std::string& note) {
    std::lock_guard lock(mutex);
    notes.push_back(note);
  };
  Session session(model_, pool, options);
  const std::vector<float> want = Expected(0.02f);
  bool retried = false;
  for (int i = 0; i < 1000 && !retried; ++i) {
    RunReport report;
    ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.report = &report}).at(0)), want);
    retried = report.retried;
  }
  EXPECT_TRUE(retried);
  EXPECT_EQ(session.pool_stats().retries, 1);
  const std::vector<std::string> kept = session.Notes();
  EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [](const std::string& note) {
    return note.find("gpu is lost") != std::string::npos;
  }));
  std::lock_guard lock(mutex);
  EXPECT_GE(notes.size(), kept.size());
}

TEST_F(PoolTest, TheHomeComputesAloneOnRequestAndCancelledRunsDoNotBegin) {
  Session session(model_, Pool::FromList(List()), Divided());
  RunReport report;
  const RunOptions alone{.alone = RunOptions::Alone::kAlways, .report = &report};
  ExpectNear(Values(session.Run(std::vector{Ramp(kInput, 0.02f)}, alone).at(0)), Expected(0.02f));
  EXPECT_TRUE(report.alone);
  CancelToken cancel;
  cancel.Cancel();
  EXPECT_TELLS(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.cancel = &cancel}), "cancelled");
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_TELLS(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.deadline = past}), "the run's deadline was");
  EXPECT_EQ(session.pool_stats().requests, 0);
  Trace trace;
  EXPECT_TELLS(session.Run(std::vector{Ramp(kInput, 0.02f)}, {.trace = &trace}), "[trace]");
  EXPECT_TELLS((void)session.Steps(), "PlanText()");
  EXPECT_TELLS((void)Session(model_, SessionOptions::Estimated()).pool_stats(), "one CPU");
  PoolOptions options = Divided();
  options.cancel = &cancel;
  EXPECT_TELLS(Session ended(model_, Pool::FromList(List()), options), "interrupted");
}

TEST_F(PoolTest, APlanHasItsAlternatives) {
  const Pool pool = Pool::FromList(List());
  EXPECT_TELLS((void)pool.Plan(model_), "was not measured");
  PoolOptions options = Patient();
  const PoolFigures figures = pool.Measure(model_, options);
  EXPECT_EQ(figures.processors.size(), 2u);
  const PoolPlan plan = pool.Plan(model_);
  ASSERT_EQ(plan.processors.size(), 2u);
  EXPECT_LE(plan.predicted_us, plan.processors[size_t(plan.best_alone)].alone_us * 1.000001);
  size_t rows = 1;  // the first row names the columns
  for (const PoolPlan::Group& group : plan.groups) rows += group.shares.size();
  EXPECT_EQ(plan.table.size(), rows);
  options.plan_json = plan.json;
  Session session(model_, pool, options);
  EXPECT_EQ(session.pool_stats().plan, plan.summary);
  options.objective = "magic";
  EXPECT_TELLS((void)pool.Plan(model_, options), "magic");
  options.objective = "energy";
  EXPECT_TELLS((void)pool.Plan(model_, options), "power");
}

TEST_F(PoolTest, BoardsThatAreNotHereCanBePlannedForButNotUsed) {
  const Pool pool = Pool::FromFile("boards/rk3399x6.toml");
  EXPECT_FALSE(pool.is_here());
  EXPECT_EQ(pool.Plan(model_).processors.size(), 6u);
  EXPECT_TELLS(Session session(model_, pool), "not here");
  EXPECT_TELLS((void)pool.Measure(model_), "not here");
}

TEST_F(PoolTest, WorkersNeedANetwork) {
  const std::string path = Write("hosts.toml",
                                 "name = \"w\"\ninsecure = true\n[[device]]\nname = \"here\"\n"
                                 "[[device]]\nname = \"far\"\naddress = \"127.0.0.1:9\"\n");
  const std::string message = MessageOf([&] { (void)Pool::FromFile(path); });
  EXPECT_NE(message.find("'far' at 127.0.0.1:9"), std::string::npos) << message;
}

}  // namespace
}  // namespace mete
