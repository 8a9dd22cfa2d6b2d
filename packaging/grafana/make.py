#!/usr/bin/env python3
"""Writes the dashboards beside it: operator.json and learning.json.

A panel is a row here: kind, title, unit, width in columns of 24, and its
queries with their legends. tests/e2e/metrics.sh holds the files to this table,
and the names in it to what a hub tells.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

JOB = '{job=~"$job"}'
Query = tuple[str, str]
Panel = tuple[str, str, str, int, list[Query]]


def rate(name: str, labels: str = "node") -> str:
    """Per second, of a counter."""
    return f"sum by ({labels}) (rate({name}{JOB}[$__rate_interval]))"


def of(name: str) -> str:
    """A gauge."""
    return f"{name}{JOB}"


OPERATOR: list[Panel] = [
    ("stat", "Nodes", "none", 4, [(of("starswitch_nodes"), "connected")]),
    ("stat", "Silent", "none", 4, [(of("starswitch_nodes_silent"), "silent")]),
    ("stat", "Rounds a minute", "none", 4,
     [(f"60 * rate(starswitch_rounds_total{JOB}[$__rate_interval])", "rounds")]),
    ("stat", "Since the last save", "s", 4,
     [(f"time() - {of('starswitch_checkpoint_last_success_timestamp_seconds')}",
       "saved")]),
    ("stat", "Last save failed", "none", 4,
     [(of("starswitch_checkpoint_failed"), "failed")]),
    ("stat", "The hub runs", "s", 4, [(of("starswitch_up_seconds"), "since")]),
    ("state-timeline", "Nodes that are here", "none", 24,
     [(of("starswitch_node_up"), "{{node}}")]),
    ("timeseries", "From and to nodes", "Bps", 12,
     [(rate("starswitch_transfer_bytes_total", "node, dir"), "{{node}} {{dir}}")]),
    ("timeseries", "All nodes, and what the hub allows", "Bps", 12,
     [(rate("starswitch_transfer_bytes_total", "dir"), "{{dir}}"),
      (of("starswitch_bandwidth_limit_bytes_per_second"), "allowed {{dir}}")]),
    ("timeseries", "What links were seen to carry", "Bps", 12,
     [(of("starswitch_link_bandwidth_bytes_per_second"), "{{node}} {{dir}}")]),
    ("timeseries", "Round trip", "s", 12,
     [(of("starswitch_link_rtt_seconds"), "{{node}}")]),
    ("timeseries", "An exchange takes", "s", 12,
     [(f"histogram_quantile({share}, sum by (le) "
       f"(rate(starswitch_exchange_duration_seconds_bucket{JOB}[$__rate_interval])))",
       name) for share, name in ((0.5, "median"), (0.95, "95 %"))]),
    ("timeseries", "Results that came late", "percentunit", 12,
     [(f"{rate('starswitch_node_late_results_total')} / "
       f"{rate('starswitch_exchanges_total')}", "{{node}}")]),
    ("timeseries", "Share of the time blocked by the network", "percentunit", 12,
     [(rate("starswitch_node_blocked_seconds_total"), "{{node}}")]),
    ("timeseries", "Where each node's time goes", "percentunit", 12,
     [(rate("starswitch_node_time_seconds_total", "node, state"),
       "{{node}} {{state}}")]),
    ("timeseries", "Share of the time that the formula predicts", "percentunit", 12,
     [(of("starswitch_node_foreseen_use_ratio"), "{{node}}")]),
    ("timeseries", "Rejected, a second", "none", 12,
     [(rate("starswitch_rejected_total", "node, reason"), "{{node}} {{reason}}")]),
    ("timeseries", "Connections not let in, a second", "none", 12,
     [(rate("starswitch_refused_connections_total", "reason"), "{{reason}}")]),
    ("timeseries", "What came back", "none", 12,
     [(f"increase(starswitch_recovery_total{JOB}[$__rate_interval])", "{{kind}}")]),
    ("timeseries", "Memory of values on their way", "bytes", 12,
     [(of("starswitch_pool_bytes"), "pool"),
      (of("starswitch_upload_bytes"), "uploads that have come in part")]),
    ("timeseries", "Events, a second", "none", 12,
     [(rate("starswitch_events_total", "event"), "{{event}}")]),
]

LEARNING: list[Panel] = [
    ("stat", "Loss of the centre", "none", 4,
     [(of("starswitch_center_loss"), "{{split}}")]),
    ("stat", "Best loss", "none", 4, [(of("starswitch_best_loss"), "best")]),
    ("stat", "Accuracy", "percentunit", 4,
     [(of("starswitch_center_accuracy"), "{{split}}")]),
    ("gauge", "On the way to the goal", "percentunit", 4,
     [(of("starswitch_goal_progress_ratio"), "goal")]),
    ("stat", "k and d", "none", 4,
     [(of("starswitch_every_iterations"), "k"),
      (of("starswitch_delay_iterations"), "d")]),
    ("stat", "Leader", "none", 4, [(of("starswitch_leader_info"), "{{node}}")]),
    ("timeseries", "Loss of the centre", "none", 12,
     [(of("starswitch_center_loss"), "{{split}}"),
      (of("starswitch_best_loss"), "best")]),
    ("timeseries", "Training loss of nodes", "none", 12,
     [(of("starswitch_node_loss"), "{{node}}")]),
    ("timeseries", "Accuracy", "percentunit", 12,
     [(of("starswitch_center_accuracy"), "centre, {{split}}"),
      (of("starswitch_node_accuracy"), "{{node}}")]),
    ("timeseries", "Versions behind the centre", "none", 12,
     [(of("starswitch_node_staleness_versions"), "{{node}}")]),
    ("timeseries", "Samples a second", "none", 12,
     [(rate("starswitch_node_samples_total"), "{{node}}")]),
    ("timeseries", "Iterations a second", "none", 12,
     [(rate("starswitch_node_steps_total"), "{{node}}")]),
    ("timeseries", "Iterations between exchanges, and until results", "none", 12,
     [(of("starswitch_every_iterations"), "k"),
      (of("starswitch_delay_iterations"), "d")]),
    ("timeseries", "Exchanges, a second", "none", 12,
     [(rate("starswitch_exchanges_total", "result"), "{{result}}")]),
    ("timeseries", "Parameters replaced", "none", 12,
     [(f"increase(starswitch_node_preemptions_total{JOB}[$__rate_interval])",
       "{{node}}")]),
    ("timeseries", "Tasks of the epoch", "none", 12,
     [(of("starswitch_tasks_done"), "done"), (of("starswitch_tasks"), "all"),
      (of("starswitch_epoch"), "epoch")]),
]

SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel_of(number: int, panel: Panel, x: int, y: int) -> dict[str, Any]:
    """One panel as Grafana has it."""
    kind, title, unit, width, queries = panel
    return {
        "id": number,
        "type": kind,
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": width, "h": 4 if kind == "stat" else 8},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + i),
                "datasource": SOURCE,
                "expr": expression,
                "legendFormat": legend,
            }
            for i, (expression, legend) in enumerate(queries)
        ],
    }


def dashboard(uid: str, title: str, table: list[Panel]) -> dict[str, Any]:
    """Panels from left to right, row by row."""
    panels: list[dict[str, Any]] = []
    x = y = height = 0
    for number, panel in enumerate(table, 1):
        if x + panel[3] > 24:
            x, y, height = 0, y + height, 0
        panels.append(panel_of(number, panel, x, y))
        x += panel[3]
        height = max(height, panels[-1]["gridPos"]["h"])
    return {
        "uid": uid,
        "title": title,
        "tags": ["starswitch"],
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "type": "datasource", "query": "prometheus"},
                {
                    "name": "job",
                    "type": "query",
                    "datasource": SOURCE,
                    "query": "label_values(starswitch_build_info, job)",
                    "multi": True,
                    "includeAll": True,
                    "refresh": 2,
                },
            ]
        },
        "panels": panels,
    }


def main(folder: Path) -> None:
    """Writes both into a folder."""
    for name, title, table in (
        ("operator", "starswitch: operator", OPERATOR),
        ("learning", "starswitch: learning", LEARNING),
    ):
        text = json.dumps(dashboard(f"starswitch-{name}", title, table), indent=1)
        (folder / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
