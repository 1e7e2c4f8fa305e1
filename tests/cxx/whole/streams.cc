// Streams: reading and formatting, strings as streams, files, and what streams throw. A byte is read.
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

struct Point {
  int x, y;
};
std::ostream &operator<<(std::ostream &out, const Point &p) { return out << '(' << p.x << ", " << p.y << ')'; }
std::istream &operator>>(std::istream &in, Point &p) {
  char open, comma, close;
  if (in >> open >> p.x >> comma >> p.y >> close && (open != '(' || comma != ',' || close != ')')) in.setstate(std::ios::failbit);
  return in;
}

static int files(char byte) {
  {
    std::ofstream out("made", std::ios::binary);
    out << "first " << 12 << '\n' << byte << "second\n";
  }
  std::ifstream in("made");
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) lines++;
  in.clear();
  in.seekg(6);
  int number = 0;
  in >> number;
  std::remove("made");
  return number + lines;
}

int main() {
  std::ios::sync_with_stdio(false);
  char byte = 0;
  if (!std::cin.get(byte)) return 1;
  std::stringstream text;
  text << byte << "7 -12 0x1f 2.5e1 word";
  int first = 0, second = 0, third = 0;
  double fourth = 0;
  std::string word;
  text >> first >> second >> std::hex >> third >> fourth >> word;
  if (text.fail()) {
    std::cout << "no number: " << text.rdstate() << std::endl;
    return 2;
  }
  std::cout << std::setw(6) << std::setfill('*') << first % 100 << '|' << std::left << std::setw(5) << second << '|' << std::showbase << std::hex << third
            << std::dec << '|' << std::fixed << std::setprecision(3) << fourth << '|' << std::boolalpha << (word == "word") << '\n';
  Point p{};
  std::istringstream("( 3 , -4 )") >> p;
  std::cout << p << ' ' << std::quoted("a \"b\"") << ' ' << std::scientific << 1234.5 << ' ' << std::numeric_limits<long>::min() << '\n';
  std::cout << files(byte) << '\n';
  std::istringstream bad("x");
  bad.exceptions(std::ios::failbit);
  try {
    int n;
    bad >> n;
  } catch (const std::ios_base::failure &) {
    std::cout << "thrown" << std::endl;
  }
  std::cerr << "not on standard output\n";
  return first > 50 ? 3 : 0;
}
