#include "top/columns.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "top/words.h"

namespace mete::top {
namespace {

constexpr int kGap = 2;
constexpr int kLeastName = 16;  // guess: most names stay distinct
constexpr int kMostName = 32;   // guess: longer names push the figures out of sight
constexpr int kLeastBar = 8;    // guess: an eighth of the time can be seen
constexpr int kMostBar = 50;    // 2 % of the time for each column

// A column of figures. `rank` 0 is the most important one, which is left out last.
struct Column {
  const char* title;
  int rank;
  Sort sort;
  std::vector<std::string> texts = {};  // by row; "-" for an unknown figure
  std::vector<bool> bad = {};           // by row; empty: none is
  bool stays = false;                   // even if no figure of it is known, as before the second poll

  int width() const {
    int width = ColumnsOf(title) + (sort == Sort::kGiven ? 0 : 1);  // the mark of the sorted column
    for (const std::string& text : texts) width = std::max(width, ColumnsOf(text));
    return width;
  }
  bool is_known() const {
    return std::any_of(texts.begin(), texts.end(), [](const std::string& text) { return text != "-"; });
  }
};

struct Table {
  const char* title;  // of the names
  std::vector<std::string> names;
  std::vector<Column> columns;
  std::vector<std::optional<double>> bars = {};  // by row; empty: there are none

  int WidthOf(int name) const {
    int width = name;
    for (const Column& column : columns) width += kGap + column.width();
    return width + (bars.empty() ? 0 : kGap + kLeastBar);
  }
  // Leaves out columns until the names have room, of which the longest has this width.
  void Fit(int width, int longest) {
    const int name = std::min(longest, kLeastName);
    std::erase_if(columns, [](const Column& column) { return !column.stays && !column.is_known(); });
    while (columns.size() > 1 && WidthOf(name) > width)
      columns.erase(std::max_element(columns.begin(), columns.end(),
                                     [](const Column& a, const Column& b) { return a.rank < b.rank; }));
    if (WidthOf(name) > width) bars.clear();
  }
};

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A bar in so many columns, and behind it what is left of them.
void AddBar(double part, int column, int columns, bool ascii, PageLine& line) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  constexpr double kFull = 0.95;  // guess: no more work would fit
  const int eighths = int(std::lround(part * columns * 8));
  const std::string bar =
      ascii ? Repeated("#", (eighths + 4) / 8) : Repeated("█", eighths / 8) + kEighths[eighths % 8];
  const int used = ColumnsOf(bar);
  if (used > 0) line.push_back({column, bar, part >= kFull ? Role::kFullBar : Role::kBar});
  if (used < columns)
    line.push_back({column + used, Repeated(ascii ? "." : "░", columns - used), Role::kDim});
}

Piece RightAligned(int end, std::string text, Role role) {
  return {end - ColumnsOf(text), std::move(text), role};
}

std::vector<PageLine> LinesOf(Table table, const PageOptions& options) {
  if (table.names.empty()) return {};
  int longest = ColumnsOf(table.title);
  for (const std::string& name : table.names) longest = std::max(longest, ColumnsOf(name));
  table.Fit(options.columns, longest);
  const int left = std::max(options.columns - table.WidthOf(0), 1);
  const int name_width = std::min({longest, left, std::max(kMostName, ColumnsOf(table.title))});
  std::vector<PageLine> lines(table.names.size() + 1);
  lines[0].push_back({0, CutText(table.title, name_width, options.ascii), Role::kHeader});
  for (size_t row = 0; row < table.names.size(); ++row)
    lines[row + 1].push_back({0, CutText(table.names[row], name_width, options.ascii)});
  int end = name_width;
  for (const Column& column : table.columns) {
    end += kGap + column.width();
    const bool is_sorted = column.sort != Sort::kGiven && column.sort == options.sort;
    const std::string mark = !is_sorted ? "" : options.ascii ? "v" : "▼";
    lines[0].push_back(RightAligned(end, column.title + mark, Role::kHeader));
    for (size_t row = 0; row < column.texts.size(); ++row) {
      const bool is_bad = !column.bad.empty() && column.bad[row];
      lines[row + 1].push_back(RightAligned(end, column.texts[row], is_bad ? Role::kBad : Role::kPlain));
    }
  }
  const int bar = std::min(options.columns - end - kGap, kMostBar);
  for (size_t row = 0; row < table.bars.size() && bar >= kLeastBar; ++row)
    if (table.bars[row]) AddBar(*table.bars[row], end + kGap, bar, options.ascii, lines[row + 1]);
  return lines;
}

template <class Row>
std::optional<double> KeyOf(const Row& row, Sort sort);

template <>
std::optional<double> KeyOf(const ModelRow& row, Sort sort) {
  const auto seconds = [](const std::optional<Quantile>& q) {
    return q ? std::optional(q->s) : std::nullopt;
  };
  switch (sort) {
    case Sort::kRequests: return row.requests_per_s;
    case Sort::kMedian: return seconds(row.median);
    case Sort::kHigh: return seconds(row.high);
    case Sort::kFailed: return row.failed_per_s;
    case Sort::kWaiting: return row.waiting;
    default: return {};
  }
}

template <>
std::optional<double> KeyOf(const ProcessorRow& row, Sort sort) {
  return sort == Sort::kBusy ? row.busy : std::nullopt;
}

// Unknown figures come last, and rows with the same figure stay in their order.
template <class Row>
std::vector<Row> Sorted(std::vector<Row> rows, Sort sort) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return KeyOf(a, sort).value_or(-1) > KeyOf(b, sort).value_or(-1);
  });
  return rows;
}

template <class Row, class Text>
Column Filled(Column column, const std::vector<Row>& rows, Text text) {
  for (const Row& row : rows) column.texts.push_back(text(row));
  return column;
}

}  // namespace

std::vector<PageLine> ModelLines(const View& view, const PageOptions& options) {
  constexpr double kMuchDrift = 0.25;  // guess: a plan that is so wrong is worth a look
  const std::vector<ModelRow> rows = Sorted(view.models, options.sort);
  Table table{"model", {}, {}};
  for (const ModelRow& row : rows) table.names.push_back(CleanText(row.name, options.ascii));
  const auto add = [&](Column column, auto text) { table.columns.push_back(Filled(column, rows, text)); };
  add({"req/s", 0, Sort::kRequests, {}, {}, true},
      [](const ModelRow& row) { return RateText(row.requests_per_s); });
  add({"median", 1, Sort::kMedian, {}, {}, true},
      [](const ModelRow& row) { return QuantileText(row.median); });
  add({"p99", 2, Sort::kHigh, {}, {}, true}, [](const ModelRow& row) { return QuantileText(row.high); });
  add({"fail/s", 3, Sort::kFailed, {}, {}, true},
      [](const ModelRow& row) { return RateText(row.failed_per_s); });
  for (const ModelRow& row : rows) table.columns.back().bad.push_back(row.failed_per_s.value_or(0) > 0);
  add({"waiting", 4, Sort::kWaiting}, [](const ModelRow& row) { return CountText(row.waiting); });
  add({"in queue", 6, Sort::kGiven}, [](const ModelRow& row) { return SecondsText(row.queued_s); });
  add({"drift", 5, Sort::kGiven}, [](const ModelRow& row) { return DriftText(row.drift()); });
  for (const ModelRow& row : rows) table.columns.back().bad.push_back(row.drift().value_or(0) > kMuchDrift);
  return LinesOf(std::move(table), options);
}

std::vector<PageLine> ProcessorLines(const View& view, const PageOptions& options) {
  const std::vector<ProcessorRow> rows = Sorted(view.processors, options.sort);
  Table table{"processor", {}, {}};
  for (const ProcessorRow& row : rows) {
    table.names.push_back(CleanText(row.name, options.ascii));
    table.bars.push_back(row.busy);
  }
  const auto add = [&](Column column, auto text) { table.columns.push_back(Filled(column, rows, text)); };
  add({"waiting", 2, Sort::kGiven}, [](const ProcessorRow& row) { return CountText(row.waiting); });
  add({"predicted", 4, Sort::kGiven}, [](const ProcessorRow& row) { return SecondsText(row.predicted_s); });
  add({"measured", 3, Sort::kGiven}, [](const ProcessorRow& row) { return SecondsText(row.measured_s); });
  add({"memory", 5, Sort::kGiven}, [](const ProcessorRow& row) { return BytesText(row.memory_bytes); });
  add({"busy", 0, Sort::kBusy, {}, {}, true}, [](const ProcessorRow& row) { return PercentText(row.busy); });
  return LinesOf(std::move(table), options);
}

Sort NextSort(Sort sort, const View& view) {
  const auto sorts = [&](Sort by) {
    const auto count = [&](const auto& rows) {
      return std::count_if(rows.begin(), rows.end(),
                           [&](const auto& row) { return KeyOf(row, by).has_value(); });
    };
    return by == Sort::kGiven || count(view.models) > 1 || count(view.processors) > 1;
  };
  do {
    sort = sort == Sort::kBusy ? Sort::kGiven : Sort(int(sort) + 1);
  } while (!sorts(sort));
  return sort;
}

}  // namespace mete::top
