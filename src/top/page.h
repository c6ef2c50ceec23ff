// A view as the lines of a terminal of any size: texts with their columns and what they mean. It knows no
// terminal; a program with one puts the texts where they belong.
#pragma once

#include <string>
#include <vector>

#include "top/view.h"

namespace mete::top {

enum class Role { kPlain, kTitle, kHeader, kDim, kBar, kFullBar, kBad };

// Texts of others are clean in it (top/words.h), and end at the line's last column at the latest.
struct Piece {
  int column = 0;
  std::string text;
  Role role = Role::kPlain;
};
using PageLine = std::vector<Piece>;

// The figure by which rows are sorted, the largest first. kGiven: as the source names them.
enum class Sort { kGiven, kRequests, kMedian, kHigh, kFailed, kWaiting, kBusy };
Sort NextSort(Sort sort, const View& view);  // skips what sorts nothing in this view

struct PageOptions {
  int rows = 24, columns = 80;  // of the terminal
  bool ascii = false;           // it shows no other characters
  int scroll = 0;               // lines of the middle that are above the first one that is shown
  Sort sort = Sort::kGiven;
  bool paused = false;
  bool keys = false;  // shows what the keys do
};

struct Page {
  std::vector<PageLine> lines;  // as many as the terminal has rows, or fewer
  int most_scroll = 0;
};

// The title stays above and the line of keys below; what is between them scrolls. Columns for which the
// terminal is too narrow are left out, the least important one first.
Page Draw(const View& view, const PageOptions& options);

std::vector<std::string> TextOf(const Page& page);  // without roles

}  // namespace mete::top
