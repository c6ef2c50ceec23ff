#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/controls.h"
#include "base/json.h"

namespace mete::cli {
namespace {

constexpr const char* kErase = "\r\033[K";  // erases a line of a terminal

// Prints "mete: note: ..." with the head on each line of the text. Erases a line of progress first.
void PrintLines(const Context& context, const char* color, const char* kind, std::string_view text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "{}", kErase);
  const Style s = StyleOf(STDERR_FILENO);
  const std::string head = fmt::format("{}: {}:", context.program, kind);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string> lines =
        WrapText(fmt::format("{} {}", head, text.substr(begin, end - begin)), TerminalColumns(STDERR_FILENO));
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool colored = i == 0 && lines[0].starts_with(head);
      if (colored) fmt::print(stderr, "{}{}{}{}\n", color, head, s.reset, lines[0].substr(head.size()));
      else fmt::print(stderr, "{}\n", lines[i]);
    }
    begin = end + 1;
  }
}

}  // namespace

void PrintJsonLine(const Json& json) { fmt::print(stderr, "{}\n", JsonText(json, -1)); }

Style StyleOf(int fd) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = !isatty(fd) || (no_color && *no_color) || !term || std::string_view(term) == "dumb";
  return plain ? Style{} : Style{"\033[1m", "\033[2m", "\033[31m", "\033[0m"};
}

int TerminalColumns(int fd) {
  constexpr int kLeast = 40;  // guess: a narrower terminal would break words
  winsize size{};
  if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<int>(size.ws_col, kLeast);
}

int HelpColumns() {
  constexpr int kPage = 80, kWidest = 110;  // guess: longer lines are hard to read
  const int columns = TerminalColumns(STDOUT_FILENO);
  return columns == 0 ? kPage : std::min(columns, kWidest);
}

void PrintNote(const Context& context, const std::string& note) {
  if (context.note) return context.note(note);
  if (context.json) return PrintJsonLine({{"note", note}});
  PrintLines(context, StyleOf(STDERR_FILENO).dim, "note", note);
}

void PrintWarning(const Context& context, const std::string& warning) {
  if (context.json) return PrintJsonLine({{"warning", warning}});
  PrintLines(context, StyleOf(STDERR_FILENO).red, "warning", warning);
}

void PrintError(const Context& context, const std::string& code, const std::string& message) {
  if (context.json) return PrintJsonLine({{"error", {{"code", code}, {"message", message}}}});
  PrintLines(context, StyleOf(STDERR_FILENO).red, "error", message);
}

void PrintJson(const Json& json, FILE* to) { fmt::print(to, "{}\n", JsonText(json, 2)); }

void PrintText(const std::string& text) {
  for (const std::string& line : WrapText(text, TerminalColumns(STDOUT_FILENO))) fmt::print("{}\n", line);
}

std::string ForTerminals(std::string text) { return WithoutControls(std::move(text), "\n\t"); }

std::string FormatTable(const Rows& rows, const std::string& align, const std::string& indent) {
  return mete::FormatTable(rows,
                           {.align = align, .indent = indent, .columns = TerminalColumns(STDOUT_FILENO)});
}

std::string FormatList(const Rows& rows, const std::string& indent) {
  return mete::FormatTable(
      rows, {.align = "lw", .indent = indent, .columns = TerminalColumns(STDOUT_FILENO), .header = false});
}

std::string FormatPercent(double part) { return fmt::format("{:.0f} %", 100 * part); }

Progress::Progress(const Context& context, std::string label)
    : command_started_(context.started), label_(std::move(label)) {
  if (!context.json && isatty(STDERR_FILENO)) thread_ = std::thread([this] { Show(); });
}

void Progress::SetLabel(const std::string& label) {
  std::lock_guard lock(mutex_);
  if (label == label_) return;
  label_ = label;
  Update(0, 0);
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
  // The second counts from the start of the command, because many short parts take long together; the line of
  // a part shorter than 0.1 s would flicker.
  if (wake_.wait_until(lock, std::max(command_started_ + 1s, start + 100ms), [this] { return stop_; }))
    return;
  do {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const int done = done_.load(std::memory_order_relaxed), total = total_.load(std::memory_order_relaxed);
    const std::string count = total > 0  ? fmt::format(" {}/{}", done, total)
                              : done > 0 ? fmt::format(" {}", done)
                                         : "";
    const std::string line = Shortened(fmt::format("{}{}, {:.0f} s", label_, count, seconds),
                                       size_t(std::max(TerminalColumns(STDERR_FILENO), 1)) - 1);
    fmt::print(stderr, "{}{}", kErase, line);
    std::fflush(stderr);
  } while (!wake_.wait_for(lock, 200ms, [this] { return stop_; }));
  fmt::print(stderr, "{}", kErase);
  std::fflush(stderr);
}

}  // namespace mete::cli
