// Build-time program: prints the kernel files as the compilers get them, from the variants.
//
//   trine_gpu_generate cuda   SOURCE OUTPUT "80,90a-real" reduce/naive …
//   trine_gpu_generate opencl SOURCE OUTPUT ""            reduce/naive …
//   trine_gpu_generate emulated SOURCE OUTPUT ""          gemm/batched_small …
//
// cuda: OUTPUT/reduce/naive.cu holds the prelude and the file once per specialization, in a
// namespace of its own, with the entries' names suffixed by the macros' values; naive.options the
// -gencode words for nvcc; naive.names the entries, one a line. All three are empty if no
// architecture is for it. opencl: OUTPUT/reduce/naive.cl holds prelude and file; its
// specializations are made at run time. emulated: OUTPUT/gemm/batched_small.cpp is cuda's text for
// a host compiler, with tests/emulated_gpu/ in the place of cuda/ and a list of the entries at its
// end. For files that both languages share. A kernel file is looked for in the language's folder,
// cuda/reduce/, then among what both languages share, backends/gpu/kernels/reduce/; so is a header
// beside the file that includes it, and one of another operation, "gemm/panel.h". Quoted includes
// are pasted, each file once per specialization (#pragma once or not). A file whose text is the
// same as before isn't touched.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "architecture.hpp"
#include "specialization.hpp"

namespace fs = std::filesystem;
using namespace trine::gpu;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "trine_gpu_generate: %s\n", what.c_str());
  std::exit(1);
}

struct Job {
  std::string language;
  fs::path source, output;
  std::string architectures;
  Backends backend = language == "opencl" ? kOpencl : kCuda;

  bool is_emulated() const { return language == "emulated"; }
  const char* name() const { return language.c_str(); }
  const char* extension() const {
    return is_emulated() ? ".cpp" : backend == kCuda ? ".cu" : ".cl";
  }
  fs::path own() const { return is_emulated() ? source / "tests/emulated_gpu" : source / language; }
  fs::path shared() const { return source / "backends/gpu/kernels"; }

  // A language's own text of a kernel file goes before the one that both share.
  fs::path kernel(const std::string& file) const {
    const fs::path here = own() / (file + extension());
    return fs::exists(here) ? here : shared() / (file + ".kernel.h");
  }
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("can't read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_if_changed(const fs::path& path, const std::string& text) {
  if (std::ifstream in(path, std::ios::binary); in) {
    if (std::string(std::istreambuf_iterator<char>(in), {}) == text) return;
  }
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) fail("can't write " + path.string());
}

// --- Pasting a file with its includes ---------------------------------------------------------

struct Pasted {
  std::string text;
  std::set<std::string> files;    // already in
  std::set<std::string> system;   // #include <…> lines
  std::set<std::string> defines;  // names that the text defines
};

/// Looks in the folder of the file that includes it, of one language or shared, and finds
/// "reduce/tile.h" from anywhere.
fs::path find_include(const Job& job, const fs::path& from, const std::string& name) {
  const fs::path operation = from.parent_path().filename();
  for (const fs::path& folder :
       {job.own() / operation, job.shared() / operation, job.own(), job.shared()}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  fail(from.string() + " includes \"" + name + "\", which is in no folder of " + job.name() +
       " or backends/gpu/kernels: /, /" + operation.string());
}

void paste(const Job& job, const fs::path& path, Pasted& into) {
  if (!into.files.insert(fs::weakly_canonical(path).string()).second) return;
  static const std::regex directive(R"(\s*#\s*(include|pragma|define)\b\s*(.*))");
  const std::string shown = fs::relative(path, job.source).generic_string();
  into.text += "#line 1 \"" + shown + "\"\n";
  std::istringstream text(read_file(path));
  int number = 0;
  for (std::string line; std::getline(text, line); into.text += line + '\n') {
    ++number;
    std::smatch parts;
    if (!std::regex_match(line, parts, directive)) continue;
    const std::string word = parts[1], rest = parts[2];
    if (word == "define") {
      into.defines.insert(rest.substr(0, rest.find_first_of(" \t(")));
    } else if (word == "pragma") {
      if (rest.starts_with("once")) line.clear();
    } else if (rest.starts_with('<')) {
      into.system.insert(rest.substr(0, rest.find('>') + 1));
      line.clear();
    } else {
      const std::size_t close = rest.find('"', 1);
      if (!rest.starts_with('"') || close == std::string::npos)
        fail(shown + ":" + std::to_string(number) + ": includes are \"file\" or <file>");
      paste(job, find_include(job, path, rest.substr(1, close - 1)), into);
      line = "#line " + std::to_string(number + 1) + " \"" + shown + "\"";
    }
  }
}

/// The variant whose kernel file this is.
const Variant& variant_of(const Job& job, const std::string& file) {
  for (int r = 0; const Variant* variant = variant_at(r); ++r) {
    if (file == variant->file && (variant->backends & job.backend)) return *variant;
  }
  fail(std::string(job.name()) + " has no variant of " + file +
       "; take it off backends/gpu/kernels.cmake");
}

// --- CUDA ---------------------------------------------------------------------------------------

std::string gencode_words(const Job& job, const Variant& variant) {
  std::string words;
  visit_architectures(job.architectures, variant.architectures,
                      [&](const Architecture& one, std::string_view word) {
                        const std::string name(word);
                        std::string code = one.code ? "sm_" + name : "";
                        if (one.ptx) code += (code.empty() ? "compute_" : ",compute_") + name;
                        words += "-gencode=arch=compute_" + name + ",code=[" + code + "]\n";
                      });
  return words;
}

// Each specialization's entry has a name of its own. (No macro: `#define shared …` would be seen by
// CUDA's own __shared__, which is one.)
void name_entry(std::string& text, const std::string& entry, const std::string& suffix,
                const std::string& file) {
  const std::regex head("(KERNEL\\w*\\(|__global__ void [^;{]*?\\b)" + entry + "(?=[,()])");
  if (!std::regex_search(text, head)) fail(file + " has no kernel called " + entry);
  text = std::regex_replace(text, head, "$1" + entry + suffix);
}

void print_cuda(const Job& job, const std::string& file) {
  const Variant& variant = variant_of(job, file);
  const std::string options = gencode_words(job, variant);
  if (options.empty() &&
      !job.is_emulated()) {  // nvcc makes an image without kernels of it, which nobody loads
    for (const char* extension : {".cu", ".options", ".names"})
      write_if_changed(job.output / (file + extension), "");
    return;
  }
  std::string body, names, list;
  std::set<std::string> system, suffixes;
  int macro[kMaxMacros];
  for (bool more = first_specialization(variant, macro); more;
       more = next_specialization(variant, macro)) {
    const auto suffix = suffix_of<std::string>(variant, macro);
    if (!suffixes.insert(suffix).second)
      fail(file + ".cu: different macros have the name " + suffix);
    std::string defines, undefines;
    visit_macros<std::string>(variant, macro,
                              [&](const std::string& name, const std::string& value) {
                                defines += "#define " + name + " " + value + "\n";
                                undefines += "#undef " + name + "\n";
                              });
    Pasted pasted;
    paste(job, job.kernel(file), pasted);
    system.merge(pasted.system);
    for (const std::string entry : variant.kernels()) {
      name_entry(pasted.text, entry, suffix, file);
      names += entry + suffix + "\n";
      list += "    {\"" + entry + suffix + "\", emulated::invoke<specialization" + suffix +
              "::" + entry + suffix + ">},\n";
    }
    body +=
        defines + "namespace specialization" + suffix + " {\n" + pasted.text + "}\n" + undefines;
    for (const auto& name : pasted.defines) body += "#undef " + name + "\n";
  }
  std::string text;
  for (const auto& header : system) text += "#include " + header + "\n";
  Pasted prelude;
  if (job.is_emulated()) {
    paste(job, job.own() / "prelude.hpp", prelude);
    for (const auto& header : prelude.system) text += "#include " + header + "\n";
    write_if_changed(job.output / (file + ".cpp"),
                     text + prelude.text + body + "static const bool kept = emulated::keep({\n" +
                         list + "});\n");
    return;
  }
  paste(job, job.own() / "prelude.cuh", prelude);
  write_if_changed(job.output / (file + ".cu"), text + prelude.text + body);
  write_if_changed(job.output / (file + ".options"), options);
  write_if_changed(job.output / (file + ".names"), names);
}

// --- OpenCL -------------------------------------------------------------------------------------

void print_opencl(const Job& job, const std::string& file) {
  variant_of(job, file);
  Pasted pasted;
  paste(job, job.own() / "prelude.cl", pasted);
  paste(job, job.kernel(file), pasted);
  // NVIDIA's compiler takes none, PoCL's does.
  if (pasted.text.find("__VA_ARGS__") != std::string::npos)
    fail(job.kernel(file).string() + ": OpenCL C has no macros of any number of arguments");
  write_if_changed(job.output / (file + ".cl"), pasted.text);
}

void check_ladders(const Job& job) {
  for (uint32_t operation : {TRINE_OPERATIONS(TRINE_VALUE)}) {
    const auto rungs = std::ranges::count_if(
        variants_of(operation), [&](const Variant& one) { return one.backends & job.backend; });
    if (rungs > kMaxRungs)
      fail(std::string("a ladder of ") + job.name() + " has " + std::to_string(rungs) +
           " rungs: raise kMaxRungs in backends/gpu/variant.hpp");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) fail("cuda|opencl|emulated SOURCE OUTPUT ARCHITECTURES FILE…");
  const Job job{words[1], words[2], words[3], words[4]};
  const std::vector<std::string> files(words + 5, words + count);
  check_ladders(job);
  for (int r = 0; const Variant* variant = variant_at(r); ++r) {
    if (!std::string(variant->file).ends_with(std::string("/") + variant->name)) {
      fail(std::string("variant ") + variant->name + " must have a file of its name, not " +
           variant->file);
    }
    if (!job.is_emulated() && (variant->backends & job.backend) &&
        std::ranges::find(files, variant->file) == files.end()) {
      fail(std::string("variant ") + variant->name + " wants " +
           job.kernel(variant->file).string() +
           ": write it and add a line to backends/gpu/kernels.cmake");
    }
  }
  for (const auto& file : files)
    job.backend == kCuda ? print_cuda(job, file) : print_opencl(job, file);
}
