// Ways to set all members of a gang on a board, one after another: quick ones that take the best
// node for each member and never go back, and a search that does, up to a number of steps.
#pragma once

#include <optional>
#include <vector>

#include "placement/board.h"

namespace esi::placement::planning {

/// Which of the nodes that take a member it gets.
enum class choice {
    fewest_nodes,  ///< a node that has members already, the fullest; else one that takes most of
                   ///< them
    fullest,       ///< the one with the least left
    emptiest,      ///< one with the fewest members, and of these the one with most left
};

/// Which member is next.
enum class order {
    largest_first,
    choosiest_first,  ///< the class with the fewest suitable nodes first
};

struct pass {
    order members = order::largest_first;
    choice nodes = choice::fewest_nodes;
    board::anchor begin = {};
};

/// By member: the node, -1 where there was none.
struct outcome {
    std::vector<int> nodes;
    int fitting = 0;
};

/// After this much work (board::work) no more is set: members without a place get none.
constexpr std::int64_t most_work_of_a_plan = 200'000'000;

/// Sets as many members as it can, and leaves them on the board.
outcome run(board& on, const pass& how);
/// Takes them off again.
void clear(board& on, const outcome& what);
/// Sets the members that were taken off where they were.
void set_again(board& on, const outcome& what);

/// Places all members by going back and trying again. Nothing if there is no way, or none was found
/// in `steps` attempts to set a member (and a hundred times as many questions to nodes).
std::optional<outcome> search(board& on, int steps);

/// No order of members can help: one class alone finds too little room, or all together need more
/// of a resource than all nodes have. False says nothing.
bool cannot_fit(board& on);

}  // namespace esi::placement::planning
