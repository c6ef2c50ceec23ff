#include "serve/protocol/data_lists.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"

namespace mete::serve {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Returns the first place from `at` on that is no white space.
size_t BehindSpace(std::string_view json, size_t at) {
  const size_t found = json.find_first_not_of(" \t\r\n", at);
  return found == kNone ? json.size() : found;
}

// Returns where the list begins that is the value of the key that ends at `at`; kNone: no list follows.
size_t ListBehindKey(std::string_view json, size_t at) {
  const size_t colon = BehindSpace(json, at);
  if (colon == json.size() || json[colon] != ':') return kNone;
  const size_t value = BehindSpace(json, colon + 1);
  return value < json.size() && json[value] == '[' ? value : kNone;
}

// Returns whether a string, with its quotes, says "data". A writer may escape any letter.
bool IsData(std::string_view quoted) {
  constexpr size_t kMostEscaped = 2 + 4 * 6;  // characters of "\u0064..."
  if (quoted == "\"data\"") return true;
  if (quoted.size() > kMostEscaped || quoted.find('\\') == kNone) return false;
  const auto j = nlohmann::ordered_json::parse(quoted, nullptr, /*allow_exceptions=*/false);
  return j.is_string() && j.get_ref<const std::string&>() == "data";
}

// The next place of one character. It is looked for again only when it has been passed, so that a walk over a
// list looks at each character of it once for each sought character.
class Sought {
 public:
  Sought(std::string_view json, char c, size_t from) : json_(json), c_(c), at_(json.find(c, from)) {}
  size_t From(size_t from) {
    if (at_ < from) at_ = json_.find(c_, from);  // kNone is behind every place
    return at_;
  }

 private:
  std::string_view json_;
  char c_;
  size_t at_;
};

// Returns the place behind the list that begins at `from`.
size_t EndOfList(std::string_view json, size_t from) {
  Sought quote(json, '"', from), open(json, '[', from), close(json, ']', from);
  int depth = 0;
  for (size_t at = from;;) {
    const size_t quoted = quote.From(at), opened = open.From(at), closed = close.From(at);
    const size_t next = std::min({quoted, opened, closed});
    if (next == kNone) break;
    at = next == quoted ? EndOfString(json, next) : next + 1;
    if (at == kNone) break;
    if (next == opened && ++depth > Shape::kMaxRank)
      Invalid("request",
              "the lists in 'data' are nested too deep; got {} levels or more, expected {} at most", depth,
              Shape::kMaxRank);
    if (next == closed && --depth == 0) return at;
  }
  Invalid("request", "a list of 'data' does not end; got {} bytes of it, expected a ']'", json.size() - from);
}

void CheckSize(size_t size, const RequestBounds& bounds) {
  if (size > size_t(bounds.json_bytes))
    Fail(Code::kResourceExhausted, "request",
         "the JSON without the elements in 'data' is too large; got {} bytes, expected {} at most", size,
         bounds.json_bytes);
}

}  // namespace

size_t EndOfString(std::string_view json, size_t from) {
  for (size_t at = json.find('"', from + 1); at != kNone; at = json.find('"', at + 1)) {
    size_t first = at;  // of the backslashes in front of it; an even number of them escapes each other
    while (json[first - 1] == '\\') --first;
    if ((at - first) % 2 == 0) return at + 1;
  }
  return kNone;
}

CutJson CutDataLists(std::string_view json, const RequestBounds& bounds) {
  CutJson cut;
  size_t begin = 0;  // of what is not in the text yet
  const auto keep = [&](size_t end) {
    CheckSize(cut.text.size() + (end - begin), bounds);
    cut.text += json.substr(begin, end - begin);
  };
  for (size_t at = json.find('"'); at != kNone; at = json.find('"', at)) {
    const size_t end = EndOfString(json, at);
    if (end == kNone) break;  // the JSON's reader says so
    const size_t list = ListBehindKey(json, end);
    const bool is_data = list != kNone && IsData(json.substr(at, end - at));
    at = end;
    if (!is_data) continue;
    if (cut.lists.size() == size_t(bounds.tensors))
      Fail(Code::kResourceExhausted, "request",
           "the inputs are too many; got more than {}, expected {} at most", bounds.tensors, bounds.tensors);
    keep(list);
    begin = at = EndOfList(json, list);
    cut.text += "[" + std::to_string(cut.lists.size()) + "]";
    cut.lists.push_back(json.substr(list, at - list));
  }
  keep(json.size());
  return cut;
}

}  // namespace mete::serve
