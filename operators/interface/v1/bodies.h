// Bodies of requests and answers that are not objects of ESI's kinds.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

namespace esi::interface::v1 {

/// POST .../schedulings/{name}:cancel
struct cancel_request {
    std::string job;
    std::string namespace_;
};
BOOST_DESCRIBE_STRUCT(cancel_request, (), (job, namespace_))

/// POST .../schedulings/{name}:suspend; the body may be left out.
struct suspend_request {
    std::string policy;
};
BOOST_DESCRIBE_STRUCT(suspend_request, (), (policy))

/// PUT .../testbeds/{name}/nodes: exactly one of the two.
struct nodes_request {
    std::optional<int> count;
    std::optional<std::vector<std::string>> nodes;
};
BOOST_DESCRIBE_STRUCT(nodes_request, (), (count, nodes))

/// Its answer: the nodes of the Testbed, in the order of their ids.
struct nodes_answer {
    std::vector<std::string> nodes;
    std::vector<std::string> changed;  ///< whose label was written
};
BOOST_DESCRIBE_STRUCT(nodes_answer, (), (nodes, changed))

}  // namespace esi::interface::v1
