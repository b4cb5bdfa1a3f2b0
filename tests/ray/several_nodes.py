"""A Ray cluster of several nodes on this machine, as a process of its own.

Says one JSON object: the head's address, and by node id the PIDs of what makes up the node. `kill ID`
on stdin ends that node's processes without a farewell; the end of stdin ends the cluster.
"""

import json
import sys

from ray.cluster_utils import Cluster

_QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 4,
}
"""A node that is gone is noticed within seconds, not within fifteen."""


def main() -> None:
    count, processors = int(sys.argv[1]), float(sys.argv[2])
    common = {"num_cpus": processors, "object_store_memory": 80_000_000}
    head = {**common, "include_dashboard": False, "_system_config": _QUICK}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.head_node, *(cluster.add_node(**common) for _ in range(count - 1))]
    said = {"address": cluster.address, "nodes": [node.node_id for node in nodes]}
    print(json.dumps(said), file=sys.__stdout__, flush=True)
    for line in sys.stdin:
        wanted = line.split()[1]
        node = next(node for node in nodes if node.node_id == wanted)
        cluster.remove_node(node, allow_graceful=False)
        print("killed", file=sys.__stdout__, flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
