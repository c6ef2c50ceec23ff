#include "text/set_reader.h"

#include <optional>

namespace mete {
namespace {

constexpr const char* kEscapes =
    "\\d, \\h, \\s or \\w, \\p{...} of a category or Han, a control character, \\x, \\u, or a sign";

std::optional<int> HexDigit(char32_t c) {
  if (c >= '0' && c <= '9') return int(c - '0');
  if (c >= 'a' && c <= 'f') return int(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return int(c - 'A') + 10;
  return std::nullopt;
}

class SetReader {
 public:
  SetReader(PatternText& text, const PatternFlags& flags) : text_(text), flags_(flags) {}

  CharacterSet Read() {
    if (text_.Take("[")) return List(0);
    CharacterSet set;
    if (text_.Take(".")) AddDot(set);
    else if (const auto single = SingleOrSet(set)) set.Add(*single, *single);
    return WithCases(std::move(set));
  }

 private:
  void AddDot(CharacterSet& set) const {
    if (!flags_.dot_is_any) set.Add('\n', '\n');
    set.Negate();
  }

  CharacterSet WithCases(CharacterSet set) const {
    if (flags_.ignores_case && !set.IgnoreCase())
      text_.Refuse("a range is too long to ignore the cases of letters", "fewer characters");
    return set;
  }

  // Behind '['.
  CharacterSet List(int depth) {
    constexpr int kMostDepth = 8;  // a guess: lists have others in them once at most
    if (depth > kMostDepth) text_.Refuse("lists of characters are nested too deep", "8 levels at most");
    const bool negated = text_.Take("^");
    CharacterSet set = Items(depth);
    while (text_.Take("&&")) {
      set.AlsoIn(Items(depth));
      if (!set.HasFewSets()) text_.Refuse("a list has too many lists in it", "32 at most");
    }
    text_.Take("]");
    if (negated) set.Negate();
    return set;
  }

  // Up to the end of the list or of its part.
  CharacterSet Items(int depth) {
    if (AtEnd()) text_.Refuse("a list has no characters", "one or more");
    CharacterSet set;
    while (!AtEnd()) {
      AddItem(set, depth);
      if (!set.HasFewSets()) text_.Refuse("a list has too many lists in it", "32 at most");
    }
    return WithCases(std::move(set));
  }

  bool AtEnd() const { return text_.Begins("]") || text_.Begins("&&"); }

  void AddItem(CharacterSet& set, int depth) {
    if (text_.Begins("[:")) text_.Refuse("a class has a name of POSIX", "\\d, \\s, \\w or \\p{...}");
    if (text_.Take("[")) return set.Add(List(depth + 1));
    const auto first = SingleOrSet(set);
    if (!first) return;
    const size_t before = text_.place();
    if (!text_.Take("-")) return set.Add(*first, *first);
    if (AtEnd() || text_.Begins("[")) {  // the sign itself
      text_.GoBackTo(before);
      return set.Add(*first, *first);
    }
    const auto last = SingleOrSet(set);
    if (!last || *last < *first) text_.Refuse("a range of characters has no end", "a later character");
    set.Add(*first, *last);
  }

  // Returns a character. Nothing: it was an escape for many, which the set has got.
  std::optional<char32_t> SingleOrSet(CharacterSet& set) {
    if (!text_.Take("\\")) return text_.TakeCharacter();
    const size_t place = text_.place();
    const char32_t c = text_.TakeCharacter();
    switch (c) {
      case 'd': return AddEscape(set, AddDigits, false);
      case 'D': return AddEscape(set, AddDigits, true);
      case 'h': return AddEscape(set, AddHexDigits, false);
      case 'H': return AddEscape(set, AddHexDigits, true);
      case 's': return AddEscape(set, AddSpaces, false);
      case 'S': return AddEscape(set, AddSpaces, true);
      case 'w': return AddEscape(set, AddWordCharacters, false);
      case 'W': return AddEscape(set, AddWordCharacters, true);
      case 'p': return AddProperty(set, false);
      case 'P': return AddProperty(set, true);
      case 'a': return '\a';
      case 'e': return 0x1b;
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'v': return '\v';
      case 'x': return Coded(2);
      case 'u': return Coded(4);
      default: break;
    }
    const bool has_meaning =
        c < 0x80 && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
    if (has_meaning) {
      text_.GoBackTo(place - 1);
      text_.Refuse("an escape that is not understood", kEscapes);
    }
    return c;
  }

  static std::nullopt_t AddEscape(CharacterSet& set, void (*add)(CharacterSet&), bool negated) {
    CharacterSet escape;
    add(escape);
    if (negated) escape.Negate();
    set.Add(std::move(escape));
    return std::nullopt;
  }

  std::nullopt_t AddProperty(CharacterSet& set, bool negated) {
    if (!text_.Take("{")) text_.Refuse("a property has no name", "{L}");
    negated ^= text_.Take("^");
    const size_t end = text_.rest().find('}');
    const std::string_view name = text_.rest().substr(0, end);
    CharacterSet property;
    if (name == "Han") AddHan(property);
    else property.Add(CategoriesOf(name));
    const bool known = end != name.npos && (name == "Han" || CategoriesOf(name) != 0);
    if (!known) text_.Refuse("a property that is not understood", "a category, such as L or Lu, or Han");
    if (flags_.ignores_case && (name == "Lu" || name == "Ll" || name == "Lt"))
      text_.Refuse("a property of letters' case, where cases are ignored", "L");
    text_.Take(name);
    text_.Take("}");
    if (negated) property.Negate();
    set.Add(std::move(property));
    return std::nullopt;
  }

  // The character of a number in base 16: as many digits, or any in braces.
  char32_t Coded(int digits) {
    const bool in_braces = text_.Take("{");
    char32_t code = 0;
    for (int i = 0; i < (in_braces ? 8 : digits) && !text_.Begins("}"); ++i) {
      const auto digit = HexDigit(text_.TakeCharacter());
      if (!digit) text_.Refuse("a character's number has another digit", "digits of base 16");
      code = code << 4 | char32_t(*digit);
    }
    if ((in_braces && !text_.Take("}")) || code > 0x10ffff)
      text_.Refuse("a character's number is none of Unicode", "at most 10ffff");
    return code;
  }

  PatternText& text_;
  const PatternFlags& flags_;
};

}  // namespace

CharacterSet ReadCharacterSet(PatternText& text, const PatternFlags& flags) {
  return SetReader(text, flags).Read();
}

}  // namespace mete
