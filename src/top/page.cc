#include "top/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/table.h"
#include "top/columns.h"
#include "top/words.h"

namespace mete::top {
namespace {

constexpr int kLabel = 10;  // columns of a fact's name, with the space behind it

// A line of texts that are left out from the last one on where they do not fit; the first is cut.
PageLine Texts(const std::vector<Piece>& pieces, const PageOptions& options) {
  PageLine line;
  int column = 0;
  for (const Piece& piece : pieces) {
    const std::string text = CleanText(piece.text, options.ascii);
    if (!line.empty() && column + ColumnsOf(text) > options.columns) break;
    line.push_back({column, CutText(text, options.columns, options.ascii), piece.role});
    column += ColumnsOf(text) + 2;
  }
  return line;
}

PageLine TitleLine(const View& view, const PageOptions& options) {
  std::vector<Piece> pieces{{0, "mete top", Role::kTitle}, {0, view.source, Role::kTitle}};
  const int used = ColumnsOf("mete top") + 2;
  pieces[1].text = CutText(CleanText(pieces[1].text, options.ascii), options.columns - used, options.ascii);
  if (options.paused) pieces.push_back({0, "paused", Role::kBad});
  if (view.uptime_s) pieces.push_back({0, "up " + SpanText(*view.uptime_s)});
  if (!view.about.empty()) pieces.push_back({0, view.about, Role::kDim});
  return Texts(pieces, options);
}

// A text below a name, in as many lines as it needs.
void AddFact(const Fact& fact, Role role, const PageOptions& options, std::vector<PageLine>& lines) {
  const int width = options.columns - kLabel;
  bool is_first = true;
  for (const std::string& part : WrapText(CleanText(fact.text, options.ascii), width)) {
    PageLine line;
    if (is_first) line.push_back({0, fact.name, Role::kDim});
    line.push_back({kLabel, CutText(part, width, options.ascii), role});
    lines.push_back(std::move(line));
    is_first = false;
  }
}

std::vector<PageLine> KeyLines(const PageOptions& options) {
  std::vector<PageLine> lines;
  for (const Fact& fact : {Fact{"q, Escape", "ends"},
                           {"p", "pauses: the screen stays, and polling goes on"},
                           {"s", "sorts by the next figure, the largest first"},
                           {"j, k", "scroll, as the arrows and the keys for pages do"},
                           {"?", "shows or hides this"}})
    AddFact(fact, Role::kPlain, options, lines);
  const auto explain = [&](const char* name, const char* text) {
    AddFact({name, text}, Role::kPlain, options, lines);
  };
  lines.emplace_back();
  explain("req/s", "requests that were answered in a second, between two polls");
  explain("median", "half of them took less; of 100, one took longer than p99");
  explain("fail/s", "requests that failed or were refused in a second");
  explain("waiting", "requests in the queue now; in queue: how long they wait");
  explain("drift", "how much longer a request takes than the plan predicts");
  explain("busy", "the part of the time in which a processor computed");
  return lines;
}

std::vector<PageLine> TableLines(const View& view, const PageOptions& options) {
  std::vector<PageLine> lines = ModelLines(view, options);
  const std::vector<PageLine> processors = ProcessorLines(view, options);
  if (!lines.empty() && !processors.empty()) lines.emplace_back();
  lines.insert(lines.end(), processors.begin(), processors.end());
  return lines;
}

std::vector<PageLine> FactLines(const View& view, const PageOptions& options) {
  std::vector<PageLine> lines;
  for (const Fact& fact : FactsOf(view)) AddFact(fact, Role::kPlain, options, lines);
  return lines;
}

std::vector<PageLine> MiddleOf(const View& view, const PageOptions& options) {
  constexpr int kRowsForFacts =
      18;  // guess: with fewer the facts would leave no room for the tables below them
  if (options.keys) return KeyLines(options);
  std::vector<PageLine> lines;
  if (view.silent_s)
    AddFact({"no answer", fmt::format("for {}, asking again: {}", SpanText(*view.silent_s), view.problem)},
            Role::kBad, options, lines);
  std::vector<PageLine> parts[] = {FactLines(view, options), TableLines(view, options)};
  if (options.rows < kRowsForFacts) std::swap(parts[0], parts[1]);
  for (const std::vector<PageLine>& part : parts) {
    if (!lines.empty() && !part.empty()) lines.emplace_back();
    lines.insert(lines.end(), part.begin(), part.end());
  }
  if (!view.events.empty()) lines.emplace_back();
  for (size_t i = 0; i < view.events.size(); ++i)
    AddFact({i == 0 ? "told" : "", view.events[i]}, Role::kDim, options, lines);
  return lines;
}

PageLine KeysLine(const Page& page, const PageOptions& options) {
  std::vector<Piece> pieces{{0, "q ends", Role::kDim}, {0, "? keys", Role::kDim}};
  if (page.most_scroll > 0)
    pieces.push_back(
        {0,
         fmt::format("j, k scroll ({} of {})", std::min(options.scroll, page.most_scroll), page.most_scroll),
         Role::kDim});
  pieces.push_back({0, options.paused ? "p goes on" : "p pauses", Role::kDim});
  pieces.push_back({0, "s sorts", Role::kDim});
  return Texts(pieces, options);
}

}  // namespace

Page Draw(const View& view, const PageOptions& options) {
  // Guess: in fewer columns and rows nothing can be read, and the page is cut by the terminal's edge.
  constexpr int kLeastColumns = 20, kLeastRows = 3;
  PageOptions fitting = options;
  fitting.columns = std::max(options.columns, kLeastColumns);
  fitting.rows = std::max(options.rows, kLeastRows);
  const std::vector<PageLine> middle = MiddleOf(view, fitting);
  const int room = fitting.rows - 2;
  Page page;
  page.most_scroll = std::max(0, int(middle.size()) - room);
  const int scroll = std::clamp(options.scroll, 0, page.most_scroll);
  page.lines.push_back(TitleLine(view, fitting));
  for (int i = 0; i < room; ++i)
    page.lines.push_back(size_t(scroll + i) < middle.size() ? middle[size_t(scroll + i)] : PageLine());
  page.lines.push_back(KeysLine(page, fitting));
  return page;
}

std::vector<std::string> TextOf(const Page& page) {
  std::vector<std::string> lines;
  for (const PageLine& line : page.lines) {
    std::string text;
    for (const Piece& piece : line) {
      text.resize(text.size() + size_t(std::max(0, piece.column - ColumnsOf(text))), ' ');
      text += piece.text;
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace mete::top
