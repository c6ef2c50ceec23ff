#include "serve/grpc/grpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include "base/error.h"
#include "network/protocol/reflection.h"
#include "serve/grpc/service.h"

namespace mete::serve {
namespace {

// Of the messages of all callers while they come. They are in memory twice while they are parsed, which gRPC
// does not count, so that this is half of HttpLimits::bytes_together: 48 callers of 60 MiB without the
// token then take 569 MiB of memory at most, and 787 MiB with twice the quota.
constexpr size_t kBytesTogether = size_t(256) << 20;
constexpr int kStreams = 256;    // of one connection at a time; guess: more than callers have threads
constexpr int kIdleMs = 75'000;  // after which a connection without calls is closed; as HttpLimits::idle
// guess: metadata of a call, as HttpLimits::header_bytes
constexpr int kMetadataBytes = 16 << 10;

void Limit(grpc::ServerBuilder& builder, const RequestBounds& bounds) {
  const int64_t most = std::min<int64_t>(bounds.json_bytes + bounds.input_bytes, INT_MAX);
  builder.SetMaxReceiveMessageSize(int(most));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on one port are a mistake
  grpc::ResourceQuota quota("serve");
  quota.Resize(std::max(kBytesTogether, size_t(most)));
  builder.SetResourceQuota(quota);
}

}  // namespace

struct GrpcServer::Impl {
  Impl(Server& server, GrpcOptions given) : options(std::move(given)), service(server, options) {}

  const GrpcOptions options;
  Service service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;  // the last member, since it calls the service
};

GrpcServer::GrpcServer(Server& server, GrpcOptions options)
    : impl_(std::make_unique<Impl>(server, std::move(options))) {
  google::protobuf::SetLogHandler(nullptr);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // who lacks the token must not be able to keep threads
  if (!impl_->options.security.token.empty()) LeaveOutReflection(builder);
  Limit(builder, impl_->options.bounds);
  builder.AddListeningPort(impl_->options.listen, ServerCredentialsOf(impl_->options.security), &impl_->port);
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  if (!impl_->server || impl_->port == 0)
    Fail(Code::kUnavailable, "--grpc-listen",
         "cannot listen on {}; try another address or port, or look who has it", impl_->options.listen);
  impl_->server->GetHealthCheckService()->SetServingStatus(
      inference::GRPCInferenceService::service_full_name(), true);
}

GrpcServer::~GrpcServer() { Close(std::chrono::milliseconds(0)); }

int GrpcServer::port() const { return impl_->port; }

void GrpcServer::BeginDrain() { impl_->server->GetHealthCheckService()->SetServingStatus(false); }

void GrpcServer::Close(std::chrono::milliseconds limit) {
  impl_->server->Shutdown(std::chrono::system_clock::now() + limit);
}

}  // namespace mete::serve
