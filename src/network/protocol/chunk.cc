#include "network/protocol/chunk.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "network/protocol/channel.h"
#include "network/protocol/check.h"

namespace mete {
namespace {

namespace io = google::protobuf::io;
using google::protobuf::MessageLite;

// The most bytes of a message before its chunk's data. The numbers of a frame take 72 at most and a
// deployment's name and number 30; the rest is room for fields of later versions.
constexpr size_t kMostHeadBytes = 256;

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kDelimited = 2,
  kFixed32 = 5
};  // as protobuf numbers them
constexpr uint32_t TagOf(int field) { return uint32_t(field) << 3 | kDelimited; }

// What a slice keeps alive. A thread of gRPC deletes it. gRPC orders this behind the thread that made the
// slice, which a sanitizer cannot see in a library without its instruments; `made` shows it.
struct Owner {
  std::shared_ptr<const void> kept;
  std::atomic<bool> made = false;

  static void Delete(void* owner) {
    auto* const o = static_cast<Owner*>(owner);
    (void)o->made.load(std::memory_order_acquire);
    delete o;
  }
};

// Returns a slice that shares `owner`. gRPC has no constant slices, hence the cast; it only reads the bytes.
grpc::Slice SliceOf(std::shared_ptr<const void> owner, const void* data, size_t bytes) {
  auto* const kept = new Owner{std::move(owner)};
  kept->made.store(true, std::memory_order_release);
  return {const_cast<void*>(data), bytes, Owner::Delete, kept};
}

grpc::Slice CodedSlice(Coding coding, const Tensor& piece) {
  if (coding == Coding::kF32 || piece.type() != DType::kF32)
    return SliceOf(std::make_shared<const Tensor>(piece), piece.data(), piece.bytes());
  const auto coded = std::make_shared<const std::string>(Encode(coding, piece.view()));
  return SliceOf(coded, coded->data(), coded->size());
}

size_t LengthOf(const std::vector<grpc::Slice>& slices) {
  size_t bytes = 0;
  for (const grpc::Slice& slice : slices) bytes += slice.size();
  return bytes;
}

std::vector<grpc::Slice> SlicesOf(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Valid() || !bytes.Dump(&slices).ok())
    Fail(Code::kDataLoss, "message", "has no bytes that can be read");
  return slices;
}

std::string FirstOf(const std::vector<grpc::Slice>& slices, size_t most) {
  std::string first;
  for (const grpc::Slice& slice : slices) {
    if (first.size() == most) break;
    first += BytesOf(slice).substr(0, most - first.size());
  }
  return first;
}

std::vector<grpc::Slice> From(const std::vector<grpc::Slice>& slices, size_t begin) {
  std::vector<grpc::Slice> rest;
  for (const grpc::Slice& slice : slices) {
    if (begin < slice.size()) rest.push_back(slice.sub(begin, slice.size()));
    begin -= std::min(begin, slice.size());
  }
  return rest;
}

// Reads the length of a delimited field, of as many bytes as protobuf's own parser accepts for it.
bool ReadLength(io::CodedInputStream& in, int* bytes) {
  constexpr int kMostBytes = 5;
  const int at = in.CurrentPosition();
  return in.ReadVarintSizeAsInt(bytes) && in.CurrentPosition() - at <= kMostBytes;
}

bool Skip(io::CodedInputStream& in, uint32_t tag) {
  uint64_t value = 0;
  int bytes = 0;
  switch (tag & 7) {
    case kVarint: return in.ReadVarint64(&value);
    case kFixed64: return in.Skip(8);
    case kDelimited: return ReadLength(in, &bytes) && in.Skip(bytes);
    case kFixed32: return in.Skip(4);
    default: return false;  // groups, which Mete never writes
  }
}

struct Field {
  size_t tag = 0, begin = 0;  // offsets of the field's tag and of its content
  size_t bytes = 0;           // the length that the field states
  size_t end() const { return begin + bytes; }
};

// Finds the next field with this number whose tag and length are within the readable bytes.
std::optional<Field> Find(io::CodedInputStream& in, int field) {
  for (;;) {
    const size_t at = size_t(in.CurrentPosition());
    const uint32_t tag = in.ReadTag();
    int bytes = 0;
    if (tag == TagOf(field)) {
      if (!ReadLength(in, &bytes)) return std::nullopt;
      return Field{at, size_t(in.CurrentPosition()), size_t(bytes)};
    }
    if (tag == 0 || !Skip(in, tag)) return std::nullopt;
  }
}

// Returns the chunk of a message that has a frame among its first bytes.
std::optional<Chunk> ChunkIn(const std::vector<grpc::Slice>& slices, int frame_field, MessageLite* message) {
  const size_t all = LengthOf(slices);
  const std::string head = FirstOf(slices, kMostHeadBytes);
  io::CodedInputStream in(reinterpret_cast<const uint8_t*>(head.data()), int(head.size()));
  const std::optional<Field> frame = Find(in, frame_field);
  if (!frame) return std::nullopt;
  const std::optional<Field> data = Find(in, pb::Frame::kDataFieldNumber);
  if (frame->end() != all || (data ? data->end() : size_t(in.CurrentPosition())) != all) FailFrameAstray();
  Chunk chunk;
  const size_t numbers = (data ? data->tag : all) - frame->begin;
  if (!message->ParseFromArray(head.data(), int(frame->tag)) ||
      !chunk.frame.ParseFromArray(head.data() + frame->begin, int(numbers)))
    Fail(Code::kDataLoss, "piece", "cannot be read; got {} bytes", all);
  if (data) chunk.data = From(slices, data->begin);
  return chunk;
}

}  // namespace

bool WritePiece(Coding coding, uint64_t request, const PieceRoute& route, const PieceId& id,
                const Tensor& piece, const std::function<bool(const Chunk&)>& write) {
  const grpc::Slice coded = CodedSlice(coding, piece);
  // A piece without bytes has one chunk without data, because its receiver waits for it.
  for (size_t at = 0; at == 0 || at < coded.size(); at += kChunkBytes) {
    Chunk chunk;
    chunk.frame.set_request(request);
    chunk.frame.set_stage(id.stage);
    chunk.frame.set_need(id.need);
    chunk.frame.set_source(id.source);
    chunk.frame.set_from(route.from);
    chunk.frame.set_to(route.to);
    chunk.frame.set_offset(int64_t(at));
    if (coded.size() > 0) chunk.data.push_back(coded.sub(at, std::min(at + kChunkBytes, coded.size())));
    AddCheck(chunk);
    if (!write(chunk)) return false;
  }
  return true;
}

void PutChunk(Inbox& inbox, int from, const Chunk& chunk) {
  const pb::Frame& frame = chunk.frame;
  const PieceId id{frame.stage(), frame.need(), frame.source()};
  int64_t offset = frame.offset();
  if (chunk.data.empty()) inbox.Put(from, id, offset, {});
  for (const grpc::Slice& slice : chunk.data) {
    inbox.Put(from, id, offset, BytesOf(slice));
    offset += int64_t(slice.size());
  }
}

grpc::ByteBuffer PackChunk(const MessageLite& message, int frame_field, const Chunk& chunk) {
  const size_t bytes = LengthOf(chunk.data);
  const std::string numbers = chunk.frame.SerializeAsString();
  // protobuf leaves an empty field out
  const size_t data_head = bytes == 0
                               ? 0
                               : io::CodedOutputStream::VarintSize32(TagOf(pb::Frame::kDataFieldNumber)) +
                                     io::CodedOutputStream::VarintSize32(uint32_t(bytes));
  std::string head = message.SerializeAsString();
  {
    io::StringOutputStream to(&head);
    io::CodedOutputStream out(&to);
    out.WriteTag(TagOf(frame_field));
    out.WriteVarint32(uint32_t(numbers.size() + data_head + bytes));
    out.WriteString(numbers);
    if (bytes > 0) {
      out.WriteTag(TagOf(pb::Frame::kDataFieldNumber));
      out.WriteVarint32(uint32_t(bytes));
    }
  }
  std::vector<grpc::Slice> slices{grpc::Slice(head)};
  slices.insert(slices.end(), chunk.data.begin(), chunk.data.end());
  return {slices.data(), slices.size()};
}

grpc::ByteBuffer Pack(const MessageLite& message) {
  const grpc::Slice bytes(message.SerializeAsString());
  return {&bytes, 1};
}

std::optional<Chunk> UnpackEither(grpc::ByteBuffer& bytes, int frame_field, MessageLite* message) {
  if (std::optional<Chunk> chunk = ChunkIn(SlicesOf(bytes), frame_field, message)) return chunk;
  grpc::ProtoBufferReader reader(&bytes);
  if (!message->ParseFromZeroCopyStream(&reader))
    Fail(Code::kDataLoss, "message", "cannot be read; got {} bytes", bytes.Length());
  return std::nullopt;
}

void FailFrameAstray() {
  Fail(Code::kDataLoss, "piece",
       "is not where it is expected; try a frame that is last in its message, and has its data last");
}

}  // namespace mete
