// Replaces top/screen.cc if METE_TOP is off: `mete top` prints lines.
#include "top/screen.h"

#include "base/error.h"

namespace mete::cli {

bool Screen::IsBuilt() { return false; }

Screen::Screen() {
  Fail(Code::kUnimplemented, "terminal",
       "this program was built without ncurses; try to build with METE_TOP=ON");
}
Screen::~Screen() = default;

int Screen::rows() const { return 0; }
int Screen::columns() const { return 0; }
void Screen::Show(const top::Page&) {}
Key Screen::WaitKey(std::chrono::milliseconds) { return Key::kNone; }

}  // namespace mete::cli
