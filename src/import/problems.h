// The problems of a model, collected so that one Error can list all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace mete {

class ImportProblems {
 public:
  explicit ImportProblems(std::string model) : model_(std::move(model)) {}

  template <class... A>
  void Bad(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Bad(Error(Code::kInvalidArgument, "[" + where + "] " + fmt::format(format, std::forward<A>(args)...)));
  }
  void Bad(const Error& error) {
    bad_model_ = true;
    Add(error.what());
  }
  // Adds a problem of the caller's request; the model itself is good.
  template <class... A>
  void BadRequest(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Add("[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
  }

  // Counts something that Mete lacks. `what` names it (for example "operator Loop"), and `who` is the node or
  // value that needs it; the message names the first one. The same `who` twice in a row counts once (for
  // example an If with two branches).
  void Unsupported(const std::string& what, const std::string& reason, const std::string& who);

  bool any() const { return !bad_.empty() || !unsupported_.empty(); }
  const std::string& model() const { return model_; }
  // Throws if there are problems: INVALID_ARGUMENT for a bad model, otherwise UNIMPLEMENTED if Mete lacks
  // something, otherwise FAILED_PRECONDITION, because only the request is wrong.
  void Throw() const;

 private:
  struct Count {
    int times = 0;
    std::string first, last;
  };
  void Add(std::string line);

  std::string model_;
  std::vector<std::string> bad_;  // the first problems, up to a limit; more_bad_ counts the others
  size_t more_bad_ = 0;
  bool bad_model_ = false;
  std::map<std::string, Count> unsupported_;
};

}  // namespace mete
