// The calls of the Open Inference Protocol, answered by a Server.
#pragma once

#include <functional>
#include <memory>

#include "serve/grpc/call.h"
#include "serve/grpc_values/grpc_values.h"
#include "src/serve/grpc/inference_service.grpc.pb.h"

namespace mete::serve {

class Service : public inference::GRPCInferenceService::CallbackService {
 public:
  Service(Server& server, const GrpcOptions& options)
      : server_(server), options_(options), log_(options.log) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  using CallPtr = std::shared_ptr<Call>;

  Reactor* ServerLive(Context* context, const inference::ServerLiveRequest*,
                      inference::ServerLiveResponse* response) override;
  Reactor* ServerReady(Context* context, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse* response) override;
  Reactor* ModelReady(Context* context, const inference::ModelReadyRequest* request,
                      inference::ModelReadyResponse* response) override;
  Reactor* ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse* response) override;
  Reactor* ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                         inference::ModelMetadataResponse* response) override;
  Reactor* ModelInfer(Context* context, const inference::ModelInferRequest* request,
                      inference::ModelInferResponse* response) override;
  Reactor* ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                           inference::ModelStatisticsResponse* response) override;
  Reactor* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                           inference::RepositoryIndexResponse* response) override;
  Reactor* RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest* request,
                               inference::RepositoryModelLoadResponse*) override;
  Reactor* RepositoryModelUnload(Context* context, const inference::RepositoryModelUnloadRequest* request,
                                 inference::RepositoryModelUnloadResponse*) override;

  // Calls `work`, which finishes the call now or later; an exception is the call's error. ForAll() demands no
  // token.
  Reactor* ForAll(Context* context, const char* method, const std::function<void(const CallPtr&)>& work);
  Reactor* Begin(Context* context, const char* method, const std::function<void(const CallPtr&)>& work);
  // The same, with `work` on the server's thread for slow work.
  void Later(const CallPtr& call, std::function<void()> work);

  Server& server_;
  const GrpcOptions& options_;
  CallLog log_;
};

}  // namespace mete::serve
