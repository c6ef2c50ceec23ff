// Lays out text in lines of a bounded width: paragraphs, and tables with aligned columns. Widths count
// characters, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

size_t TextWidth(std::string_view text);

// Returns lines of at most `columns` characters, broken at spaces; a word longer than that is cut. Line
// breaks and indents of the text are kept. If `columns` is 0, only the text's own line breaks end a line.
std::vector<std::string> WrapText(std::string_view text, int columns);

// Returns the beginning and the end of a text that is longer than `columns`: "features.denseb..ayer12.conv2".
// Returns a shorter text unchanged.
std::string Shortened(std::string_view text, size_t columns);

using Rows = std::vector<std::vector<std::string>>;

struct TableLayout {
  // One letter per column: 'l' is text aligned left, which may be shortened; 'r' is a number aligned right;
  // 'w' is text aligned left that may be broken into lines, which only the last column may be.
  std::string align;
  std::string indent = {};  // before every line
  int columns = 0;          // width of the terminal; 0: no limit
  bool header = true;       // the first row names the columns
};

// Returns the table with columns two spaces apart. A table that is wider than `columns` is narrowed in three
// steps, until it fits: the words of the header are put below each other; the text of a 'w' column is broken
// into several lines, or put into lines below its row if too little room is left; texts of 'l' columns are
// shortened. Numbers are never cut, so a table of many numbers may still be too wide.
std::string FormatTable(const Rows& rows, const TableLayout& layout);

}  // namespace mete
