#include "serve/grpc/grpc_server.h"

#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/temp_path_testing.h"
#include "network/keys/keys.h"
#include "network/keys/make.h"
#include "src/serve/grpc/inference_service.grpc.pb.h"

namespace mete::serve {
namespace {

using grpc::StatusCode;
using Stub = inference::GRPCInferenceService::Stub;

inference::ModelInferRequest Request(const std::string& model = "digits") {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  request.set_id("7");
  auto& input = *request.add_inputs();
  input.set_name("image");
  input.set_datatype("FP32");
  for (const int64_t d : {1, 3, 32, 32}) input.add_shape(d);
  request.add_raw_input_contents(std::string(size_t(4) * 3 * 32 * 32, '\0'));
  return request;
}

void Wait(const std::function<bool()>& until) {
  while (!until()) std::this_thread::yield();
}

// Occupies the server's only slot: its request is computed, and the slot then waits in the callback.
class Gate {
 public:
  explicit Gate(Server& server) {
    InferRequest request;
    NamedTensor& input = request.inputs.emplace_back();
    input.name = "image";
    input.shape = {1, 3, 32, 32};
    input.tensor = Tensor(DType::kF32, input.shape);
    server.Infer("digits", "", std::move(request), std::nullopt, [this](Outcome&&) {
      reached_.set_value();
      open_.get_future().wait();
    });
    reached_.get_future().wait();
  }
  ~Gate() { Open(); }
  void Open() {
    if (!is_open_) open_.set_value();
    is_open_ = true;
  }

 private:
  std::promise<void> reached_, open_;
  bool is_open_ = false;
};

class Grpc : public testing::Test {
 protected:
  explicit Grpc(GrpcOptions options = {}) {
    std::filesystem::create_directory(repository_.str());
    for (const char* file : {"digits.onnx", "digits.toml", "digits.labels.txt"})
      std::filesystem::copy("models/" + std::string(file), repository_.str());
    server_ = std::make_unique<Server>(ServerOptions{.repository = repository_.str(),
                                                     .session = {.threads = 1},
                                                     .queue = {.slots = 1, .waiting_per_slot = 1}});
    options.listen = "127.0.0.1:0";
    options.version = "1.2.3";
    options.log = [this](const GrpcLogLine& line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(line.method + " " + line.code);
    };
    grpc_ = std::make_unique<GrpcServer>(*server_, options);
    stub_ = inference::GRPCInferenceService::NewStub(ChannelTo(address(), "server", Security{}));
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(grpc_->port()); }

  struct Answer {
    grpc::Status status;
    inference::ModelInferResponse response;
    std::multimap<std::string, std::string> trailers;
  };
  Answer Infer(const inference::ModelInferRequest& request, std::chrono::milliseconds limit = {},
               const std::string& authorization = "") const {
    grpc::ClientContext context;
    if (limit.count() > 0) context.set_deadline(std::chrono::system_clock::now() + limit);
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    Answer answer;
    answer.status = stub_->ModelInfer(&context, request, &answer.response);
    for (const auto& [name, value] : context.GetServerTrailingMetadata())
      answer.trailers.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
    return answer;
  }
  std::future<Answer> InferLater(std::chrono::milliseconds limit = {}) const {
    return std::async(std::launch::async, [this, limit] { return Infer(Request(), limit); });
  }

  template <class Response, class Message>
  std::pair<grpc::Status, Response> Ask(grpc::Status (Stub::*method)(grpc::ClientContext*, const Message&,
                                                                     Response*),
                                        const Message& message) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub_.get()->*method)(&context, message, &response);
    return {status, response};
  }
  bool Ready() { return Ask(&Stub::ServerReady, inference::ServerReadyRequest()).second.ready(); }

  std::vector<std::string> Log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  TempPath repository_;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<Stub> stub_;
};

// The answer to a call of one message by its method's name.
std::pair<grpc::Status, std::string> Generic(const std::string& address, const std::string& method,
                                             const std::string& message) {
  grpc::GenericStub stub(ChannelTo(address, "server", Security{}));
  grpc::ClientContext context;
  const grpc::Slice slice(message);
  const grpc::ByteBuffer bytes(&slice, 1);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &bytes, &answer,
                 [&](const grpc::Status& status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  std::string text;
  std::vector<grpc::Slice> slices;
  if (status.ok() && answer.Dump(&slices).ok())
    for (const grpc::Slice& s : slices) text.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return {status, text};
}

TEST_F(Grpc, TellsOfItselfAndItsModels) {
  EXPECT_TRUE(Ask(&Stub::ServerLive, inference::ServerLiveRequest()).second.live());
  EXPECT_TRUE(Ready());
  const auto server = Ask(&Stub::ServerMetadata, inference::ServerMetadataRequest()).second;
  EXPECT_EQ(server.name(), "mete");
  EXPECT_EQ(server.version(), "1.2.3");
  EXPECT_GT(server.extensions_size(), 0);
  inference::ModelMetadataRequest about;
  about.set_name("digits");
  const auto model = Ask(&Stub::ModelMetadata, about).second;
  EXPECT_EQ(model.versions(0), "1");
  EXPECT_EQ(model.inputs(0).name(), "image");
  about.set_version("2");
  EXPECT_EQ(Ask(&Stub::ModelMetadata, about).first.error_code(), StatusCode::NOT_FOUND);
}

TEST_F(Grpc, ModelsAreReadyUnlessTheyAreUnloaded) {
  inference::ModelReadyRequest ready;
  ready.set_name("digits");
  EXPECT_TRUE(Ask(&Stub::ModelReady, ready).second.ready());
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("digits");
  EXPECT_TRUE(Ask(&Stub::RepositoryModelUnload, unload).first.ok());
  const auto [status, response] = Ask(&Stub::ModelReady, ready);
  EXPECT_TRUE(status.ok());
  EXPECT_FALSE(response.ready());
  EXPECT_EQ(Infer(Request()).status.error_code(), StatusCode::UNAVAILABLE);
  ready.set_name("none");
  EXPECT_EQ(Ask(&Stub::ModelReady, ready).first.error_code(), StatusCode::NOT_FOUND);
}

TEST_F(Grpc, TheRepositoryIsListedLoadedAndUnloaded) {
  inference::RepositoryIndexRequest all, only_ready;
  only_ready.set_ready(true);
  inference::RepositoryModelLoadRequest load;
  inference::RepositoryModelUnloadRequest unload;
  load.set_model_name("digits");
  unload.set_model_name("digits");
  EXPECT_TRUE(Ask(&Stub::RepositoryModelUnload, unload).first.ok());
  EXPECT_EQ(Ask(&Stub::RepositoryIndex, all).second.models(0).state(), "UNAVAILABLE");
  EXPECT_EQ(Ask(&Stub::RepositoryIndex, only_ready).second.models_size(), 0);
  EXPECT_TRUE(Ask(&Stub::RepositoryModelLoad, load).first.ok());
  EXPECT_EQ(Ask(&Stub::RepositoryIndex, only_ready).second.models(0).name(), "digits");
  (*load.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(Ask(&Stub::RepositoryModelLoad, load).first.error_code(), StatusCode::INVALID_ARGUMENT);
  load.clear_parameters();
  load.set_model_name("none");
  EXPECT_EQ(Ask(&Stub::RepositoryModelLoad, load).first.error_code(), StatusCode::NOT_FOUND);
  unload.set_model_name("none");
  EXPECT_EQ(Ask(&Stub::RepositoryModelUnload, unload).first.error_code(), StatusCode::NOT_FOUND);
}

TEST_F(Grpc, ComputesAndCounts) {
  const Answer answer = Infer(Request());
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.response.id(), "7");
  EXPECT_EQ(answer.response.model_version(), "1");
  ASSERT_EQ(answer.response.raw_output_contents_size(), 1);
  EXPECT_EQ(answer.response.raw_output_contents(0).size(), 40u);
  EXPECT_TRUE(answer.trailers.contains("mete-wait-ms"));

  inference::ModelInferRequest typed = Request();
  typed.clear_raw_input_contents();
  typed.mutable_inputs(0)->mutable_contents()->mutable_fp32_contents()->Resize(3 * 32 * 32, 0.0f);
  const Answer same = Infer(typed);
  ASSERT_EQ(same.response.outputs(0).contents().fp32_contents_size(), 10) << same.status.error_message();
  EXPECT_EQ(0, std::memcmp(same.response.outputs(0).contents().fp32_contents().data(),
                           answer.response.raw_output_contents(0).data(), 40));

  inference::ModelStatisticsRequest of;
  of.set_name("digits");
  EXPECT_EQ(Ask(&Stub::ModelStatistics, of).second.model_stats(0).inference_count(), 2u);
  of.set_name("none");
  EXPECT_EQ(Ask(&Stub::ModelStatistics, of).first.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Log(), (std::vector<std::string>{"ModelInfer OK", "ModelInfer OK", "ModelStatistics OK",
                                             "ModelStatistics NOT_FOUND"}));
}

TEST_F(Grpc, ErrorsHaveCodesAndTextsThatCanBeRead) {
  EXPECT_EQ(Infer(Request("none")).status.error_code(), StatusCode::NOT_FOUND);
  inference::ModelInferRequest request = Request();
  request.mutable_inputs(0)->set_name("\xc3\xa9");
  const Answer named = Infer(request);
  EXPECT_EQ(named.status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(named.status.error_message().find("\xc3\xa9"), std::string::npos) << named.status.error_message();
  request = Request();
  request.mutable_raw_input_contents(0)->resize(7);
  EXPECT_EQ(Infer(request).status.error_code(), StatusCode::INVALID_ARGUMENT);
  request = Request();
  (*request.mutable_parameters())["timeout"].set_int64_param(-1);
  EXPECT_EQ(Infer(request).status.error_code(), StatusCode::INVALID_ARGUMENT);
  request = Request();
  (*request.mutable_inputs(0)->mutable_parameters())["shared_memory_region"].set_string_param("x");
  EXPECT_EQ(Infer(request).status.error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(Grpc, ManyProblemsFitIntoAStatus) {
  inference::ModelInferRequest request;
  request.set_model_name("digits");
  for (int i = 0; i < 200; ++i) request.add_inputs()->set_name(std::string(100, 'x') + std::to_string(i));
  const grpc::Status status = Infer(request).status;
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("more"), std::string::npos) << status.error_message();
}

TEST_F(Grpc, CallsThatTheServerLacksAreUnimplemented) {
  for (const char* method : {"SystemSharedMemoryStatus", "CudaSharedMemoryRegister", "ModelConfig"})
    EXPECT_EQ(
        Generic(address(), std::string("/inference.GRPCInferenceService/") + method, "").first.error_code(),
        StatusCode::UNIMPLEMENTED)
        << method;
}

TEST_F(Grpc, WhatIsNoMessageIsRefusedAndLeavesNoLine) {
  testing::internal::CaptureStderr();
  const std::string infer = "/inference.GRPCInferenceService/ModelInfer";
  EXPECT_FALSE(Generic(address(), infer, std::string(9, '\xff')).first.ok());
  EXPECT_FALSE(Generic(address(), infer, "\x0a\x02\xff\xfe").first.ok());  // a name that is no UTF-8
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(Infer(Request()).status.ok());
}

TEST_F(Grpc, AFullQueueSaysWhenToTryAgain) {
  Gate gate(*server_);
  std::future<Answer> waiting = InferLater();
  Wait([&] { return server_->waiting() == 1; });
  const Answer refused = Infer(Request());
  EXPECT_EQ(refused.status.error_code(), StatusCode::RESOURCE_EXHAUSTED) << refused.status.error_message();
  ASSERT_TRUE(refused.trailers.contains("retry-after-ms"));
  EXPECT_GT(std::stoi(refused.trailers.find("retry-after-ms")->second), 0);
  gate.Open();
  EXPECT_TRUE(waiting.get().status.ok());
}

TEST_F(Grpc, AModelThatIsNotReadySaysWhenToTryAgain) {
  server_->Unload("digits");
  const Answer refused = Infer(Request());
  EXPECT_EQ(refused.status.error_code(), StatusCode::UNAVAILABLE) << refused.status.error_message();
  ASSERT_TRUE(refused.trailers.contains("retry-after-ms"));
  EXPECT_EQ(refused.trailers.find("retry-after-ms")->second, "1000");
}

TEST_F(Grpc, ATraceIsPassedOn) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  grpc::ClientContext context;
  context.AddMetadata("traceparent", trace);
  inference::ModelInferResponse response;
  ASSERT_TRUE(stub_->ModelInfer(&context, Request(), &response).ok());
  const auto passed = context.GetServerInitialMetadata().find("traceparent");
  ASSERT_NE(passed, context.GetServerInitialMetadata().end());
  EXPECT_EQ(std::string(passed->second.data(), passed->second.size()), trace);
}

TEST_F(Grpc, WhatIsNoTraceIsNotPassedOn) {
  for (const std::string& other : {std::string("no trace"), std::string(200, 'a')}) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", other);
    inference::ModelInferResponse response;
    ASSERT_TRUE(stub_->ModelInfer(&context, Request(), &response).ok());
    EXPECT_FALSE(context.GetServerInitialMetadata().contains("traceparent")) << other;
  }
}

TEST_F(Grpc, TheDeadlineOfACallIsThatOfItsRequest) {
  Gate gate(*server_);
  EXPECT_EQ(Infer(Request(), std::chrono::milliseconds(50)).status.error_code(),
            StatusCode::DEADLINE_EXCEEDED);
  // The server has given it up, too, while the slot is still occupied, as late or because the caller has
  // gone.
  Wait([&] { return Log().size() == 1; });
  EXPECT_TRUE(Log()[0] == "ModelInfer DEADLINE_EXCEEDED" || Log()[0] == "ModelInfer CANCELLED") << Log()[0];
  EXPECT_EQ(server_->waiting(), 0);
}

TEST_F(Grpc, ACallThatIsCancelledIsNotComputed) {
  Gate gate(*server_);
  grpc::ClientContext context;
  std::future<grpc::StatusCode> ended = std::async(std::launch::async, [&] {
    inference::ModelInferResponse response;
    return stub_->ModelInfer(&context, Request(), &response).error_code();
  });
  Wait([&] { return server_->waiting() == 1; });
  context.TryCancel();
  Wait([&] { return server_->waiting() == 0; });
  EXPECT_EQ(ended.get(), StatusCode::CANCELLED);
  gate.Open();
  EXPECT_TRUE(server_->Drain(std::chrono::minutes(5)));
  EXPECT_EQ(server_->Statistics("digits", "1")[0].executions, 1);  // the gate's
}

TEST_F(Grpc, TheParameterTimeoutIsADeadlineToo) {
  inference::ModelInferRequest request = Request();
  (*request.mutable_parameters())["timeout"].set_int64_param(1);  // microsecond
  const Answer answer = Infer(request);
  EXPECT_EQ(answer.status.error_code(), StatusCode::DEADLINE_EXCEEDED) << answer.status.error_message();
}

TEST_F(Grpc, ADrainAnswersWhatWasAcceptedAndRefusesTheRest) {
  const std::string check = "/grpc.health.v1.Health/Check";
  const std::string serving = "\x08\x01", not_serving = "\x08\x02";  // the field `status`
  const std::string service = "inference.GRPCInferenceService";
  const std::string of_service = std::string("\x0a") + char(service.size()) + service;
  EXPECT_EQ(Generic(address(), check, "").second, serving);
  EXPECT_EQ(Generic(address(), check, of_service).second, serving);

  Gate gate(*server_);
  std::future<Answer> accepted = InferLater();
  Wait([&] { return server_->waiting() == 1; });
  grpc_->BeginDrain();
  std::future<bool> drained =
      std::async(std::launch::async, [&] { return server_->Drain(std::chrono::minutes(1)); });
  Wait([&] { return !Ready(); });
  // the server has closed its queue a moment after it has ceased to be ready
  Wait([&] { return Infer(Request()).status.error_code() == StatusCode::UNAVAILABLE; });
  EXPECT_EQ(Generic(address(), check, "").second, not_serving);
  EXPECT_EQ(Generic(address(), check, of_service).second, not_serving);
  gate.Open();
  EXPECT_TRUE(accepted.get().status.ok());
  EXPECT_TRUE(drained.get());
  grpc_->Close(std::chrono::minutes(1));
  EXPECT_EQ(Infer(Request()).status.error_code(), StatusCode::UNAVAILABLE);
}

constexpr const char* kReflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

TEST_F(Grpc, Reflects) {
  const auto [status, answer] =
      Generic(address(), kReflection, std::string("\x3a\x01x", 3));  // list_services
  EXPECT_NE(answer.find("inference.GRPCInferenceService"), std::string::npos) << status.error_message();
}

struct WithToken : Grpc {
  WithToken() : Grpc({.security = {.token = "sixteen letters!"}}) {}
};

TEST_F(WithToken, CallersShowIt) {
  EXPECT_EQ(Infer(Request()).status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Infer(Request(), {}, "sixteen letters!").status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Infer(Request(), {}, "Bearer sixteen letters?").status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Infer(Request(), {}, "Bearer sixteen letters!").status.ok());
  EXPECT_EQ(Ask(&Stub::RepositoryModelUnload, inference::RepositoryModelUnloadRequest()).first.error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Ready());  // as over HTTP, health needs none
  EXPECT_EQ(Generic(address(), kReflection, "").first.error_code(), StatusCode::UNIMPLEMENTED);
}

struct WithBounds : Grpc {
  WithBounds() : Grpc({.bounds = {.input_bytes = 20000, .json_bytes = 1000}}) {}
};

TEST_F(WithBounds, LargerMessagesAreNotRead) {
  EXPECT_TRUE(Infer(Request()).status.ok());
  inference::ModelInferRequest request = Request();
  request.mutable_raw_input_contents(0)->resize(21001);
  EXPECT_EQ(Infer(request).status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

struct WithKeys : Grpc {
  explicit WithKeys(const std::string& token = "") : Grpc({.security = Keys(token)}) {}

  static Security Keys(const std::string& token) {
    static const TempPath folder;
    static const MadeKeys made = MakeKeys(folder.str(), {{"server", {}}, {"caller", {}}});
    const KeyFiles files = ReadKeys(folder.str() + "/server");
    return {token.empty() ? files.ca : "", files.certificate, files.key, token};
  }

  grpc::StatusCode AskBy(const grpc::SslCredentialsOptions& ssl) const {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("server");
    const auto stub = inference::GRPCInferenceService::NewStub(
        grpc::CreateCustomChannel(address(), grpc::SslCredentials(ssl), arguments));
    grpc::ClientContext context;
    inference::ServerLiveResponse response;
    return stub->ServerLive(&context, {}, &response).error_code();
  }
};

TEST_F(WithKeys, CallersHaveACertificate) {
  const Security keys = Keys("");
  EXPECT_EQ(AskBy({keys.ca, "", ""}), StatusCode::UNAVAILABLE);
  EXPECT_EQ(AskBy({keys.ca, keys.key, keys.certificate}), StatusCode::OK);
  EXPECT_FALSE(Infer(Request()).status.ok());  // plain text
}

struct WithKeysAndToken : WithKeys {
  WithKeysAndToken() : WithKeys("sixteen letters!") {}
};

TEST_F(WithKeysAndToken, CallersNeedNoCertificate) {
  EXPECT_EQ(AskBy({Keys("").ca, "", ""}), StatusCode::OK);
}

TEST(GrpcServerTest, APortThatIsTakenIsAnError) {
  TempPath repository;
  std::filesystem::create_directory(repository.str());
  Server server({.repository = repository.str(), .session = {.threads = 1}});
  const GrpcServer first(server, {.listen = "127.0.0.1:0"});
  try {
    const GrpcServer second(server, {.listen = "127.0.0.1:" + std::to_string(first.port())});
    FAIL() << "listens twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnavailable);
    EXPECT_EQ(std::string(error.what()).find("[--grpc-listen]"), 0u) << error.what();
  }
}

}  // namespace
}  // namespace mete::serve
