// Answers that a connection gives by itself.
#pragma once

#include <functional>

#include "serve/http/message.h"

namespace mete::serve {

// 503: what is under way leaves no memory for a request or its answer.
HttpAnswer TooManyBytes();

// Returns what `make` returns, or says that it has failed.
HttpAnswer Made(const std::function<HttpAnswer()>& make);

}  // namespace mete::serve
