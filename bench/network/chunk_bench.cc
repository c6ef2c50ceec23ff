// What a chunk of a piece costs beside the network: from the tensor to what gRPC is given to send, and from
// what it has received to the other tensor; checksums, which are the same, are left out. Through protobuf's
// messages, and as it is done (network/protocol/chunk.h).
#include <benchmark/benchmark.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <cstring>

#include "network/protocol/channel.h"
#include "network/protocol/chunk.h"

namespace mete {
namespace {

constexpr size_t kReceivedBytes = 16 << 10;  // of a slice: an HTTP/2 frame's, as gRPC sends them at first

struct Piece {
  Tensor from{DType::kF32, {kChunkBytes / sizeof(float)}}, to{DType::kF32, {kChunkBytes / sizeof(float)}};
};

// What is sent, cut as it is received. Nothing is copied.
grpc::ByteBuffer Received(const grpc::ByteBuffer& sent) {
  std::vector<grpc::Slice> slices, received;
  (void)sent.Dump(&slices);
  for (const grpc::Slice& slice : slices)
    for (size_t at = 0; at < slice.size(); at += kReceivedBytes)
      received.push_back(slice.sub(at, std::min(slice.size(), at + kReceivedBytes)));
  return {received.data(), received.size()};
}

void ThroughProtobuf(benchmark::State& state) {
  Piece piece;
  for (auto _ : state) {
    pb::ToWorker message;
    message.mutable_frame()->set_data(piece.from.data(), piece.from.bytes());
    grpc::ByteBuffer sent;
    bool own = false;
    (void)grpc::SerializationTraits<pb::ToWorker>::Serialize(message, &sent, &own);
    grpc::ByteBuffer received = Received(sent);
    pb::ToWorker got;
    (void)grpc::SerializationTraits<pb::ToWorker>::Deserialize(&received, &got);
    std::memcpy(piece.to.mutable_view().data, got.frame().data().data(), got.frame().data().size());
    benchmark::ClobberMemory();
  }
}

void InPlace(benchmark::State& state) {
  Piece piece;
  for (auto _ : state) {
    Chunk chunk;
    chunk.data.emplace_back(piece.from.data(), piece.from.bytes(), grpc::Slice::STATIC_SLICE);
    grpc::ByteBuffer received = Received(Pack<pb::ToWorker>(chunk));
    const Unpacked<pb::ToWorker> got = Unpack<pb::ToWorker>(received);
    char* to = static_cast<char*>(piece.to.mutable_view().data);
    for (const grpc::Slice& slice : got.chunk->data) {
      std::memcpy(to, slice.begin(), slice.size());
      to += slice.size();
    }
    benchmark::ClobberMemory();
  }
}

BENCHMARK(ThroughProtobuf)->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK(InPlace)->Repetitions(9)->ReportAggregatesOnly();

}  // namespace
}  // namespace mete

BENCHMARK_MAIN();
