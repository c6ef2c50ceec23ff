// The pieces of a vocabulary and their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mete {

// For searching by a view, without a string.
struct PieceHash {
  using is_transparent = void;
  size_t operator()(std::string_view piece) const { return std::hash<std::string_view>()(piece); }
};

class Vocabulary {
 public:
  // Of a piece or a number that is there already the last one counts.
  void Add(std::string piece, int64_t number) {
    pieces_[number] = piece;
    next_ = std::max(next_, number + 1);
    numbers_[std::move(piece)] = number;
  }

  std::optional<int64_t> Find(std::string_view piece) const {
    const auto found = numbers_.find(piece);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::string* PieceOf(int64_t number) const {
    const auto found = pieces_.find(number);
    return found == pieces_.end() ? nullptr : &found->second;
  }

  int64_t next() const { return next_; }  // one above the highest number

 private:
  std::unordered_map<std::string, int64_t, PieceHash, std::equal_to<>> numbers_;
  std::unordered_map<int64_t, std::string> pieces_;
  int64_t next_ = 0;
};

}  // namespace mete
