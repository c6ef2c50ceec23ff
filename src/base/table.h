// Text in lines of a bounded width: paragraphs, and tables whose columns line up. Widths count characters,
// not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

size_t TextWidth(std::string_view text);

// Lines of at most `columns` characters, broken at spaces; a longer word is cut. Line breaks and indents of
// the text stay. 0: as long as they are.
std::vector<std::string> WrapText(std::string_view text, int columns);

// "features.denseb..ayer12.conv2": the beginning and the end of what is longer than `columns`.
std::string Shortened(std::string_view text, size_t columns);

using Rows = std::vector<std::vector<std::string>>;

struct TableLayout {
  // A letter for each column: 'l' text to the left, which may be shortened; 'r' a number to the right; 'w'
  // text to the left that may be broken into lines, of the last column alone.
  std::string align;
  std::string indent = "";  // before every line
  int columns = 0;          // width of the terminal; 0: as wide as need be
  bool header = true;       // the first row names the columns
};

// Columns two spaces apart. A table that is wider than `columns` has its header's words below each other
// first, then the text of a 'w' column in several lines, or in lines below its row where too little room is
// left; texts of 'l' columns are shortened last. Numbers stay whole, so that a table of many numbers may
// still be too wide.
std::string FormatTable(const Rows& rows, const TableLayout& layout);

}  // namespace mete
