#include "text/tokenizer.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/mapped_file.h"
#include "text/merges.h"

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

// Returns the byte of a piece such as "<0x0A>".
std::optional<uint8_t> ByteOf(const std::string& piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return uint8_t(value);
}

// Returns the number of bytes of the character that the text begins with. Bytes that are no UTF-8 are
// characters of their own.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const size_t size = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (size > text.size()) return 1;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 1;
  return size;
}

}  // namespace

Tokenizer Tokenizer::Load(const std::string& path) { return Parse(MappedFile::Open(path)->bytes(), path); }

Tokenizer Tokenizer::Parse(std::span<const std::byte> bytes, const std::string& name) {
  PieceReader reader(bytes, name);
  (void)reader.Number<int32_t>();  // the length of the longest piece, which follows from the pieces
  Tokenizer tokenizer;
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

std::optional<int64_t> Tokenizer::Find(const std::string& text) const {
  const auto found = numbers_.find(text);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

// A character without a piece becomes its bytes.
void Tokenizer::AddCharacter(std::string_view character, std::vector<int64_t>& tokens) const {
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

std::vector<int64_t> Tokenizer::Encode(std::string_view text, Place place) const {
  std::vector<int64_t> tokens;
  if (place == Place::kFirst && !text.empty()) AddCharacter(" ", tokens);
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    AddCharacter(text.substr(0, size), tokens);
    text.remove_prefix(size);
  }
  tokens = Merge(tokens, [&](int64_t left, int64_t right) -> std::optional<MergedPair> {
    const auto merged = Find(pieces_[size_t(left)].text + pieces_[size_t(right)].text);
    if (!merged) return std::nullopt;
    return MergedPair{*merged, pieces_[size_t(*merged)].score};
  });
  if (place == Place::kFirst) tokens.insert(tokens.begin(), kBegin);
  return tokens;
}

std::string Tokenizer::TextOf(int64_t token, Place place) const {
  if (token < 0 || token >= size() || IsEnd(token)) return "";
  if (const auto byte = bytes_[size_t(token)]) return std::string(1, char(*byte));
  const std::string& text = pieces_[size_t(token)].text;
  return place == Place::kFirst && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace mete
