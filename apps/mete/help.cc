#include "help.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "base/table.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// This value is a guess: a longer flag has its text below it, which leaves the other flags' texts more room.
constexpr size_t kWidestLeft = 26;
constexpr size_t kFewValues = 8;  // guess: more values would hide the text

// Formats two columns. The left one is as wide as its texts, except those above kWidestLeft.
std::string TwoColumns(const Rows& rows, int columns) {
  size_t left = 0;
  for (const auto& row : rows)
    if (TextWidth(row[0]) <= kWidestLeft) left = std::max(left, TextWidth(row[0]));
  const std::string indent(2 + left + 2, ' ');
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  " + row[0];
    const std::vector<std::string> text = WrapText(row[1], columns - int(indent.size()));
    for (size_t i = 0; i < text.size(); ++i) {
      const bool beside = i == 0 && TextWidth(line) + 2 <= indent.size();
      if (!beside) {
        out += line + "\n";
        line.clear();
      }
      line += indent.substr(std::min(indent.size(), TextWidth(line))) + text[i];
    }
    out += line + "\n";
  }
  return out;
}

std::string UsageLine(const CLI::App& app, const std::string& name, int columns) {
  std::string usage = name;
  const auto has = [](const CLI::Option* o) { return o->nonpositional(); };
  if (!app.get_options(has).empty()) usage += " [OPTIONS]";
  for (const CLI::Option* o : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string word = o->get_name() + (o->get_expected_max() > 1 ? "..." : "");
    usage += o->get_required() ? " " + word : " [" + word + "]";
  }
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) usage += " COMMAND";
  const std::vector<std::string> lines = WrapText(usage, columns - 7);
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "Usage: " : "       ") + lines[i] + "\n";
  return out;
}

Rows OptionRows(const CLI::App& app, const std::function<bool(const CLI::Option*)>& which) {
  Rows rows;
  for (const CLI::Option* o : app.get_options(which)) rows.push_back({UsageOf(*o), DescriptionOf(*o)});
  return rows;
}

// Breaks a command: "  mete bench net.onnx \", then "--cores 0,1" on the next line. A flag and its value stay
// together.
std::string BrokenCommand(const std::string& line, int columns) {
  const size_t indent = line.find_first_not_of(' ');
  const std::string deeper(indent + 4, ' ');
  std::string out, current(indent, ' ');
  for (size_t begin = indent; begin < line.size();) {
    const size_t end = std::min(line.find(" --", begin + 1), line.size());
    const std::string part = line.substr(begin, end - begin);
    if (TextWidth(current + part) + 2 > size_t(columns)) {
      out += current + " \\\n";
      current = deeper + part.substr(part.find_first_not_of(' '));
    } else {
      current += part;
    }
    begin = end;
  }
  return out + current + "\n";
}

// Breaks an item, "  0  success, ...": further lines begin below the beginning of the text.
std::string BrokenItem(const std::string& line, int columns) {
  const size_t begin = line.find_first_not_of(' ');
  size_t text = line.find("  ", begin);
  text = text == std::string::npos ? begin : line.find_first_not_of(' ', text);
  std::string out;
  // This value is a guess: a narrower text cannot be read, so it begins on a line of its own.
  constexpr int kLeastText = 20;
  if (text > begin && columns - int(text) < kLeastText) {
    out = line.substr(0, line.find_last_not_of(' ', text - 1) + 1) + "\n";
    for (const std::string& part : WrapText(line.substr(text), columns - int(begin) - 4))
      out += std::string(begin + 4, ' ') + part + "\n";
    return out;
  }
  for (const std::string& part : WrapText(line.substr(text), std::max(columns - int(text), kLeastText)))
    out += (out.empty() ? line.substr(0, text) : std::string(text, ' ')) + part + "\n";
  return out;
}

bool IsCommand(const std::string& line) {
  const size_t at = line.find_first_not_of(' ');
  return line.compare(at, 5, "mete ") == 0 || line.compare(at, 7, "source ") == 0;
}

std::string Filled(const std::string& paragraph, int columns) {
  std::string out;
  for (const std::string& line : WrapText(paragraph, columns)) out += line + "\n";
  return out;
}

}  // namespace

std::string FilledText(const std::string& text, int columns) {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += Filled(std::exchange(paragraph, ""), columns);
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    if (TextWidth(line) <= size_t(columns)) out += line + "\n";
    else out += IsCommand(line) ? BrokenCommand(line, columns) : BrokenItem(line, columns);
  }
  end_paragraph();
  return out;
}

std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (begin != type.npos && end != type.npos)
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
  const auto of_a_word = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
           c == '|';
  };
  // a type such as "N|WxH|none" has no permitted words
  if (type.find('|') == type.npos || !std::all_of(type.begin(), type.end(), of_a_word)) return {};
  return CLI::detail::split(type, '|');
}

std::string UsageOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  const std::string names = option.get_name(false, true);
  if (option.get_items_expected_max() == 0) return names;
  return names + " " + TypeOf(option);
}

std::string TypeOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(":{"));
}

std::string DescriptionOf(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::vector<std::string> values = ValuesOf(option);
  const bool in_type = TypeOf(option).find('|') != std::string::npos;
  if (!in_type && !values.empty() && values.size() <= kFewValues &&
      text.find(values.back()) == std::string::npos)
    text += fmt::format(": {}", fmt::join(values, ", "));
  if (!option.get_default_str().empty() && option.get_items_expected_max() > 0)
    text += fmt::format(" (default: {})", option.get_default_str());
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const int columns = HelpColumns();
  std::string out = Filled(app->get_description(), columns) + "\n" + UsageLine(*app, name, columns);
  const auto add = [&](const std::string& title, const Rows& rows) {
    if (!rows.empty()) out += "\n" + title + ":\n" + TwoColumns(rows, columns);
  };
  Rows commands;
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({sub->get_name(), sub->get_description()});
  add("Commands", commands);
  add("Arguments", OptionRows(*app, [](const CLI::Option* o) { return o->get_positional(); }));
  for (const std::string& group : app->get_groups())
    add(group, OptionRows(*app, [&](const CLI::Option* o) {
          return o->nonpositional() && o->get_group() == group;
        }));
  if (!app->get_footer().empty()) out += "\n" + FilledText(app->get_footer(), columns);
  return out;
}

}  // namespace mete::cli
