#include "top/screen.h"

#define NCURSES_NOMACROS
#include <langinfo.h>
#include <ncurses.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "top/words.h"

namespace mete::cli {
namespace {

constexpr int kEscape = 27;
// Milliseconds after which an Escape is the key, and not the beginning of another one's sequence. Guess:
// longer than a sequence takes over a slow connection, and not noticed.
constexpr int kEscapeMs = 50;

enum Color : short { kGreen = 1, kYellow, kRed };

bool WantsColors() {
  const char* no_color = std::getenv("NO_COLOR");
  return has_colors() && !(no_color && *no_color);
}

// The attributes of roles: colours, where `COLOR_PAIRS` were made, beside bold and faint letters.
attr_t AttributesOf(top::Role role, bool colors) {
  const auto colored = [&](Color color) { return colors ? attr_t(COLOR_PAIR(color)) : attr_t(A_NORMAL); };
  switch (role) {
    case top::Role::kTitle: return A_BOLD;
    case top::Role::kHeader: return A_BOLD | A_UNDERLINE;
    case top::Role::kDim: return A_DIM;
    case top::Role::kBar: return colored(kGreen);
    case top::Role::kFullBar: return colored(kYellow);
    case top::Role::kBad: return A_BOLD | colored(kRed);
    case top::Role::kPlain: break;
  }
  return A_NORMAL;
}

Key KeyOf(int code) {
  switch (code) {
    case 'q':
    case 'Q': return Key::kEnd;
    case 'p':
    case 'P':
    case ' ': return Key::kPause;
    case 's':
    case 'S': return Key::kSort;
    case '?':
    case 'h': return Key::kHelp;
    case 'k':
    case KEY_UP: return Key::kUp;
    case 'j':
    case KEY_DOWN: return Key::kDown;
    case KEY_PPAGE: return Key::kPageUp;
    case KEY_NPAGE: return Key::kPageDown;
    case 'g':
    case KEY_HOME: return Key::kFirst;
    case 'G':
    case KEY_END: return Key::kLast;
    default: return Key::kNone;
  }
}

}  // namespace

bool Screen::IsBuilt() { return true; }

Screen::Screen() {
  std::setlocale(LC_CTYPE, "");
  ascii_ = std::string_view(nl_langinfo(CODESET)) != "UTF-8";
  terminal_ = newterm(nullptr, stdout, stdin);
  if (!terminal_) {
    const char* term = std::getenv("TERM");
    Fail(Code::kUnavailable, "terminal",
         "cannot be drawn on; got TERM={}; try another TERM, --json, or '| cat'",
         term ? Printable(term) : "");
  }
  set_term(static_cast<SCREEN*>(terminal_));
  set_escdelay(kEscapeMs);
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  keypad(stdscr, true);
  if (!WantsColors()) return;
  start_color();
  use_default_colors();
  init_pair(kGreen, COLOR_GREEN, -1);
  init_pair(kYellow, COLOR_YELLOW, -1);
  init_pair(kRed, COLOR_RED, -1);
}

Screen::~Screen() {
  endwin();
  delscreen(static_cast<SCREEN*>(terminal_));
}

int Screen::rows() const { return getmaxy(stdscr); }
int Screen::columns() const { return getmaxx(stdscr); }

void Screen::Show(const top::Page& page) {
  const bool colors = WantsColors();
  werase(stdscr);
  const int most = std::min(rows(), int(page.lines.size()));
  for (int row = 0; row < most; ++row)
    for (const top::Piece& piece : page.lines[size_t(row)]) {
      // what ncurses would continue on the next line is cut
      const std::string text = top::CutText(piece.text, columns() - piece.column, ascii_);
      if (text.empty()) continue;
      wattrset(stdscr, int(AttributesOf(piece.role, colors)));
      mvwaddnstr(stdscr, row, piece.column, text.data(), int(text.size()));
    }
  wattrset(stdscr, A_NORMAL);
  wrefresh(stdscr);
}

Key Screen::WaitKey(std::chrono::milliseconds most) {
  wtimeout(stdscr, int(most.count()));
  const int code = wgetch(stdscr);
  if (code != kEscape) return KeyOf(code);
  // What follows at once belongs to a key that ncurses does not know, such as one with Alt: a character, or a
  // control sequence (ECMA-48) to its last byte.
  wtimeout(stdscr, 0);
  const int next = wgetch(stdscr);
  if (next == ERR) return Key::kEnd;
  if (next != '[' && next != 'O') return Key::kNone;
  for (int byte = wgetch(stdscr); byte != ERR && !(byte >= '@' && byte <= '~');) byte = wgetch(stdscr);
  return Key::kNone;
}

}  // namespace mete::cli
