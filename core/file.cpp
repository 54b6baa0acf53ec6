#include "file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tfreel {
namespace {

// Linux moves at most this much in one call, and some systems refuse more.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void wait_until_writable(int descriptor) noexcept {
  pollfd wanted{descriptor, POLLOUT, 0};
  ::poll(&wanted, 1, 100);  // whatever it says, the next write tells more
}

}  // namespace

OwnDescriptor::OwnDescriptor(int descriptor)
    : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  if (descriptor_ < 0) fail("fcntl");
}

// Not blocking, so that a FIFO cannot hold us up: reading by position fails on it soon enough.
OwnDescriptor::OwnDescriptor(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) fail("open");
}

OwnDescriptor::~OwnDescriptor() { ::close(descriptor_); }

FileState OwnDescriptor::state() const {
  struct stat found{};
  if (::fstat(descriptor_, &found) != 0) fail("fstat");
#if defined(__APPLE__)
  const timespec& written = found.st_mtimespec;
#else
  const timespec& written = found.st_mtim;
#endif
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {static_cast<std::uint64_t>(found.st_size), written.tv_sec * kSecond + written.tv_nsec};
}

std::size_t read_at(int descriptor, std::span<std::byte> out, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t want = std::min(out.size() - done, kLargestTransfer);
    const ssize_t got =
        ::pread(descriptor, out.subspan(done).data(), want, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("pread");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::size_t read_at(int descriptor, std::span<std::byte> first, std::span<std::byte> second,
                    std::uint64_t offset) {
  const std::array<iovec, 2> vectors{
      {{first.data(), first.size()}, {second.data(), second.size()}}};
  const ssize_t got = ::preadv(descriptor, vectors.data(), 2, static_cast<off_t>(offset));
  if (got < 0 && errno != EINTR) fail("preadv");
  // Almost always it was all, in one call.
  std::size_t done = got < 0 ? 0 : static_cast<std::size_t>(got);
  if (done < first.size()) done += read_at(descriptor, first.subspan(done), offset + done);
  if (done < first.size()) return done;
  return done + read_at(descriptor, second.subspan(done - first.size()), offset + done);
}

void write_all(int descriptor, std::initializer_list<std::span<const std::byte>> parts) {
  constexpr std::size_t kMostParts = 4;
  std::array<iovec, kMostParts> vectors{};
  std::size_t count = 0;
  for (const auto part : parts) {
    if (part.empty()) continue;
    vectors.at(count++) = {const_cast<std::byte*>(part.data()), part.size()};
  }
  std::size_t first = 0;
  while (first < count) {
    const ssize_t wrote =
        vectors[first].iov_len > kLargestTransfer
            ? ::write(descriptor, vectors[first].iov_base, kLargestTransfer)
            : ::writev(descriptor, &vectors[first], static_cast<int>(count - first));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      wait_until_writable(descriptor);
      continue;
    }
    if (wrote < 0) fail("writev");
    auto left = static_cast<std::size_t>(wrote);
    while (first < count && left >= vectors[first].iov_len) left -= vectors[first++].iov_len;
    if (first < count) {
      vectors[first].iov_base = static_cast<std::byte*>(vectors[first].iov_base) + left;
      vectors[first].iov_len -= left;
    }
  }
}

void begin_sync([[maybe_unused]] int descriptor) noexcept {
#if defined(__linux__)
  ::sync_file_range(descriptor, 0, 0,
                    SYNC_FILE_RANGE_WRITE);  // a hint: whether it fails is no matter
#endif
}

WholeFile::WholeFile(const std::string& path, bool follow_link, std::uint64_t largest) noexcept
    : descriptor_(::open(path.c_str(),
                         O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow_link ? 0 : O_NOFOLLOW))) {
  struct stat found{};
  if (descriptor_ >= 0 && ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode) &&
      static_cast<std::uint64_t>(found.st_size) <= largest) {
    size_ = static_cast<std::size_t>(found.st_size);
  } else if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

bool WholeFile::read(std::span<std::byte> out) noexcept {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::read(descriptor_, out.data() + done, std::min(out.size() - done, kLargestTransfer));
    if (got > 0) done += static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
  }
  std::byte more{};
  return ::read(descriptor_, &more, 1) == 0;
}

}  // namespace tfreel
