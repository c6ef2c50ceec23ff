// Text for people: colours, notes, progress, tables and units.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "context.h"

namespace mete::cli {

// Escape sequences, all empty where the stream is not a terminal that wants colours (NO_COLOR, TERM=dumb).
struct Style {
  const char* bold = "";
  const char* dim = "";
  const char* red = "";
  const char* reset = "";
};
Style StyleOf(int fd);

void PrintNote(const std::string& note, const char* program = "mete");  // "mete: note: ..." on stderr
void PrintJson(const Json& json, FILE* to = stdout);                    // bytes that are not UTF-8 are replaced
void PrintError(bool json, const std::string& code, const std::string& message, const char* program = "mete");

using Rows = std::vector<std::vector<std::string>>;

// Columns two spaces apart. `align` has a letter a column, 'l' or 'r'.
std::string FormatTable(const Rows& rows, const std::string& align, const std::string& indent = "");

std::string FormatBytes(int64_t bytes);     // "12.3 MiB"
std::string FormatMs(double ms);            // "12.3 ms", "4.56 s", "78.9 us"
std::string FormatPercent(double part);  // 0.125: "12 %"

// A line on stderr that says what takes so long: only on a terminal, only after a second. Safe to
// update from the thread that made it; cleared when it goes.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(int done, int total) {  // total 0: not known
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }

 private:
  void Show();

  const std::string label_;
  std::atomic<int> done_{0}, total_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // not running where stderr is not a terminal
};

}  // namespace mete::cli
