#include "protocol/check.h"

#include <xxhash.h>

#include "base/error.h"

namespace mete {
namespace {

namespace pb = worker::v1;

// The numbers are hashed as they lie in memory: all hosts are little-endian.
uint64_t CheckOf(const pb::Frame& frame) {
  const int64_t where[] = {int64_t(frame.request()), frame.stage(), frame.need(), frame.source(), frame.offset()};
  return XXH3_64bits_withSeed(frame.data().data(), frame.data().size(), XXH3_64bits(where, sizeof where));
}

uint64_t CheckOf(const pb::Sealed& sealed) { return XXH3_64bits(sealed.deploy().data(), sealed.deploy().size()); }

void CheckEqual(uint64_t got, uint64_t expected, const char* what) {
  if (got != expected)
    Fail(Code::kDataLoss, what,
         "was damaged on its way; got the checksum {:016x}, expected {:016x}; try TLS (mete keys make), or another cable", got, expected);
}

}  // namespace

void AddCheck(pb::Frame& frame) { frame.set_check(CheckOf(frame)); }

void CheckFrame(const pb::Frame& frame) { CheckEqual(CheckOf(frame), frame.check(), "piece"); }

pb::Sealed Seal(const pb::Deploy& deploy) {
  pb::Sealed sealed;
  sealed.set_deploy(deploy.SerializeAsString());
  sealed.set_check(CheckOf(sealed));
  return sealed;
}

pb::Deploy Unseal(const pb::Sealed& sealed) {
  CheckEqual(CheckOf(sealed), sealed.check(), "deployment");
  pb::Deploy deploy;
  if (!deploy.ParseFromString(sealed.deploy())) Fail(Code::kDataLoss, "deployment", "cannot be read; got {} bytes", sealed.deploy().size());
  return deploy;
}

}  // namespace mete
