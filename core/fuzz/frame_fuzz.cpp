// A stream of sound frames, forged headers, zeros and any bytes, as the input says. Whatever the
// pieces it comes in, the same records and faults are found, every record has its checksum, and
// records and faults together cover the stream.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "decoder.hpp"
#include "wire.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Input {
  Bytes rest;
  std::size_t number() {
    if (rest.empty()) return 0;
    const auto value = std::to_integer<std::size_t>(rest.front());
    rest = rest.subspan(1);
    return value;
  }
  Bytes bytes(std::size_t most) {
    const Bytes taken = rest.first(std::min(most, rest.size()));
    rest = rest.subspan(taken.size());
    return taken;
  }
};

void add(std::vector<std::byte>& stream, Bytes bytes) {
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

void add_header(std::vector<std::byte>& stream, std::uint64_t length) {
  std::byte header[kHeaderBytes];
  write_header(length, header);
  add(stream, header);
}

std::vector<std::byte> stream_of(Input& input) {
  std::vector<std::byte> stream;
  while (!input.rest.empty()) {
    const std::size_t what = input.number();
    const std::size_t size = input.number();
    if (what % 4 == 0) {
      const Bytes payload = input.bytes(size);
      std::vector<std::byte> frame(payload.size() + kFrameOverhead);
      write_frame(payload, frame);
      add(stream, frame);
    } else if (what % 4 == 1) {
      add(stream, input.bytes(size));
    } else if (what % 4 == 2) {
      add_header(stream, std::uint64_t{size} << (what / 4));
    } else {
      stream.resize(stream.size() + size);
    }
  }
  return stream;
}

// A record, or a fault: where it is in the stream, and what it is.
struct Found {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t record;
  std::uint32_t checksum;
  int kind;  // -1 of a record
  bool operator==(const Found&) const = default;
};

void take_records(Decoder& decoder, Bytes stream, std::vector<Found>& found) {
  const Block block = decoder.take_block();
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Entry& entry = block.entries()[i];
    const Bytes payload = block.payload(i);
    const auto end = entry.offset + entry.length + kFrameOverhead;
    require(end <= stream.size() && payload.size() == entry.length);
    require(std::ranges::equal(payload, stream.subspan(entry.offset + kHeaderBytes, entry.length)));
    require(mask_crc(crc32c(payload)) == entry.checksum);
    found.push_back({entry.offset, end, block.first_record() + i, entry.checksum, -1});
  }
}

std::vector<Found> decode(Bytes stream, DecoderOptions options, std::size_t piece) {
  Decoder decoder(options);
  std::vector<Found> found;
  std::size_t fed = 0;
  while (true) {
    const auto step = decoder.next();
    if (step == Decoder::Step::finished) break;
    if (step == Decoder::Step::records) take_records(decoder, stream, found);
    if (step == Decoder::Step::fault) {
      const Fault& fault = decoder.fault();
      require(fault.begin < fault.end || fault.begin == stream.size());
      found.push_back({fault.begin, fault.end, fault.record, 0, static_cast<int>(fault.kind)});
      if (!options.salvage) break;
    }
    if (step != Decoder::Step::starved) continue;
    const auto space = decoder.space();
    require(!space.empty() && space.size() <= 2 * (stream.size() + options.window_bytes + 64));
    const std::size_t size = std::min({space.size(), piece, stream.size() - fed});
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(fed), size, space.begin());
    decoder.filled(size);
    fed += size;
    if (size == 0) decoder.finish();
  }
  return found;
}

void check_cover(const std::vector<Found>& found, std::uint64_t size) {
  std::uint64_t at = 0;
  for (const Found& one : found) {
    require(one.begin == at && one.end <= size);
    at = one.end;
  }
  require(at == size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{std::as_bytes(std::span(data, size))};
  const std::size_t piece = input.number() + 1;
  DecoderOptions options;
  options.window_bytes = input.number();
  options.max_record_bytes = std::uint64_t{1} << input.number() % 64;
  const auto stream = stream_of(input);
  for (const bool salvage : {false, true}) {
    for (const std::uint64_t known : {std::uint64_t{stream.size()}, kUnknownSize}) {
      options.salvage = salvage;
      options.size = known;
      const auto found = decode(stream, options, piece);
      require(found == decode(stream, options, stream.size() + 1));
      if (salvage) check_cover(found, stream.size());
    }
  }
  return 0;
}
