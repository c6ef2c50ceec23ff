#include "serve/server/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/ranking.h"
#include "base/temp_path_testing.h"
#include "mete/image.h"
#include "serve/server/served_model.h"

namespace mete::serve {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A server of models/digits.onnx, an 8-bit picture's digit, under the name "digits" with version 1.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    AddVersion(1);
    Start({});
  }

  void AddVersion(int version) {
    const fs::path folder = Folder() / "digits" / std::to_string(version);
    fs::create_directories(folder);
    for (const auto& [from, to] : {std::pair{"digits.onnx", "model.onnx"},
                                   {"digits.toml", "model.toml"},
                                   {"digits.labels.txt", "digits.labels.txt"}})
      fs::copy_file(fs::path("models") / from, folder / to);
  }
  fs::path Folder() const { return path_.str(); }

  void Start(QueueLimits queue, int slots = 2, std::function<Session(const Model&)> wide = {}) {
    server_.reset();
    queue.slots = slots;
    ServerOptions options;
    options.repository = path_.str();
    options.session = SessionOptions::Estimated(2);
    options.queue = queue;
    options.wide = std::move(wide);
    server_ = std::make_unique<Server>(options);
  }

  // Gives the model's input and output another first dimension: the two bytes of a dimension of an ONNX file.
  void SetRows(const std::string& dimension) const {
    const std::string path = Folder() / "digits" / "1" / "model.onnx";
    std::string text = TextOf(path);
    for (const std::string& before : {std::string("image\x12\x16\n\x14\x08\x01\x12\x10\n\x02"),
                                      std::string("probabilities\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02")}) {
      const size_t at = text.find(before);
      ASSERT_NE(at, text.npos);
      text.replace(at + before.size(), 2, dimension);
    }
    std::ofstream(path, std::ios::binary) << text;
  }

  static InferRequest RequestOf(float value) {
    Tensor input(DType::kF32, Shape{1, 3, 32, 32});
    std::fill_n(input.mutable_view().as<float>(), input.elements(), value);
    InferRequest request;
    request.id = "7";
    NamedTensor named;
    named.name = Model::Load("models/digits.onnx").inputs()[0].name;
    named.shape = input.shape();
    named.tensor = input;
    request.inputs.push_back(named);
    return request;
  }

  Outcome Infer(InferRequest request, const std::string& version = "") const {
    std::promise<Outcome> promise;
    server_->Infer("digits", version, std::move(request), std::nullopt,
                   [&](Outcome&& outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }
  Outcome Classify(const std::string& picture, int classes = 0,
                   std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt) const {
    std::promise<Outcome> promise;
    server_->Classify("digits", "", picture, classes, deadline,
                      [&](Outcome&& outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }

  const TempPath path_;
  std::unique_ptr<Server> server_;
};

void ExpectNear(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < want.elements(); ++i)
    EXPECT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-4f) << i;  // kernels for one thread and for two
}

TEST_F(ServerTest, AnswersAsASessionDoes) {
  Session session(Model::Load("models/digits.onnx"), SessionOptions::Estimated());
  for (const float value : {0.f, 0.3f, -1.f}) {
    const Outcome outcome = Infer(RequestOf(value));
    ASSERT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.answer.model, "digits");
    EXPECT_EQ(outcome.answer.version, "1");
    EXPECT_EQ(outcome.answer.id, "7");
    EXPECT_GT(outcome.steps.compute_us, 0);
    const std::vector<Tensor> want = session.Run({RequestOf(value).inputs[0].tensor});
    ASSERT_EQ(outcome.answer.outputs.size(), want.size());
    ExpectNear(outcome.answer.outputs[0].tensor, want[0]);
  }
  const std::vector<ModelStatistics> statistics = server_->Statistics("digits", "1");
  ASSERT_EQ(statistics.size(), 1u);
  EXPECT_EQ(statistics[0].success.count, 3);
  EXPECT_EQ(statistics[0].executions, 3);
  EXPECT_EQ(statistics[0].fail.count, 0);
}

TEST_F(ServerTest, WideRunsHaveTheSessionThatIsMadeForThem) {
  for (const int slots : {1, 2}) {
    int made = 0;
    Start({}, slots, [&](const Model& model) {
      ++made;
      return Session(model, SessionOptions::Estimated(2));
    });
    EXPECT_EQ(made, 1);
    EXPECT_EQ(Infer(RequestOf(0.3f)).error, "");
    Start({}, slots, [](const Model&) -> Session { throw Error(Code::kUnavailable, "[pool] is not there"); });
    EXPECT_NE(Infer(RequestOf(0.3f)).error.find("[pool] is not there"), std::string::npos);
  }
}

TEST_F(ServerTest, ClassifiesAPictureAsItIs) {
  const Outcome outcome = Classify(TextOf("models/digit.png"), 3);
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.answer.outputs.size(), 3u);
  EXPECT_EQ(outcome.answer.outputs[0].texts.size(), 3u);
  const Model model = Model::Load("models/digits.onnx");
  const Port& port = model.inputs()[0];
  Session session(model, SessionOptions::Estimated());
  const Preprocess steps = PreprocessFor("models/digits.onnx", port.type, port.shape);
  const std::vector<Tensor> scores =
      session.Run({MakeInput(LoadImage("models/digit.png"), steps, port.shape)});
  EXPECT_EQ(outcome.answer.outputs[1].tensor.as<int64_t>()[0], Rank(scores[0].view(), 1, false, {})[0].index);
  EXPECT_GT(outcome.steps.decode_us, 0);
  EXPECT_GT(outcome.steps.scale_us, 0);
  EXPECT_TRUE(server_->Pictures("digits", "").classifies);
}

// A network whose scores are bytes: they stand for numbers by the scale of its file.
TEST_F(ServerTest, ScoresOfBytesAreNumbers) {
  const char* shared = std::getenv("METE_SHARED");
  const fs::path net = fs::path(shared ? shared : "../shared") / "models/mobilenet_v1_0.25_128_quant.tflite";
  if (!fs::exists(net)) GTEST_SKIP() << net << " is missing: the trained models are not in the repository";
  const fs::path folder = Folder() / "digits" / "1";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(net, folder / "model.tflite");
  std::ofstream(folder / "model.toml") << "preprocess = \"mobilenet\"\n";
  Start({});
  const Outcome outcome = Classify(TextOf("models/digit.png"), 3);
  ASSERT_EQ(outcome.error, "");
  const Model model = Model::Load(net.string());
  ASSERT_TRUE(model.outputs()[0].scale);
  const Tensor& scores = outcome.answer.outputs[2].tensor;
  ASSERT_EQ(scores.type(), DType::kF32);
  ASSERT_EQ(scores.elements(), 3);
  for (int i = 0; i < 3; ++i) {
    const float steps = scores.as<float>()[i] / model.outputs()[0].scale->scale;
    EXPECT_EQ(steps, std::round(steps));
    EXPECT_GT(scores.as<float>()[i], 0);
    EXPECT_LE(scores.as<float>()[i], 1);
  }
}

TEST_F(ServerTest, APictureOfOnePixelMakesNoPhotoLate) {
  const auto ppm = [](int side) {
    const std::string text = std::to_string(side);
    return "P6\n" + text + " " + text + "\n255\n" + std::string(size_t(3) * size_t(side) * size_t(side), 'x');
  };
  EXPECT_EQ(Classify(ppm(1)).error, "");
  // If bytes took what those of the first picture took, 12 MB would take longer than this.
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  EXPECT_EQ(Classify(ppm(2000), 0, soon).error, "");
}

TEST_F(ServerTest, APictureThatIsNoneFailsItsRequestAlone) {
  const Outcome outcome = Classify("no picture");
  EXPECT_EQ(outcome.code, Code::kInvalidArgument);
  EXPECT_NE(outcome.error, "");
  EXPECT_EQ(Classify(TextOf("models/digit.png").substr(0, 5000)).code, Code::kDataLoss);
  EXPECT_EQ(Classify(TextOf("models/digit.png")).error, "");
  EXPECT_EQ(server_->Statistics("digits", "1")[0].fail.count, 2);
}

TEST_F(ServerTest, SaysAllThatIsWrongWithARequest) {
  InferRequest request = RequestOf(0);
  request.inputs.push_back(request.inputs[0]);
  request.inputs[0].name = "other";
  request.inputs[1].shape = Shape{1, 3, 32, 33};
  request.inputs[1].tensor = Tensor(DType::kU8, Shape{1, 3, 32, 33});
  const Outcome outcome = Infer(request);
  EXPECT_EQ(outcome.code, Code::kInvalidArgument);
  for (const char* part : {"[input 'other'] the model has no such input", "got UINT8, expected FP32",
                           "got [1,3,32,33], expected ["})
    EXPECT_NE(outcome.error.find(part), std::string::npos) << part << " in " << outcome.error;
  EXPECT_NE(Infer({}).error.find("is missing"), std::string::npos);
  InferRequest output = RequestOf(0);
  output.outputs.push_back({"other"});
  EXPECT_NE(Infer(output).error.find("[output 'other'] the model has no such output"), std::string::npos);
}

TEST_F(ServerTest, KnowsWhatIsNotThere) {
  EXPECT_EQ(Infer(RequestOf(0), "2").code, Code::kNotFound);
  EXPECT_THROW(server_->Metadata("other", ""), Error);
  EXPECT_FALSE(server_->IsReady("other", ""));
  EXPECT_FALSE(server_->IsReady("digits", "9"));
  EXPECT_TRUE(server_->IsReady("digits", "1"));
  EXPECT_TRUE(server_->ready());
  try {
    server_->Load("other");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
  }
}

TEST_F(ServerTest, GivesTheBestClassesInsteadOfScores) {
  InferRequest request = RequestOf(0.3f);
  request.outputs.push_back({Model::Load("models/digits.onnx").outputs()[0].name, false, 2});
  const Outcome outcome = Infer(request);
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.answer.outputs[0].texts.size(), 2u);
  EXPECT_EQ(outcome.answer.outputs[0].shape, (Shape{1, 2}));
  EXPECT_NE(outcome.answer.outputs[0].texts[0].find(':'), std::string::npos);
}

TEST_F(ServerTest, ServesTheLatestVersionFromItsLoadOn) {
  AddVersion(2);
  EXPECT_EQ(Infer(RequestOf(0)).answer.version, "1");  // nobody has asked to load it
  server_->Load("digits");
  EXPECT_EQ(Infer(RequestOf(0)).answer.version, "2");
  EXPECT_EQ(Infer(RequestOf(0), "1").code, Code::kUnavailable);  // "latest" is the default
  fs::remove_all(Folder() / "digits" / "2");
  server_->Load("digits");
  EXPECT_EQ(Infer(RequestOf(0)).answer.version, "1");
}

TEST_F(ServerTest, ALoadThatFailsLeavesWhatServes) {
  fs::resize_file(Folder() / "digits" / "1" / "model.onnx", 1000);
  EXPECT_THROW(server_->Load("digits"), Error);
  EXPECT_EQ(Infer(RequestOf(0)).error, "");
  EXPECT_TRUE(server_->IsReady("digits", ""));
  Start({});  // a new server has nothing that serves
  EXPECT_FALSE(server_->IsReady("digits", ""));
  EXPECT_FALSE(server_->ready());
  EXPECT_EQ(Infer(RequestOf(0)).code, Code::kUnavailable);
  ASSERT_EQ(server_->Index().size(), 1u);
  EXPECT_EQ(server_->Index()[0].state, "UNAVAILABLE");
  EXPECT_NE(server_->Index()[0].reason, "");
}

TEST_F(ServerTest, AVersionThatIsBrokenHindersNoOther) {
  AddVersion(2);
  AddVersion(3);
  fs::resize_file(Folder() / "digits" / "2" / "model.onnx", 1000);
  std::ofstream(Folder() / "digits" / "serve.toml") << "versions = [2, 3]\n";
  EXPECT_THROW(server_->Load("digits"), Error);
  EXPECT_EQ(Infer(RequestOf(0)).answer.version, "3");
  EXPECT_EQ(Infer(RequestOf(0), "1").error, "");  // a load that fails unloads nothing
  EXPECT_TRUE(server_->ready());
  Start({});
  EXPECT_EQ(Infer(RequestOf(0)).answer.version, "3");
  EXPECT_EQ(Infer(RequestOf(0), "2").code, Code::kUnavailable);
  EXPECT_TRUE(server_->ready());
  std::string states;
  for (const IndexEntry& entry : server_->Index()) states += entry.version + " " + entry.state + " ";
  EXPECT_EQ(states, "2 UNAVAILABLE 3 READY ");
}

TEST_F(ServerTest, IsNotReadyWithoutAModelWhoseSettingsAreWrong) {
  std::ofstream(Folder() / "digits" / "serve.toml") << "batch = \"sometimes\"\n";
  Start({});
  EXPECT_FALSE(server_->ready());
  ASSERT_EQ(server_->Index().size(), 1u);
  EXPECT_EQ(server_->Index()[0].state, "UNAVAILABLE");
  EXPECT_NE(server_->Index()[0].reason.find("serve.toml"), std::string::npos);
  EXPECT_EQ(Infer(RequestOf(0)).code, Code::kUnavailable);
  fs::remove(Folder() / "digits" / "serve.toml");
  server_->Load("digits");
  EXPECT_TRUE(server_->ready());
  EXPECT_EQ(Infer(RequestOf(0)).error, "");
  EXPECT_EQ(server_->Index().size(), 1u);
}

TEST_F(ServerTest, ALoadOfVersionsThatAreNotThereFails) {
  std::ofstream(Folder() / "digits" / "serve.toml") << "versions = [5]\n";
  EXPECT_THROW(server_->Load("digits"), Error);
  EXPECT_EQ(Infer(RequestOf(0)).error, "");  // what served serves
  Start({});
  EXPECT_FALSE(server_->ready());
}

TEST_F(ServerTest, RefusesPicturesBeforeTheyAreDecoded) {
  InferRequest request = RequestOf(0);
  request.inputs[0].tensor = {};
  request.inputs[0].shape = Shape{100000};
  request.inputs[0].texts.assign(100000, "no picture");
  const Outcome outcome = Infer(request);
  EXPECT_EQ(outcome.code, Code::kInvalidArgument);
  EXPECT_NE(outcome.error.find("takes 1 pictures; got 100000"), std::string::npos) << outcome.error;
}

const std::string kOpen("\x12\x00", 2), kTwo("\x08\x02", 2);

TEST_F(ServerTest, AModelOfSeveralPicturesClassifiesNone) {
  SetRows(kTwo);
  Start({});
  EXPECT_FALSE(server_->Pictures("digits", "").classifies);
  EXPECT_NE(server_->Pictures("digits", "").why_not.find("several pictures"), std::string::npos);
  EXPECT_EQ(Classify(TextOf("models/digit.png")).code, Code::kFailedPrecondition);
  InferRequest request = RequestOf(0);
  request.inputs[0].tensor = {};
  request.inputs[0].shape = Shape{2};
  request.inputs[0].texts.assign(2, TextOf("models/digit.png"));
  EXPECT_EQ(Infer(request).error, "");
  EXPECT_EQ(server_->Metadata("digits", "").outputs[0].shape[0], 2);
}

TEST_F(ServerTest, TellsThatABatchIsOpen) {
  SetRows(kOpen);
  Start({});
  const ModelMetadata metadata = server_->Metadata("digits", "");
  EXPECT_EQ(metadata.inputs[0].shape, (std::vector<int64_t>{-1, 3, 32, 32}));
  EXPECT_EQ(metadata.outputs[0].shape, (std::vector<int64_t>{-1, 10}));
  EXPECT_TRUE(server_->Pictures("digits", "").classifies);
}

// Occupies the only slot of a server until it is opened.
class Gate {
 public:
  Gate(Server& server, InferRequest request) {
    server.Infer("digits", "", std::move(request), std::nullopt, [this](Outcome&&) {
      reached_.set_value();
      open_.get_future().wait();
    });
    reached_.get_future().wait();
  }
  void Open() { open_.set_value(); }

 private:
  std::promise<void> reached_, open_;
};

TEST_F(ServerTest, APictureThatIsNoneHindersNoOtherOfItsBatch) {
  SetRows(kOpen);
  std::ofstream(Folder() / "digits" / "serve.toml") << "batch = 4\n";
  Start({}, 1);
  const std::string picture = TextOf("models/digit.png");
  const Outcome alone = Classify(picture, 1);
  Gate gate(*server_, RequestOf(0));
  std::vector<std::future<Outcome>> outcomes;
  for (const std::string& sent : {picture, std::string("no picture"), picture}) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    outcomes.push_back(promise->get_future());
    server_->Classify("digits", "", sent, 1, std::nullopt,
                      [promise](Outcome&& outcome) { promise->set_value(std::move(outcome)); });
  }
  ASSERT_EQ(server_->waiting(), 3);
  gate.Open();
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome outcome = outcomes[i].get();
    if (i == 1) {
      EXPECT_EQ(outcome.code, Code::kInvalidArgument) << outcome.error;
      continue;
    }
    ASSERT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.answer.outputs[0].texts, alone.answer.outputs[0].texts);
    EXPECT_NEAR(outcome.answer.outputs[2].tensor.as<float>()[0],
                alone.answer.outputs[2].tensor.as<float>()[0], 1e-4f);
  }
  EXPECT_EQ(server_->Statistics("digits", "1")[0].batches.count(2), 1u);  // both were computed together
}

TEST(HaveRows, IsTrueForOutputsThatABatchCanBeDividedInto) {
  const Tensor two(DType::kF32, Shape{2, 3}), one(DType::kF32, Shape{1, 6}), scalar(DType::kF32, Shape{});
  EXPECT_TRUE(HaveRows({two, two}, 2));
  EXPECT_FALSE(HaveRows({two, one}, 2));
  EXPECT_FALSE(HaveRows({scalar}, 1));
  EXPECT_FALSE(HaveRows({Tensor(DType::kF32, Shape{0, 7})}, 2));
}

TEST_F(ServerTest, UnloadedModelsAnswerNoMoreUntilTheyAreLoaded) {
  server_->Unload("digits");
  EXPECT_EQ(Infer(RequestOf(0)).code, Code::kUnavailable);
  EXPECT_TRUE(server_->ready());  // it was asked for
  server_->Load("digits");
  EXPECT_EQ(Infer(RequestOf(0)).error, "");
  EXPECT_THROW(server_->Unload("other"), Error);
}

TEST_F(ServerTest, LoadsLoseNoRequestAndNoAnswerIsWrong) {
  Start({.waiting_per_slot = 1000});
  const Tensor want = Infer(RequestOf(0.3f)).answer.outputs[0].tensor;
  std::atomic<bool> over{false};
  std::atomic<int> asked{0}, answered{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      while (!over) {
        ++asked;
        const Outcome outcome = Infer(RequestOf(0.3f));
        ASSERT_EQ(outcome.error, "");
        ExpectNear(outcome.answer.outputs[0].tensor, want);
        ++answered;
      }
    });
  for (int i = 0; i < 10; ++i) server_->Load("digits");
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, asked);
  EXPECT_GT(answered, 10);
}

TEST_F(ServerTest, ALoadWaitsForItsTurnAndADrainEndsIt) {
  const int guest = server_->AddGuest();
  std::promise<void> begun, open;
  std::thread computing([&] {
    server_->ComputeGuest(guest, [&](const GuestPlace&) {  // alone: in all slots
      begun.set_value();
      open.get_future().wait();
    });
  });
  begun.get_future().wait();
  std::future<void> load = std::async(std::launch::async, [&] { server_->Load("digits"); });
  EXPECT_FALSE(server_->Drain(std::chrono::milliseconds(0)));
  try {
    load.get();
    FAIL() << "the load has computed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("it is ending and loads no more models"), std::string::npos);
  }
  open.set_value();
  computing.join();
}

TEST_F(ServerTest, ALoadIsNoRequestInTheStatistics) {
  server_->Load("digits");
  EXPECT_EQ(server_->Statistics("digits", "1")[0].executions, 0);
  EXPECT_EQ(server_->waiting() + server_->under_way(), 0);
  EXPECT_EQ(server_->MetricsText().find("\nmete_requests_total{"), std::string::npos);
}

TEST_F(ServerTest, KernelsAreMeasuredInALoadsTurnsBeforeTheModelIsReady) {
  const TempPath cache;
  SessionOptions measured;
  measured.threads = 2;
  measured.tune = Tune::kBefore;
  measured.tuning_cache = cache.str();
  std::vector<std::string> turns;  // a load's are one after the other
  const auto compute = [&](const serve::Start& start, const std::vector<std::unique_ptr<Job>>& jobs) {
    turns.push_back(start.wide ? "all" : std::to_string(start.slot));
    EXPECT_TRUE(LetLoadCompute(jobs));
    return Computed{};
  };
  Slots slots({.slots = 2}, compute);
  // One thread may have only one way to compute each node, which depends on the instruction set.
  const TempPath other;
  SessionOptions narrow = measured;
  narrow.threads = 1;
  narrow.tune = Tune::kAfter;
  narrow.tuning_cache = other.str();
  std::vector<std::string> expected{"all"};
  if (!Session(Model::Load("models/digits.onnx"), narrow).settled()) expected.push_back("0");
  {
    const ServedModel model("models/digits.onnx", "", {measured, 2}, slots);
    // The second narrow session has the times of the first one.
    EXPECT_EQ(turns, expected);
    EXPECT_FALSE(fs::is_empty(fs::path(cache.str()) / "tuning"));
  }
  const ServedModel again("models/digits.onnx", "", {measured, 2}, slots);
  EXPECT_EQ(turns, expected);  // all times are known
}

TEST_F(ServerTest, ADrainAnswersWhatWasAccepted) {
  std::atomic<int> accepted{0}, refused{0};
  for (int i = 0; i < 6; ++i)
    server_->Infer("digits", "", RequestOf(0), std::nullopt,
                   [&](Outcome&& outcome) { outcome.error.empty() ? ++accepted : ++refused; });
  EXPECT_TRUE(server_->Drain(std::chrono::minutes(5)));
  EXPECT_EQ(accepted + refused, 6);
  EXPECT_GT(accepted, 0);
  EXPECT_EQ(Infer(RequestOf(0)).code, Code::kUnavailable);
  EXPECT_FALSE(server_->ready());
  EXPECT_THROW(server_->Load("digits"), Error);
}

TEST_F(ServerTest, CountsForPrometheus) {
  ASSERT_EQ(Infer(RequestOf(0)).error, "");
  (void)Infer(RequestOf(0), "9");
  const std::string text = server_->MetricsText();
  EXPECT_NE(text.find("model=\"digits\""), std::string::npos) << text;
  EXPECT_NE(text.find("NOT_FOUND"), std::string::npos) << text;
}

// Returns how long the slots have been busy, by /metrics.
double BusyS(const std::string& text) {
  constexpr std::string_view kName = "\nmete_slot_busy_seconds_total{";
  double busy = 0;
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1))
    busy += std::stod(text.substr(text.find("} ", at) + 2));
  return busy;
}

TEST_F(ServerTest, SharesOfOtherDevicesKeepSlotsBusy) {
  const double before = BusyS(server_->MetricsText());
  const int guest = server_->AddGuest();
  server_->ComputeGuest(guest, [](const GuestPlace&) {});
  const double after = BusyS(server_->MetricsText());
  EXPECT_GT(after, before);
  EXPECT_THROW(server_->ComputeGuest(guest, [](const GuestPlace&) { Invalid("share", "is none"); }), Error);
  EXPECT_GT(BusyS(server_->MetricsText()), after);
  server_->RemoveGuest(guest);
}

TEST(ServerOfNothing, SaysThatTheFolderIsNotThere) {
  EXPECT_THROW(Server({.repository = "/nowhere/at/all"}), Error);
}

}  // namespace
}  // namespace mete::serve
