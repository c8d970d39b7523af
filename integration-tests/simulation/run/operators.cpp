#include "run/operators.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "base/operators.h"
#include "batchjob/operator.h"
#include "plan/claims.h"
#include "programs/scheduling/program.h"
#include "programs/testbed/program.h"

namespace esi::simulation {

namespace {

controller::operator_factory make_testbed(const plan& what) {
    // Every third seed has its reports written as those of large Testbeds are.
    return [beside = what.seed % 3 == 0, layouts = what.layouts, listed = what.most_listed_slots,
            gangs = what.gangs, claims = has_claims(what), spread = what.seed % 4 == 0,
            lives = std::make_shared<int>(0)](controller::environment& in) {
        programs::testbed_options chosen;
        auto& slots = chosen.slots;
        slots.check_ledger = true;
        if (beside) slots.many_slots = 0;
        slots.most_listed_slots = listed;
        chosen.gangs.enabled = gangs;
        slots.claims.enabled = gangs || claims;
        chosen.gangs.reserve_after = gang_reserve_after;
        chosen.gangs.reserve_for = gang_reserve_for;
        if (spread) chosen.gangs.packing = "Spread";
        if (listed < most_listed_by_default) slots.rows_per_slice = 2;
        const bool odd = (*lives)++ % 2 == 1;
        slots.compact_layouts = layouts == "compact" || (layouts == "alternating" && odd);
        return std::make_unique<programs::testbed_program>(in, chosen);
    };
}

controller::operator_factory make_batchjob(const plan& what) {
    return [extender = what.placement == "extender"](controller::environment& in) {
        batchjob::options chosen;
        chosen.placement = extender ? "extender" : "gate";
        return std::make_unique<batchjob::batchjob_operator>(in, chosen);
    };
}

controller::operator_factory make_scheduling(const plan& what) {
    return [cross = what.cross_namespace_jobs](controller::environment& in) {
        programs::scheduling_options chosen;
        chosen.plans.cross_namespace_jobs = cross;
        return std::make_unique<programs::scheduling_program>(in, chosen);
    };
}

struct row {
    std::string_view name;
    controller::operator_factory (*make)(const plan& what);
};

constexpr row rows[] = {
    {"testbed", make_testbed}, {"batchjob", make_batchjob}, {"scheduling", make_scheduling}};

}  // namespace

const std::vector<std::string>& operators_of(const plan& what) {
    static const std::vector<std::string> of_gangs{"testbed"};
    return what.gangs ? of_gangs : operator_names();
}

controller::operator_factory factory_of(std::string_view name, const plan& what) {
    for (const auto& each : rows) {
        if (each.name == name) return each.make(what);
    }
    throw std::logic_error("no code for the operator " + std::string(name));
}

}  // namespace esi::simulation
