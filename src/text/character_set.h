// Sets of characters, as regular expressions write them.
#pragma once

#include <bitset>
#include <vector>

#include "text/characters.h"

namespace mete {

class CharacterSet {
 public:
  void Add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }
  void Add(Categories categories) { categories_ |= categories; }
  void Add(CharacterSet set);
  void AlsoIn(CharacterSet set) { also_in_.push_back(std::move(set)); }  // a character is in both
  void Negate() { negated_ = !negated_; }

  // The set gets all cases of its characters. Call it before Negate(). Returns false, and does not, where
  // ranges have more characters than a list of letters.
  bool IgnoreCase();
  // Returns whether there are few sets in the set, and in those, that are negated or have others, which are
  // asked in turn.
  bool HasFewSets() const;
  // Call it when all is added.
  void Prepare();

  bool Contains(char32_t code) const { return code < ascii_.size() ? ascii_[code] : Computed(code); }
  // Returns how many sets Contains() asks.
  size_t StepsFor(char32_t code) const { return code < ascii_.size() ? 1 : 1 + sets_within_; }

 private:
  size_t SetsWithin() const;
  bool Computed(char32_t code) const;
  bool IsListed(char32_t code) const;
  bool IsInRange(char32_t code) const;
  void SortRanges();

  std::vector<CharacterRange> ranges_;
  Categories categories_ = 0;
  std::vector<CharacterSet> sets_, also_in_;
  bool negated_ = false, ignores_case_ = false;
  size_t sets_within_ = 0;  // what SetsWithin() says
  std::bitset<128> ascii_;  // what Computed() says
};

// Sets that have a letter of their own: \d, \h (digits of base 16), \s and \w, as Oniguruma has them.
void AddDigits(CharacterSet& set);
void AddHexDigits(CharacterSet& set);
void AddSpaces(CharacterSet& set);
void AddWordCharacters(CharacterSet& set);
void AddHan(CharacterSet& set);  // the script of Chinese characters

}  // namespace mete
