#include "placement/board.h"

#include <algorithm>
#include <limits>

namespace esi::placement::planning {

board::board(std::span<const member_class> classes, const cluster_room& room, const facts& known,
             const fit_options& options, ground_of_plan ground)
    : classes_(classes),
      room_(room),
      known_(known),
      options_(options),
      ground_(ground),
      width_(std::max<std::size_t>(index(room.resources().count()), 1)) {
    nodes_.reserve(room.nodes().size());
    for (const auto& [name, entry] : room.nodes()) {
        if (entry.node) nodes_.push_back(&entry);
    }
    left_.assign(nodes_.size() * width_, 0);
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        const auto& from = ground == ground_of_plan::free ? nodes_[at]->free : nodes_[at]->emptied;
        std::ranges::copy(from, left_.begin() + static_cast<std::ptrdiff_t>(at * width_));
    }
    placed_.assign(nodes_.size(), 0);
    suits_.resize(classes.size());
    near_.resize(classes.size());
    for (const auto& each : classes) has_ports_ = has_ports_ || !each.ports.empty();
    read_near_rules();
    for (const auto& each : near_) {
        plain_ = plain_ && each.empty();
        order_matters_ = order_matters_ || !each.affinity.near.empty() || !each.spread.empty();
    }
    plain_ = plain_ && !has_ports_ && repel_all_.empty();
    near_cost_.assign(classes.size(), 0);
    for (std::size_t c = 0; c < near_.size(); ++c) {
        const auto& each = near_[c];
        const auto terms = each.affinity.near.size() + each.anti_affinity.size();
        near_cost_[c] = static_cast<std::int64_t>(terms + each.spread.size() +
                                                  each.repelled.size() + repel_all_.size());
        if (!plain_) move_cost_ += static_cast<std::int64_t>(1 + terms + each.spread.size());
    }
}

// --- what members and pods say of each other ---

int board::topology_of(const std::string& key) {
    const auto number = static_cast<int>(topologies_.size());
    const auto [known, added] = topology_numbers_.try_emplace(key, number);
    if (!added) return known->second;
    work_ += nodes();
    topology out{key, std::vector<int>(nodes_.size(), -1), 0};
    std::map<std::string_view, int> domains;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        const auto& labels = nodes_[at]->node->metadata.labels;
        const auto label = labels.find(key);
        if (label == labels.end()) continue;
        out.domain_of[at] = domains.try_emplace(label->second, out.domains).first->second;
        out.domains = static_cast<int>(domains.size());
    }
    topologies_.push_back(std::move(out));
    return number;
}

board::counter board::make_counter(int of) const {
    return {of, std::vector<int>(index(topologies_[index(of)].domains), 0)};
}

void board::count(counter& into, int node, int sign) {
    const int domain = topologies_[index(into.of)].domain_of[index(node)];
    if (domain >= 0) into.by_domain[index(domain)] += sign;
}

int board::count_at(const counter& in, int node) const {
    const int domain = topologies_[index(in.of)].domain_of[index(node)];
    return domain < 0 ? 0 : in.by_domain[index(domain)];
}

void board::count(company& into, int node, int sign) {
    for (auto& each : into.near) {
        if (topologies_[index(each.of)].domain_of[index(node)] >= 0) into.pods += sign;
        count(each, node, sign);
    }
}

board::counter& board::repelled_counter(int of, int topology) {
    auto& state = near_[index(of)];
    const auto [known, added] = state.repelled_at.try_emplace(topology, state.repelled.size());
    if (added) state.repelled.push_back(make_counter(topology));
    return state.repelled[known->second];
}

void board::read_near_rules() {
    const auto means = [&](const pod_term& term, const member_class& pod) {
        return term.means(pod.namespace_, pod.labels, known_.namespaces);
    };
    bool any = !room_.repelling().empty();
    for (const auto& each : classes_)
        work_ += nodes() + weight_of(each.near) * std::ssize(classes_);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        const auto& rules = classes_[c].near;
        auto& state = near_[c];
        any = any || !rules.empty();
        for (const auto& term : rules.affinity) {
            state.affinity.near.push_back(make_counter(term.topology_key));
            state.promised.near.push_back(state.affinity.near.back());
        }
        for (const auto& term : rules.anti_affinity) {
            state.anti_affinity.push_back(make_counter(term.topology_key));
            auto& row = state.anti_means.emplace_back();
            for (const auto& other : classes_) row.push_back(means(term, other) ? 1 : 0);
        }
        if (!rules.affinity.empty()) {
            for (const auto& other : classes_) {
                const bool all = std::ranges::all_of(
                    rules.affinity, [&](const auto& term) { return means(term, other); });
                state.attracted_by.push_back(all ? 1 : 0);
            }
            state.means_itself = state.attracted_by[c] != 0;
        }
        if (!rules.spread.empty()) make_spread(static_cast<int>(c));
    }
    if (!any) return;
    // So that a member that is set finds the counter that it has to raise.
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        const auto& terms = classes_[c].near.anti_affinity;
        for (std::size_t k = 0; k < terms.size(); ++k) {
            for (std::size_t d = 0; d < classes_.size(); ++d) {
                if (near_[c].anti_means[k][d] != 0) {
                    repelled_counter(static_cast<int>(d), near_[c].anti_affinity[k].of);
                }
            }
        }
    }
    count_repelling();
    count_pods();
}

void board::make_spread(int of) {
    const auto& me = classes_[index(of)];
    const auto& constraints = me.near.spread;
    auto& state = near_[index(of)];
    for (const auto& constraint : constraints) {
        auto& out = state.spread.emplace_back();
        out.pods = make_counter(constraint.topology_key);
        auto& row = state.spread_means.emplace_back();
        for (const auto& other : classes_) {
            row.push_back(
                other.namespace_ == me.namespace_ && constraint.pods.matches(other.labels) ? 1 : 0);
        }
        out.counts_itself = row[index(of)] != 0;
        out.included.assign(nodes_.size(), 0);
        out.is_domain.assign(out.pods.by_domain.size(), 0);
        for (int at = 0; at < nodes(); ++at) {
            const auto& there = node(at);
            const bool has_all = std::ranges::all_of(constraints, [&](const auto& each) {
                return there.metadata.labels.contains(each.topology_key);
            });
            if (!has_all) continue;
            if (constraint.honors_affinity &&
                (me.rules.unmet_selector(there) || !me.rules.affinity_holds(there))) {
                continue;
            }
            if (constraint.honors_taints && me.rules.untolerated_taint(there)) continue;
            out.included[index(at)] = 1;
            auto& domain =
                out.is_domain[index(topologies_[index(out.pods.of)].domain_of[index(at)])];
            if (domain == 0) ++out.domains;
            domain = 1;
        }
    }
}

void board::count_for_all(const std::string& key, std::span<const std::pair<int, int>> there) {
    const int topology = topology_of(key);
    auto& into = repel_all_.try_emplace(topology, make_counter(topology)).first->second;
    for (const auto& [node, pods] : there) count(into, node, pods);
}

void board::count_repelling() {
    if (room_.repelling().empty() || nodes_.empty()) return;
    std::map<std::string_view, int> numbers;
    for (int at = 0; at < nodes(); ++at) numbers.emplace(node(at).metadata.name, at);
    std::set<std::string_view> namespaces;
    for (const auto& each : classes_) namespaces.insert(each.namespace_);
    const auto on_nodes = [&](const std::string& key) { return room_.node_labels().contains(key); };
    std::int64_t compared = 0;
    for (const auto& [key, pods] : room_.repelling()) {
        std::vector<std::pair<int, int>> there;
        for (const auto& [name, number] : pods.on) {
            const auto found = numbers.find(name);
            const int count = ground_ == ground_of_plan::free ? number.all : number.staying;
            if (found != numbers.end() && count > 0) there.emplace_back(found->second, count);
        }
        work_ += std::ssize(pods.on);
        if (there.empty()) continue;
        for (const auto& label : room_.node_labels()) {
            if (pods.terms.for_all.empty()) break;
            if (pods.terms.for_all.contains(label.first)) count_for_all(label.first, there);
        }
        for (const auto& term : pods.terms.exact) {
            ++work_;
            // No node has this topology key: the term repels no member.
            if (!on_nodes(term.topology_key)) continue;
            const bool may_mean = std::ranges::any_of(namespaces, [&](std::string_view name) {
                return term.means_namespace(name, known_.namespaces);
            });
            if (!may_mean) continue;
            const auto cost = (weight_of(term.pods) + std::ssize(there)) * std::ssize(classes_);
            if (compared + cost > most_comparisons) {
                // Too many terms to match against each member: this one repels all members.
                count_for_all(term.topology_key, there);
                continue;
            }
            compared += cost;
            for (std::size_t c = 0; c < classes_.size(); ++c) {
                const auto& me = classes_[c];
                if (!term.means_namespace(me.namespace_, known_.namespaces)) continue;
                if (me.labels_known && !term.pods.matches(me.labels)) continue;
                auto& counter =
                    repelled_counter(static_cast<int>(c), topology_of(term.topology_key));
                for (const auto& [node, count_there] : there) count(counter, node, count_there);
            }
        }
    }
    work_ += compared;
}

void board::count_pod(const model::pod& pod, int node, bool bound, bool repels) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        const auto& me = classes_[c];
        auto& state = near_[c];
        const auto means = [&](const pod_term& term) {
            return term.means(pod.metadata.namespace_, pod.metadata.labels, known_.namespaces);
        };
        if (!me.near.affinity.empty() && std::ranges::all_of(me.near.affinity, means)) {
            count(bound ? state.affinity : state.promised, node, 1);
        }
        if (!repels) continue;
        for (std::size_t k = 0; k < me.near.anti_affinity.size(); ++k) {
            if (means(me.near.anti_affinity[k])) count(state.anti_affinity[k], node, 1);
        }
        // A pod on its way out does not count.
        if (pod.metadata.namespace_ != me.namespace_ || pod.metadata.deleting()) continue;
        for (std::size_t k = 0; k < me.near.spread.size(); ++k) {
            auto& spread = state.spread[k];
            if (spread.included[index(node)] == 0) continue;
            if (me.near.spread[k].pods.matches(pod.metadata.labels)) count(spread.pods, node, 1);
        }
    }
}

void board::count_pods() {
    const bool asked =
        std::ranges::any_of(classes_, [](const member_class& each) { return !each.near.empty(); });
    if (!asked) return;
    std::map<std::string_view, int> numbers;
    for (int at = 0; at < nodes(); ++at) numbers.emplace(node(at).metadata.name, at);
    std::set<std::string_view> counted;
    for (const auto& [name, pods] : known_.pods) {
        for (const auto& pod : pods) {
            if (!pod->live() || !pod->bound()) continue;
            const auto there = numbers.find(pod->node_name);
            if (there == numbers.end()) continue;
            counted.insert(pod->metadata.uid);
            count_pod(*pod, there->second, true,
                      ground_ == ground_of_plan::free || room_.stays_for_good(*pod));
        }
    }
    if (ground_ == ground_of_plan::emptied) return;
    for (const auto& [uid, promise] : room_.promises()) {
        const auto there = numbers.find(promise.node);
        if (there == numbers.end() || counted.contains(uid)) continue;
        count_pod(*promise.pod, there->second, false, true);
    }
}

void board::move(int of, int node, int sign) {
    const auto& me = classes_[index(of)];
    auto* left = &left_[index(node) * width_];
    work_ += move_cost_;
    for (const auto& [resource, amount] : me.requests) left[resource] -= sign * amount;
    placed_[index(node)] += sign;
    if (plain_) return;
    if (!me.ports.empty()) {
        auto& there = with_ports_[node];
        if (sign > 0) {
            there.push_back(of);
        } else {
            there.erase(std::ranges::find(there, of));
        }
    }
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        auto& state = near_[c];
        if (!state.affinity.near.empty() && state.attracted_by[index(of)] != 0) {
            count(state.affinity, node, sign);
        }
        for (std::size_t k = 0; k < state.anti_affinity.size(); ++k) {
            if (state.anti_means[k][index(of)] != 0) count(state.anti_affinity[k], node, sign);
        }
        for (std::size_t k = 0; k < state.spread.size(); ++k) {
            auto& spread = state.spread[k];
            if (state.spread_means[k][index(of)] == 0 || spread.included[index(node)] == 0)
                continue;
            count(spread.pods, node, sign);
            spread.least = -1;
        }
    }
    const auto& mine = near_[index(of)];
    for (std::size_t k = 0; k < mine.anti_means.size(); ++k) {
        for (std::size_t d = 0; d < classes_.size(); ++d) {
            if (mine.anti_means[k][d] == 0) continue;
            count(repelled_counter(static_cast<int>(d), mine.anti_affinity[k].of), node, sign);
        }
    }
}

// --- what a node says ---

bool board::has_room(int of, int node) const {
    const auto& me = classes_[index(of)];
    const auto* left = &left_[index(node) * width_];
    return me.unknown_resource.empty() && std::ranges::all_of(me.requests, [&](const auto& each) {
               return left[each.first] >= each.second;
           });
}

std::vector<int> board::missing_on(int of, int node) const {
    std::vector<int> out;
    for (const auto& [resource, amount] : classes_[index(of)].requests) {
        if (left(node, resource) < amount) out.push_back(resource);
    }
    return out;
}

refusal board::static_refusal(int of, int at) const {
    const auto& me = classes_[index(of)];
    const auto& there = node(at);
    if (options_.without.contains(there.metadata.name)) return refusal::left_out;
    // Refused even if the member tolerates both taints: its plan would be given up (node_stands).
    if (there.unschedulable) return refusal::unschedulable;
    if (me.rules.untolerated_taint(there)) return refusal::taint;
    if (!there.ready) return refusal::not_ready;
    if (me.rules.unmet_selector(there) || !me.rules.affinity_holds(there)) {
        return refusal::node_affinity;
    }
    const auto& ledger = *nodes_[index(at)];
    const auto& taken = ground_ == ground_of_plan::free ? ledger.taken.ports : ledger.stays.ports;
    for (const auto& [port, count] : taken) {
        if (ports_clash(me.ports, {&port, 1})) return refusal::ports;
    }
    for (const auto& volume : me.volumes) {
        if (!volume.terms_hold(there)) return refusal::volume_affinity;
        if (!volume.zones_hold(there)) return refusal::volume_zone;
    }
    return refusal::none;
}

bool board::suits(int of, int node) {
    auto& known = suits_[index(of)];
    if (known.empty()) known.resize(nodes_.size());
    auto& answer = known[index(node)];
    if (!answer.asked) {
        const auto& me = classes_[index(of)];
        const auto& ledger = *nodes_[index(node)];
        work_ += static_cast<std::int64_t>(1 + me.ports.size() * ledger.taken.ports.size() +
                                           me.volumes.size());
        answer = {true, static_refusal(of, node)};
    }
    return answer.why == refusal::none;
}

bool board::ports_taken_by_peers(int of, int node) const {
    const auto& me = classes_[index(of)];
    if (me.ports.empty()) return false;
    const auto there = with_ports_.find(node);
    return there != with_ports_.end() && std::ranges::any_of(there->second, [&](int other) {
               return ports_clash(me.ports, classes_[index(other)].ports);
           });
}

bool board::near_company(const near_state& of, int node, bool with_promised) const {
    bool all = true;
    for (std::size_t k = 0; k < of.affinity.near.size(); ++k) {
        const auto& term = of.affinity.near[k];
        if (topologies_[index(term.of)].domain_of[index(node)] < 0) return false;
        const int promised = with_promised ? count_at(of.promised.near[k], node) : 0;
        all = all && count_at(term, node) + promised > 0;
    }
    // The first of a series finds no matching pod anywhere, and satisfies its own term.
    const auto anywhere = of.affinity.pods + (with_promised ? of.promised.pods : 0);
    return all || (anywhere == 0 && of.means_itself);
}

refusal board::near_refusal(int of, int node) {
    auto& state = near_[index(of)];
    const auto& rules = classes_[index(of)].near;
    for (std::size_t k = 0; k < state.spread.size(); ++k) {
        auto& spread = state.spread[k];
        const int domain = topologies_[index(spread.pods.of)].domain_of[index(node)];
        if (domain < 0) return refusal::spread_label;
        if (spread.least < 0) {
            work_ += std::ssize(spread.is_domain);
            spread.least = std::numeric_limits<int>::max();
            for (std::size_t at = 0; at < spread.is_domain.size(); ++at) {
                if (spread.is_domain[at] != 0) {
                    spread.least = std::min(spread.least, spread.pods.by_domain[at]);
                }
            }
            if (spread.domains < rules.spread[k].min_domains) spread.least = 0;
        }
        const std::int64_t here = spread.pods.by_domain[index(domain)];
        if (here + (spread.counts_itself ? 1 : 0) - spread.least > rules.spread[k].max_skew) {
            return refusal::spread;
        }
    }
    for (const auto& each : state.repelled) {
        if (count_at(each, node) > 0) return refusal::repelled;
    }
    for (const auto& [topology, each] : repel_all_) {
        if (count_at(each, node) > 0) return refusal::repelled;
    }
    if (!state.affinity.near.empty() &&
        (!near_company(state, node, false) ||
         (state.promised.pods > 0 && !near_company(state, node, true)))) {
        return refusal::pod_affinity;
    }
    for (const auto& each : state.anti_affinity) {
        if (count_at(each, node) > 0) return refusal::pod_anti_affinity;
    }
    return refusal::none;
}

refusal board::refusal_of(int of, int node) {
    ++work_;
    if (!has_room(of, node)) return refusal::resources;
    if (!suits(of, node)) return suits_[index(of)][index(node)].why;
    if (plain_) return refusal::none;
    if (ports_taken_by_peers(of, node)) return refusal::ports;
    if (near_[index(of)].empty() && repel_all_.empty()) return refusal::none;
    work_ += near_cost_[index(of)];
    return near_refusal(of, node);
}

refusal board::explain(int of, int node) {
    const auto fixed = static_refusal(of, node);
    if (fixed != refusal::none && fixed <= refusal::ports) return fixed;
    if (ports_taken_by_peers(of, node)) return refusal::ports;
    if (!has_room(of, node)) return refusal::resources;
    return fixed != refusal::none ? fixed : near_refusal(of, node);
}

int board::copies(int of, int node, int most) {
    ++work_;
    const auto& me = classes_[index(of)];
    if (!has_room(of, node) || !suits(of, node)) return 0;
    std::int64_t out = most;
    for (const auto& [resource, amount] : me.requests) {
        out = std::min(out, left(node, resource) / amount);
    }
    return static_cast<int>(out);
}

double board::slack(int of, int node) const {
    double out = std::numeric_limits<double>::max();
    for (const auto& [resource, amount] : classes_[index(of)].requests) {
        out =
            std::min(out, static_cast<double>(left(node, resource)) / static_cast<double>(amount));
    }
    return out;
}

bool board::free_now(int of, int node) const {
    if (ground_ == ground_of_plan::free) return true;
    const auto& ledger = *nodes_[index(node)];
    return std::ranges::all_of(classes_[index(of)].requests, [&](const auto& each) {
        const auto resource = index(each.first);
        // Members that the plan has set on the node take free room, too.
        const auto set = (resource < ledger.emptied.size() ? ledger.emptied[resource] : 0) -
                         left(node, each.first);
        return ledger.free_of(each.first) >= set + each.second;
    });
}

std::vector<board::anchor> board::anchors(std::size_t most) {
    std::vector<anchor> out;
    // The first class that must be near pods of the gang while none of these is placed.
    for (std::size_t c = 0; c < classes_.size() && out.empty(); ++c) {
        const auto& state = near_[c];
        if (state.affinity.near.empty() || state.affinity.pods > 0) continue;
        int first = state.means_itself ? static_cast<int>(c) : -1;
        for (std::size_t d = 0; d < classes_.size() && first < 0; ++d) {
            if (state.attracted_by[d] != 0) first = static_cast<int>(d);
        }
        if (first < 0) continue;
        const int along = state.affinity.near.front().of;
        const auto& by = topologies_[index(along)];
        std::vector<std::int64_t> room(index(by.domains), 0);
        for (std::size_t d = 0; d < classes_.size(); ++d) {
            const bool goes_there =
                static_cast<int>(d) == first ||
                (!near_[d].affinity.near.empty() && near_[d].affinity.near.front().of == along);
            if (!goes_there) continue;
            std::vector<std::int64_t> of_class(room.size(), 0);
            const int wanted = classes_[d].count();
            for (int at = 0; at < nodes(); ++at) {
                const int domain = by.domain_of[index(at)];
                if (domain < 0) continue;
                of_class[index(domain)] += copies(static_cast<int>(d), at, wanted);
            }
            for (std::size_t at = 0; at < room.size(); ++at) {
                room[at] += std::min<std::int64_t>(of_class[at], wanted);
            }
        }
        std::vector<int> order(room.size());
        for (std::size_t at = 0; at < order.size(); ++at) order[at] = static_cast<int>(at);
        std::ranges::sort(order, [&](int a, int b) {
            return std::pair(-room[index(a)], a) < std::pair(-room[index(b)], b);
        });
        for (const int domain : order) {
            if (out.size() == most || room[index(domain)] == 0) break;
            out.push_back({first, along, domain});
        }
    }
    return out;
}

}  // namespace esi::placement::planning
