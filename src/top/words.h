// Figures and names of a view in words. A figure that is not known is "-".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "top/view.h"

namespace mete::top {

// Returns a text of others in which every character takes one or two columns of a terminal and none of them
// is obeyed: control characters, characters without a width, those that turn the direction of text round, and
// bytes that are no UTF-8 become '?'. With `ascii` all others that are not ASCII do, too.
std::string CleanText(std::string_view text, bool ascii = false);

// The columns that a clean text takes on a terminal, and its beginning in at most so many columns, with an
// ellipsis in the end if something is left out.
int ColumnsOf(std::string_view text);
std::string CutText(const std::string& text, int columns, bool ascii = false);

std::string RateText(std::optional<double> per_s);                  // "41.2"
std::string CountText(std::optional<double> count);                 // "3", "12.3k"
std::string SecondsText(std::optional<double> s);                   // "3.10 ms"
std::string QuantileText(const std::optional<Quantile>& quantile);  // "> 10.00 s" beyond the last bucket
std::string PercentText(std::optional<double> part);                // "71 %"
std::string DriftText(std::optional<double> drift);                 // "+12 %"
std::string BytesText(std::optional<double> bytes);
std::string SpanText(double seconds);  // "1 h 02 min"

// What a view says beside its tables, as a name and a sentence: {"memory", "123.0 MiB now, 150.0 MiB at
// most"}.
struct Fact {
  std::string name, text;
};
std::vector<Fact> FactsOf(const View& view);

}  // namespace mete::top
