#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace mete::cli {
namespace {

std::string Dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

// Characters, not bytes: labels may be in any language.
size_t Width(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

}  // namespace

Style StyleOf(int fd) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = !isatty(fd) || (no_color && *no_color) || !term || std::string_view(term) == "dumb";
  return plain ? Style{} : Style{"\033[1m", "\033[2m", "\033[31m", "\033[0m"};
}

void PrintNote(const std::string& note, const char* program) {
  const Style s = StyleOf(STDERR_FILENO);
  fmt::print(stderr, "{}{}: note:{} {}\n", s.dim, program, s.reset, note);
}

void PrintJson(const Json& json, FILE* to) { fmt::print(to, "{}\n", Dump(json, 2)); }

void PrintError(bool json, const std::string& code, const std::string& message, const char* program) {
  if (json) {
    fmt::print(stderr, "{}\n", Dump({{"error", {{"code", code}, {"message", message}}}}, -1));
    return;
  }
  const Style s = StyleOf(STDERR_FILENO);
  std::string_view rest = message;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    fmt::print(stderr, "{}{}: error:{} {}\n", s.red, program, s.reset, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string FormatTable(const Rows& rows, const std::string& align, const std::string& indent) {
  std::vector<size_t> widths(align.size(), 0);
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  std::string out;
  for (const auto& row : rows) {
    std::string line = indent;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - Width(row[c]), ' ');
      line += (c > 0 ? "  " : "") + (align[c] == 'r' ? pad + row[c] : row[c] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = double(bytes) / 1024;
  if (kib < 1024) return fmt::format("{:.1f} KiB", kib);
  if (kib < 1024 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.2f} GiB", kib / 1024 / 1024);
}

std::string FormatPercent(double part) { return fmt::format("{:.0f} %", 100 * part); }

std::string FormatMs(double ms) {
  if (ms < 1) return fmt::format("{:.1f} us", ms * 1e3);
  if (ms < 1000) return fmt::format("{:.2f} ms", ms);
  return fmt::format("{:.2f} s", ms * 1e-3);
}

Progress::Progress(std::string label) : label_(std::move(label)) {
  if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { Show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::Show() {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, 1s, [this] { return stop_; })) return;
  while (!wake_.wait_for(lock, 200ms, [this] { return stop_; })) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const int done = done_.load(std::memory_order_relaxed), total = total_.load(std::memory_order_relaxed);
    const std::string count = total > 0 ? fmt::format(" {}/{}", done, total) : done > 0 ? fmt::format(" {}", done) : "";
    fmt::print(stderr, "\r\033[K{}{}, {:.0f} s", label_, count, seconds);
    std::fflush(stderr);
  }
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace mete::cli
