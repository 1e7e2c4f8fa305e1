// What the headers of the C++ library only declare, since the library has it: clang copies some of it for the optimiser. A byte is read.
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <string>

static std::string greeting = "a string that is longer than what fits inside";

int main() {
  unsigned char byte = 0;
  if (read(0, &byte, 1) != 1) return 1;
  try {
    if (byte > 250) throw std::range_error("above");
    if (byte == 7) return std::optional<int>().value();
  } catch (const std::bad_optional_access &error) {
    return error.what()[0] + 1;
  } catch (const std::range_error &error) {
    return error.what()[0];
  }
  std::string text = "<" + std::to_string(byte % 12) + ">";
  text.insert(1, greeting, 2, 6);
  return text.size() + text[3];
}
