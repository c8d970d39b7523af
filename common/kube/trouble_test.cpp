#include "kube/trouble.h"

#include <gtest/gtest.h>

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

trouble some(errc code, const resource_type& type = types::scheduling, std::string ns = {}) {
    return {"list", &type, std::move(ns), code, steady_time(5s)};
}

TEST(trouble, names_what_mends_it) {
    const struct {
        trouble what;
        const char* said;
    } table[] = {
        {some(errc::not_found),
         "list schedulings.esi.tu-berlin.de: HTTP 404: install ESI's kinds "
         "(kubectl apply -f crds/), or the chart"},
        {some(errc::forbidden, types::pod, "a"),
         "list pods in namespace a: HTTP 403: grant this operator the verb list on pods by a Role "
         "in namespace a"},
        {some(errc::server, types::node), "list nodes: HTTP 5xx"},
        {some(errc::transport, types::node), "list nodes: the API server does not answer"},
    };
    for (const auto& [what, said] : table) EXPECT_EQ(what.text(), said);
    EXPECT_TRUE(some(errc::not_found, types::lease, "nosuch")
                    .text()
                    .contains("kubectl create namespace nosuch"));
    EXPECT_TRUE(some(errc::not_found, types::flink_deployment).text().contains("what brings"));
    EXPECT_TRUE(some(errc::unauthorized).text().contains("valid token"));
}

TEST(trouble_memory, tells_changes_and_keeps_the_beginning) {
    trouble_memory memory;
    EXPECT_FALSE(memory.mended());
    EXPECT_TRUE(memory.failed(some(errc::forbidden)));
    auto later = some(errc::forbidden);
    later.since += 10s;
    EXPECT_FALSE(memory.failed(later));
    later.code = errc::not_found;
    EXPECT_TRUE(memory.failed(later));
    EXPECT_EQ(memory.present()->since, steady_time(5s));
    EXPECT_TRUE(memory.mended());
    EXPECT_FALSE(memory.present());
}

}  // namespace
}  // namespace esi::kube
