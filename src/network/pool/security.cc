#include "network/pool/security.h"

#include "network/keys/keys.h"

namespace mete {

Security ReadSecurity(const std::string& keys_folder, const std::string& token_file,
                      const std::function<void(const std::string&)>& note) {
  const auto tell = [&](const std::string& text) {
    if (note && !text.empty()) note(text);
  };
  Security security;
  if (!keys_folder.empty()) {
    const KeyFiles keys = ReadKeys(keys_folder);
    for (const std::string& text : keys.notes) tell(text);
    security = {keys.ca, keys.certificate, keys.key, ""};
  }
  if (!token_file.empty()) {
    security.token = ReadToken(token_file);
    tell(NoteOfReaders(token_file));
  }
  return security;
}

}  // namespace mete
