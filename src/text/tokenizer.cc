#include "text/tokenizer.h"

#include "base/mapped_file.h"
#include "text/json_tokenizer.h"
#include "text/piece_tokenizer.h"

namespace mete {
namespace {

// A file of llama2.c begins with a length, one of whose four bytes is 0 for any piece below 16 MiB.
bool IsJson(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // which editors put before UTF-8
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != text.npos && text[begin] == '{' && text.substr(0, 4).find('\0') == text.npos;
}

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::Load(const std::string& path) {
  return Parse(MappedFile::Open(path)->bytes(), path);
}

std::unique_ptr<Tokenizer> Tokenizer::Parse(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (IsJson(text)) return std::make_unique<JsonTokenizer>(JsonTokenizer::Parse(text, name));
  return std::make_unique<PieceTokenizer>(PieceTokenizer::Parse(bytes, name));
}

std::string Tokenizer::Decode(std::span<const int64_t> tokens) const {
  std::string text;
  Place place = Place::kFirst;
  for (const int64_t token : tokens) {
    if (IsEnd(token)) continue;
    text += TextOf(token, place);
    place = Place::kLater;
  }
  return text;
}

}  // namespace mete
