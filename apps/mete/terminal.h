// Text for people: colours, notes, progress, tables and units. With --json only JSON reaches stdout and
// stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/table.h"
#include "base/units.h"
#include "context.h"

namespace mete::cli {

// Escape sequences for colours. All are empty if the stream is no terminal or if the user does not want
// colours (NO_COLOR, TERM=dumb).
struct Style {
  const char* bold = "";
  const char* dim = "";
  const char* red = "";
  const char* reset = "";
};
Style StyleOf(int fd);

int TerminalColumns(int fd);  // width of the terminal behind the stream; 0: the stream is no terminal
int HelpColumns();            // width of stdout's terminal, or 80 if stdout is no terminal

// Print to stderr "mete: note: ...", or {"note": "..."}; warnings and errors likewise. A warning says that
// answers may be wrong.
void PrintNote(const Context& context, const std::string& note);
void PrintWarning(const Context& context, const std::string& warning);
void PrintError(const Context& context, const std::string& code, const std::string& message);
void PrintJson(const Json& json, FILE* to = stdout);  // bytes that are not UTF-8 are replaced
void PrintJsonLine(const Json& json);                 // to stderr, in one line
void PrintText(const std::string& text);              // to stdout, with lines broken at the terminal's width

// Returns bytes of others, such as a model's text, without the characters that control terminals.
std::string ForTerminals(std::string text);

// Formats a table for stdout, no wider than the terminal (base/table.h). `align`: as in TableLayout.
std::string FormatTable(const Rows& rows, const std::string& align, const std::string& indent = "");
// Formats two columns without a header; texts of the last column may be broken.
std::string FormatList(const Rows& rows, const std::string& indent = "");

std::string FormatPercent(double part);  // 0.125: "12 %"

// A line on stderr that names work that takes long. The line appears only on a terminal, not with --json, and
// only after the command's first second. Any thread may update it; the destructor erases it.
class Progress {
 public:
  Progress(const Context& context, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(int done, int total) {  // total 0: unknown
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  void SetLabel(const std::string& label);  // names another part of the same work; the count begins again

 private:
  void Show();

  const std::chrono::steady_clock::time_point command_started_;
  std::string label_;  // guarded by mutex_
  std::atomic<int> done_{0}, total_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // not running where stderr is not a terminal
};

}  // namespace mete::cli
