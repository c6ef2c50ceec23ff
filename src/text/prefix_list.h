// Pieces of texts in the order of their bytes, to find those that a text begins with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

class PrefixList {
 public:
  struct Piece {
    std::string text;
    int64_t number = 0;
  };

  PrefixList() = default;
  // Pieces without a text are left out. Of several with one text the first counts.
  explicit PrefixList(std::vector<Piece> pieces);

  // Calls use(piece) for each piece that the text begins with, the shortest first. Looks at each byte of the
  // text once, whatever the number of pieces, and at none behind those that pieces begin with.
  template <class F>
  void ForEach(std::string_view text, F&& use) const {
    if (text.empty()) return;
    size_t begin = first_[uint8_t(text[0])], end = first_[uint8_t(text[0]) + 1u];
    for (size_t size = 1; begin < end; ++size) {
      if (pieces_[begin].text.size() == size) use(pieces_[begin++]);
      if (size == text.size()) return;
      Narrow(size, uint8_t(text[size]), begin, end);
    }
  }

 private:
  // Leaves of the pieces from `begin` to `end`, which are longer than `place`, those with a byte there.
  void Narrow(size_t place, uint8_t byte, size_t& begin, size_t& end) const;

  std::vector<Piece> pieces_;
  std::vector<size_t> first_ =
      std::vector<size_t>(257);  // of the pieces with each first byte, or a later one
};

}  // namespace mete
