// Runs a fuzz target on the files that are named: its seeds, or what a fuzzer has found. Where
// there is no libFuzzer this stands in for it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::cerr << "cannot read " << argv[i] << "\n";
      return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // A copy with nothing behind it, so that the sanitizer sees whoever looks there.
    const auto alone = std::make_unique<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), alone.get());
    LLVMFuzzerTestOneInput(alone.get(), bytes.size());
  }
  std::cout << argc - 1 << " seeds passed\n";
  return argc > 1 ? 0 : 1;
}
