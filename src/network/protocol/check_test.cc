#include "network/protocol/check.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

// Returns a chunk whose data are in three slices.
Chunk AChunk() {
  Chunk chunk;
  chunk.frame.set_request(7);
  chunk.frame.set_stage(1);
  chunk.frame.set_need(2);
  chunk.frame.set_source(3);
  chunk.frame.set_offset(4);
  for (const char* bytes : {"some bytes", "", " of a piece"}) chunk.data.emplace_back(std::string(bytes));
  AddCheck(chunk);
  return chunk;
}

std::string Flat(const grpc::ByteBuffer& bytes) {
  grpc::Slice all;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&all).ok());
  return std::string(BytesOf(all));
}

TEST(Check, AnyBitOfAFrameThatIsTurnedOverIsNoticed) {
  const std::string good = Flat(Pack<pb::ToWorker>(AChunk()));
  CheckChunk(AChunk());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << bit % 8));
    const grpc::Slice slice(bad);
    grpc::ByteBuffer bytes(&slice, 1);
    std::optional<Chunk> chunk;
    try {
      chunk = Unpack<pb::ToWorker>(bytes).chunk;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kDataLoss);
    }
    if (!chunk) continue;  // the damage was noticed earlier, or made another kind of message of the bytes
    EXPECT_TELLS(CheckChunk(*chunk), "damaged") << "bit " << bit;
  }
}

TEST(Check, WhereAPieceBelongsIsPartOfIt) {
  Chunk chunk = AChunk();
  chunk.frame.set_need(3);
  chunk.frame.set_source(2);
  EXPECT_TELLS(CheckChunk(chunk), "damaged");
}

TEST(Check, HowAPieceIsInSlicesIsNot) {
  Chunk chunk = AChunk();
  const std::string all = "some bytes of a piece";
  chunk.data = {grpc::Slice(all)};
  CheckChunk(chunk);
}

TEST(Check, ADeploymentIsUnsealedAsItWasOrNotAtAll) {
  pb::Deploy deploy;
  deploy.set_id("sixteen letters!");
  deploy.set_lanes(3);
  deploy.add_stages()->set_graph("a graph");
  EXPECT_EQ(Unseal(Seal(deploy)).SerializeAsString(), deploy.SerializeAsString());
  const pb::Sealed good = Seal(deploy);
  for (size_t at = 0; at < good.deploy().size(); ++at) {
    pb::Sealed bad = good;
    (*bad.mutable_deploy())[at] = char((*bad.mutable_deploy())[at] ^ 0x10);
    EXPECT_TELLS(Unseal(bad), "damaged") << "byte " << at;
  }
}

}  // namespace
}  // namespace mete
