#include "serve/http/own_answers.h"

#include <new>

#include "serve/http/routes.h"

namespace mete::serve {

HttpAnswer TooManyBytes() {
  HttpAnswer answer =
      ErrorAnswer(503, "[server] too many bytes of requests and answers are under way; try again");
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

HttpAnswer Made(const std::function<HttpAnswer()>& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return TooManyBytes();
  } catch (const std::exception& error) {
    return ErrorAnswer(500, error.what());
  }
}

}  // namespace mete::serve
