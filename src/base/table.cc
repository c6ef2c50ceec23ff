#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace mete {
namespace {

constexpr size_t kGap = 2;           // spaces between columns
constexpr size_t kLeastBroken = 24;  // least width of a broken column; a guess: sentences are readable
constexpr size_t kBelow = 4;         // spaces before a text below its row
constexpr size_t kLeastName = 8;     // least width of a shortened name; a guess: most names stay distinct

bool Continues(char c) { return (uint8_t(c) & 0xc0) == 0x80; }  // a continuation byte of UTF-8

// Head and Tail return the first or the last `n` characters of a text.
std::string_view Head(std::string_view text, size_t n) {
  size_t at = 0;
  for (; at < text.size() && n + (Continues(text[at]) ? 1 : 0) > 0; ++at)
    if (!Continues(text[at])) --n;
  return text.substr(0, at);
}
std::string_view Tail(std::string_view text, size_t n) {
  size_t at = text.size();
  while (at > 0 && n > 0) {
    --at;
    if (!Continues(text[at])) --n;
  }
  return text.substr(at);
}

// Breaks a line at spaces. All pieces of an indented line have its indent.
void WrapLine(std::string_view text, size_t columns, std::vector<std::string>& lines) {
  const size_t indent = std::min(text.find_first_not_of(' '), text.size());
  if (indent > 0 && indent < columns && indent < text.size()) {
    const size_t first = lines.size();
    WrapLine(text.substr(indent), columns - indent, lines);
    for (size_t i = first; i < lines.size(); ++i) lines[i].insert(0, indent, ' ');
    return;
  }
  std::string line;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!line.empty() && TextWidth(line) + 1 + TextWidth(word) > columns)
      lines.push_back(std::exchange(line, ""));
    if (!line.empty()) line += ' ';
    while (TextWidth(word) > columns) {
      const std::string_view head = Head(word, columns);
      lines.emplace_back(head);
      word.erase(0, head.size());
    }
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
}

size_t LongestWord(const std::string& text) {
  size_t longest = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) longest = std::max(longest, TextWidth(word));
  return longest;
}

class Table {
 public:
  Table(const Rows& rows, const TableLayout& layout)
      : rows_(rows), layout_(layout), widths_(layout.align.size(), 0), below_(layout.align.size(), false) {
    for (size_t r = 0; r < rows_.size(); ++r)
      for (size_t c = 0; c < rows_[r].size(); ++c) widths_[c] = std::max(widths_[c], TextWidth(rows_[r][c]));
    Fit();
  }

  std::string Text() const {
    std::string out;
    for (const auto& row : rows_) out += RowText(row);
    return out;
  }

 private:
  size_t Width() const {
    size_t width = TextWidth(layout_.indent), shown = 0;
    for (size_t c = 0; c < widths_.size(); ++c)
      if (!below_[c]) {
        width += widths_[c];
        ++shown;
      }
    return width + (shown > 1 ? (shown - 1) * kGap : 0);
  }
  bool TooWide() const { return layout_.columns > 0 && Width() > size_t(layout_.columns); }
  size_t Excess() const { return Width() - size_t(layout_.columns); }

  void Fit() {
    if (TooWide() && layout_.header) BreakHeader();
    if (TooWide()) BreakLast();
    while (TooWide() && ShortenWidest()) {}
  }

  void BreakHeader() {
    for (size_t c = 0; c < rows_[0].size(); ++c) {
      if (layout_.align[c] == 'w') continue;
      size_t width = LongestWord(rows_[0][c]);
      for (size_t r = 1; r < rows_.size(); ++r)
        if (c < rows_[r].size()) width = std::max(width, TextWidth(rows_[r][c]));
      widths_[c] = width;
    }
  }

  void BreakLast() {
    const size_t last = widths_.size() - 1;
    if (layout_.align[last] != 'w') return;
    const size_t excess = Excess();
    if (widths_[last] >= excess + kLeastBroken) widths_[last] -= excess;
    else below_[last] = true;
  }

  // Shortens the widest 'l' column by one character. Returns false if none can be shortened.
  bool ShortenWidest() {
    size_t widest = widths_.size();
    for (size_t c = 0; c < widths_.size(); ++c)
      if (layout_.align[c] == 'l' && widths_[c] > kLeastName &&
          (widest == widths_.size() || widths_[c] > widths_[widest]))
        widest = c;
    if (widest == widths_.size()) return false;
    --widths_[widest];
    return true;
  }

  // Returns the lines of a cell, broken or shortened to the width of its column.
  std::vector<std::string> Lines(const std::vector<std::string>& row, size_t c) const {
    const std::string& text = row[c];
    if (TextWidth(text) <= widths_[c]) return {text};
    const bool broken = layout_.align[c] == 'w' || (layout_.header && &row == rows_.data());
    if (broken && LongestWord(text) <= widths_[c]) return WrapText(text, int(widths_[c]));
    return {Shortened(text, widths_[c])};
  }

  std::string RowText(const std::vector<std::string>& row) const {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (size_t c = 0; c < row.size(); ++c) {
      cells.push_back(below_[c] ? std::vector<std::string>() : Lines(row, c));
      height = std::max(height, cells.back().size());
    }
    std::string out;
    for (size_t line = 0; line < height; ++line) out += Line(cells, line);
    for (size_t c = 0; c < row.size(); ++c)
      if (below_[c] && !row[c].empty() && !(layout_.header && &row == rows_.data())) out += Below(row[c]);
    return out;
  }

  std::string Line(const std::vector<std::vector<std::string>>& cells, size_t number) const {
    std::string line = layout_.indent;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (below_[c]) continue;
      const std::string text = number < cells[c].size() ? cells[c][number] : "";
      const std::string pad(widths_[c] - std::min(widths_[c], TextWidth(text)), ' ');
      line += (c > 0 ? std::string(kGap, ' ') : "") + (layout_.align[c] == 'r' ? pad + text : text + pad);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }

  std::string Below(const std::string& text) const {
    const std::string indent = layout_.indent + std::string(kBelow, ' ');
    std::string out;
    for (const std::string& line : WrapText(text, std::max(layout_.columns - int(TextWidth(indent)), 1)))
      out += indent + line + "\n";
    return out;
  }

  const Rows& rows_;
  const TableLayout& layout_;
  std::vector<size_t> widths_;
  std::vector<bool> below_;  // per column: true if its texts are put in lines below their rows
};

}  // namespace

size_t TextWidth(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

std::vector<std::string> WrapText(std::string_view text, int columns) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    std::vector<std::string> broken;
    if (columns > 0) WrapLine(line, size_t(columns), broken);
    else broken.emplace_back(line);
    lines.insert(lines.end(), broken.begin(), broken.end());
    begin = end + 1;
  }
  return lines;
}

std::string Shortened(std::string_view text, size_t columns) {
  constexpr std::string_view kDots = "..";
  if (TextWidth(text) <= columns) return std::string(text);
  if (columns <= kDots.size()) return std::string(Head(text, columns));
  // The end gets two fifths because names of layers often differ only in their ends.
  const size_t kept = columns - kDots.size(), tail = kept * 2 / 5;
  return fmt::format("{}{}{}", Head(text, kept - tail), kDots, Tail(text, tail));
}

std::string FormatTable(const Rows& rows, const TableLayout& layout) { return Table(rows, layout).Text(); }

}  // namespace mete
