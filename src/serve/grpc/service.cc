#include "serve/grpc/service.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mete::serve {

Service::Reactor* Service::ForAll(Context* context, const char* method,
                                  const std::function<void(const CallPtr&)>& work) {
  const auto call = std::make_shared<Call>(context, method, log_);
  Reactor* reactor = call->reactor();
  try {
    work(call);
  } catch (...) {
    call->Finish(StatusOfException());
  }
  return reactor;
}

Service::Reactor* Service::Begin(Context* context, const char* method,
                                 const std::function<void(const CallPtr&)>& work) {
  return ForAll(context, method, [&](const CallPtr& call) {
    if (ShowsToken(*context, options_.security.token)) return work(call);
    call->Finish({grpc::StatusCode::UNAUTHENTICATED,
                  "[authorization] the token is missing or wrong; expected Bearer TOKEN"});
  });
}

void Service::Later(const CallPtr& call, std::function<void()> work) {
  server_.Later([call, work = std::move(work)] {
    grpc::Status status;
    try {
      work();
    } catch (...) {
      status = StatusOfException();
    }
    call->Finish(status);
  });
}

Service::Reactor* Service::ServerLive(Context* context, const inference::ServerLiveRequest*,
                                      inference::ServerLiveResponse* response) {
  return ForAll(context, "ServerLive", [&](const CallPtr& call) {
    response->set_live(true);
    call->Finish();
  });
}

Service::Reactor* Service::ServerReady(Context* context, const inference::ServerReadyRequest*,
                                       inference::ServerReadyResponse* response) {
  return ForAll(context, "ServerReady", [&](const CallPtr& call) {
    response->set_ready(server_.ready());
    call->Finish();
  });
}

Service::Reactor* Service::ModelReady(Context* context, const inference::ModelReadyRequest* request,
                                      inference::ModelReadyResponse* response) {
  return Begin(context, "ModelReady", [&](const CallPtr& call) {
    response->set_ready(server_.IsReady(request->name(), request->version()));
    if (!response->ready()) try {
        (void)server_.Metadata(request->name(), request->version());
      } catch (const Error& error) {  // UNAVAILABLE is the answer "no"
        if (error.code() != Code::kUnavailable) throw;
      }
    call->Finish();
  });
}

Service::Reactor* Service::ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                                          inference::ServerMetadataResponse* response) {
  return Begin(context, "ServerMetadata", [&](const CallPtr& call) {
    *response = MessageOf(serve::ServerMetadata{"mete", options_.version, kExtensions});
    call->Finish();
  });
}

Service::Reactor* Service::ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                                         inference::ModelMetadataResponse* response) {
  return Begin(context, "ModelMetadata", [&](const CallPtr& call) {
    *response = MessageOf(server_.Metadata(request->name(), request->version()));
    call->Finish();
  });
}

Service::Reactor* Service::ModelInfer(Context* context, const inference::ModelInferRequest* request,
                                      inference::ModelInferResponse* response) {
  return Begin(context, "ModelInfer", [&](const CallPtr& call) {
    // Tensors lie in the message, perhaps longer than gRPC keeps it. It is this call's alone.
    const auto message = std::make_shared<const inference::ModelInferRequest>(
        std::move(*const_cast<inference::ModelInferRequest*>(request)));
    InferRequest infer = RequestOf(*message, options_.bounds, message);
    const auto deadline = DeadlineOf(*context, infer.parameters);
    const auto done = [call, response, &server = server_](Outcome&& outcome) {
      grpc::Status status;
      if (!outcome.error.empty()) status = StatusOf(outcome.code, outcome.error);
      else try {
          *response = MessageOf(outcome.answer);
        } catch (...) {
          status = StatusOfException();
        }
      call->RetryAfter(outcome.retry_after_s);
      call->AddTrailer("mete-wait-ms", fmt::format("{:.3f}", server.predicted_wait_us() * 1e-3));
      call->Finish(status);
    };
    const std::shared_ptr<Leaving> leaving = call->leaving();  // the call may be over when Infer() returns
    const uint64_t number =
        server_.Infer(message->model_name(), message->model_version(), std::move(infer), deadline, done);
    if (number > 0) leaving->Then([&server = server_, number] { server.Cancel(number); });
  });
}

Service::Reactor* Service::ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                                           inference::ModelStatisticsResponse* response) {
  return Begin(context, "ModelStatistics", [&](const CallPtr& call) {
    *response = MessageOf(server_.Statistics(request->name(), request->version()));
    call->Finish();
  });
}

Service::Reactor* Service::RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                                           inference::RepositoryIndexResponse* response) {
  return Begin(context, "RepositoryIndex", [&](const CallPtr& call) {
    std::vector<IndexEntry> index = server_.Index();
    if (request->ready())
      std::erase_if(index, [](const IndexEntry& entry) { return entry.state != "READY"; });
    *response = MessageOf(index);
    call->Finish();
  });
}

Service::Reactor* Service::RepositoryModelLoad(Context* context,
                                               const inference::RepositoryModelLoadRequest* request,
                                               inference::RepositoryModelLoadResponse*) {
  return Begin(context, "RepositoryModelLoad", [&](const CallPtr& call) {
    CheckLoad(*request);
    Later(call, [this, model = request->model_name()] { server_.Load(model); });
  });
}

Service::Reactor* Service::RepositoryModelUnload(Context* context,
                                                 const inference::RepositoryModelUnloadRequest* request,
                                                 inference::RepositoryModelUnloadResponse*) {
  return Begin(context, "RepositoryModelUnload", [&](const CallPtr& call) {
    Later(call, [this, model = request->model_name()] { server_.Unload(model); });
  });
}

}  // namespace mete::serve
