// The two streams of worker.proto that pieces go through, with messages as bytes (network/protocol/chunk.h):
// on the wire the same. gRPC has no synchronous stubs for that; these are made as its generated ones are.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "src/network/protocol/worker.grpc.pb.h"

namespace mete {

namespace pb = worker::v1;

using ServeCall = grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;  // ToWorker, FromWorker
using FeedCall = grpc::ClientWriter<grpc::ByteBuffer>;                           // Fed
using ServeStream = grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
using FeedStream = grpc::ServerReader<grpc::ByteBuffer>;

std::unique_ptr<ServeCall> OpenServe(grpc::Channel& channel, grpc::ClientContext* context);
std::unique_ptr<FeedCall> OpenFeed(grpc::Channel& channel, grpc::ClientContext* context,
                                   pb::FeedReply* reply);

// A worker's service, but for these two, is the generated one.
class WorkerService : public pb::Worker::Service {
 public:
  WorkerService();
  virtual grpc::Status ServeBytes(grpc::ServerContext* context, ServeStream* stream) = 0;
  virtual grpc::Status FeedBytes(grpc::ServerContext* context, FeedStream* stream, pb::FeedReply* reply) = 0;
};

}  // namespace mete
