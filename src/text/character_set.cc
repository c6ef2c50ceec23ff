#include "text/character_set.h"

#include <algorithm>
#include <iterator>

namespace mete {
namespace {

void AddRanges(CharacterSet& set, std::initializer_list<CharacterRange> ranges) {
  for (const CharacterRange& range : ranges) set.Add(range.first, range.last);
}

}  // namespace

void CharacterSet::Add(CharacterSet set) {
  if (set.negated_ || !set.also_in_.empty() || set.ignores_case_) return sets_.push_back(std::move(set));
  ranges_.insert(ranges_.end(), set.ranges_.begin(), set.ranges_.end());
  categories_ |= set.categories_;
  std::move(set.sets_.begin(), set.sets_.end(), std::back_inserter(sets_));
}

size_t CharacterSet::SetsWithin() const {
  size_t count = sets_.size() + also_in_.size();
  for (const std::vector<CharacterSet>* sets : {&sets_, &also_in_})
    for (const CharacterSet& set : *sets) count += set.SetsWithin();
  return count;
}

bool CharacterSet::HasFewSets() const {
  constexpr size_t kMost = 32;  // a guess: lists of patterns have one or two
  return SetsWithin() <= kMost;
}

bool CharacterSet::IgnoreCase() {
  constexpr size_t kMost = 2048;  // a guess: more than the letters of any script with cases
  size_t characters = 0;
  // From the radicals of Chinese to its extension B no letter has a case.
  const auto has_no_case = [](const CharacterRange& range) {
    return range.first >= 0x20000 || (range.first >= 0x2e80 && range.last < 0xa640);
  };
  for (const CharacterRange& range : ranges_)
    if (!has_no_case(range)) characters += size_t(range.last - range.first) + 1;
  if (characters > kMost) return false;
  std::vector<CharacterRange> more;
  for (const CharacterRange& range : ranges_) {
    if (has_no_case(range)) continue;
    for (char32_t code = range.first; code <= range.last; ++code)
      if (const char32_t other = WithoutCase(code); other != code) more.push_back({other, other});
  }
  ranges_.insert(ranges_.end(), more.begin(), more.end());
  ignores_case_ = true;
  return true;
}

void CharacterSet::Prepare() {
  for (std::vector<CharacterSet>* sets : {&sets_, &also_in_})
    for (CharacterSet& set : *sets) set.Prepare();
  SortRanges();
  sets_within_ = SetsWithin();
  for (char32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = Computed(code);
}

void CharacterSet::SortRanges() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const CharacterRange& a, const CharacterRange& b) { return a.first < b.first; });
  std::vector<CharacterRange> joined;
  for (const CharacterRange& range : ranges_)
    if (joined.empty() || range.first > joined.back().last) joined.push_back(range);
    else joined.back().last = std::max(joined.back().last, range.last);
  ranges_ = std::move(joined);
}

bool CharacterSet::IsInRange(char32_t code) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), code,
                       [](char32_t value, const CharacterRange& range) { return value < range.first; });
  return behind != ranges_.begin() && code <= behind[-1].last;
}

bool CharacterSet::IsListed(char32_t code) const {
  return IsInRange(code) || (categories_ != 0 && (categories_ >> int(CategoryOf(code)) & 1) != 0) ||
         std::any_of(sets_.begin(), sets_.end(), [&](const CharacterSet& set) { return set.Contains(code); });
}

bool CharacterSet::Computed(char32_t code) const {
  // Sets in sets ask twice only for what has another case: searches would double at each level.
  const char32_t other = ignores_case_ ? WithoutCase(code) : code;
  const bool listed = IsListed(code) || (other != code && IsListed(other));
  const bool in = listed && std::all_of(also_in_.begin(), also_in_.end(),
                                        [&](const CharacterSet& set) { return set.Contains(code); });
  return in != negated_;
}

void AddDigits(CharacterSet& set) { set.Add(CategoriesOf("Nd")); }

void AddHexDigits(CharacterSet& set) { AddRanges(set, {{'0', '9'}, {'a', 'f'}, {'A', 'F'}}); }

void AddSpaces(CharacterSet& set) {
  for (const CharacterRange& range : SpaceRanges()) set.Add(range.first, range.last);
}

// Letters, marks, digits, and what connects them; numbers and symbols that are letters, such as letters in
// circles and squares; and, in Oniguruma's table of Latin-1, the six numbers that are no digits.
void AddWordCharacters(CharacterSet& set) {
  for (const char* category : {"L", "M", "Nd", "Nl", "Pc"}) set.Add(CategoriesOf(category));
  AddRanges(set, {{0x24b6, 0x24e9},
                  {0x1f130, 0x1f149},
                  {0x1f150, 0x1f169},
                  {0x1f170, 0x1f189},
                  {0xb2, 0xb3},
                  {0xb9, 0xb9},
                  {0xbc, 0xbe}});
}

// Scripts.txt of Unicode 14.
void AddHan(CharacterSet& set) {
  AddRanges(set, {{0x2e80, 0x2e99},   {0x2e9b, 0x2ef3},   {0x2f00, 0x2fd5},   {0x3005, 0x3005},
                  {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303b},   {0x3400, 0x4dbf},
                  {0x4e00, 0x9fff},   {0xf900, 0xfa6d},   {0xfa70, 0xfad9},   {0x16fe2, 0x16fe3},
                  {0x16ff0, 0x16ff1}, {0x20000, 0x2a6df}, {0x2a700, 0x2b738}, {0x2b740, 0x2b81d},
                  {0x2b820, 0x2cea1}, {0x2ceb0, 0x2ebe0}, {0x2f800, 0x2fa1d}, {0x30000, 0x3134a}});
}

}  // namespace mete
