// Measures the cost of a chunk of a piece without the network: from the tensor to the buffer that gRPC sends,
// and from the buffer that gRPC has received to the other tensor. One variant uses protobuf's messages, the
// other is the engine's (network/protocol/chunk.h). Checksums, which are the same for both, are left out.
#include <benchmark/benchmark.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <cstring>

#include "network/protocol/channel.h"
#include "network/protocol/chunk.h"

namespace mete {
namespace {

constexpr size_t kReceivedBytes = 16 << 10;  // bytes of a slice: those of gRPC's first HTTP/2 frames

struct Piece {
  Tensor from{DType::kF32, {kChunkBytes / sizeof(float)}}, to{DType::kF32, {kChunkBytes / sizeof(float)}};
};

// Cuts the sent bytes into slices as they are received, without copying.
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
