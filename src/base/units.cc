#include "base/units.h"

#include <fmt/format.h>

namespace mete {

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = double(bytes) / 1024;
  if (kib < 1024) return fmt::format("{:.1f} KiB", kib);
  if (kib < 1024 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.2f} GiB", kib / 1024 / 1024);
}

std::string FormatMs(double ms) {
  if (ms < 1) return fmt::format("{:.1f} us", ms * 1e3);
  if (ms < 1000) return fmt::format("{:.2f} ms", ms);
  return fmt::format("{:.2f} s", ms * 1e-3);
}

}  // namespace mete
