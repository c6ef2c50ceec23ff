#include "network/protocol/check.h"

#include <xxhash.h>

#include <memory>
#include <new>

#include "base/error.h"

namespace mete {
namespace {

// The numbers are hashed as they lie in memory: all hosts are little-endian.
uint64_t CheckOf(const Chunk& chunk) {
  const pb::Frame& frame = chunk.frame;
  const int64_t where[] = {int64_t(frame.request()), frame.stage(), frame.need(), frame.source(),
                           frame.offset(),           frame.from(),  frame.to()};
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state.get(), XXH3_64bits(where, sizeof where));
  for (const grpc::Slice& slice : chunk.data) XXH3_64bits_update(state.get(), slice.begin(), slice.size());
  return XXH3_64bits_digest(state.get());
}

uint64_t CheckOf(const pb::Sealed& sealed) {
  return XXH3_64bits(sealed.deploy().data(), sealed.deploy().size());
}

void CheckEqual(uint64_t got, uint64_t expected, const char* what) {
  if (got != expected)
    Fail(Code::kDataLoss, what,
         "was damaged on its way; got the checksum {:016x}, expected {:016x}; try TLS (mete keys make), or "
         "another cable",
         got, expected);
}

}  // namespace

void AddCheck(Chunk& chunk) { chunk.frame.set_check(CheckOf(chunk)); }

void CheckChunk(const Chunk& chunk) { CheckEqual(CheckOf(chunk), chunk.frame.check(), "piece"); }

pb::Sealed Seal(const pb::Deploy& deploy) {
  pb::Sealed sealed;
  sealed.set_deploy(deploy.SerializeAsString());
  sealed.set_check(CheckOf(sealed));
  return sealed;
}

pb::Deploy Unseal(const pb::Sealed& sealed) {
  CheckEqual(CheckOf(sealed), sealed.check(), "deployment");
  pb::Deploy deploy;
  if (!deploy.ParseFromString(sealed.deploy()))
    Fail(Code::kDataLoss, "deployment", "cannot be read; got {} bytes", sealed.deploy().size());
  return deploy;
}

}  // namespace mete
