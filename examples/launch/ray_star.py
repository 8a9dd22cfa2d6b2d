"""A hub and nodes as actors of Ray, spread over its cluster.

    python ray_star.py --nodes 4 --goal 0.35 -- python train.py

Options in front of -- that are not these are the hub's, as of `starswitch auto`. An
actor that is lost is started again by Ray, elsewhere perhaps: a node comes back under
its name, and the hub goes on with the run in --directory. On several hosts that folder
is to be on a file system that all of them share.
"""

import argparse
import os
import subprocess
import sys

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)
class Process:
    """The hub, of rank 0, or a node."""

    def host(self) -> str:
        alone = len(ray.nodes()) == 1
        return "127.0.0.1" if alone else str(ray.util.get_node_ip_address())

    def run(self, words: "list[str]", rank: int, size: int, hub: str) -> int:
        """Its exit code; it ends with this actor, however that ends."""
        engine = {
            "LWS_WORKER_INDEX": str(rank),
            "LWS_GROUP_SIZE": str(size),
            "LWS_LEADER_ADDRESS": hub,
        }
        return subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", "starswitch-node", "auto", *words],
            env=os.environ | engine,
            check=False,
        ).returncode


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--directory", default="starswitch-run")
    parser.add_argument("--address", help="of a Ray cluster, such as auto")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given, options = parser.parse_known_args(sys.argv[1:at])
    folder = os.path.abspath(given.directory)
    words = ["--directory", folder, *options, *sys.argv[at:]]
    size = given.nodes + 1

    cores = {} if given.address else {"num_cpus": size}
    ray.init(given.address, include_dashboard=False, **cores)
    group = placement_group([{"CPU": 1}] * size, strategy="SPREAD")
    ray.get(group.ready())
    processes = [
        Process.options(
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                group, placement_group_bundle_index=rank
            )
        ).remote()
        for rank in range(size)
    ]
    hub = ray.get(processes[0].host.remote())
    ends = [
        process.run.remote(words, rank, size, hub)
        for rank, process in enumerate(processes)
    ]
    return int(ray.get(ends[0]))


if __name__ == "__main__":
    sys.exit(main())
