// Answers over HTTP: of errors, of what became of a request, and of a connection that has none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mete/error.h"
#include "serve/http/message.h"
#include "serve/server/server.h"

namespace mete::serve {

// With Retry-After where another try may succeed: `retry_after_s` is above 0, or the status is 503.
HttpAnswer JsonAnswer(std::string body, int status = 200, double retry_after_s = 0);

// 400, 404, ... RESOURCE_EXHAUSTED is 413, a bound of the request; a full queue, which says when another try
// may succeed, is 429 instead.
int StatusOf(Code code);
HttpAnswer ErrorAnswer(int status, const std::string& error, double retry_after_s = 0);
HttpAnswer ErrorAnswer(const Error& error);

// With how long a request that came now would wait, so that callers can choose.
void AddWait(HttpAnswer& answer, double wait_us);
HttpAnswer AnswerOf(const Outcome& outcome, double wait_us);

// 503: the bytes of the requests and answers that are under way would be more than `most`.
HttpAnswer TooManyBytes(int64_t most);
// 503: the system has no memory for a request or its answer.
HttpAnswer NoMemory();

// Returns what `make` returns, or says that it has failed.
HttpAnswer Made(const std::function<HttpAnswer()>& make);

}  // namespace mete::serve
