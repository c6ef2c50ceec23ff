#include "text/piece_tokenizer.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "text/characters.h"
#include "text/merges.h"
#include "text/pieces.h"

namespace mete {
namespace {

// Reads the little-endian numbers and the bytes of a file in their order.
class PieceReader {
 public:
  PieceReader(std::span<const std::byte> bytes, const std::string& name)
      : rest_(bytes), name_(name), size_(bytes.size()) {}

  bool done() const { return rest_.empty(); }

  template <class T>
  T Number() {
    T value{};
    std::memcpy(&value, Take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string Text(int32_t length) {
    if (length < 0) Corrupt("a piece has a length below 0");
    const auto bytes = Take(size_t(length));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  [[noreturn]] void Corrupt(const char* what) const {
    Fail(Code::kDataLoss, name_,
         "not a tokenizer of llama2.c; {} at byte {} of {}, expected a score, a length and as many bytes for "
         "each "
         "piece; try the tokenizer.bin that belongs to the model",
         what, size_ - rest_.size(), size_);
  }

 private:
  std::span<const std::byte> Take(size_t count) {
    if (count > rest_.size()) Corrupt("the file ends too early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::span<const std::byte> rest_;
  const std::string& name_;
  const size_t size_;
};

}  // namespace

PieceTokenizer PieceTokenizer::Parse(std::span<const std::byte> bytes, const std::string& name) {
  PieceReader reader(bytes, name);
  (void)reader.Number<int32_t>();  // the length of the longest piece, which follows from the pieces
  PieceTokenizer tokenizer;
  tokenizer.name_ = name;
  while (!reader.done()) {
    const float score = reader.Number<float>();
    if (std::isnan(score)) reader.Corrupt("a score is not a number");
    const int32_t length = reader.Number<int32_t>();
    tokenizer.pieces_.push_back({reader.Text(length), score});
  }
  if (tokenizer.size() <= kEnd) reader.Corrupt("too few pieces");
  for (int64_t i = 0; i < tokenizer.size(); ++i) {
    const std::string& text = tokenizer.pieces_[size_t(i)].text;
    tokenizer.numbers_.emplace(text, i);
    tokenizer.bytes_.push_back(ByteOf(text));
  }
  return tokenizer;
}

std::optional<int64_t> PieceTokenizer::Find(const std::string& text) const {
  const auto found = numbers_.find(text);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

// A character without a piece becomes its bytes.
void PieceTokenizer::AddCharacter(std::string_view character, std::vector<int64_t>& tokens) const {
  if (const auto whole = Find(std::string(character))) return tokens.push_back(*whole);
  for (const char c : character) {
    const auto byte = Find(fmt::format("<0x{:02X}>", uint8_t(c)));
    if (!byte)
      Invalid(name_,
              "the tokenizer has no piece for a byte; got 0x{:02X}, expected a text of its {} pieces; try "
              "other words",
              uint8_t(c), size());
    tokens.push_back(*byte);
  }
}

std::vector<int64_t> PieceTokenizer::Encode(std::string_view text, Place place) const {
  std::vector<int64_t> tokens;
  if (place == Place::kFirst && !text.empty()) AddCharacter(" ", tokens);
  ForEachCharacter(text, [&](char32_t, std::string_view bytes) { AddCharacter(bytes, tokens); });
  tokens = Merge(tokens, [&](int64_t left, int64_t right) -> std::optional<MergedPair> {
    const auto merged = Find(pieces_[size_t(left)].text + pieces_[size_t(right)].text);
    if (!merged) return std::nullopt;
    return MergedPair{*merged, pieces_[size_t(*merged)].score};
  });
  if (place == Place::kFirst) tokens.insert(tokens.begin(), kBegin);
  return tokens;
}

std::string PieceTokenizer::TextOf(int64_t token, Place place) const {
  if (token < 0 || token >= size() || IsEnd(token)) return "";
  if (const auto byte = bytes_[size_t(token)]) return std::string(1, char(*byte));
  const std::string& text = pieces_[size_t(token)].text;
  return place == Place::kFirst && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace mete
