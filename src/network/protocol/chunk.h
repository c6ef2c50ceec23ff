// Pieces on their way, in chunks, and the messages that carry them as bytes. Through gRPC's protobuf the data
// of a message are copied twice on each side. Here what is sent refers to the piece itself, and what has come
// is copied once, to where it is needed.
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
  pb::Frame frame;                // but for its data
  std::vector<grpc::Slice> data;  // in order; each shares what it refers to
};

inline std::string_view BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Between which devices a piece goes.
struct PieceRoute {
  int from = 0, to = 0;
};

// A coded piece in chunks of kChunkBytes, which refer to it. Serial equivalent: write(the first), write(the
// next), ...; false where one is.
bool WritePiece(Coding coding, uint64_t request, const PieceRoute& route, const PieceId& id,
                const Tensor& piece, const std::function<bool(const Chunk&)>& write);

// One that CheckChunk() (network/protocol/check.h) finds nothing in. Error as Inbox::Put.
void PutChunk(Inbox& inbox, int from, const Chunk& chunk);

// A message that has a chunk for its frame: what the ordinary one would be as bytes. `message` is all of it
// but for the frame.
grpc::ByteBuffer PackChunk(const google::protobuf::MessageLite& message, int frame_field, const Chunk& chunk);
template <class M>
grpc::ByteBuffer Pack(const Chunk& chunk, const M& message = {}) {
  return PackChunk(message, M::kFrameFieldNumber, chunk);
}

// One without.
grpc::ByteBuffer Pack(const google::protobuf::MessageLite& message);

// Either. Error DATA_LOSS where it is neither, or where a frame is not where worker.proto wants it.
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
