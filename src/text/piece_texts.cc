#include "text/piece_texts.h"

#include <fmt/format.h>

#include "text/byte_letters.h"
#include "text/pieces.h"
#include "text/text_changes.h"
#include "text/text_pattern.h"

namespace mete {
namespace {

constexpr const char* kKinds =
    "ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip or WordPiece";

void AddWordPiece(JsonPart& part, std::vector<PieceChange>& changes) {
  const std::string prefix = part.Text("prefix", "##");
  const bool clean = part.Flag("cleanup", true);
  changes.push_back([=](std::string piece, bool is_first) {
    if (!is_first) piece = piece.starts_with(prefix) ? piece.substr(prefix.size()) : " " + piece;
    if (!clean) return piece;
    for (const char* joined : {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"})
      piece = Replaced(piece, std::string(" ") + joined, joined);
    return piece;
  });
}

void AddMetaspace(JsonPart& part, std::vector<PieceChange>& changes) {
  const std::string mark = part.Text("replacement", "\xe2\x96\x81");
  const bool adds_mark =
      part.Text("prepend_scheme", "always") != "never" && part.Flag("add_prefix_space", true);
  part.Leave({"split", "str_rep"});
  if (mark.empty()) return part.Refuse("'replacement' is empty", "no character", "one");
  changes.push_back([=](std::string piece, bool is_first) {
    return Replaced(piece, mark, is_first && adds_mark ? "" : " ");
  });
}

void AddReplace(JsonPart& part, std::vector<PieceChange>& changes) {
  const auto pattern = ReadPattern(part.Part("pattern"));
  const std::string to = part.Text("content");
  if (pattern)
    changes.push_back([pattern = *pattern, to](const std::string& piece, bool) {
      PatternSteps steps;  // of the piece
      return pattern.Replaced(piece, to, steps);
    });
}

// Characters at the begin of the whole text, which stands behind Fuse.
void AddStrip(JsonPart& part, bool fused, std::vector<PieceChange>& changes) {
  const std::string content = part.Text("content", " ");
  const int64_t start = part.Number("start", 0), stop = part.Number("stop", 0);
  if (!fused || stop != 0 || content.empty())
    return part.Refuse("characters are taken from each piece, or from the end of a text", "'Strip'",
                       "it behind Fuse, with 'stop' 0");
  changes.push_back([=](std::string piece, bool is_first) {
    for (int64_t i = 0; is_first && i < start && piece.starts_with(content); ++i)
      piece.erase(0, content.size());
    return piece;
  });
}

void Read(JsonPart part, bool& fused, std::vector<PieceChange>& changes) {
  const std::string type = part.Text("type");
  if (type == "Sequence")
    for (JsonPart& each : part.Steps("decoders")) {
      if (part.HasTooMany(changes.size())) return;
      Read(std::move(each), fused, changes);
    }
  else if (fused && type != "Strip" && type != "Fuse")
    return part.Refuse("a decoder behind Fuse works on the whole text", fmt::format("'{}'", Shown(type)),
                       "Strip alone");
  else if (type == "ByteLevel") {
    part.Leave({"add_prefix_space", "trim_offsets", "use_regex"});
    changes.push_back([](std::string piece, bool) { return BytesOfLetters(piece); });
  } else if (type == "ByteFallback")
    changes.push_back([](std::string piece, bool) {
      const auto byte = ByteOf(piece);
      return byte ? std::string(1, char(*byte)) : piece;
    });
  else if (type == "Fuse") fused = true;
  else if (type == "Strip") AddStrip(part, fused, changes);
  else if (type == "Replace") AddReplace(part, changes);
  else if (type == "Metaspace") AddMetaspace(part, changes);
  else if (type == "WordPiece") AddWordPiece(part, changes);
  else return part.RefuseKind(type, kKinds);
  part.RefuseOthers();
}

}  // namespace

void ReadPieceChanges(JsonPart part, std::vector<PieceChange>& changes) {
  if (!part.given())  // spaces join the pieces
    return changes.push_back(
        [](const std::string& piece, bool is_first) { return (is_first ? "" : " ") + piece; });
  bool fused = false;
  Read(std::move(part), fused, changes);
}

}  // namespace mete
