#include "serve/protocol/json_elements.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/visit_type.h"
#include "serve/protocol/data_lists.h"
#include "serve/protocol/json_numbers.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string Expected(DType type) {
  if (type == DType::kUnknown) return "a string of UTF-8";
  if (type == DType::kBool) return "true or false";
  if (IsFloat(type))
    return VisitFloat(type, []<class T>() {
      // The largest finite FP16 is 65504; all of BF16 has the range of FP32.
      const double most = std::same_as<T, F16>      ? 65504.0
                          : std::same_as<T, double> ? double(std::numeric_limits<double>::max())
                                                    : double(std::numeric_limits<float>::max());
      return fmt::format(R"(a number up to {:.4g}, "NaN", "Infinity" or "-Infinity")", most);
    });
  return VisitInt(type, []<class T>() {
    return fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  });
}

// Walks over the elements of a list, flat or nested as a shape says. `read(p, end)` reads an element and
// returns the place behind it, or nullptr.
template <class Read>
class ListWalk {
 public:
  ListWalk(const std::string& where, const InputForm& form, std::string_view list, Read& read)
      : where_(where), form_(form), p_(list.data()), end_(list.data() + list.size()), read_(read) {
    const size_t first = list.find_first_not_of(" \t\r\n", 1);
    nested_ = list[first] == '[';
    leaf_ = nested_ ? form.shape.rank() : 1;
  }

  void Walk() {
    if (nested_ && leaf_ < 2)
      Invalid(where_, "'data' has lists within a list; got the shape {}, expected a flat list",
              ToString(form_.shape));
    Level(1);
    if (elements_ != form_.elements)
      Invalid(where_, "'data' does not fit the shape; got {} elements, expected {} for {}", elements_,
              form_.elements, ToString(form_.shape));
  }

 private:
  char Next() {  // that is no white space
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
    return p_ < end_ ? *p_ : '\0';
  }

  // Reads the list that begins here, at a depth of at most Shape::kMaxRank.
  void Level(int depth) {
    ++p_;
    int64_t items = 0;
    if (Next() != ']')
      for (;; ++p_) {
        Next();
        depth == leaf_ ? Element() : Inner(depth + 1);
        ++items;
        if (Next() == ']') break;
        if (*p_ != ',') Invalid(where_, "'data' has lists and elements side by side");
      }
    ++p_;
    if (nested_ && items != form_.shape[depth - 1])
      Invalid(where_, "'data' does not fit the shape; got a list of {} at level {}, expected {} for {}",
              items, depth, form_.shape[depth - 1], ToString(form_.shape));
  }

  void Inner(int depth) {
    if (Next() != '[')
      Invalid(where_, "'data' is nested less deep than its shape; got {} levels, expected one or {} for {}",
              depth - 1, leaf_, ToString(form_.shape));
    Level(depth);
  }

  void Element() {
    const char* begin = p_;
    const char* behind = read_(p_, end_);
    if (behind) p_ = behind;
    if (const char next = Next(); !behind || (next != ',' && next != ']')) BadElement(begin);
    ++elements_;
  }

  [[noreturn]] void BadElement(const char* begin) {
    std::string_view text(begin, size_t(end_ - begin));
    text = text.substr(0, text.find_first_of(",]", 1));
    Invalid(where_, "element {} of 'data' is no {}; got '{}', expected {}", elements_,
            form_.type == DType::kUnknown ? kBytesDatatype : DatatypeOf(form_.type), Shown(text),
            Expected(form_.type));
  }

  const std::string& where_;
  const InputForm& form_;
  const char* p_;
  const char* end_;
  Read& read_;
  bool nested_ = false;
  int leaf_ = 1;  // the level whose items are elements
  int64_t elements_ = 0;
};

// Reads a string of JSON, with its quotes.
bool Unquote(std::string_view quoted, std::string& text) {
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
  if (std::all_of(inner.begin(), inner.end(), plain)) {
    text = inner;
    return true;
  }
  Json j = Json::parse(quoted, nullptr, /*allow_exceptions=*/false);
  if (j.is_string()) text = std::move(j.get_ref<std::string&>());
  return j.is_string();
}

std::vector<std::string> TextsOfList(const std::string& where, const InputForm& form, std::string_view list) {
  std::vector<std::string> texts;
  texts.reserve(std::min(size_t(form.elements), list.size() / 3));  // `"",` is the shortest element
  std::string beyond;  // elements of a list that is too long are only counted for the error
  const auto read = [&](const char* p, const char* end) -> const char* {
    const std::string_view rest(p, size_t(end - p));
    if (!rest.starts_with('"')) return nullptr;
    const size_t size = EndOfString(rest, 0);
    std::string& text = int64_t(texts.size()) < form.elements ? texts.emplace_back() : beyond;
    return Unquote(rest.substr(0, size), text) ? p + size : nullptr;
  };
  ListWalk(where, form, list, read).Walk();
  return texts;
}

// Reads the elements into a tensor. If the list is too short for them, which its number of bytes tells, its
// elements are only counted for the error.
template <class T>
Tensor NumbersOfList(const std::string& where, const InputForm& form, std::string_view list) {
  const bool may_fit = size_t(form.elements) <= list.size() / 2;  // an element takes two bytes: "1,"
  Tensor tensor = may_fit ? Tensor(form.type, form.shape) : Tensor();
  T* out = may_fit ? tensor.mutable_view().as<T>() : nullptr;
  T* const last = may_fit ? out + form.elements : nullptr;
  const auto read = [&](const char* p, const char* end) {
    T value{};
    const char* behind = ReadElement(p, end, value);
    if (out < last) *out++ = value;
    return behind;
  };
  ListWalk(where, form, list, read).Walk();
  return tensor;
}

template <std::integral T>
void AppendElement(T value, std::string& json) {
  char text[24];
  json.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void AppendElement(bool value, std::string& json) { json += value ? "true" : "false"; }

template <std::floating_point T>
void AppendElement(T value, std::string& json) {
  if (std::isfinite(value)) {
    char text[32];
    json.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
  } else {
    json += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

void AppendElement(F16 value, std::string& json) { AppendElement(float(value), json); }
void AppendElement(BF16 value, std::string& json) { AppendElement(float(value), json); }
void AppendElement(const std::string& value, std::string& json) { json += JsonText(Json(value), -1); }

template <class T>
void AppendAll(std::span<const T> elements, std::string& json) {
  json += '[';
  for (const T& element : elements) {
    if (&element != elements.data()) json += ',';
    AppendElement(element, json);
  }
  json += ']';
}

}  // namespace

NamedTensor TensorOfList(const std::string& where, const InputForm& form, std::string_view list) {
  NamedTensor made;
  made.shape = form.shape;
  if (form.type == DType::kUnknown) made.texts = TextsOfList(where, form, list);
  else made.tensor = VisitAny(form.type, [&]<class T>() { return NumbersOfList<T>(where, form, list); });
  return made;
}

void AppendList(const NamedTensor& tensor, std::string& json) {
  if (tensor.is_bytes()) return AppendAll(std::span<const std::string>(tensor.texts), json);
  VisitAny(tensor.tensor.type(), [&]<class T>() {
    AppendAll(std::span(tensor.tensor.as<T>(), size_t(tensor.tensor.elements())), json);
  });
}

}  // namespace mete::serve
