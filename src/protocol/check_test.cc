#include "protocol/check.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

namespace pb = worker::v1;

pb::Frame AFrame() {
  pb::Frame frame;
  frame.set_request(7), frame.set_stage(1), frame.set_need(2), frame.set_source(3), frame.set_offset(4);
  frame.set_data(std::string("some bytes of a piece"));
  AddCheck(frame);
  return frame;
}

TEST(Check, AnyBitOfAFrameThatIsTurnedOverIsNoticed) {
  const std::string good = AFrame().SerializeAsString();
  CheckFrame(AFrame());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << bit % 8));
    pb::Frame frame;
    if (!frame.ParseFromString(bad)) continue;  // noticed before
    EXPECT_TELLS(CheckFrame(frame), "damaged") << "bit " << bit;
  }
}

TEST(Check, WhereAPieceBelongsIsPartOfIt) {
  pb::Frame frame = AFrame();
  frame.set_need(3), frame.set_source(2);
  EXPECT_TELLS(CheckFrame(frame), "damaged");
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
