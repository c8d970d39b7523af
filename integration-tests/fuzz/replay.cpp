// Runs targets without libFuzzer: the kept inputs, then mutations of them for some seconds. The
// same seed gives the same mutations. An input that breaks its target is kept in a file whose name
// is printed; give that file to run it alone.
//
//     esi_fuzz_replay TARGET SEEDS [--seconds 2] [--seed 1] [--keep FOLDER]
#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <cstring>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "target.h"

namespace {

using esi::fuzz::targets;
namespace files = std::filesystem;

constexpr std::size_t longest = 4096;

/// What is run now, for the handler of signals.
std::string now;
std::string running;
std::string keep_as;

void keep_input(int signal) {
    const auto say = [](std::string_view text) {
        return write(2, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    };
    const int file = open(keep_as.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file >= 0 && write(file, now.data(), now.size()) >= 0) {
        say(running) && say("input kept in ") && say(keep_as) && say("\n");
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// splitmix64 (Steele, Lea, Flood 2014).
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed) {}
    std::size_t upto(std::size_t n) { return next() % n; }

private:
    std::uint64_t next() {
        auto z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::uint64_t state_;
};

std::string read(const files::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The words of a libFuzzer dictionary: lines name="text", with \" \\ and \xHH.
std::vector<std::string> words_of(const files::path& file) {
    std::vector<std::string> out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto from = line.find('"');
        const auto to = line.rfind('"');
        if (line.starts_with('#') || from == std::string::npos || from == to) continue;
        std::string word;
        for (auto i = from + 1; i < to; ++i) {
            if (line[i] == '\\' && line[i + 1] == 'x') {
                word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
                i += 3;
            } else {
                if (line[i] == '\\') ++i;
                word += line[i];
            }
        }
        out.push_back(std::move(word));
    }
    return out;
}

struct mutator {
    const std::vector<std::string>& inputs;
    const std::vector<std::string>& words;
    random_numbers random;

    std::string one() {
        auto out = inputs[random.upto(inputs.size())];
        for (std::size_t n = 1 + random.upto(4); n > 0; --n) change(out);
        if (out.size() > longest) out.resize(longest);
        return out;
    }
    void change(std::string& text) {
        const auto at = random.upto(text.size() + 1);
        const auto length = 1 + random.upto(random.upto(8) == 0 ? 64 : 8);
        switch (random.upto(8)) {
            case 0:
                text.insert(at, 1, static_cast<char>(random.upto(256)));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                if (at < text.size()) text[at] = static_cast<char>(random.upto(256));
                break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << random.upto(8));
                break;
            case 4: {
                const auto piece = text.substr(random.upto(text.size() + 1), length);
                text.insert(at, piece);
                break;
            }
            case 5: {
                const auto& other = inputs[random.upto(inputs.size())];
                text.insert(at, other, random.upto(other.size() + 1), length * 4);
                break;
            }
            case 6:
                if (at < text.size()) text[at] = "0123456789-+.eE\"{}[]:,\n /%"[random.upto(26)];
                break;
            default:
                if (words.empty()) break;
                if (random.upto(2) == 0) text.erase(at, length);
                text.insert(at, words[random.upto(words.size())]);
                break;
        }
    }
};

int usage() {
    std::fprintf(stderr,
                 "usage: esi_fuzz_replay TARGET SEEDS [--seconds 2] [--seed 1] [--keep FOLDER]\n"
                 "SEEDS is a folder or a file; targets:");
    for (const auto& [name, unused] : targets()) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc % 2 == 0) return usage();
    const auto target = targets().find(argv[1]);
    const files::path seeds = argv[2];
    double duration = 2;
    std::uint64_t seed = 1;
    files::path keep = ".";
    for (int i = 3; i + 1 < argc; i += 2) {
        const std::string_view flag = argv[i];
        if (flag == "--seconds") {
            duration = std::strtod(argv[i + 1], nullptr);
        } else if (flag == "--seed") {
            seed = std::strtoull(argv[i + 1], nullptr, 10);
        } else if (flag == "--keep") {
            keep = argv[i + 1];
        } else {
            return usage();
        }
    }
    if (target == targets().end() || !files::exists(seeds)) return usage();

    std::vector<std::string> inputs;
    std::vector<files::path> paths;
    const bool folder = files::is_directory(seeds);
    if (folder) {
        for (const auto& entry : files::directory_iterator(seeds)) paths.push_back(entry.path());
        std::ranges::sort(paths);
    } else {
        paths.push_back(seeds);
    }
    for (const auto& path : paths) inputs.push_back(read(path));
    const auto words = words_of(seeds.parent_path() / (target->first + ".dict"));

    files::create_directories(keep);
    keep_as = (keep / (target->first + ".broken")).string();
    for (int each : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(each, keep_input);
    std::size_t runs = 0;
    const auto run = [&](std::string input) {
        now = std::move(input);
        target->second(now);
        ++runs;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        running = paths[i].string() + ": ";
        run(inputs[i]);
    }
    running = "a mutation: ";
    run("");
    inputs.emplace_back();
    mutator mutate{inputs, words, random_numbers(seed)};
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(duration);
    const auto begun = std::chrono::steady_clock::now();
    while (folder && std::chrono::steady_clock::now() < end) run(mutate.one());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("%s: %zu kept inputs, %zu runs in %.1f s\n", target->first.c_str(), paths.size(),
                runs, took.count());
    return 0;
}
