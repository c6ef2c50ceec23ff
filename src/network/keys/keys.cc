#include "network/keys/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "network/keys/files.h"
#include "network/keys/pem.h"

namespace mete {
namespace {

// Characters. Both values are guesses: a shorter token can be found by trying, a longer text is another kind
// of file.
constexpr size_t kShortestToken = 16, kLongestToken = 1024;

// The paths of the files in a host's folder.
struct Paths {
  std::string ca, certificate, key;
};

void CheckTimes(const std::vector<SslCertificate>& certificates, const std::string& file,
                const char* way_out) {
  const std::time_t now = std::time(nullptr);
  for (const SslCertificate& c : certificates) {
    const std::string problem = ProblemOfTime(c.get(), now);
    if (!problem.empty()) Invalid(file, "{}{}", problem, way_out);
  }
}

void CheckTogether(const KeyFiles& files, const Paths& paths) {
  const std::vector<SslCertificate> authorities = ParseCertificates(files.ca, paths.ca);
  std::vector<SslCertificate> chain = ParseCertificates(files.certificate, paths.certificate);
  const SslKey key = ParseKey(files.key, paths.key);
  if (EVP_PKEY_eq(X509_get0_pubkey(chain[0].get()), key.get()) != 1)
    Invalid(paths.key, "not the key of the certificate '{}'; try copying the host's whole folder again",
            paths.certificate);
  CheckTimes(authorities, paths.ca, "; try 'mete keys make' with a new folder, and its keys on all hosts");
  CheckTimes(chain, paths.certificate, "; try 'mete keys make FOLDER NAME --renew' where ca-key.pem is");
  const SslCertificate own = std::move(chain[0]);
  chain.erase(chain.begin());
  const std::string problem = ProblemOfSignature(own.get(), chain, authorities);
  if (!problem.empty()) Invalid(paths.certificate, "not signed by the authority '{}': {}", paths.ca, problem);
}

using Sha256 = std::array<unsigned char, EVP_MAX_MD_SIZE>;

Sha256 DigestOfText(std::string_view text) {
  Sha256 digest{};
  CheckSsl(EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1,
           "a digest");
  return digest;
}

}  // namespace

KeyFiles ReadKeys(const std::string& folder) {
  const std::filesystem::path place(folder);
  const Paths paths{(place / kAuthorityFile).string(), (place / kCertificateFile).string(),
                    (place / kKeyFile).string()};
  const auto read = [](const std::string& path) { return ReadSmallFile(path, kLargestPem); };
  KeyFiles files{read(paths.ca), read(paths.certificate), read(paths.key)};
  CheckTogether(files, paths);
  if (std::string note = NoteOfReaders(paths.key); !note.empty()) files.notes.push_back(std::move(note));
  return files;
}

std::string ReadToken(const std::string& path) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored))
    Fail(Code::kNotFound, path, "cannot open the file: there is no token; try mete keys token {}", path);
  std::string token = ReadSmallFile(path, kLongestToken + 2);  // 2 more for a line break
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  if (token.size() < kShortestToken || token.size() > kLongestToken)
    Invalid(path, "not a token; got {} characters, expected {} to {}; try 'mete keys token'", token.size(),
            kShortestToken, kLongestToken);
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; }))
    Invalid(path,
            "not a token; expected one line of printable characters without spaces; try 'mete keys token'");
  return token;
}

std::string NoteOfReaders(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0 || (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0) return "";
  return fmt::format("[{}] others than its owner may read or write this secret; try 'chmod 600'", path);
}

bool SameToken(std::string_view a, std::string_view b) {
  // digests have one length, so the time does not show the lengths of the tokens either
  const Sha256 first = DigestOfText(a), second = DigestOfText(b);
  return CRYPTO_memcmp(first.data(), second.data(), first.size()) == 0;
}

}  // namespace mete
