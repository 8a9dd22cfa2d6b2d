"""The manifests are what Kubernetes' own schemas and the engines' allow, and their
commands are options that the programs have."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from starswitch._programs import program_path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
FACTS = [
    json.loads((HERE / f"kubernetes-{of}.json").read_text())
    for of in ("1.37.0", "engines")
]
DEFINITIONS = {name: each for facts in FACTS for name, each in facts["$defs"].items()}
KINDS = {kind: name for facts in FACTS for kind, name in facts["kinds"].items()}
FILES = [TREE / "packaging/kubernetes/starswitch.yaml"]
FILES += sorted((TREE / "examples/launch").glob("*.yaml"))
OBJECTS = [each for file in FILES for each in yaml.safe_load_all(file.read_text())]
IMAGE = (TREE / "packaging/Containerfile").read_text()
USER, GROUP = (int(each) for each in re.findall(r"^USER (\d+):(\d+)$", IMAGE, re.M)[0])
STATE = re.findall(r"^WORKDIR (.*)$", IMAGE, re.M)[0]
HEADER = (TREE / "include/starswitch.h").read_text()
VERSION = re.findall(r'STAR_VERSION "(.*)"', HEADER)[0]


def complaints(thing: dict[str, Any]) -> list[str]:
    schema = {"$defs": DEFINITIONS, "$ref": f"#/$defs/{KINDS[thing['kind']]}"}
    found = jsonschema.Draft202012Validator(schema).iter_errors(thing)
    return [f"{each.json_path}: {each.message}" for each in found]


def objects_in(thing: Any) -> Iterator[dict[str, Any]]:
    inner = list(thing) if isinstance(thing, list) else []
    if isinstance(thing, dict):
        yield thing
        inner = list(thing.values())
    for each in inner:
        yield from objects_in(each)


def commands(thing: Any) -> Iterator[list[str]]:
    """Of all containers."""
    for each in objects_in(thing):
        if isinstance(each.get("args"), list):
            yield each["args"]


def pods() -> Iterator[Any]:
    """The pods that engines make of templates, each with what it is in."""
    for file in FILES:
        for thing in yaml.safe_load_all(file.read_text()):
            for each in objects_in(thing):
                if "containers" in each:
                    yield pytest.param(thing, each, id=f"{file.stem}-{thing['kind']}")


PODS = list(pods())


def container_of(pod: dict[str, Any]) -> dict[str, Any]:
    (container,) = pod["containers"]
    assert "initContainers" not in pod and "ephemeralContainers" not in pod
    return dict(container)


def serves(container: dict[str, Any]) -> bool:
    """Whether a hub may be in it; what a TrainJob runs is told elsewhere."""
    named = [each["name"] for each in container.get("env", [])]
    starts_one = container.get("args", ["auto"])[0] in ("hub", "auto")
    return starts_one and "STARSWITCH_HUB" not in named


# What a volume may be in Pod Security's level "restricted".
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"}
VOLUMES |= {"persistentVolumeClaim", "projected", "secret"}


def refused(pod: dict[str, Any]) -> Iterator[str]:
    """The rules of Pod Security's level "restricted", with those of "baseline", that
    the pod breaks; an exception that is not needed here is none. The init containers
    of an engine say nothing themselves, so user and seccomp are asked of the pod."""
    context = pod.get("securityContext", {})
    container = container_of(pod)
    own = container.get("securityContext", {})
    added = set(own.get("capabilities", {}).get("add", []))
    if any(pod.get(f"host{of}") for of in ("Network", "PID", "IPC")):
        yield "a namespace of the host"
    if own.get("privileged"):
        yield "privileged"
    if added - {"NET_BIND_SERVICE"}:
        yield "a capability"
    if "ALL" not in own.get("capabilities", {}).get("drop", []):
        yield "capabilities are kept"
    if any(set(each) - {"name"} - VOLUMES for each in pod.get("volumes", [])):
        yield "a volume"
    if any("hostPort" in each for each in container.get("ports", [])):
        yield "a port of the host"
    if any("host" in each for each in objects_in(container)):
        yield "the host of a probe"
    if {"appArmorProfile", "seLinuxOptions", "sysctls"} & {*context, *own}:
        yield "AppArmor, SELinux, sysctls"
    if "procMount" in own:
        yield "procMount"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "privileges grow"
    both = {**context, **own}
    if not context.get("runAsNonRoot") or not both["runAsNonRoot"]:
        yield "perhaps root"
    if not context.get("runAsUser") or not both["runAsUser"]:
        yield "which user"
    for at in (context, both):
        if at.get("seccompProfile") not in ({"type": "RuntimeDefault"},):
            yield "seccomp"


def options_of(program: str) -> str:
    found = [program_path(f"starswitch-{program}"), "--help"]
    return subprocess.run(found, capture_output=True, text=True).stdout


def test_every_engine_has_an_example() -> None:
    assert {each["kind"] for each in OBJECTS} == set(KINDS)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda each: str(each["kind"]))
def test_it_is_valid(thing: dict[str, Any]) -> None:
    assert complaints(thing) == []
    # A name that is wrong is seen, as deep as it may be in what is ours.
    places = [at for at in objects_in(thing["spec"]) if at and "/" not in "".join(at)]
    free = ("matchLabels", "labels", "selector", "requests", "limits")
    named = [at[name] for at in places for name in free if name in at]
    for at in (at for at in places if at not in named):
        at["replica"] = 1
        seen = complaints(thing)
        del at["replica"]
        assert seen, f"a wrong name is not seen in {at}"


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda each: str(each["kind"]))
def test_the_programs_have_its_options(thing: dict[str, Any]) -> None:
    for command, *arguments in commands(thing):
        of = command
        if command == "auto":
            assert arguments[arguments.index("--") + 1] == "starswitch"
            of = "hub"
        for each in arguments:
            if each == "--":
                of = "node"
            elif each.startswith("--"):
                helped = options_of(of)
                assert f"{each} " in helped or f"{each}\n" in helped


@pytest.mark.parametrize(("thing", "pod"), PODS)
def test_pod_security_admits_it(thing: dict[str, Any], pod: dict[str, Any]) -> None:
    assert list(refused(pod)) == []
    # As the image is, and what it writes is its group's.
    context = pod["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"]) == (USER, GROUP)
    assert context["fsGroup"] == GROUP
    assert context["fsGroupChangePolicy"] == "OnRootMismatch"
    assert pod["automountServiceAccountToken"] is False


def of_container(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda pod: pod["containers"][0]["securityContext"].update({key: value})


def of_pod(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda pod: pod["securityContext"].update({key: value})


@pytest.mark.parametrize(
    ("rule", "breaks"),
    [
        ("a namespace of the host", lambda pod: pod.update(hostNetwork=True)),
        ("a namespace of the host", lambda pod: pod.update(hostPID=True)),
        ("a namespace of the host", lambda pod: pod.update(hostIPC=True)),
        ("privileged", of_container("privileged", True)),
        ("a capability", of_container("capabilities", {"add": ["NET_RAW"]})),
        ("capabilities are kept", of_container("capabilities", {"drop": ["KILL"]})),
        ("a volume", lambda pod: pod["volumes"].append({"name": "x", "hostPath": {}})),
        (
            "a port of the host",
            lambda pod: pod["containers"][0].update(ports=[{"hostPort": 7541}]),
        ),
        (
            "the host of a probe",
            lambda pod: pod["containers"][0].update(
                livenessProbe={"httpGet": {"host": "127.0.0.1"}}
            ),
        ),
        ("AppArmor, SELinux, sysctls", of_pod("sysctls", [{}])),
        ("AppArmor, SELinux, sysctls", of_container("seLinuxOptions", {})),
        ("AppArmor, SELinux, sysctls", of_pod("appArmorProfile", {})),
        ("procMount", of_container("procMount", "Unmasked")),
        ("privileges grow", of_container("allowPrivilegeEscalation", True)),
        ("perhaps root", of_pod("runAsNonRoot", False)),
        ("perhaps root", of_container("runAsNonRoot", False)),
        ("which user", of_pod("runAsUser", 0)),
        ("which user", of_container("runAsUser", 0)),
        ("seccomp", of_pod("seccompProfile", {"type": "Unconfined"})),
        ("seccomp", of_container("seccompProfile", {"type": "Unconfined"})),
    ],
)
def test_what_pod_security_refuses_is_seen(
    rule: str, breaks: Callable[[dict[str, Any]], object]
) -> None:
    pod: dict[str, Any] = deepcopy(PODS[-1].values[1])
    assert rule not in refused(pod)
    breaks(pod)
    assert rule in refused(pod)


@pytest.mark.parametrize(("thing", "pod"), PODS)
def test_it_says_what_it_needs(thing: dict[str, Any], pod: dict[str, Any]) -> None:
    container = container_of(pod)
    # By a tag that does not move, IfNotPresent is right.
    assert container["image"] == f"starswitch:{VERSION}"
    assert container["imagePullPolicy"] == "IfNotPresent"
    needs = container["resources"]
    assert set(needs["requests"]) == {"cpu", "memory"}
    # Then it is evicted after all that take more than they ask for.
    assert needs["limits"] == {"memory": needs["requests"]["memory"]}
    # SIGTERM saves, or makes a last offer.
    assert pod["terminationGracePeriodSeconds"] >= (120 if serves(container) else 60)


@pytest.mark.parametrize(("thing", "pod"), PODS)
def test_its_ports_have_names(thing: dict[str, Any], pod: dict[str, Any]) -> None:
    container = container_of(pod)
    ports = {each["name"]: each["containerPort"] for each in container.get("ports", [])}
    # As the training operator makes a Service of them, with a third of its own.
    assert len(ports) == len(container.get("ports", []))
    assert ports == ({"messages": 7541, "data": 7542} if serves(container) else {})


def test_the_ports_of_services_have_names() -> None:
    services = [each for each in OBJECTS if each["kind"] == "Service"]
    assert services
    for each in services:
        ports = {at["name"]: at["port"] for at in each["spec"]["ports"]}
        assert ports == {"messages": 7541, "data": 7542}


@pytest.mark.parametrize(("thing", "pod"), PODS)
def test_a_claim_keeps_it(thing: dict[str, Any], pod: dict[str, Any]) -> None:
    """The run, and a node's own key: a pod that is made again is the same."""
    mounts = container_of(pod)["volumeMounts"]
    (at,) = (each["name"] for each in mounts if each["mountPath"] == STATE)
    of_each = thing["spec"].get("volumeClaimTemplates", [])
    claims = [each["metadata"]["name"] for each in of_each]
    for each in pod.get("volumes", []):
        claims += [each["name"]] if "persistentVolumeClaim" in each else []
    assert at in claims


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path in ("/healthz", "/readyz") else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(("thing", "pod"), PODS)
def test_its_probes_ask_the_hub(thing: dict[str, Any], pod: dict[str, Any]) -> None:
    container = container_of(pod)
    kinds = ("startup", "liveness", "readiness")
    probes = [container.get(f"{kind}Probe") for kind in kinds]
    if not serves(container):
        assert probes == [None] * 3
        return
    page = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=page.serve_forever, daemon=True).start()

    def content(probe: Any, rank: int) -> bool:
        *python, script = probe["exec"]["command"]
        assert python == ["python3", "-c"] and "127.0.0.1:7540/" in script
        script = script.replace("7540", str(page.server_port))
        names = ("JOB_COMPLETION_INDEX", "LWS_WORKER_INDEX", "RANK")
        environment = {"PATH": "/usr/bin:/bin"} | dict.fromkeys(names, str(rank))
        words = [*python, script]
        done = subprocess.run(words, env=environment, capture_output=True, timeout=60)
        return done.returncode == 0

    assert all(content(each, 0) for each in probes)
    page.shutdown()
    page.server_close()
    assert not any(content(each, 0) for each in probes)
    # A node that is of the same template has no page.
    shared = container.get("args", ["auto"])[0] == "auto"
    assert all(content(each, 1) == shared for each in probes)
    assert all(each["timeoutSeconds"] > 4 for each in probes)
