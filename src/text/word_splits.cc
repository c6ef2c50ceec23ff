#include "text/word_splits.h"

#include "text/byte_letters.h"
#include "text/characters.h"
#include "text/pattern_splits.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

constexpr const char* kKinds =
    "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace or "
    "WhitespaceSplit";

// Words of what is neither space nor punctuation, and each punctuation character by itself.
std::vector<std::string> SplitAsBert(std::string_view text) {
  const auto is_punctuation = [](char32_t c) {
    const bool ascii = c < 0x80 && c > ' ' && c != 0x7f && KindOf(c) != CharacterKind::kLetter &&
                       KindOf(c) != CharacterKind::kNumber;
    return ascii || KindOf(c) == CharacterKind::kPunctuation;
  };
  std::vector<std::string> words;
  bool goes_on = false;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    const bool alone = is_punctuation(code), space = IsSpace(code);
    if (!space && goes_on && !alone) words.back() += bytes;
    else if (!space) words.emplace_back(bytes);
    goes_on = !space && !alone;
  });
  return words;
}

void AddByteLevel(JsonPart& part, std::vector<WordSplit>& splits) {
  const bool adds_space = part.Flag("add_prefix_space", true), divides = part.Flag("use_regex", true);
  part.Leave({"trim_offsets"});
  splits.push_back([=](std::string_view word, const StretchContext& context) {
    const bool add = adds_space && context.place != StretchPlace::kGoesOn && !word.starts_with(' ');
    const std::string text = (add ? " " : "") + std::string(word);
    std::vector<std::string> words;
    for (const std::string_view piece : divides ? SplitAsGpt2(text) : std::vector<std::string_view>{text})
      words.push_back(LettersOfBytes(piece));
    return words;
  });
}

enum class AddsMark { kNever, kFirst, kAlways };

AddsMark ReadAddsMark(JsonPart& part) {
  const std::string scheme = part.Text("prepend_scheme", "always");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    part.Refuse("an unknown 'prepend_scheme'", Shown(scheme), "always, first or never");
  // Older files have the flag alone.
  if (!part.Flag("add_prefix_space", true) || scheme == "never") return AddsMark::kNever;
  return scheme == "first" ? AddsMark::kFirst : AddsMark::kAlways;
}

void AddMetaspace(JsonPart& part, std::vector<WordSplit>& splits) {
  const std::string mark = part.Text("replacement", "\xe2\x96\x81");
  const AddsMark adds = ReadAddsMark(part);
  const bool divides = part.Flag("split", true);
  part.Leave({"str_rep"});
  if (mark.empty()) return part.Refuse("'replacement' is empty", "no character", "one");
  splits.push_back([=](std::string_view word, const StretchContext& context) {
    std::string text = Replaced(word, " ", mark);
    const bool here = context.place == StretchPlace::kFirst ||
                      (context.place == StretchPlace::kElsewhere && adds == AddsMark::kAlways);
    if (adds != AddsMark::kNever && here && !text.starts_with(mark)) text = mark + text;
    std::vector<std::string> words;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = divides ? text.find(mark, begin + 1) : text.npos;
      words.push_back(text.substr(begin, end == text.npos ? end : end - begin));
      begin = end == text.npos ? text.size() : end;
    }
    return words;
  });
}

}  // namespace

std::vector<std::string_view> SplitAsGpt2(std::string_view text) {
  static const TextPattern pattern(
      ReadExpression("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"));
  std::vector<std::string_view> words;  // all of the text, since each character begins one
  PatternSteps steps;                   // of its own: the pattern takes a few for each byte
  for (const TextPattern::Match& match : pattern.FindAll(text, steps))
    words.push_back(text.substr(match.begin, match.end - match.begin));
  return words;
}

void ReadWordSplits(JsonPart part, std::vector<WordSplit>& splits) {
  if (!part.given()) return;
  const std::string type = part.Text("type");
  if (type == "Sequence")
    for (JsonPart& each : part.Steps("pretokenizers")) {
      if (part.HasTooMany(splits.size())) return;
      ReadWordSplits(std::move(each), splits);
    }
  else if (type == "ByteLevel") AddByteLevel(part, splits);
  else if (type == "Metaspace") AddMetaspace(part, splits);
  else if (type == "BertPreTokenizer")
    splits.push_back([](std::string_view word, const StretchContext&) { return SplitAsBert(word); });
  else if (!AddPatternSplit(type, part, splits)) return part.RefuseKind(type, kKinds);
  part.RefuseOthers();
}

std::vector<std::string> WordsOf(const std::string& text, const StretchContext& context,
                                 const std::vector<WordSplit>& splits) {
  std::vector<std::string> words;
  if (!text.empty()) words.push_back(text);
  for (const WordSplit& split : splits) {
    std::vector<std::string> further;
    size_t bytes = 0;
    for (size_t i = 0; i < words.size(); ++i)
      for (std::string& word :
           split(words[i], {i == 0 ? context.place : StretchPlace::kElsewhere, context.steps})) {
        bytes += word.size();
        CheckTextSize(bytes);
        further.push_back(std::move(word));
      }
    words = std::move(further);
  }
  return words;
}

}  // namespace mete
