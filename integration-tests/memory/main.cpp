// esi-memory-oracle FOLDER [WORD]: a line for each operator and kind, then what is wrong. Exit code
// 1 where anything is.
#include <fmt/format.h>

#include "base/log.h"
#include "oracle.h"

int main(int argc, char** argv) {
    using namespace esi;
    if (argc < 2 || argc > 3) {
        fmt::print(stderr,
                   "usage: esi-memory-oracle FOLDER (OpenAPI v3 documents) [WORD (in the "
                   "path of a kind's list)]\n");
        return 2;
    }
    const std::string only = argc > 2 ? argv[2] : "";
    log::send_to([](log::level, std::string_view) {});
    const memory::schemas kinds{argv[1]};
    bool well = true;
    for (const char* name : {"testbed", "batchjob", "scheduling"}) {
        for (const auto& each : memory::judge(name, kinds, only)) {
            const auto mib = [](std::int64_t bytes) {
                return static_cast<double>(bytes) / (1 << 20);
            };
            fmt::print(
                "{:10} {:60} {:4} places, {:3} read, most {:5.1f} MiB ({}), kept {:5.1f} MiB "
                "({})\n",
                each.operator_name, each.list, each.places, each.read, mib(each.most), each.most_at,
                mib(each.kept), each.kept_at);
            for (const auto& line : each.wrong) {
                fmt::print("WRONG {} {}{}\n", each.operator_name, each.list, line);
                well = false;
            }
            std::fflush(stdout);
        }
    }
    return well ? 0 : 1;
}
