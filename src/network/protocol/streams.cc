#include "network/protocol/streams.h"

#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/method_handler.h>

#include <functional>

namespace mete {
namespace {

using grpc::internal::RpcMethod;

int IndexOf(const char* method) {
  return pb::ToWorker::descriptor()->file()->FindServiceByName("Worker")->FindMethodByName(method)->index();
}

}  // namespace

std::unique_ptr<ServeCall> OpenServe(grpc::Channel& channel, grpc::ClientContext* context) {
  const RpcMethod method("/mete.worker.v1.Worker/Serve", RpcMethod::BIDI_STREAMING);
  return std::unique_ptr<ServeCall>(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(&channel, method,
                                                                                            context));
}

std::unique_ptr<FeedCall> OpenFeed(grpc::Channel& channel, grpc::ClientContext* context,
                                   pb::FeedReply* reply) {
  const RpcMethod method("/mete.worker.v1.Worker/Feed", RpcMethod::CLIENT_STREAMING);
  return std::unique_ptr<FeedCall>(
      grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(&channel, method, context, reply));
}

// The service owns the handlers. MarkMethodStreamed() marks both methods as streams in both directions; for
// Feed, which is only read, this makes no difference.
WorkerService::WorkerService() {
  using Bytes = grpc::ByteBuffer;
  MarkMethodStreamed(IndexOf("Serve"), new grpc::internal::BidiStreamingHandler<WorkerService, Bytes, Bytes>(
                                           std::mem_fn(&WorkerService::ServeBytes), this));
  MarkMethodStreamed(IndexOf("Feed"),
                     new grpc::internal::ClientStreamingHandler<WorkerService, Bytes, pb::FeedReply>(
                         std::mem_fn(&WorkerService::FeedBytes), this));
}

}  // namespace mete
