// A libFuzzer target that reads any bytes, or those up to the last '}', as a tokenizer's file, of either
// form, and encodes them as a text with it, and what is behind the '}', which need not be JSON nor UTF-8.
#include "base/error.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mete::Tokenizer;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t brace = all.rfind('}');
  const std::string_view file = all.starts_with('{') && brace != all.npos ? all.substr(0, brace + 1) : all;
  try {
    const auto tokenizer = Tokenizer::Parse(std::as_bytes(std::span(file.data(), file.size())), "fuzz");
    for (const std::string_view text : {all, all.substr(file.size())})
      for (const auto place : {Tokenizer::Place::kFirst, Tokenizer::Place::kLater})
        (void)tokenizer->Decode(tokenizer->Encode(text, place));
  } catch (const mete::Error&) {}
  return 0;
}
