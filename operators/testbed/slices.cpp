// The part of the operator (operator.h) that writes the rows of large Testbeds into slices. Nothing
// waits for these writes: a row that the cache does not show yet counts as not written yet.
#include <fmt/format.h>

#include "base/log.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "model/json.h"
#include "model/names.h"
#include "model/text.h"
#include "testbed/operator.h"

namespace esi::testbed {

namespace types = kube::types;

namespace {

/// Pause after another writer was first, or has deleted the slice: the cache will show it.
constexpr milliseconds again_pause{200};
/// Pause while a foreign object has the name of a slice: no event shows when it is deleted.
constexpr seconds foreign_pause{30};

kube::json new_slice(const model::object_meta& testbed, const std::string& name,
                     const model::slot_slice_spec& spec) {
    return {{"apiVersion", types::slot_slice.api_version()},
            {"kind", types::slot_slice.kind},
            {"metadata",
             {{"name", name},
              {"namespace", testbed.namespace_},
              {"labels", {{model::names::testbed, testbed.name}}},
              {"ownerReferences", kube::json::array({{{"apiVersion", types::testbed.api_version()},
                                                      {"kind", types::testbed.kind},
                                                      {"name", testbed.name},
                                                      {"uid", testbed.uid},
                                                      {"controller", true}}})}}},
            {"spec", model::encode(spec)}};
}

}  // namespace

asio::awaitable<result<controller::outcome>> testbed_operator::write_slices(model::object_key key) {
    using controller::outcome;
    const auto found = hints_.find(key);
    if (found == hints_.end()) co_return outcome();
    auto own = found->second;
    auto& of = own->ledger;
    const auto testbed = of.of().seen.testbed;
    if (!testbed || stage_of(*testbed) != stage::works || !caches_.slices_served()) {
        co_return outcome();
    }
    if (!slice_gate_.caught_up(key)) co_return outcome::again_in(own_writes_pause);
    if (own->slices_written) {
        const auto since = env_.time.now() - *own->slices_written;
        if (since < many_slots_pause) co_return outcome::again_in(many_slots_pause - since);
    }
    slices_pass pass;
    // Slices that change during this pass are left to the next one.
    pass.left = std::exchange(of.unwritten(), {});
    co_await remove_slices(testbed, *own, pass);
    while (!pass.failed && !pass.left.empty()) {
        const int number = *pass.left.begin();
        pass.left.erase(pass.left.begin());
        co_await write_slice(testbed, *own, number, pass);
    }
    of.unwritten().merge(pass.left);
    of.unwritten().merge(pass.left_for_later);
    if (pass.wrote || pass.failed) own->slices_written = env_.time.now();
    // The first message of a refusal is kept: a webhook may choose other words each time.
    const auto& told = own->known->slice_problem;
    if (pass.failed && !pass.problem.empty() && !told.empty()) pass.problem = told;
    if (pass.problem != told) {
        if (!pass.problem.empty()) {
            log::warn("rows of a testbed are not written",
                      {{"testbed", key.text()}, {"why", pass.problem}});
        }
        own->known->slice_problem = pass.problem;
        controller_.enqueue(key);
    }
    if (pass.failed) co_return std::unexpected(std::move(*pass.failed));
    outcome out;
    out.after = pass.again;
    co_return out;
}

void testbed_operator::note_slice_write(const model::object_key& testbed, slices_pass& pass,
                                        const result<std::string>& answer) {
    if (answer) {
        pass.wrote = true;
        if (const auto written =
                model::decode<model::slot_slice>(*answer, types::slot_slice.kind)) {
            slice_gate_.wrote(testbed, types::slot_slice.kind, written->metadata);
        }
        return;
    }
    const auto& why = answer.error();
    if (why.code == errc::already_exists || is_of_the_moment(why.code)) {
        return pass.again_in(again_pause);
    }
    if (!why.transient()) pass.problem = model::cut(why.text, 500);
    pass.failed = why;
}

asio::awaitable<void> testbed_operator::remove_slices(testbed_pointer testbed, const memory& own,
                                                      slices_pass& pass) {
    const auto key = testbed->metadata.key();
    for (const auto& slice : caches_.slices_of(key)) {
        const auto& meta = slice->metadata;
        const int number = own.ledger.number_of_slice(slice->spec.first);
        const bool wanted = number < own.ledger.count_of_slices();
        if (wanted || meta.deleting() || !grid::is_own_slice(*slice, *testbed)) continue;
        const auto done =
            co_await env_.api.remove(types::slot_slice, meta.namespace_, meta.name,
                                     kube::preconditions(meta.uid, meta.resource_version));
        if (!done) {
            note_slice_write(key, pass, std::unexpected(done.error()));
            pass.left_for_later.insert(number);
            if (pass.failed) co_return;
        }
    }
}

asio::awaitable<void> testbed_operator::write_slice(testbed_pointer testbed, const memory& own,
                                                    int number, slices_pass& pass) {
    const auto& of = own.ledger;
    // Another layout may have come while the slice before this one was written.
    if (of.of().seen.testbed->metadata.uid != testbed->metadata.uid) co_return;
    if (number < 0 || number >= of.count_of_slices()) co_return;
    const auto& meta = testbed->metadata;
    model::slot_slice_spec wanted;
    wanted.testbed = {meta.name, meta.uid};
    wanted.layout_revision = of.of().layout->revision;
    wanted.first = number * of.rows_per_slice();
    wanted.rows = of.rows_of_slice(number);
    wanted.count = static_cast<int>(wanted.rows.size());
    const auto name = grid::slice_name(meta, wanted.first);
    const auto known = caches_.slices().find({meta.namespace_, name});
    if (known && !grid::is_own_slice(*known, *testbed)) {
        pass.problem =
            fmt::format("TestbedSlotSlice {} is not of this Testbed, and stays as it is", name);
        pass.left_for_later.insert(number);
        pass.again_in(foreign_pause);
        co_return;
    }
    if (known && known->spec == wanted) co_return;
    // The slices of a Testbed are deleted with it.
    if (!known && meta.deleting()) co_return;
    if (known && known->metadata.deleting()) {
        pass.left_for_later.insert(number);
        pass.again_in(again_pause);
        co_return;
    }
    auto done = known ? co_await env_.api.patch(
                            types::slot_slice, meta.namespace_, name, kube::patch_kind::merge,
                            kube::guarded({{"spec", model::encode(wanted)}}, known->metadata.uid,
                                          known->metadata.resource_version))
                      : co_await env_.api.create(types::slot_slice, meta.namespace_,
                                                 new_slice(meta, name, wanted));
    if (!done) pass.left_for_later.insert(number);
    note_slice_write(meta.key(), pass, done);
}

}  // namespace esi::testbed
