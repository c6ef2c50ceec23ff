#include "text/word_splits.h"

#include "text/byte_letters.h"
#include "text/characters.h"
#include "text/pattern_splits.h"

namespace mete {
namespace {

constexpr const char* kKinds =
    "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace or "
    "WhitespaceSplit";

enum class RunKind { kSpace, kLetters, kNumbers, kOthers };

RunKind RunKindOf(char32_t code) {
  if (IsSpace(code)) return RunKind::kSpace;
  const CharacterKind kind = KindOf(code);
  return kind == CharacterKind::kLetter   ? RunKind::kLetters
         : kind == CharacterKind::kNumber ? RunKind::kNumbers
                                          : RunKind::kOthers;
}

// Returns the bytes of the characters of one kind at the begin, and of the last of them.
struct Run {
  RunKind kind = RunKind::kSpace;
  size_t size = 0, last = 0;
};
Run RunOf(std::string_view text) {
  Run run;
  while (run.size < text.size()) {
    const Character c = FirstCharacter(text.substr(run.size));
    const RunKind kind = RunKindOf(c.code);
    if (run.size > 0 && kind != run.kind) break;
    run = {kind, run.size + c.size, c.size};
  }
  return run;
}

size_t ContractionSize(std::string_view text) {
  for (const char* end : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(end)) return std::string_view(end).size();
  return 0;
}

size_t Gpt2WordSize(std::string_view text) {
  if (const size_t size = ContractionSize(text)) return size;
  const size_t space = text.starts_with(' ') ? 1 : 0;
  const Run run = RunOf(text.substr(space));
  if (run.size > 0 && run.kind != RunKind::kSpace) return space + run.size;
  // Space before a word leaves its last character, which may belong to the word.
  const Run spaces = RunOf(text);
  return spaces.size == text.size() || spaces.size == spaces.last ? spaces.size : spaces.size - spaces.last;
}

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
  splits.push_back([=](std::string_view word, StretchPlace place) {
    const bool add = adds_space && place != StretchPlace::kGoesOn && !word.starts_with(' ');
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
  splits.push_back([=](std::string_view word, StretchPlace place) {
    std::string text = Replaced(word, " ", mark);
    const bool here =
        place == StretchPlace::kFirst || (place == StretchPlace::kElsewhere && adds == AddsMark::kAlways);
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
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t size = Gpt2WordSize(text);
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

void ReadWordSplits(JsonPart part, std::vector<WordSplit>& splits) {
  if (!part.given()) return;
  const std::string type = part.Text("type");
  if (type == "Sequence")
    for (JsonPart& each : part.Parts("pretokenizers")) {
      if (part.HasTooMany(splits.size())) return;
      ReadWordSplits(std::move(each), splits);
    }
  else if (type == "ByteLevel") AddByteLevel(part, splits);
  else if (type == "Metaspace") AddMetaspace(part, splits);
  else if (type == "BertPreTokenizer")
    splits.push_back([](std::string_view word, StretchPlace) { return SplitAsBert(word); });
  else if (!AddPatternSplit(type, part, splits)) return part.RefuseKind(type, kKinds);
  part.RefuseOthers();
}

std::vector<std::string> WordsOf(const std::string& text, StretchPlace place,
                                 const std::vector<WordSplit>& splits) {
  std::vector<std::string> words;
  if (!text.empty()) words.push_back(text);
  for (const WordSplit& split : splits) {
    std::vector<std::string> further;
    size_t bytes = 0;
    for (size_t i = 0; i < words.size(); ++i)
      for (std::string& word : split(words[i], i == 0 ? place : StretchPlace::kElsewhere)) {
        bytes += word.size();
        CheckTextSize(bytes);
        further.push_back(std::move(word));
      }
    words = std::move(further);
  }
  return words;
}

}  // namespace mete
