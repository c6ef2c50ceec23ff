#include "report/document.h"

#include <string_view>

#include "base/json.h"

namespace mete {
// The files of page/, and d3 (https://d3js.org), which draws axes and follows gestures:
// cmake/text_file.cmake.
extern const char kReportPage[], kReportStyle[], kReportD3[], kReportBase[], kReportTimeline[],
    kReportDivision[], kReportCharts[], kReportMemory[], kReportNodes[], kReportStart[];
}  // namespace mete

namespace mete::cli {

namespace {

Json JsonOf(const Report& report) {
  return {{"title", report.title},       {"about", report.about},         {"says", report.says},
          {"facts", report.facts},       {"timelines", report.timelines}, {"nodes", report.nodes},
          {"limits", report.limits},     {"arena", report.arena},         {"plan", report.plan},
          {"compared", report.compared}, {"choices", report.choices},     {"energy", report.energy}};
}

// Within HTML a "<" of the values could end their element.
std::string EscapedForHtml(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
  return text;
}

void Replace(std::string& page, std::string_view place, std::string_view text) {
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

std::string PageOf(const Report& report) {
  std::string page = kReportPage, script;
  for (const char* part : {kReportBase, kReportTimeline, kReportDivision, kReportCharts, kReportMemory,
                           kReportNodes, kReportStart})
    script += part;
  const std::string values = JsonText(JsonOf(report), -1);
  // Values come last: what they hold is not searched for the other places.
  Replace(page, "/*style*/", kReportStyle);
  Replace(page, "/*d3*/", kReportD3);
  Replace(page, "/*script*/", script);
  Replace(page, "/*values*/", EscapedForHtml(values));
  return page;
}

}  // namespace mete::cli
