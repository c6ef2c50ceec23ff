// libFuzzer target: takes any bytes as a message that may have a chunk. A message that is accepted must be
// equal to the one that protobuf parses.
#include <cstdlib>

#include "mete/error.h"
#include "network/protocol/chunk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Makes two slices: the first has as many bytes as the first byte says, the second has the rest.
  const size_t first = size == 0 ? 0 : std::min<size_t>(data[0], size);
  const grpc::Slice slices[] = {{data, first}, {data + first, size - first}};
  grpc::ByteBuffer bytes(slices, 2);
  mete::Unpacked<mete::pb::Fed> got;
  try {
    got = mete::Unpack<mete::pb::Fed>(bytes);
  } catch (const mete::Error&) {
    return 0;
  }
  if (got.chunk) {
    *got.message.mutable_frame() = got.chunk->frame;
    std::string all;
    for (const grpc::Slice& slice : got.chunk->data) all += mete::BytesOf(slice);
    if (!all.empty()) got.message.mutable_frame()->set_data(all);
  }
  mete::pb::Fed expected;
  if (!expected.ParseFromArray(data, int(size)) ||
      got.message.SerializeAsString() != expected.SerializeAsString())
    std::abort();
  return 0;
}
