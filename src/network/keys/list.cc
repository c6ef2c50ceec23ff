#include "network/keys/list.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "network/keys/files.h"
#include "network/keys/keys.h"
#include "network/keys/pem.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 10000;  // guess: ten times the devices of the largest plan

std::string FormatUtc(std::time_t time, const char* format) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64] = "";
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

void Describe(X509* c, CertificateFacts& facts) {
  facts.addresses = AddressesOf(c);
  facts.name = CommonNameOf(c);
  if (facts.name.empty() && !facts.addresses.empty()) facts.name = facts.addresses[0];
  std::erase(facts.addresses, facts.name);
  facts.valid_from = TimeOf(X509_get0_notBefore(c));
  facts.valid_until = TimeOf(X509_get0_notAfter(c));
  facts.sha256 = FingerprintOf(c);
  facts.is_authority = X509_check_ca(c) == 1;
}

// `authorities` is empty for the authority's own certificate.
CertificateFacts FactsOf(const fs::path& file, const std::vector<SslCertificate>& authorities) try {
  CertificateFacts facts{.file = file.string()};
  std::vector<SslCertificate> chain = ParseCertificates(ReadSmallFile(facts.file, kLargestPem), facts.file);
  const SslCertificate own = std::move(chain[0]);
  chain.erase(chain.begin());
  Describe(own.get(), facts);
  std::vector<SslCertificate> itself;
  if (authorities.empty()) itself.emplace_back(X509_dup(own.get()));
  const std::string unsigned_why =
      ProblemOfSignature(own.get(), chain, authorities.empty() ? itself : authorities);
  facts.is_signed = unsigned_why.empty();
  facts.problem = ProblemOfTime(own.get(), std::time(nullptr));
  if (!facts.is_signed) facts.problem = "not signed by ca.pem: " + unsigned_why;
  return facts;
} catch (const Error& e) {
  return {.file = file.string(), .problem = e.what()};
}

// Returns the certificate file of the folder itself, or those of the hosts' folders in it.
std::vector<fs::path> HostFiles(const fs::path& folder) {
  if (fs::exists(folder / kCertificateFile)) return {folder / kCertificateFile};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / kCertificateFile;
    const bool is_ours =
        entry.path().filename().string()[0] != '.' && entry.is_directory() && fs::exists(file);
    if (is_ours && files.size() < kMostListed) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<CertificateFacts> ListAll(const std::string& folder) {
  if (!fs::is_directory(folder)) Fail(Code::kNotFound, folder, "no such folder; try 'mete keys make'");
  const fs::path file = fs::path(folder) / kAuthorityFile;
  if (!fs::exists(file))
    Fail(Code::kNotFound, file.string(),
         "no authority's certificate here; expected a folder of 'mete keys make', or a host's; try mete keys "
         "make");
  std::vector<CertificateFacts> all{FactsOf(file, {})};
  const std::vector<SslCertificate> authorities =
      ParseCertificates(ReadSmallFile(file.string(), kLargestPem), file.string());
  for (const fs::path& host : HostFiles(folder)) all.push_back(FactsOf(host, authorities));
  return all;
}

}  // namespace

std::vector<CertificateFacts> ListCertificates(const std::string& folder) {
  return Guarded(folder, [&] { return ListAll(folder); });
}

std::string FormatDate(std::time_t time) { return FormatUtc(time, "%Y-%m-%d"); }
std::string FormatTimestamp(std::time_t time) { return FormatUtc(time, "%Y-%m-%dT%H:%M:%SZ"); }
int DaysUntil(std::time_t time) {
  return int(std::floor(std::difftime(time, std::time(nullptr)) / (24 * 60 * 60)));
}

}  // namespace mete
