#include "serve/http/message.h"

#include <cstdint>

#include "base/error.h"

namespace mete::serve {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `plus`: a '+' stands for a space, as in a query.
std::string Decoded(std::string_view text, bool plus) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus) {
      decoded += ' ';
      continue;
    }
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 <= text.size() - 1 ? DigitOf(text[i + 1]) : -1,
              low = high < 0 ? -1 : DigitOf(text[i + 2]);
    if (low < 0) Invalid("target", "has a '%' without two hexadecimal digits behind it");
    decoded += char(high * 16 + low);
    i += 2;
  }
  return decoded;
}

void AddPairs(std::string_view query, std::map<std::string, std::string>& pairs) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    pairs[Decoded(pair.substr(0, equals), true)] = Decoded(value, true);
  }
}

}  // namespace

HttpBody::HttpBody(std::string text)
    : string_(std::make_shared<std::string>(std::move(text))),
      data_(string_->data()),
      size_(string_->size()) {
  owner_ = string_;
}

HttpBody::HttpBody(size_t bytes, size_t aligned) : size_(bytes) {
  constexpr size_t kAlignment = 64;  // of a cache line, and of the widest vectors
  const auto memory = std::make_shared_for_overwrite<char[]>(bytes + kAlignment);
  const size_t past = (reinterpret_cast<uintptr_t>(memory.get()) + aligned) % kAlignment;
  data_ = memory.get() + (kAlignment - past) % kAlignment;
  owner_ = memory;
}

std::string HttpBody::TakeText() const { return string_ ? std::move(*string_) : std::string(text()); }

Target ParseTarget(const std::string& target) {
  if (target.empty() || target[0] != '/')
    Invalid("target", "is no path; got '{}'", Printable(target.substr(0, 100)));
  Target parsed;
  std::string_view rest = std::string_view(target).substr(1);
  rest = rest.substr(0, rest.find('#'));
  const size_t question = rest.find('?');
  if (question != std::string_view::npos) AddPairs(rest.substr(question + 1), parsed.query);
  rest = rest.substr(0, question);
  while (true) {
    const size_t slash = rest.find('/');
    parsed.path.push_back(Decoded(rest.substr(0, slash), false));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  while (!parsed.path.empty() && parsed.path.back().empty()) parsed.path.pop_back();
  return parsed;
}

}  // namespace mete::serve
