// The cache lines that hold a range of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mete {

inline constexpr uintptr_t kCacheLine =
    64;  // bytes, on every processor with an instruction that evicts a line

// The addresses of the first line and of the end of the last one; both are multiples of kCacheLine.
struct CacheLines {
  uintptr_t first, end;
};

// Returns the lines that hold at least one of these bytes, also where `data` is not the beginning of a line.
inline CacheLines LinesOf(const void* data, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = at - at % kCacheLine;
  return {first, bytes == 0 ? first : (at + bytes - 1) / kCacheLine * kCacheLine + kCacheLine};
}

}  // namespace mete
