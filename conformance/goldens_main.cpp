// Writes the golden digests: `write_goldens FILE`.
#include <fstream>
#include <iostream>

#include "goldens.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_goldens FILE\n";
    return 2;
  }
  const std::string text = trine::conformance::golden_file();
  std::ofstream file(argv[1], std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    std::cerr << "write_goldens: can't write " << argv[1] << "\n";
    return 1;
  }
  return 0;
}
