#include "text/text_changes.h"

#include "base/error.h"
#include "text/character_map.h"
#include "text/characters.h"
#include "text/normal_forms.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

constexpr const char* kKinds =
    "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, Sequence, Strip or "
    "StripAccents";

// The blocks of Chinese characters as BERT's authors list them.
bool IsChinese(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b820 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

std::string Cleaned(std::string_view text) {
  constexpr char32_t kReplacement = 0xfffd;
  std::string clean;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (code == '\t' || code == '\n' || code == '\r') clean += ' ';
    else if (code != kReplacement && KindOf(code) != CharacterKind::kControl)
      clean += IsSpace(code) ? " " : bytes;
  });
  return clean;
}

std::string WithSpacesAroundChinese(std::string_view text) {
  std::string spaced;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (IsChinese(code)) spaced.append(" ").append(bytes).append(" ");
    else spaced += bytes;
  });
  return spaced;
}

// Bytes that are no UTF-8 stay.
std::string EachChanged(std::string_view text, void (*append)(std::string&, char32_t)) {
  std::string changed;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (code == kNoCharacter) changed += bytes;
    else append(changed, code);
  });
  return changed;
}

void AddBert(JsonPart& part, std::vector<TextChange>& changes) {
  const bool clean = part.Flag("clean_text", true), chinese = part.Flag("handle_chinese_chars", true),
             lower = part.Flag("lowercase", true), strip = part.Flag("strip_accents", lower);
  if (clean) changes.push_back([](std::string_view text, const StretchContext&) { return Cleaned(text); });
  if (chinese)
    changes.push_back(
        [](std::string_view text, const StretchContext&) { return WithSpacesAroundChinese(text); });
  if (strip)
    changes.push_back(
        [](std::string_view text, const StretchContext&) { return EachChanged(text, AppendWithoutMarks); });
  if (lower)
    changes.push_back(
        [](std::string_view text, const StretchContext&) { return EachChanged(text, AppendLowercase); });
}

void AddPrepend(JsonPart& part, std::vector<TextChange>& changes) {
  changes.push_back([prefix = part.Text("prepend")](std::string_view text, const StretchContext& context) {
    return (text.empty() || context.place == StretchPlace::kGoesOn ? "" : prefix) + std::string(text);
  });
}

void AddStrip(JsonPart& part, std::vector<TextChange>& changes) {
  const bool left = part.Flag("strip_left", true), right = part.Flag("strip_right", true);
  changes.push_back([=](std::string_view text, const StretchContext&) {
    if (left) text.remove_prefix(SpaceAtBegin(text));
    return std::string(right ? WithoutSpaceAtEnd(text) : text);
  });
}

std::string WithoutMarks(std::string_view text) {
  std::string without;
  ForEachCharacter(text, [&, marks = CategoriesOf("M")](char32_t code, std::string_view bytes) {
    if ((marks >> int(CategoryOf(code)) & 1) == 0) without += bytes;
  });
  return without;
}

void AddReplace(JsonPart& part, std::vector<TextChange>& changes) {
  const auto pattern = ReadPattern(part.Part("pattern"));
  const std::string to = part.Text("content");
  if (pattern)
    changes.push_back([pattern = *pattern, to](std::string_view text, const StretchContext& context) {
      return pattern.Replaced(text, to, context.steps);
    });
}

}  // namespace

void CheckTextSize(size_t bytes) {
  constexpr size_t kMost = size_t(1) << 23;  // a guess: no prompt is longer
  if (bytes > kMost)
    Fail(Code::kResourceExhausted, "tokenizer",
         "a text becomes too long by the tokenizer's changes; got {} bytes or more, expected {} at most; try "
         "a "
         "shorter text, or another tokenizer",
         bytes, kMost);
}

std::string Replaced(std::string_view text, const std::string& from, const std::string& to) {
  std::string replaced;
  for (size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size())) {
    CheckTextSize(replaced.size() + at + to.size());
    replaced.append(text.substr(0, at)).append(to);
  }
  return replaced.append(text);
}

void ReadTextChanges(JsonPart part, std::vector<TextChange>& changes) {
  if (!part.given()) return;
  const std::string type = part.Text("type");
  if (type == "Sequence")
    for (JsonPart& each : part.Steps("normalizers")) {
      if (part.HasTooMany(changes.size())) return;
      ReadTextChanges(std::move(each), changes);
    }
  else if (type == "BertNormalizer") AddBert(part, changes);
  else if (type == "Lowercase")
    changes.push_back(
        [](std::string_view text, const StretchContext&) { return EachChanged(text, AppendLowercase); });
  else if (type == "Prepend") AddPrepend(part, changes);
  else if (type == "Replace") AddReplace(part, changes);
  else if (type == "Precompiled") AddCharacterMap(part, changes);
  else if (type == "Strip") AddStrip(part, changes);
  else if (type == "StripAccents")
    changes.push_back([](std::string_view text, const StretchContext&) { return WithoutMarks(text); });
  else if (!AddNormalForm(type, part, changes)) return part.RefuseKind(type, kKinds);
  part.RefuseOthers();
}

std::string Changed(std::string text, const StretchContext& context, const std::vector<TextChange>& changes) {
  for (const TextChange& change : changes) {
    text = change(text, context);
    CheckTextSize(text.size());
  }
  return text;
}

}  // namespace mete
