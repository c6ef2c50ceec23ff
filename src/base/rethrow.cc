#include "base/rethrow.h"

#include <new>
#include <stdexcept>

#include "base/error.h"

namespace mete {

void RethrowNaming(const std::string& where) {
  try {
    throw;
  } catch (const Error& e) {
    const std::string what = e.what();
    if (what.find("[" + where + "]") != std::string::npos) throw;
    throw Error(e.code(), "[" + where + "] " + what);
  } catch (const std::bad_alloc&) {
    Fail(Code::kResourceExhausted, where, "not enough memory");
  } catch (const std::length_error&) {  // thrown for a std::vector larger than the address space
    Fail(Code::kResourceExhausted, where, "not enough memory");
  }
}

}  // namespace mete
