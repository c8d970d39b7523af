// PUT .../testbeds/{name}/nodes: labels nodes for a Testbed. Only with --api-nodes, as the operator
// needs the right to patch nodes for it.
#pragma once

#include "grid/node_choice.h"
#include "interface/v1/bodies.h"
#include "interface/v1/sources.h"
#include "interface/v1/validation.h"

namespace esi::interface::v1 {

class nodes {
public:
    nodes(const sources& from, limits bounds) : from_(from), bounds_(bounds) {}
    nodes(const nodes&) = delete;
    nodes& operator=(const nodes&) = delete;

    asio::awaitable<answer> set_nodes(http::server_request from);

private:
    template <class T>
    using outcome = std::expected<T, http::problem_details>;

    asio::awaitable<outcome<nodes_answer>> set(std::shared_ptr<const model::testbed> testbed,
                                               nodes_request wanted);
    /// All nodes of the cluster as they are now, and what is left of each.
    asio::awaitable<result<std::vector<grid::node_candidate>>> candidates(
        std::shared_ptr<const model::testbed> testbed);
    asio::awaitable<result<void>> take_pods(
        std::shared_ptr<const model::testbed> testbed,
        std::map<std::string, grid::node_candidate*, std::less<>>& by_name);

    const sources& from_;
    limits bounds_;
};

}  // namespace esi::interface::v1
