// The testbed operator: keeps the slots of every Testbed filled by ghosts, lets job pods into the
// slots that were given to them, and answers the scheduler's extender. It never decides which job
// gets which slot, and the layout of a held Testbed is never changed.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "testbed/act.h"
#include "testbed/caches.h"
#include "testbed/slot_numbers.h"

namespace esi::testbed {

struct settings {
    ghost_options ghosts;
    /// Where /debug/node-set-up and /debug/reset-all-jobs look for names.
    std::string legacy_namespace = "default";
    /// Who may use /debug.
    http::local_access access;
    /// Metrics name the Testbeds.
    bool metrics_by_testbed = false;

    void add_to(CLI::App& app);
};

class testbed_operator final : public controller::operator_part {
public:
    testbed_operator(controller::environment& around, settings chosen);

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    /// Takes notes, counts, forgets what is over.
    void remember(const testbed_pointer& testbed, hints& known, const plan& decided,
                  const view& seen);
    void tell(const testbed_pointer& testbed, const note& what);
    void watch();
    void add_routes();
    void measure(const kube::change<model::pod>& what);
    bool is_on_record(const model::testbed& testbed, const model::pod& pod, int position) const;

    controller::environment& around_;
    settings settings_;
    caches_of_testbeds caches_;
    controller::write_gate gate_;
    gap_times gaps_;
    slot_numbers slots_;
    actor actor_;
    std::map<model::object_key, std::shared_ptr<hints>> known_;
    controller::controller controller_;
};

}  // namespace esi::testbed
