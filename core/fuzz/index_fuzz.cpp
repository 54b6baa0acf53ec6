// A file of a few records, and an index that the input makes up. Whatever it says, what is fetched
// is a record of the file with the promised checksum; else it is a fault or an exception.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "fetch.hpp"
#include "frame.hpp"

namespace {

using namespace tfreel;
using Bytes = std::span<const std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

struct File {
  std::vector<std::byte> content;
  std::vector<Entry> records;
  int descriptor;

  File() : descriptor(::memfd_create("records", 0)) {
    for (const std::size_t size : {0, 1, 30, 0, 500, 3}) {
      const std::vector<std::byte> payload(size, static_cast<std::byte>(size));
      std::vector<std::byte> frame(size + kFrameOverhead);
      write_frame(payload, frame);
      records.push_back({content.size(), size, 0, read_footer(frame)});
      content.insert(content.end(), frame.begin(), frame.end());
    }
    require(::write(descriptor, content.data(), content.size()) ==
            static_cast<ssize_t>(content.size()));
  }
};

struct Index {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint32_t> checksums;
};

// Each row is a true one of the file, with a number added to one of its columns.
Index index_of(const File& file, Bytes changes) {
  Index index;
  for (; changes.size() >= 4; changes = changes.subspan(4)) {
    const auto number = [&](std::size_t i) { return std::to_integer<std::uint64_t>(changes[i]); };
    const Entry& entry = file.records[number(0) % file.records.size()];
    const std::uint64_t by = number(2) | number(3) << 8;
    index.offsets.push_back(entry.offset + (number(1) == 1 ? by : 0));
    index.lengths.push_back(number(1) == 3 ? ~by : entry.length + (number(1) == 2 ? by : 0));
    index.checksums.push_back(entry.checksum + static_cast<std::uint32_t>(number(1) == 4 ? by : 0));
  }
  return index;
}

void check_block(const File& file, const Index& index, const std::vector<std::uint64_t>& picks,
                 const Block& block) {
  require(block.size() <= picks.size());
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto payload = block.payload(i);
    const auto known = std::ranges::find_if(file.records, [&](const Entry& entry) {
      return entry.offset == index.offsets[picks[i]] && entry.length == payload.size();
    });
    require(known != file.records.end());
    require(known->checksum == index.checksums[picks[i]] &&
            mask_crc(crc32c(payload)) == known->checksum);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const File file;
  static const auto pool = std::make_shared<BufferPool>();
  const Bytes input = std::as_bytes(std::span(data, size));
  if (input.empty()) return 0;
  const std::size_t count = std::min<std::size_t>(std::to_integer<std::size_t>(input[0]), size - 1);
  std::vector<std::uint64_t> picks;
  for (const std::byte pick : input.subspan(1, count)) {
    picks.push_back(std::to_integer<std::uint64_t>(pick));
  }
  const Index index = index_of(file, input.subspan(1 + count));
  try {
    const auto found =
        fetch(file.descriptor, {index.offsets, index.lengths, index.checksums}, picks, *pool);
    if (const auto* block = std::get_if<Block>(&found)) check_block(file, index, picks, *block);
  } catch (const std::out_of_range&) {
    require(std::ranges::any_of(picks, [&](auto pick) { return pick >= index.offsets.size(); }));
  } catch (const std::length_error&) {
    require(std::ranges::any_of(index.lengths, [](auto length) { return length >> 32 != 0; }));
  }
  return 0;
}
