// How blocks reach cores. A parallel region is a grid of `blocks` numbered 0..blocks-1; a policy says
// which of them a worker takes next. One object serves one pool; regions follow each other, never overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace mete {

struct BlockRange {
  int64_t begin = 0, end = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Called by one thread before the workers start.
  virtual void Begin(int64_t blocks, int workers) = 0;
  // Called by worker w (0..workers-1), concurrently with others; false: nothing is left for it.
  virtual bool Next(int w, BlockRange* range) = 0;
};

// "equal": each worker gets one contiguous slice, as equal as can be. Error for an unknown name.
std::unique_ptr<Policy> MakePolicy(std::string_view name);

}  // namespace mete
