// Pools for tests.
#pragma once

#include "kernels/fast/pool/pool.h"
#include "kernels/fast/test_util.h"

namespace mete {

// Returns a small pool with any window, whose kind follows from the seed.
inline PoolShape RandomPool(RandomData& random, int64_t most_channels, uint32_t seed) {
  PoolShape shape;
  ConvShape& s = shape.window;
  s.batch = random.Int(1, 2);
  s.in_height = random.Int(4, 12);
  s.in_width = random.Int(4, 12);
  s.in_channels = s.out_channels = random.Int(1, most_channels);
  s.kernel_height = random.Int(1, 4);
  s.kernel_width = random.Int(1, 4);
  s.stride_y = random.Int(1, 3);
  s.stride_x = random.Int(1, 3);
  s.dilation_y = random.Int(1, 2);
  s.dilation_x = random.Int(1, 2);
  s.pad_top = random.Int(0, 2);
  s.pad_left = random.Int(0, 2);
  shape.pad_bottom = random.Int(0, 2);
  shape.pad_right = random.Int(0, 2);
  s.out_height = random.Int(1, (s.in_height + s.pad_top) / s.stride_y + 1);
  s.out_width = random.Int(1, (s.in_width + s.pad_left) / s.stride_x + 1);
  shape.kind = seed % 2 ? PoolKind::kMax : PoolKind::kAverage;
  shape.count_include_pad = seed % 4 == 0;
  return shape;
}

}  // namespace mete
