"""What a change may not make worse, as one table: counts and ratios, which depend on no machine.

`most` is what holds today with little to spare; `aim` is where it should come to (None: it is there). Whoever
makes a number smaller lowers its bound in the same change. A number that no operator counts yet is None and
passes where `optional` says so.
"""
import collections

Bound = collections.namedtuple("Bound", "name most aim reason optional", defaults=(False,))

BOUNDS = [
    Bound("requests of a start, one after the other", 10, None,
          "each takes a round trip of 2 to 5 ms, on a busy API server ten times that"),
    Bound("ESI's share of a start / the same by hand", 2, 0.5,
          "what users notice; on a busy machine both get longer, but ESI the more so: 0.8 when idle, 1.5 at load 15"),
    Bound("writes of a start and its release", 42, None,
          "each is a change that etcd writes and every watch delivers"),
    Bound("writes of pods for a ghost", 2.1, None,
          "create and nominate; kube-scheduler's binding is the third, and more would slow down the filling"),
    Bound("status writes for a ghost", 0.1, None,
          "a report with each ghost would make filling quadratic: the status grows with the slots"),
    Bound("share of a start at 2,000 slots / at 6", 8, 2,
          "a start must not cost more because the testbed is larger"),
    Bound("CPU of a start at 2,000 slots / at 6", 8, 2, "the same, of the operators' own work"),
    Bound("reconciles of a pod event that changes nothing", 0.05, None,
          "kubelets report all the time: what concerns no slot must not wake the operator"),
    Bound("reconciles of a pod event", 1.2, None, "one change, one reconcile, at the most"),
    Bound("writes for a pod event", 0.5, 0.05,
          "pods of others come and go all the time: their number may not be a write each"),
    Bound("nodes looked at for a pod event, at 2,000 slots / at 6", 1.5, None,
          "the cost of a change must not grow with the testbed: it is the slots of one node"),
    Bound("CPU for a pod event that changes nothing / the floor", 3, None,
          "beside decoding and keeping a pod, the operator has little to do"),
    Bound("gangs: not started, in part, or a place lost", 0, None,
          "a gang starts whole, and takes nothing from pods of its priority"),
    Bound("writes for a gang of three", 12.5, None,
          "3 nominations, 3 let-ins, 3 binds, 2 or 3 of the group's status: each is a change that every watch delivers"),
    Bound("allocations: decode_pod/20", 17, None, "per event of each pod of the cluster"),
    Bound("allocations: apply_change/10000", 9, None,
          "per event of each pod of the cluster that changes what is kept; the version before is made from its bytes"),
    Bound("allocations: split_lines", 0.2, None, "a line is cut out of the buffer, not copied"),
    Bound("allocations: merge_difference_of_status/1000", 13, None, "a report of 1,000 nodes with one change"),
]


def judge(bounds, measured):
    """One sentence for each bound that does not hold."""
    wrong = []
    for each in bounds:
        value = measured.get(each.name)
        if value is None:
            if not each.optional:
                wrong.append(f"{each.name}: was not measured")
        elif value > each.most:
            wrong.append(f"{each.name}: {value:.3g}, at most {each.most:g} is allowed ({each.reason})")
    return wrong
