#include "text/prefix_list.h"

#include <algorithm>

namespace mete {

PrefixList::PrefixList(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](const Piece& piece) { return piece.text.empty(); });
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const Piece& a, const Piece& b) { return a.text < b.text; });
  const auto equal = [](const Piece& a, const Piece& b) { return a.text == b.text; };
  pieces_.erase(std::unique(pieces_.begin(), pieces_.end(), equal), pieces_.end());
  for (const Piece& piece : pieces_) ++first_[uint8_t(piece.text[0]) + 1u];
  for (size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

void PrefixList::Narrow(size_t place, uint8_t byte, size_t& begin, size_t& end) const {
  const auto all = pieces_.begin();
  const auto byte_of = [&](const Piece& piece) { return uint8_t(piece.text[place]); };
  const auto first = std::partition_point(all + int64_t(begin), all + int64_t(end),
                                          [&](const Piece& piece) { return byte_of(piece) < byte; });
  const auto last = std::partition_point(first, all + int64_t(end),
                                         [&](const Piece& piece) { return byte_of(piece) == byte; });
  begin = size_t(first - all);
  end = size_t(last - all);
}

}  // namespace mete
