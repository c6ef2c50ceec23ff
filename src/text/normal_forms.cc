#include "text/normal_forms.h"

#include <algorithm>

#ifdef METE_NORMAL_FORMS
#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/error.h"
#include "text/characters.h"
#endif

namespace mete {
namespace {

#ifdef METE_NORMAL_FORMS
constexpr int kComposed = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
              kDecomposed = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
constexpr int kCompatible = UTF8PROC_COMPAT;
#else
constexpr int kComposed = 0, kDecomposed = 0, kCompatible = 0;
#endif

struct NormalForm {
  const char* name;
  int options;
};
constexpr NormalForm kForms[] = {{"NFC", kComposed},
                                 {"NFD", kDecomposed},
                                 {"NFKC", kComposed | kCompatible},
                                 {"NFKD", kDecomposed | kCompatible}};

#ifdef METE_NORMAL_FORMS
// `text` is UTF-8.
void AppendNormal(std::string& to, std::string_view text, int options) {
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), utf8proc_ssize_t(text.size()),
                   &made, utf8proc_option_t(options));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, std::free);
  if (size < 0) throw std::bad_alloc();  // the one error that is left for UTF-8 and these options
  to.append(reinterpret_cast<const char*>(made), size_t(size));
}

// The library orders the marks of a character in the square of their number.
void CheckMarks(size_t marks) {
  constexpr size_t kMost = 1024;  // a guess: no writing has more than a few
  if (marks > kMost)
    Fail(Code::kResourceExhausted, "tokenizer",
         "a character has too many marks; got {} or more, expected {} at most; try a text without them",
         marks, kMost);
}

// Bytes that are no UTF-8 stay.
std::string Normal(std::string_view text, int options) {
  std::string normal;
  size_t begin = 0, at = 0, marks = 0;
  const auto append_before = [&](size_t end) {
    if (end > begin) AppendNormal(normal, text.substr(begin, end - begin), options);
  };
  ForEachCharacter(text, [&, mark = CategoriesOf("M")](char32_t code, std::string_view bytes) {
    marks = (mark >> int(CategoryOf(code)) & 1) != 0 ? marks + 1 : 0;
    CheckMarks(marks);
    if (code == kNoCharacter) {
      append_before(at);
      normal += bytes;
      begin = at + bytes.size();
    }
    at += bytes.size();
  });
  append_before(at);
  return normal;
}

void AddForm(const NormalForm& form, JsonPart&, std::vector<TextChange>& changes) {
  changes.push_back([options = form.options](std::string_view text, const StretchContext&) {
    return Normal(text, options);
  });
}
#else
void AddForm(const NormalForm& form, JsonPart& part, std::vector<TextChange>&) {
  part.Refuse("this build has no normal forms of Unicode", form.name, "a build with METE_NORMAL_FORMS=ON");
}
#endif

}  // namespace

bool AddNormalForm(const std::string& type, JsonPart& part, std::vector<TextChange>& changes) {
  const auto form = std::find_if(std::begin(kForms), std::end(kForms),
                                 [&](const NormalForm& each) { return type == each.name; });
  if (form == std::end(kForms)) return false;
  AddForm(*form, part, changes);
  return true;
}

}  // namespace mete
