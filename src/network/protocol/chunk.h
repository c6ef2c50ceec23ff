// Pieces on the network: chunks, and the messages that carry chunks as bytes. gRPC's protobuf messages copy
// their data twice on each side. Here a sent message refers to the piece itself, and received data are copied
// once, to the tensor that needs them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "run/inbox.h"
#include "src/network/protocol/worker.pb.h"

namespace mete {

namespace pb = worker::v1;

struct Chunk {
  pb::Frame frame;                // without its data
  std::vector<grpc::Slice> data;  // in order; each slice shares the ownership of its bytes
};

inline std::string_view BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// The devices between which a piece goes.
struct PieceRoute {
  int from = 0, to = 0;
};

// Writes a coded piece in chunks of kChunkBytes, which refer to the memory of the piece. Serial equivalent:
// write(the first chunk), write(the next chunk), ... Returns false as soon as a call of `write` does.
bool WritePiece(Coding coding, uint64_t request, const PieceRoute& route, const PieceId& id,
                const Tensor& piece, const std::function<bool(const Chunk&)>& write);

// Puts a chunk that CheckChunk() (network/protocol/check.h) has accepted into the inbox. Errors as of
// Inbox::Put.
void PutChunk(Inbox& inbox, int from, const Chunk& chunk);

// Serializes a message whose frame is `chunk`, to the same bytes that protobuf would write. `message` has all
// fields but the frame.
grpc::ByteBuffer PackChunk(const google::protobuf::MessageLite& message, int frame_field, const Chunk& chunk);
template <class M>
grpc::ByteBuffer Pack(const Chunk& chunk, const M& message = {}) {
  return PackChunk(message, M::kFrameFieldNumber, chunk);
}

// Serializes a message without a frame.
grpc::ByteBuffer Pack(const google::protobuf::MessageLite& message);

// Parses a message with a frame (returns its chunk) or without one (returns nullopt). Error DATA_LOSS if the
// bytes are neither, or if the frame is not at the place that worker.proto requires.
std::optional<Chunk> UnpackEither(grpc::ByteBuffer& bytes, int frame_field,
                                  google::protobuf::MessageLite* message);
[[noreturn]] void FailFrameAstray();

template <class M>
struct Unpacked {
  M message;  // without its frame
  std::optional<Chunk> chunk;
};
template <class M>
Unpacked<M> Unpack(grpc::ByteBuffer& bytes) {
  Unpacked<M> got;
  got.chunk = UnpackEither(bytes, M::kFrameFieldNumber, &got.message);
  if (got.message.has_frame()) FailFrameAstray();
  return got;
}

}  // namespace mete
