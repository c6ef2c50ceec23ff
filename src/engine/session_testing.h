// A small convolutional network in a file, and its sessions.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/engine_testing.h"

namespace mete {

inline const Shape kInput{1, 3, 16, 16};

class SessionTest : public testing::Test {
 protected:
  std::vector<float> Run(Session& session, float step, const RunOptions& options = {}) {
    return Values(session.Run(std::vector{Ramp(kInput, step)}, options).at(0));
  }

  const ModelFile file_{ConvNet()};
  const Model model_ = Model::Load(file_.path());
};

inline void ExpectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5f) << i;
}

}  // namespace mete
