#include "check.hpp"

// Runs every registered test, or those whose names contain the first argument; those whose names do
// not, if it begins with a minus. With a second one it stops where the first test fails.
int main(int argc, char** argv) {
  using namespace tfreel::check;
  const std::string argument = argc > 1 ? argv[1] : "";
  const bool others = argument.starts_with("-");
  const std::string named = argument.substr(others ? 1 : 0);
  int passed = 0;
  int failed = 0;
  for (const auto& test : tests()) {
    if ((test.name.find(named) == std::string::npos) != others) continue;
    const int before = failures();
    test.body();
    const bool good = failures() == before;
    ++(good ? passed : failed);
    if (!good) std::cerr << "FAILED " << test.name << "\n";
    if (!good && argc > 2) break;
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 && passed > 0 ? 0 : 1;
}
