#include "text/pattern_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/set_reader.h"

namespace mete {
namespace {

using Kind = PatternStep::Kind;

// Bounds of hostile files, which are guesses: the longest patterns of models have 500 bytes.
constexpr size_t kMostBytes = 8192, kMostSteps = 20'000;
constexpr int kMostGroupDepth = 32;
constexpr int kMostRepeatsOfPart = 4;  // each may nest a run of the matcher
constexpr int64_t kMostRepeats = 1000;

// Steps, which may be moved since their jumps are relative.
struct Fragment {
  std::vector<PatternStep> steps;
  bool may_be_empty = true;  // may match without a character

  int32_t size() const { return int32_t(steps.size()); }
  void Add(PatternStep step) { steps.push_back(step); }
  void Add(const Fragment& other) { steps.insert(steps.end(), other.steps.begin(), other.steps.end()); }
};

struct Repeat {
  int64_t least = 0, most = 0;
  bool in_braces = false;
  static constexpr int64_t kNoEnd = -1;
};
enum class Manner { kGreedy, kLazy, kPossessive };

PatternStep TryStep(int32_t further, int32_t otherwise, Manner manner) {
  const bool lazy = manner == Manner::kLazy;
  return {Kind::kTry, lazy ? otherwise : further, lazy ? further : otherwise};
}

class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view expression) : text_(expression) {
    if (expression.size() > kMostBytes)
      text_.Refuse("a regular expression is too long", "8192 bytes at most");
  }

  PatternProgram Read() {
    Fragment all = Choice({}, 0);
    if (!text_.done()) text_.Refuse("a regular expression has a ')' too many", "its end");
    all.Add({Kind::kDone});
    for (CharacterSet& set : sets_) set.Prepare();
    return {std::move(all.steps), std::move(sets_)};
  }

 private:
  Fragment Checked(Fragment fragment) const {
    if (fragment.steps.size() > kMostSteps) RefuseSteps();
    return fragment;
  }
  [[noreturn]] void RefuseSteps() const {
    text_.Refuse("a regular expression has too many steps", "20000 at most, with all repeats");
  }

  // Alternatives, up to ')' or the end.
  Fragment Choice(PatternFlags flags, int depth) {
    if (depth > kMostGroupDepth) text_.Refuse("groups are nested too deep", "32 levels at most");
    std::vector<Fragment> ways{Sequence(flags, depth)};
    for (size_t steps = ways[0].steps.size(); text_.Take("|"); steps += ways.back().steps.size()) {
      if (steps > kMostSteps) RefuseSteps();
      ways.push_back(Sequence(flags, depth));
    }
    int32_t behind = ways.back().size();
    for (size_t i = 0; i + 1 < ways.size(); ++i) behind += ways[i].size() + 2;
    Fragment choice;
    choice.may_be_empty = false;
    for (size_t i = 0; i < ways.size(); ++i) {
      const bool last = i + 1 == ways.size();
      if (!last) choice.Add({Kind::kTry, 1, ways[i].size() + 2});
      choice.Add(ways[i]);
      if (!last) choice.Add({Kind::kJump, behind - choice.size()});
      choice.may_be_empty |= ways[i].may_be_empty;
    }
    return Checked(std::move(choice));
  }

  Fragment Sequence(PatternFlags flags, int depth) {
    Fragment sequence;
    while (!text_.done() && !text_.Begins("|") && !text_.Begins(")")) {
      Fragment item = Item(flags, depth);
      for (int repeats = 1; const auto repeat = TakeRepeat(); ++repeats) {
        if (repeats > kMostRepeatsOfPart) text_.Refuse("a part has too many repeats", "4 at most");
        item = Repeated(item, *repeat);
      }
      sequence.Add(item);
      sequence.may_be_empty &= item.may_be_empty;
      if (sequence.steps.size() > kMostSteps) break;
    }
    return Checked(std::move(sequence));
  }

  Fragment Item(PatternFlags flags, int depth) {
    if (text_.Take("(")) return Group(flags, depth);
    for (const auto& [sign, kind] : {std::pair("^", Kind::kLineBegin), std::pair("$", Kind::kLineEnd),
                                     std::pair("\\A", Kind::kTextBegin), std::pair("\\z", Kind::kTextEnd)})
      if (text_.Take(sign)) return {{{kind}}};
    for (const char* sign : {"*", "+", "?"})
      if (text_.Begins(sign)) text_.Refuse("a repeat has nothing before it", "a character or a group");
    sets_.push_back(ReadCharacterSet(text_, flags));
    return {{{Kind::kSet, int32_t(sets_.size()) - 1}}, false};
  }

  // Behind '('.
  Fragment Group(PatternFlags flags, int depth) {
    if (!text_.Begins("?") || text_.Take("?:")) return Closed(Choice(flags, depth + 1));
    for (const auto& [sign, kind] :
         {std::pair("?=", Kind::kAhead), std::pair("?!", Kind::kNotAhead), std::pair("?>", Kind::kAtomic)})
      if (text_.Take(sign)) return Apart(kind, Closed(Choice(flags, depth + 1)));
    return Flagged(flags, depth);
  }

  Fragment Closed(Fragment group) {
    if (!text_.Take(")")) text_.Refuse("a group has no end", "')'");
    return group;
  }

  // "?i:...)", or "?i)", which holds up to the end of the group around it.
  Fragment Flagged(PatternFlags flags, int depth) {
    const size_t begin = text_.place();
    text_.Take("?");
    bool on = true;
    while (!text_.Begins(":") && !text_.Begins(")")) {
      if (text_.Take("-")) on = false;
      else if (text_.Take("i")) flags.ignores_case = on;
      else if (text_.Take("m")) flags.dot_is_any = on;
      else {
        text_.GoBackTo(begin);
        text_.Refuse("a group of a kind that is not understood", "(?:, (?i:, (?m:, (?=, (?! or (?>");
      }
    }
    if (text_.Take(":")) return Closed(Choice(flags, depth + 1));
    text_.Take(")");
    return Choice(flags, depth + 1);
  }

  static Fragment Apart(Kind kind, const Fragment& body) {
    Fragment apart;
    apart.may_be_empty = kind != Kind::kAtomic || body.may_be_empty;
    apart.Add({kind, body.size() + 2});
    apart.Add(body);
    apart.Add({Kind::kDone});
    return apart;
  }

  // As much as begins a repeat; '{' without one is a character.
  std::optional<Repeat> TakeRepeat() {
    if (text_.Take("*")) return Repeat{0, Repeat::kNoEnd};
    if (text_.Take("+")) return Repeat{1, Repeat::kNoEnd};
    if (text_.Take("?")) return Repeat{0, 1};
    const size_t begin = text_.place();
    if (!text_.Take("{")) return std::nullopt;
    const auto least = Count();
    const bool range = text_.Take(",");
    const auto most = range ? Count() : least;
    if (!text_.Take("}") || (!least && !most)) {
      text_.GoBackTo(begin);
      return std::nullopt;
    }
    const Repeat repeat{least.value_or(0), most.value_or(Repeat::kNoEnd), true};
    if (repeat.most != Repeat::kNoEnd && repeat.most < repeat.least)
      text_.Refuse("a repeat has fewer at most than at least", "{1,3}");
    return repeat;
  }

  std::optional<int64_t> Count() {
    std::optional<int64_t> count;
    while (!text_.done() && text_.rest()[0] >= '0' && text_.rest()[0] <= '9') {
      count = count.value_or(0) * 10 + int64_t(text_.TakeCharacter() - '0');
      if (*count > kMostRepeats) text_.Refuse("a repeat has too many", "1000 at most");
    }
    return count;
  }

  // Behind '{...}', '+' is a repeat of the repeat, and so is '?' behind a single number.
  Manner TakeManner(const Repeat& repeat) {
    if (text_.Take("?")) {
      if (repeat.in_braces && repeat.least == repeat.most)
        text_.Refuse("a repeat of one number is lazy", "a greedy one");
      return Manner::kLazy;
    }
    return !repeat.in_braces && text_.Take("+") ? Manner::kPossessive : Manner::kGreedy;
  }

  Fragment Repeated(const Fragment& item, const Repeat& repeat) {
    const Manner manner = TakeManner(repeat);
    const bool endless = repeat.most == Repeat::kNoEnd;
    if (endless && item.may_be_empty)
      text_.Refuse("a part that may be empty is repeated without end", "a part of one character or more");
    const int64_t copies = std::max<int64_t>(endless ? repeat.least + 1 : repeat.most, 0);
    if (size_t(copies) * (item.steps.size() + 2) > kMostSteps) RefuseSteps();
    Fragment repeated;
    repeated.may_be_empty = repeat.least == 0 || item.may_be_empty;
    for (int64_t i = 0; i < repeat.least; ++i) repeated.Add(item);
    if (endless) {
      repeated.Add(TryStep(1, item.size() + 2, manner));
      repeated.Add(item);
      repeated.Add({Kind::kJump, -item.size() - 1});
    }
    const int64_t optional = endless ? 0 : repeat.most - repeat.least;
    for (int64_t i = optional; i > 0; --i) {
      repeated.Add(TryStep(1, int32_t(i) * (item.size() + 1), manner));
      repeated.Add(item);
    }
    return manner == Manner::kPossessive ? Apart(Kind::kAtomic, repeated) : Checked(std::move(repeated));
  }

  PatternText text_;
  std::vector<CharacterSet> sets_;
};

}  // namespace

PatternProgram ReadExpression(std::string_view expression) { return ExpressionReader(expression).Read(); }

}  // namespace mete
