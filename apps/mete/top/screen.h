// The terminal, as pages need it, by ncurses. A build without it (METE_TOP=OFF) has no screen (without_top).
#pragma once

#include <chrono>

#include "top/page.h"

namespace mete::cli {

enum class Key { kNone, kEnd, kPause, kSort, kHelp, kUp, kDown, kPageUp, kPageDown, kFirst, kLast };

// Takes the terminal of stdin and stdout, and gives it back as it was. There is one at a time, and one thread
// uses it.
class Screen {
 public:
  static bool IsBuilt();  // whether this build has screens

  Screen();  // Error UNAVAILABLE if the terminal cannot be drawn on
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  int rows() const;
  int columns() const;
  bool ascii() const { return ascii_; }  // whether the user's locale has no other characters
  void Show(const top::Page& page);
  // Waits for a key, for so long at most; returns sooner also when the terminal's size changes.
  Key WaitKey(std::chrono::milliseconds most);

 private:
  bool ascii_ = true;
  [[maybe_unused]] void* terminal_ = nullptr;  // SCREEN of ncurses; builds without it have none
};

}  // namespace mete::cli
