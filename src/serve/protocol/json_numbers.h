// Single elements of JSON lists, by type. The JSON library makes a double of each number, byte by byte, which
// takes four to six times as long as std::from_chars from memory (bench/serve/request_bench.cc measures
// both).
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/half.h"

namespace mete::serve {

// Returns whether the number at `p` begins as JSON has them, where std::from_chars takes more: "01", "1.",
// ".5", "inf". What follows the first digit behind a point is the same in both.
inline bool BeginsNumber(const char* p, const char* end) {
  const auto digit = [end](const char* at) { return at < end && *at >= '0' && *at <= '9'; };
  if (p < end && *p == '-') ++p;
  if (!digit(p)) return false;
  const bool zero = *p++ == '0';
  if (zero && digit(p)) return false;
  while (digit(p)) ++p;
  return p == end || *p != '.' || digit(p + 1);
}

// Returns whether a number that is out of a type's range is nearer to 0 than to infinity.
inline bool IsTiny(const char* p, const char* end) {
  if (*p == '-') ++p;
  int64_t exponent = 0;  // of ten, of the first digit that is not 0
  const char* at = p;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) exponent += *p != '0';
  if (*p == '0' && at < end && *at == '.')
    for (++at; at < end && *at == '0'; ++at) --exponent;
  while (at < end && *at != 'e' && *at != 'E') ++at;
  if (at + 1 < end) {
    int64_t written = 0;
    const char* digits = at[1] == '+' ? at + 2 : at + 1;
    if (std::from_chars(digits, end, written).ec != std::errc()) return at[1] == '-';
    exponent += written;
  }
  return exponent <= 0;
}

// The words for floats that are no numbers of JSON, with and without quotes.
struct FloatWord {
  std::string_view word;
  float value;
};
inline constexpr FloatWord kFloatWords[] = {
    {"\"NaN\"", std::numeric_limits<float>::quiet_NaN()},
    {"\"Infinity\"", std::numeric_limits<float>::infinity()},
    {"\"-Infinity\"", -std::numeric_limits<float>::infinity()},
};

template <class T>
const char* ReadFloatWord(const char* p, const char* end, T& value) {
  const std::string_view text(p, size_t(end - p));
  for (const auto& [word, meant] : kFloatWords)
    for (const std::string_view form : {word, word.substr(1, word.size() - 2)})
      if (text.starts_with(form)) {
        value = T(meant);
        return p + form.size();
      }
  return nullptr;
}

// Each ReadElement reads one element at `p`, and returns the place behind it, or nullptr where none of the
// type is there.

template <std::floating_point T>
const char* ReadElement(const char* p, const char* end, T& value) {
  if (!BeginsNumber(p, end)) return ReadFloatWord(p, end, value);
  const auto [behind, error] = std::from_chars(p, end, value);
  if (error == std::errc::result_out_of_range && IsTiny(p, behind)) {
    value = *p == '-' ? -T(0) : T(0);
    return behind;
  }
  return error == std::errc() && std::isfinite(value) ? behind : nullptr;
}

template <class T>
requires std::same_as<T, F16> || std::same_as<T, BF16>
const char* ReadElement(const char* p, const char* end, T& value) {
  float wide = 0;
  const char* behind = ReadElement(p, end, wide);
  value = T(wide);
  return behind && std::isinf(float(value)) && !std::isinf(wide) ? nullptr : behind;
}

template <std::integral T>
const char* ReadElement(const char* p, const char* end, T& value) {
  if (!BeginsNumber(p, end)) return nullptr;
  if (std::unsigned_integral<T> && *p == '-') {  // from_chars takes no sign here, JSON has a -0
    value = 0;
    return p[1] == '0' ? p + 2 : nullptr;
  }
  const auto [behind, error] = std::from_chars(p, end, value);
  return error == std::errc() ? behind : nullptr;
}

template <>
inline const char* ReadElement<bool>(const char* p, const char* end, bool& value) {
  const std::string_view text(p, size_t(end - p));
  value = text.starts_with("true");
  if (value) return p + 4;
  return text.starts_with("false") ? p + 5 : nullptr;
}

}  // namespace mete::serve
