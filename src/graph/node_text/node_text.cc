#include "graph/node_text/node_text.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "graph/node_text/line_reader.h"

namespace mete {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 32;  // of one input: a mistyped shape must not use up the memory
constexpr double kMostValue = 0x1p53;             // all integers up to here are exact
constexpr int64_t kMostOutputs = 64;

Shape ReadShape(LineReader& line) {
  if (line.Take("scalar")) return {};
  Shape shape;
  do {
    if (shape.rank() == Shape::kMaxRank) line.Bad("an input has too many dimensions", "at most 8");
    shape.push_back(line.Whole("a shape such as 1x3x5"));
  } while (line.TakeNext("x"));
  return shape;
}

NodeInput ReadInput(LineReader& line) {
  NodeInput input;
  if (line.Take("-")) return input;
  input.constant = line.Take("const ");
  if (const DType type = DTypeOf(line.PeekWord()); type != DType::kUnknown) {
    input.type = type;
    line.Word("a type");
  }
  if (line.Take("[")) {
    do {
      input.values.push_back(line.Real("a value"));
      if (!(std::abs(input.values.back()) <= kMostValue)) line.Bad("a value is too large", "at most 2^53");
    } while (line.Take(","));
    line.Need("]");
    input.shape = Shape{int64_t(input.values.size())};
    return input;
  }
  input.shape = ReadShape(line);
  if (CheckedElements(input.shape, input.type, kMostBytes) < 0)
    line.Bad("an input is impossible", "no negative dimension and at most 4 GiB");
  if (!line.Take("in ")) return input;
  const double least = line.Real("the least value");
  line.Need("to ");
  const double most = line.Real("the greatest value");
  if (most < least) line.Bad("a range ends before it begins", "`in LEAST to GREATEST`");
  if (!(std::abs(least) <= kMostValue && std::abs(most) <= kMostValue))
    line.Bad("a range is too large", "at most 2^53");
  input.range = {least, most};
  return input;
}

Attribute ReadItem(LineReader& line) {
  if (line.Take("\"")) return line.Until('"');
  if (line.AtWhole()) return line.Whole("a value");
  return float(line.Real("a number or a text in quotes"));
}

template <class T>
std::vector<T> ListOf(const std::vector<Attribute>& items) {
  std::vector<T> list;
  for (const Attribute& item : items) list.push_back(std::get<T>(item));
  return list;
}

Attribute ReadValue(LineReader& line) {
  if (!line.Take("[")) return ReadItem(line);
  std::vector<Attribute> items;
  do {
    items.push_back(ReadItem(line));
    if (items.back().index() != items[0].index()) line.Bad("a list has values of two types", "one type");
  } while (line.Take(","));
  line.Need("]");
  if (std::holds_alternative<int64_t>(items[0])) return ListOf<int64_t>(items);
  if (std::holds_alternative<float>(items[0])) return ListOf<float>(items);
  return ListOf<std::string>(items);
}

void ReadAttributes(LineReader& line, Attributes& attributes) {
  do {
    const std::string name = line.Word("the name of an attribute");
    line.Need("=");
    if (attributes.Has(name)) line.Bad("attribute " + name + " is given twice", "each attribute once");
    attributes.Set(name, ReadValue(line));
  } while (line.Take(","));
  line.Need("}");
}

}  // namespace

NodeText ParseNode(const std::string& where, std::string_view text) {
  LineReader line(where, text);
  NodeText node;
  node.where = where;
  node.op = line.Word("the name of an operator");
  if (line.TakeNext("[")) {
    const int64_t outputs = line.Whole("the number of outputs");
    if (outputs < 1 || outputs > kMostOutputs) line.Bad("the number of outputs is impossible", "1 to 64");
    node.outputs = int(outputs);
    line.Need("]");
  }
  line.Need("(");
  if (!line.Take(")")) {
    do node.inputs.push_back(ReadInput(line));
    while (line.Take(","));
    line.Need(")");
  }
  if (line.Take("{")) ReadAttributes(line, node.attributes);
  node.text = line.Before();
  if (line.AtEnd()) return node;
  line.Need("->");
  node.expected = line.Rest();
  if (node.expected.empty()) line.Bad("nothing is expected", "a text behind ->");
  return node;
}

std::vector<NodeText> ParseNodes(const std::string& name, std::string_view text) {
  std::vector<NodeText> nodes;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (!line.empty() && line[0] != '#') nodes.push_back(ParseNode(fmt::format("{}:{}", name, number), line));
  return nodes;
}

std::vector<NodeText> ReadNodes(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    Fail(Code::kNotFound, path,
         "the file cannot be opened: {}; expected one node on each line; try the root "
         "of the repository as working directory",
         std::strerror(errno));
  std::stringstream text;
  text << file.rdbuf();
  return ParseNodes(path, text.str());
}

}  // namespace mete
