// libcurl's easy interface through dlopen(3), and pieces of URLs and dates.
// Contract: maco-effect/forge/http.h.
#include "maco-effect/forge/http.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>

#include "libcommon/base/text.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  CURLcode (*setopt)(CURL*, CURLoption, ...) = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  CURLcode (*getinfo)(CURL*, CURLINFO, ...) = nullptr;
  decltype(&curl_easy_strerror) error_text = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_all = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function& function) {
  // POSIX has it that a pointer from dlsym is one to a function.
  void* address = dlsym(library, name);
  static_assert(sizeof(address) == sizeof(function));
  std::memcpy(&function, &address, sizeof(address));
  return address != nullptr;
}

// Stays loaded until the process ends.
Result<const Curl*> LoadCurl() {
  static Curl curl;
  static bool loaded = false;
  if (loaded) {
    return &curl;
  }
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  const bool whole = library != nullptr && Load(library, "curl_global_init", curl.global_init) &&
                     Load(library, "curl_easy_init", curl.init) &&
                     Load(library, "curl_easy_setopt", curl.setopt) &&
                     Load(library, "curl_easy_perform", curl.perform) &&
                     Load(library, "curl_easy_getinfo", curl.getinfo) &&
                     Load(library, "curl_easy_strerror", curl.error_text) &&
                     Load(library, "curl_easy_cleanup", curl.cleanup) &&
                     Load(library, "curl_slist_append", curl.append) &&
                     Load(library, "curl_slist_free_all", curl.free_all);
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Fail(Code::kUnsupported, "libcurl cannot be loaded", "install the package libcurl4");
  }
  // Under CURLOPT_NOSIGNAL it is ours: TLS writes to a connection that the other side has closed.
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
    return FailOs(errno, "ignore SIGPIPE");
  }
  loaded = true;
  return &curl;
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

struct Reading {
  HttpResponse* response;
  std::size_t limit;
  bool too_long = false;
};

std::size_t TakeBody(char* data, std::size_t size, std::size_t count, void* user) {
  auto& reading = *static_cast<Reading*>(user);
  const std::size_t bytes = size * count;
  if (reading.response->body.size() + bytes > reading.limit) {
    reading.too_long = true;
    return 0;
  }
  reading.response->body.append(data, bytes);
  return bytes;
}

std::size_t TakeHeader(char* data, std::size_t size, std::size_t count, void* user) {
  constexpr std::size_t kMaxHeaders = 256;
  auto& reading = *static_cast<Reading*>(user);
  const std::string_view line(data, size * count);
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/")) {
    reading.response->headers.clear();  // of an interim response
  } else if (colon != std::string_view::npos && reading.response->headers.size() < kMaxHeaders) {
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    const std::size_t end = line.find_last_not_of(" \t\r\n");
    const bool empty = begin == std::string_view::npos || end < begin;
    reading.response->headers[Lower(std::string(line.substr(0, colon)))] =
        empty ? "" : std::string(line.substr(begin, end - begin + 1));
  }
  return line.size();
}

class HeaderList {
 public:
  explicit HeaderList(const Curl& curl) : curl_(curl) {}
  ~HeaderList() { curl_.free_all(list_); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  void Add(const std::string& line) {
    if (curl_slist* longer = curl_.append(list_, line.c_str()); longer != nullptr) {
      list_ = longer;
    }
  }
  curl_slist* get() const { return list_; }

 private:
  const Curl& curl_;
  curl_slist* list_ = nullptr;
};

void SetOptions(const Curl& curl, CURL* handle, const HttpRequest& request,
                const HttpLimits& limits) {
  curl.setopt(handle, CURLOPT_URL, request.url.c_str());
  curl.setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.setopt(handle, CURLOPT_FRESH_CONNECT, 1L);
  curl.setopt(handle, CURLOPT_FORBID_REUSE, 1L);
  curl.setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl.setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl.setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
  curl.setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.total.count()));
  if (OriginOf(request.url).starts_with("http://")) {
    curl.setopt(handle, CURLOPT_NOPROXY, "*");  // it would read the token
  }
  if (!limits.ca_file.empty()) {
    curl.setopt(handle, CURLOPT_CAINFO, limits.ca_file.c_str());
  }
  if (request.method == "POST") {
    curl.setopt(handle, CURLOPT_POST, 1L);
    curl.setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
    curl.setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
}

}  // namespace

Result<HttpResult> Exchange(const HttpRequest& request, const HttpLimits& limits) {
  if (!IsAllowedUrl(request.url)) {
    return Fail(Code::kInvalid, "'" + ShownUrl(request.url) + "' is no https URL",
                "http is for this host only");
  }
  const Curl* curl = nullptr;
  MACO_ASSIGN(curl, LoadCurl());
  const std::unique_ptr<CURL, decltype(curl->cleanup)> handle(curl->init(), curl->cleanup);
  if (!handle) {
    return Fail(Code::kLimit, "libcurl cannot make a handle: no memory");
  }
  HttpResult result;
  Reading reading{&result.response, limits.body_bytes};
  HeaderList headers(*curl);
  headers.Add("User-Agent: git-maco");
  headers.Add("Expect:");  // no interim response
  for (const auto& line : request.headers) {
    headers.Add(line);
  }
  std::array<char, CURL_ERROR_SIZE> words{};
  SetOptions(*curl, handle.get(), request, limits);
  curl->setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl->setopt(handle.get(), CURLOPT_ERRORBUFFER, words.data());
  curl->setopt(handle.get(), CURLOPT_WRITEFUNCTION, &TakeBody);
  curl->setopt(handle.get(), CURLOPT_WRITEDATA, static_cast<void*>(&reading));
  curl->setopt(handle.get(), CURLOPT_HEADERFUNCTION, &TakeHeader);
  curl->setopt(handle.get(), CURLOPT_HEADERDATA, static_cast<void*>(&reading));
  const CURLcode code = curl->perform(handle.get());
  long status = 0;
  long sent = 0;
  curl->getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  curl->getinfo(handle.get(), CURLINFO_REQUEST_SIZE, &sent);
  result.response.status = static_cast<unsigned>(status);
  result.whole = code == CURLE_OK && status != 0;
  if (!result.whole) {
    result.failure.sent = sent != 0;
    result.failure.reason = reading.too_long   ? "the answer is too long"
                            : words[0] != '\0' ? EscapeControl(words.data())
                                               : curl->error_text(code);
  }
  return result;
}

std::string OriginOf(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    return {};
  }
  return Lower(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

bool IsAllowedUrl(const std::string& url) {
  const std::string origin = OriginOf(url);
  if (origin.find('@') != std::string::npos || EscapeControl(url) != url ||
      url.find(' ') != std::string::npos) {
    return false;
  }
  if (origin.starts_with("https://")) {
    return origin.size() > std::strlen("https://");
  }
  for (const char* local : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    const std::string text(local);
    if (origin == text || (origin.starts_with(text) && origin[text.size()] == ':')) {
      return true;
    }
  }
  return false;
}

std::string Encoded(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

std::uint64_t HttpDate(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') {
    return 0;
  }
  const std::time_t seconds = timegm(&parts);
  constexpr std::uint64_t kMicros = 1'000'000;
  return seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds) * kMicros;
}

}  // namespace maco::effect
