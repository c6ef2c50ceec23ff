// The two streams of worker.proto that carry pieces, with messages as bytes (network/protocol/chunk.h); on
// the wire they are the same as protobuf's messages. gRPC has no synchronous stubs for raw bytes; these stubs
// are made in the way of its generated ones.
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

// The generated service of a worker, with these two methods taking bytes.
class WorkerService : public pb::Worker::Service {
 public:
  WorkerService();
  virtual grpc::Status ServeBytes(grpc::ServerContext* context, ServeStream* stream) = 0;
  virtual grpc::Status FeedBytes(grpc::ServerContext* context, FeedStream* stream, pb::FeedReply* reply) = 0;
};

}  // namespace mete
