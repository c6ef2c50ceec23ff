#include "text/word_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "text/characters.h"
#include "text/likeliest_pieces.h"
#include "text/merges.h"
#include "text/prefix_list.h"

namespace mete {
namespace {

// Byte pair encoding: of neighbouring tokens those become one that come first in the list of merges.
struct PairModel {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string name;
  std::unordered_map<uint64_t, MergedPair> merges;  // by both tokens
  std::optional<int64_t> unknown;
  bool joins_unknown = false, knows_bytes = false, takes_whole_words = false;
  std::string goes_on, ends;  // marks of all characters of a word but the first, and of the last one

  static uint64_t KeyOf(int64_t left, int64_t right) { return uint64_t(left) << 32 | uint64_t(right); }

  void Encode(std::string_view word, std::vector<int64_t>& tokens) const {
    if (takes_whole_words)
      if (const auto whole = vocabulary->Find(word)) return tokens.push_back(*whole);
    std::vector<int64_t> begin;
    bool was_unknown = false;
    ForEachCharacter(word, [&](char32_t, std::string_view bytes) {
      const bool known = AddKnown(Marked(bytes, word), begin);
      if (!known && !(joins_unknown && was_unknown)) begin.push_back(Unknown(bytes));
      was_unknown = !known;
    });
    const auto merged = Merge(begin, [&](int64_t left, int64_t right) -> std::optional<MergedPair> {
      const auto found = merges.find(KeyOf(left, right));
      return found == merges.end() ? std::nullopt : std::optional(found->second);
    });
    tokens.insert(tokens.end(), merged.begin(), merged.end());
  }

  std::string Marked(std::string_view character, std::string_view word) const {
    const bool is_first = character.data() == word.data(),
               is_last = character.data() + character.size() == word.data() + word.size();
    return (is_first ? "" : goes_on) + std::string(character) + (is_last ? ends : "");
  }

  // A character without a piece of its own may have one for each byte.
  bool AddKnown(std::string_view character, std::vector<int64_t>& tokens) const {
    if (const auto whole = vocabulary->Find(character)) {
      tokens.push_back(*whole);
      return true;
    }
    return knows_bytes && AddByteTokens(*vocabulary, character, tokens);
  }

  std::string WithoutMark(const std::string& piece) const {
    return piece.starts_with(goes_on) ? piece.substr(goes_on.size()) : piece;
  }

  int64_t Unknown(std::string_view character) const {
    if (!unknown) RefuseUnknown(name, character);
    return *unknown;
  }
};

// The longest piece that the word begins with, then the longest one that goes on, and so forth.
struct LongestPieceModel {
  PrefixList begins, goes_on;  // all pieces, and those that go on a word, without their prefix
  int64_t unknown = 0;
  size_t most_characters = 0;

  void Encode(std::string_view word, std::vector<int64_t>& tokens) const {
    size_t characters = 0;
    ForEachCharacter(word, [&](char32_t, std::string_view) { ++characters; });
    const size_t before = tokens.size();
    for (std::string_view rest = word; characters <= most_characters && !rest.empty();) {
      const size_t size = AddLongest(rest, rest.size() < word.size() ? goes_on : begins, tokens);
      if (size == 0) break;
      rest.remove_prefix(size);
      if (rest.empty()) return;
    }
    tokens.resize(before);
    tokens.push_back(unknown);
  }

  // Returns the number of bytes that the piece has of the word; 0: there is none.
  static size_t AddLongest(std::string_view rest, const PrefixList& pieces, std::vector<int64_t>& tokens) {
    const PrefixList::Piece* longest = nullptr;
    pieces.ForEach(rest, [&](const PrefixList::Piece& piece) { longest = &piece; });
    if (!longest) return 0;
    tokens.push_back(longest->number);
    return longest->text.size();
  }
};

void ReadVocabulary(JsonPart& part, Vocabulary& vocabulary) {
  const TextJson& vocab = part.Value("vocab");
  if (!vocab.is_object() || vocab.empty())
    return part.Refuse("'vocab' has no tokens", vocab.type_name(), "an object of pieces and their numbers");
  for (const auto& [piece, number] : vocab.items())
    if (const auto token = TokenNumber(number, "a value of 'vocab'", part)) vocabulary.Add(piece, *token);
}

// Returns the two pieces of a merge, which older files have in one text.
std::optional<std::pair<std::string, std::string>> ReadPair(const TextJson& merge) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
  if (!merge.is_string()) return std::nullopt;
  const std::string text = merge.get<std::string>();
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) return std::nullopt;
  return std::pair(text.substr(0, space), text.substr(space + 1));
}

void ReadMerges(JsonPart& part, PairModel& model) {
  const TextJson& merges = part.Value("merges");
  if (!merges.is_array()) return part.Refuse("'merges' is no list", merges.type_name(), "a list");
  if (int64_t(merges.size()) > kMostTokens)
    return part.Refuse("too many merges", std::to_string(merges.size()),
                       fmt::format("{} at most", kMostTokens));
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto pair = ReadPair(merges[i]);
    const auto left = pair ? model.vocabulary->Find(pair->first) : std::nullopt,
               right = pair ? model.vocabulary->Find(pair->second) : std::nullopt,
               both = pair ? model.vocabulary->Find(pair->first + model.WithoutMark(pair->second))
                           : std::nullopt;
    if (left && right && both) model.merges[PairModel::KeyOf(*left, *right)] = {*both, -float(i)};
    else
      part.Refuse("a merge is none of two pieces of the vocabulary",
                  Shown(merges[i].dump(-1, ' ', false, TextJson::error_handler_t::replace)),
                  "two pieces that make a third one");
  }
}

std::optional<int64_t> UnknownToken(JsonPart& part, const Vocabulary& vocabulary) {
  const std::string piece = part.Text("unk_token");
  if (piece.empty()) return std::nullopt;
  const auto token = vocabulary.Find(piece);
  if (!token) part.Refuse("'unk_token' is not in the vocabulary", Shown(piece), "one of its pieces");
  return token;
}

WordModel ReadPairModel(JsonPart& part, const std::shared_ptr<Vocabulary>& vocabulary,
                        const std::string& name) {
  const auto model = std::make_shared<PairModel>();
  model->vocabulary = vocabulary;
  model->name = name;
  model->goes_on = part.Text("continuing_subword_prefix");
  model->ends = part.Text("end_of_word_suffix");
  for (const std::string& mark : {model->goes_on, model->ends}) CheckPieceSize(part, mark);
  ReadMerges(part, *model);
  model->unknown = UnknownToken(part, *vocabulary);
  model->joins_unknown = part.Flag("fuse_unk", false);
  model->knows_bytes = part.Flag("byte_fallback", false);
  model->takes_whole_words = part.Flag("ignore_merges", false);
  if (const TextJson& dropout = part.Value("dropout"); !dropout.is_null() && dropout != 0)
    part.Refuse("'dropout' makes tokens random", Shown(dropout.dump()), "null");
  return [model](std::string_view word, std::vector<int64_t>& tokens) { model->Encode(word, tokens); };
}

// Reads the pieces of `vocab` once more, in the order of their bytes.
void ReadPieces(JsonPart& part, LongestPieceModel& model) {
  const std::string prefix = part.Text("continuing_subword_prefix", "##");
  const TextJson& vocab = part.Value("vocab");
  std::vector<PrefixList::Piece> begins, goes_on;
  if (!vocab.is_object()) return;  // a problem that is told already
  for (const auto& [piece, number] : vocab.items()) {
    if (!number.is_number()) continue;
    CheckPieceSize(part, piece);
    begins.push_back({piece, number.get<int64_t>()});
    if (piece.starts_with(prefix)) goes_on.push_back({piece.substr(prefix.size()), number.get<int64_t>()});
  }
  model.begins = PrefixList(std::move(begins));
  model.goes_on = PrefixList(std::move(goes_on));
}

WordModel ReadLongestPieceModel(JsonPart& part, const std::shared_ptr<Vocabulary>& vocabulary) {
  constexpr int64_t kMostCharacters = 100;  // where the file does not say it: the format's own
  LongestPieceModel model;
  ReadPieces(part, model);
  const auto unknown = UnknownToken(part, *vocabulary);
  if (!unknown) part.Refuse("no token stands for unknown words", "none", "'unk_token'");
  model.unknown = unknown.value_or(0);
  model.most_characters = size_t(part.Number("max_input_chars_per_word", kMostCharacters));
  return [model](std::string_view word, std::vector<int64_t>& tokens) { model.Encode(word, tokens); };
}

}  // namespace

bool AddByteTokens(const Vocabulary& vocabulary, std::string_view bytes, std::vector<int64_t>& tokens) {
  std::vector<int64_t> added;
  for (const char c : bytes)
    if (const auto byte = vocabulary.Find(fmt::format("<0x{:02X}>", uint8_t(c)))) added.push_back(*byte);
  if (added.size() != bytes.size()) return false;
  tokens.insert(tokens.end(), added.begin(), added.end());
  return true;
}

void RefuseUnknown(const std::string& name, std::string_view text) {
  Invalid(name,
          "the tokenizer has no piece for a character; got '{}', expected one of its vocabulary; try "
          "other words",
          Shown(std::string(text)));
}

WordModel ReadWordModel(JsonPart part, const std::shared_ptr<Vocabulary>& vocabulary,
                        const std::string& name) {
  std::string type = part.Text("type");
  if (type.empty() && part.Value("merges").is_array()) type = "BPE";  // older files do not name it
  // Older files of the last kind do not name it either, and have a list for a vocabulary.
  if (type.empty() && part.Value("vocab").is_array()) type = "Unigram";
  WordModel model;
  if (type == "Unigram") {
    model = ReadLikeliestPiecesModel(part, vocabulary, name);
  } else if (type == "BPE" || type == "WordPiece") {
    ReadVocabulary(part, *vocabulary);
    model = type == "BPE" ? ReadPairModel(part, vocabulary, name) : ReadLongestPieceModel(part, vocabulary);
  } else {
    part.RefuseKind(type, "BPE, Unigram or WordPiece");
    return {};
  }
  part.RefuseOthers();
  return model;
}

}  // namespace mete
