// Numbers as text, regular expressions, locales, errors and the rest of the library. A byte is read.
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <locale>
#include <map>
#include <memory_resource>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <system_error>
#include <variant>

int main() {
  using namespace std::placeholders;
  char byte;
  if (!(std::cin >> std::noskipws >> byte)) return 1;
  std::string text = "key=" + std::string(1, byte) + "2;";
  std::smatch match;
  if (std::regex_match(text, match, std::regex("([a-z]+)=([0-9]+);")))
    std::cout << match[1] << " is " << (std::stoi(match[2]) > 50 ? "large" : "small") << ' ' << match.length(2) << '\n';
  else if (std::isalpha(byte, std::locale::classic()))
    std::cout << "a letter " << (std::toupper(byte, std::locale()) == byte) << '\n';
  int value = 0;
  auto [end, error] = std::from_chars(text.data() + 4, text.data() + text.size(), value, 16);
  std::cout << (error == std::errc() ? value < 0 ? "less" : "more" : "none") << ' ' << (end - text.data()) << '\n';
  char digits[32];
  std::cout << std::string(digits, std::to_chars(digits, digits + 32, 0.1).ptr) << ' ' << std::to_string(2.5) << ' ' << std::stod("1e-3") << '\n';
  try {
    if (byte == 'q') std::stol("none");
    throw std::system_error(std::make_error_code(std::errc::permission_denied), "why");
  } catch (const std::system_error &error) {
    std::cout << error.what() << ' ' << (error.code() == std::errc::permission_denied) << '\n';
  } catch (const std::invalid_argument &) {
    std::cout << "no number\n";
  }
  auto less = std::bind(std::minus<int>(), _2, _1);
  std::mt19937 random(7);
  std::cout << less(3, 10) << ' ' << random() % 1000 << ' ' << std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::seconds(3)).count() << '\n';
  std::filesystem::path path = "a/../b.tar.gz";
  std::cout << path.lexically_normal() << ' ' << path.extension() << ' ' << std::filesystem::exists("nothing") << '\n';
  char room[512];
  std::pmr::monotonic_buffer_resource pool(room, sizeof room);
  std::pmr::map<int, std::pmr::string> names(&pool);
  names[byte == 7] = "a name that is longer than what fits inside";
  std::variant<int, std::string> either = names.begin()->first;
  if (byte < 0) either = "negative";
  std::cout << std::visit([](auto &v) { std::ostringstream out; out << v; return out.str(); }, either) << std::endl;
  return 0;
}
