// Rules of claims: a Testbed's places are formed all or none, on nodes that have the room and are
// no labelled Testbed's, given back only when one of them was not free for long, and a claim that
// fits does not wait for ever. That of a Scheduling is used when all its places have had their
// ghosts, and is gone when it is of no use. Looks at one change after the records have taken it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "check/context.h"

namespace esi::simulation::checks {

class claim_rules {
public:
    claim_rules(context& here, const storage& objects)
        : here_(here), all_(here.all), out_(here.out), objects_(objects) {}

    void testbed_changed(const testbed_record& before, const testbed_record& after);
    void pod_added(const pod_record& after);
    /// A pod was made or changed.
    void pod_changed(const pod_record& after);
    /// Every second or so.
    void time_passes();
    void at_end();
    /// A claim that gave back its places waits until it may have the nodes again that failed.
    bool under_way() const;

private:
    struct claim {
        /// When every place had its ghost for the last time, or when it was formed.
        steady_time whole{};
        std::optional<steady_time> given_back;
        int times = 0;
        std::string ns;
        /// Positions of the present layout that have had a bound ghost.
        std::set<int> filled;
    };

    void formed(const model::testbed& testbed);
    void is_as_its_plan_says(const model::testbed& testbed);
    bool was_whole(const model::testbed& testbed) const;
    void is_of_use(const model::testbed& testbed);
    void gave_back(const testbed_record& before, const model::testbed& after);
    bool is_whole(const model::testbed& testbed) const;
    /// No places, no hold, and nobody deletes it.
    bool is_without_places(const model::testbed& testbed) const;
    /// Some nodes may still be left out for a place that was given back, or it waits as one of its
    /// namespace did that is gone.
    bool leaves_nodes_out(const model::testbed& testbed) const;
    bool surely_fits(const model::testbed& testbed) const;
    bool has_its_class(const model::testbed& testbed) const;
    /// It gives slots to a Testbed with a label, or would: it is in the layout of one, or no other
    /// node has its number.
    bool of_labelled_testbed(const model::node& node) const;
    bool in_labelled_layout(const model::node& node) const;
    bool has_own_number(const model::node& node) const;
    /// A Testbed of the label that is not being deleted has a number there, and `holds` for it.
    template <class F>
    bool with_number(const model::node& node, const F& holds) const;
    /// allocatable less bound live pods that are known to the operator.
    model::amounts known_free(const std::string& node) const;
    model::amounts waiting_on(const std::string& node, const model::testbed& than) const;

    context& here_;
    records& all_;
    verdicts& out_;
    const storage& objects_;
    std::map<std::string, claim> claims_;  ///< by the Testbed's uid
};

}  // namespace esi::simulation::checks
