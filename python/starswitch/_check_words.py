"""What `starswitch check` concludes of what it saw."""

from __future__ import annotations

import math
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._check_report import Line, Result
from .errors import some

if TYPE_CHECKING:
    import argparse

    from ._check_static import Statement, Text
    from .check import Run

# Of a network's rate, what frames and headers leave to the payload.
PAYLOAD = 0.942

OTHER_FRAMEWORKS = {
    "jax": "params = link.exchange(params) (starswitch.jax, docs/python.md)",
    "keras": "attach knows PyTorch; other arrays can be exchanged by starswitch.numpy",
    "mxnet": "attach knows PyTorch; other arrays can be exchanged by starswitch.numpy",
    "sklearn": "attach knows PyTorch; arrays can be exchanged by starswitch.numpy",
}


# File, line, function, the function's first line, the id of its self.
Call = tuple[str, int, str, int, int]


def losses_of(losses: list[Statement], function: str, first: int) -> list[Statement]:
    """Those in a function that begins there, or in the module itself."""
    name = "" if function == "<module>" else function
    return [
        one for one in losses if one.scope.split(".")[-1] == name and one.line >= first
    ]


class Judge:
    """Turns what was seen into a Result."""

    def __init__(
        self, options: argparse.Namespace, source: str, text: Text, run: Run | None
    ) -> None:
        self.options = options
        self.source = source.splitlines()
        self.text = text
        self.run = run
        self.best: dict[str, Any] = run.best if run else {}
        self.everything = False  # params="all" is needed
        self.result = Result(options.script, nodes=options.nodes, mbit=options.mbit)

    def judge(self) -> Result:
        result, text = self.result, self.text
        result.attached = sorted(
            {one["line"] for one in self.best.get("attached", [])} | set(text.attached)
        )
        if text.error:
            self.fail(text.error, "fails")
        elif self.stepped():
            self.judge_run()
        else:
            self.judge_text()
        return result

    def stepped(self) -> bool:
        return any(one["steps"] for one in self.best.get("optimizers", []))

    def fail(self, why: str, verdict: str = "will not") -> None:
        self.result.why.append(why)
        self.result.verdict = verdict

    def note(self, text: str) -> None:
        if text not in self.result.notes:
            self.result.notes.append(text)

    # ---- of a script that has run ----

    def judge_run(self) -> None:
        best, result = self.best, self.result
        result.models, result.optimizers = best["models"], best["optimizers"]
        result.travels = best.get("travels", {})
        result.step_seconds = best["step_seconds"]
        steps = max(one["steps"] for one in result.optimizers)
        result.seen = f"run to step {steps} of its optimizer, {best['seconds']:.1f} s"
        result.verdict = "works"
        if not result.models:
            self.fail("the optimizer's parameters are in no module: nothing to attach")
        elif "refused" in best:
            self.refused(best["refused"])
        self.find_failure()
        self.find_thaws()
        self.find_every()
        self.note_models()
        self.note_optimizers()
        self.note_processes()
        self.note_data()
        if result.verdict in ("works", "fails"):
            self.find_lines()

    # ---- what happens later than attach ----

    def failure(self) -> dict[str, Any]:
        """The report of the process in which the script came to an error."""
        reports = self.run.reports if self.run else []
        for one in reports:
            if one["reason"] == "raised":
                return one
        ends = [one for one in reports if one["reason"] == "exit" and one["status"]]
        return ends[0] if ends else {}

    def find_failure(self) -> None:
        """Of a script that fails by itself, behind its first step."""
        said = self.failure()
        if not said or self.result.verdict != "works":
            return
        assert self.run is not None
        self.result.output = self.run.tail
        steps = max(one["steps"] for one in self.result.optimizers)
        behind = f"behind {some_steps(steps)} of its optimizer"
        if said["reason"] == "exit":
            self.fail(f"it exits with {said['status']} by itself, {behind}", "fails")
        else:
            at = place_text(said.get("at", []), self)
            self.fail(
                f"it raises by itself, {behind}{at}: {said['error']}; what is said "
                "here is as far as it came",
                "fails",
            )

    def find_thaws(self) -> None:
        """Parameters that are frozen at attach and trained later: attach leaves
        them out, and the node trains alone from then on, unless all travel."""
        result, text = self.result, self.text
        thawed = [name for one in result.models for name in one["thawed"]]
        frozen = sum(one["frozen"] for one in result.models)
        self.everything = bool(frozen and (thawed or text.thaws))
        if not self.everything:
            return
        if thawed:
            what = f"{some(thawed)} are frozen where attach stands and trained later"
        else:
            what = f"line {text.thaws[0]} lets frozen parameters train later"
        if result.attached and not text.everything:
            self.fail(
                f"{what}: from then on the node trains alone; give attach "
                '(line {}) params="all"'.format(result.attached[0])
            )
        elif not result.attached:
            self.note(
                f'{what}: params="all" lets them travel from the beginning, without '
                "which the node would train alone from then on"
            )

    def refused(self, why: str) -> None:
        self.fail(f"attach refuses it: {why.split(': ', 1)[-1]}")

    def find_every(self) -> None:
        """The smallest k that the hub's port allows: n nodes send and are sent a
        model's bytes each in k steps."""
        result = self.result
        if not result.travels or result.step_seconds <= 0:
            return
        rate = self.options.mbit * 1e6 / 8 * PAYLOAD
        for codec in ("float32", "int8"):
            load = self.options.nodes * result.travels[f"{codec}_bytes"]
            k = math.ceil(load / (rate * result.step_seconds))
            result.every[codec] = max(1, k)

    def note_models(self) -> None:
        for one in self.result.models:
            name = one["name"] or one["class"]
            if one["frozen"] and not (self.everything or self.text.everything):
                kinds = ", ".join(one["frozen_kinds"])
                self.note(
                    f"{name}: {one['frozen']:,} parameters are frozen ({kinds}) and "
                    "do not travel; they must be the same on all nodes"
                )
            if one["untrained"]:
                self.note(
                    f"{name}: {some(one['untrained'])} travel though no optimizer "
                    "moves them: requires_grad_(False) keeps them here"
                )
            for names in one["tied"][:3]:
                self.note(f"{name}: {' and '.join(names)} are one tensor, sent once")
            if one["low"]:
                self.note(
                    f"{name}: {', '.join(one['low'])} parameters get float32 beside "
                    "them, so that small changes are not lost"
                )
            if one["batch_norm"]:
                self.note(
                    f"{name}: {one['batch_norm']} BatchNorm layers; their statistics "
                    'are averaged over nodes (buffers="local": each keeps its own)'
                )
            if one["compiled"]:
                self.note(f"{name} is compiled: give attach that or the model inside")
        if self.best.get("kept"):
            self.note(
                f"each node keeps its own of what cannot be exchanged: "
                f"{some(self.best['kept'])}"
            )
        for one in self.best.get("others", []):
            self.note(
                f"{one['name'] or one['class']} stays here: no optimizer moves it"
            )
        if self.best.get("loose"):
            self.note(
                f"{self.best['loose']} tensors of the optimizers are in no module: "
                "they stay here"
            )

    def note_optimizers(self) -> None:
        result = self.result
        if self.in_backward():
            self.note(
                f"{len(result.optimizers)} optimizers step inside backward: attach "
                "without one, and call link.step() once an iteration"
            )
        elif len(result.optimizers) > 1:
            counts = ", ".join(
                f"{one['name'] or one['class']} {one['steps']}"
                for one in result.optimizers[:4]
            )
            self.note(
                f"{len(result.optimizers)} optimizers (steps: {counts}): an iteration "
                "is a step of the one that attach is given"
            )
        if any(one["grew"] for one in result.optimizers) and not self.everything:
            self.note(
                "parameter groups are added later: what they hold must be in the "
                'model when attach is called, and train then, or params="all"'
            )
        if any(one["scaler"] for one in result.optimizers):
            self.note("a GradScaler: a step that it leaves out is no iteration")
        if self.best.get("idle"):
            self.note(f"{self.best['idle']} optimizers made no step")

    def in_backward(self) -> bool:
        many = [one for one in self.result.optimizers if one["in_backward"]]
        return len(many) > 1 or len(many) == len(self.result.optimizers)

    def note_processes(self) -> None:
        assert self.run is not None
        stepped = [one for one in self.run.reports if one["reason"] == "steps"]
        group = self.best.get("distributed", {})
        if self.run.one_rank:
            self.note("it was run as the only one of its ranks (WORLD_SIZE=1)")
        alone = self.processes_alone()
        if alone:
            self.note_alone(alone, len(stepped))
        elif len(stepped) > 1 or group:
            self.note(
                f"{max(len(stepped), 1)} processes step: those of one PC are one "
                "node, and attach in each of them finds out by DDP's process group, "
                "or by LOCAL_RANK"
            )
        started = self.best.get("processes", [])
        if started and len(stepped) <= 1 and not group:
            self.note(f"it starts processes ({some(started)}); attach where it trains")

    def processes_alone(self) -> str:
        """Of several processes that step and that attach cannot tell to be one
        node: "copies", each has a model of its own; "shared", one model is in
        their common memory; "ranks", of a process group without DDP. "": no."""
        assert self.run is not None
        stepped = [one for one in self.run.reports if one["reason"] == "steps"]
        models = self.result.models
        if len(stepped) < 2 or not models:
            return ""
        group = self.best.get("distributed", {})
        if group:
            ddp = any(one["wrapper"] for one in models)
            return "" if ddp or group["local"] else "ranks"
        if not self.rank_name():
            return "unnamed"
        return "shared" if any(one["shared"] for one in models) else "copies"

    def rank_name(self) -> str:
        """The argument that tells the processes apart where attach stands."""
        assert self.run is not None
        places = [
            one.get("place", {}).get("numbers", {})
            for one in self.run.reports
            if one["reason"] == "steps"
        ]
        for name in places[0]:
            values = [one.get(name) for one in places]
            if len(set(values)) == len(values) and None not in values:
                return str(name)
        return ""

    def note_alone(self, alone: str, count: int) -> None:
        begin = f"{count} processes step"
        name = self.rank_name()
        if alone == "shared":
            self.note(
                f"{begin} on one model in their common memory: one of them attaches, "
                f"that with {name} 0, and its steps are the iterations; what comes "
                "from the hub reaches all"
            )
            return
        if alone == "ranks":
            self.note(
                f"{begin} in a process group, without DDP and without LOCAL_RANK: "
                "attach takes each for a node, which sends and receives all. Give "
                "attach the model in DDP, or set os.environ LOCAL_RANK (this "
                "process's number) and LOCAL_WORLD_SIZE (how many) before attach: "
                "then they are one node"
            )
            return
        how = "attach(..., name=...) another one in each of them"
        if alone == "copies":
            how = f"hence name= with {name}"
        self.note(
            f"{begin}, each with a model of its own and without a process group: each "
            "is a node, which sends and receives all by itself, and wants a name of "
            f"its own, {how}: of one STARSWITCH_NAME only the newest would stay. A "
            "process group and DDP around the model would make them one node"
        )

    def note_data(self) -> None:
        loaders = [one for one in self.best.get("loaders", []) if one["line"]]
        text = self.text.marks
        seeded = bool(self.best.get("seeds")) and "seed" in text
        if any(one["shard"] for one in loaders):
            return
        what = "its own shard: DataLoader(..., sampler=starswitch.Sampler(...))"
        if self.best.get("distributed"):
            what = "a DistributedSampler, with another seed= on each PC"
        if seeded:
            line = text["seed"][0]
            self.note(
                f"line {line} sets a seed, so that all nodes would draw the same "
                f"samples in the same order: give each another seed, or {what}"
            )
        elif loaders and "loader" in text:
            self.note(
                f"line {loaders[0]['line']}: each node draws from all of the data, in "
                f"an order of its own; better {what}"
            )

    # ---- the lines to add ----

    def find_lines(self) -> None:
        result = self.result
        if result.attached:
            return
        framework = next(
            (one["framework"] for one in result.optimizers if one["framework"]), ""
        )
        if framework:
            lines = next(one["lines"] for one in result.optimizers if one["framework"])
            self.framework_lines(framework, tuple(lines[0][:2]) if lines else None)
            return
        place = self.best.get("place", {})
        if not place:
            self.note("attach stands behind the line that makes the optimizer")
            return
        file = place["file"]
        clock = result.optimizers[self.best["clock"]]
        self.lines_for(file, place, clock)

    def lines_for(
        self, file: str, place: dict[str, Any], clock: dict[str, Any]
    ) -> None:
        source = self.of_file(file)[0]
        after = self.attach_line(file, place)
        lazy = any(one["lazy"] for one in self.result.optimizers)
        what = self.best["what"]
        if not what or not (clock["name"] or self.in_backward()):
            missing = [
                f"the {one['class']}"
                for one in [*self.result.models, clock]
                if not one["name"]
            ]
            self.note(
                f"attach(model, optimizer) stands behind line {after} of "
                f"{self.shown(file)}, where {some(missing)} has no name that a line "
                "could say: give it one"
            )
            return
        given = "" if self.in_backward() else f", {clock['name']}"
        if self.everything:
            given += ', params="all"'
        indent = indent_at(source, place["indent"])
        own = what.lstrip('{"').startswith("self.") or ": self." in what
        own = own or (bool(given) and clock["name"].startswith("self."))
        link = "self.link" if own else "link"
        shown = self.shown(file)
        add = self.result.lines.append
        alone = self.processes_alone()
        if alone == "copies":
            add(Line(shown, self.import_line(file), "import socket"))
            name = self.rank_name()
            given += f', name=f"{{socket.gethostname()}}-{{{name}}}"'
        add(Line(shown, self.import_line(file), "import starswitch"))
        call = f"starswitch.attach({what}{given})"
        if alone == "shared":
            call = f"if {self.rank_name()} == 0:\n{indent}    {link} = {call}"
            add(Line(shown, after, f"{indent}{call}"))
            return
        add(Line(shown, after, f"{indent}{link} = {call}"))
        if place["loop"]:
            self.note(
                f"attach stands in the loop of line {place['loop']}: each pass is the "
                "same node in the same run, and a new model is given what the run "
                "has learnt; where passes are to be apart, as those of a "
                "cross-validation, give each a hub of its own"
            )
        self.attach_again(file, place, what, given.removeprefix(f", {clock['name']}"))
        if lazy:
            self.note("lazy modules: run one batch through the model before attach")
        self.report_line(clock, link, place)

    def train_line(self, file: str, place: dict[str, Any]) -> int:
        """The line of attach's function that steps, or calls who does; 0: that is
        elsewhere."""
        name = place["function"] or "<module>"
        lines = [
            one[1]
            for optimizer in self.result.optimizers
            for one in optimizer["lines"]
            if one[0] == file and one[2] == name and one[3] == place["first"]
        ]
        return min([line for line in lines if line > place["line"]], default=0)

    def attach_again(
        self, file: str, place: dict[str, Any], what: str, options: str
    ) -> None:
        """Behind optimizers that the same function makes once it has trained, as
        for a second phase."""
        trains = self.train_line(file, place)
        if not trains or self.in_backward() or len(self.result.optimizers) > 1:
            return
        source = self.of_file(file)[0]
        for one in self.made_in(file):
            here = one.scope.split(".")[-1] == place["function"]
            if here and one.line > trains:
                indent = indent_at(source, one.line)
                link = "self.link" if one.name.startswith("self.") else "link"
                text = (
                    f"{indent}{link} = starswitch.attach({what}, {one.name}{options})"
                )
                self.result.lines.append(Line(self.shown(file), one.end, text))
                self.note(
                    f"line {one.line} makes another optimizer, which attach is told of "
                    "again: under the same name it is the same node"
                )

    def made_in(self, file: str) -> list[Statement]:
        if os.path.abspath(file) == os.path.abspath(self.options.script):
            return self.text.optimizers
        return []

    def attach_line(self, file: str, place: dict[str, Any]) -> int:
        """Behind what makes the optimizer, and behind what loads or prepares it
        further down in the same function, before that begins to train."""
        source, ends, _, loads = self.of_file(file)
        after: int = ends.get(place["line"], place["line"])
        until = self.train_line(file, place) or len(source)
        for one in loads:
            here = one.scope.split(".")[-1] == place["function"]
            indent = indent_at(source, one.line) == indent_at(source, place["indent"])
            if here and indent and one.line < until:
                after = max(after, one.end)
        return after

    def report_line(
        self, clock: dict[str, Any], link: str, place: dict[str, Any]
    ) -> None:
        """Behind the clock's step, where the loss has a name."""
        steps = [one for one in clock["lines"] if not one[0].startswith("<")]
        if not steps:
            return
        file, line, function, first, own = self.with_loss(steps)
        source, ends, losses, _ = self.of_file(file)
        if self.in_backward():
            near = [one for one in losses if abs(one.line - line) < 60]
            line = near[-1].line if near else line
        else:
            near = losses_of(losses, function, first)
        before = [one for one in near if one.line <= line] or near
        loss = before[-1].name if before else ""
        if not loss and self.in_backward():
            text = f"{indent_at(source, line)}{link}.step()"
        elif not loss:
            self.note_unnamed(link, line)
            return
        else:
            text = f"{indent_at(source, line)}{link}.report(loss={loss})"
        if link == "self.link":
            known = own == place["self"]
        else:
            known = file == place["file"] and (
                not place["function"] or first == place["first"]
            )
        if loss and self.in_backward():
            text += f"; {link}.step()"
        elif not known:
            self.note(
                f"link.report(loss={loss}) behind line {ends.get(line, line)} is for "
                f"the hub's table, and optional: give link to {function}() for it"
            )
            return
        self.result.lines.append(Line(self.shown(file), ends.get(line, line), text))

    def with_loss(self, steps: list[Call]) -> Call:
        """The innermost of the calls that led to the step whose function names a
        loss: the step itself may stand in a wrapper of the script's own."""
        for one in steps:
            if losses_of(self.of_file(one[0])[2], one[2], one[3]):
                return one
        return steps[0]

    def note_unnamed(self, link: str, line: int) -> None:
        self.note(
            f"the loss has no name that {link}.report(loss=...) behind line {line} "
            "could use; that line is for the hub's table, and optional: give the loss "
            "a name for it"
        )

    def framework_lines(self, framework: str, at: tuple[str, int] | None) -> None:
        """Before the line that hands the loop to a framework's trainer."""
        module, call, method = FRAMEWORK_LINES[framework]
        file, line = at or (self.result.script, 0)
        source = self.of_file(file)[0]
        name = "trainer"
        found = re.search(rf"([\w.]+)\.{method}\(", source[line - 1] if line else "")
        if found:
            name = found[1]
        shown = self.shown(file)
        text = indent_at(source, line) + call.format(trainer=name)
        what = "patch" if call.startswith("patch") else "StarswitchCallback"
        self.result.lines += [
            Line(
                shown,
                self.import_line(file),
                f"from starswitch.integrations.{module} import {what}",
            ),
            Line(shown, max(0, line - 1), text),
        ]

    def of_file(
        self, file: str
    ) -> tuple[list[str], dict[int, int], list[Statement], list[Statement]]:
        if os.path.abspath(file) == os.path.abspath(self.options.script):
            text, source = self.text, self.source
        else:
            from . import _check_static

            whole = Path(file).read_text(encoding="utf-8", errors="replace")
            text, source = _check_static.read(whole, file), whole.splitlines()
        return source, text.ends, text.losses, text.loads

    def import_line(self, file: str) -> int:
        if os.path.abspath(file) == os.path.abspath(self.options.script):
            return self.text.imports_end
        return 0

    def shown(self, file: str) -> str:
        if os.path.abspath(file) == os.path.abspath(self.options.script):
            return self.result.script
        return os.path.relpath(file)

    # ---- of a script that did not get to a step ----

    def judge_text(self) -> None:
        result, text = self.result, self.text
        self.why_no_step()
        others = sorted(text.frameworks & OTHER_FRAMEWORKS.keys())
        torch = text.frameworks & {"torch", "transformers", "lightning", "accelerate"}
        if others and not torch:
            self.fail(f"it trains by {others[0]}: {OTHER_FRAMEWORKS[others[0]]}")
            return
        if "deepspeed" in text.frameworks:
            self.fail("DeepSpeed shards the optimizer: attach needs whole parameters")
            return
        if "fsdp" in text.marks:
            self.fail(
                f"line {text.marks['fsdp'][0]} shards the model (FSDP, DTensor): each "
                "process holds a part of it only; attach needs whole parameters, as "
                "with DDP"
            )
            return
        if result.verdict != "fails":
            result.verdict = "not known"
        if self.run is None and text.optimizers and text.steps:
            result.verdict = "works"
            result.seen = "read, not run"
        self.lines_of_text()
        self.notes_of_text()

    def lines_of_text(self) -> None:
        text, result = self.text, self.result
        if result.attached or not text.optimizers:
            if "trainer" in text.marks and "transformers" in text.frameworks:
                self.framework_lines("transformers", None)
            elif "lightning" in text.frameworks:
                self.framework_lines("lightning", None)
            elif not text.optimizers and not result.attached:
                result.why.append("no optimizer of torch.optim can be seen in its text")
            return
        made = text.optimizers[-1]
        models = text.models or ["model"]
        what = models[0]
        if len(models) > 1:
            what = "{" + ", ".join(f'"{m.split(".")[-1]}": {m}' for m in models) + "}"
        step = text.steps[-1] if text.steps else None
        clock = step.name if step and len(text.optimizers) > 1 else made.name
        own = what.startswith("self.") or clock.startswith("self.")
        link = "self.link" if own else "link"
        add = result.lines.append
        indent = indent_at(self.source, made.line)
        add(Line(result.script, text.imports_end, "import starswitch"))
        call = f"{indent}{link} = starswitch.attach({what}, {clock})"
        add(Line(result.script, made.end, call))
        if step:
            loss = text.losses[-1].name if text.losses else "loss"
            if not loss:
                self.note_unnamed(link, step.end)
                return
            indent = indent_at(self.source, step.line)
            report = f"{indent}{link}.report(loss={loss})"
            add(Line(result.script, step.end, report))

    def notes_of_text(self) -> None:
        marks = self.text.marks
        notes = {
            "lazy": "line {}: a lazy module; run one batch before attach",
            "scaler": "line {}: a GradScaler; a step that it skips is no iteration",
            "in_backward": "line {}: an optimizer in backward; attach without one, and "
            "call link.step() once an iteration",
            "seed": "line {} sets a seed: give each node another one, or its own shard",
            "spawn": "line {} starts processes: attach in those that train",
            "group": "line {}: torch.distributed; the processes of one PC are one node",
        }
        for mark, note in notes.items():
            if mark in marks:
                self.note(note.format(marks[mark][0]))
        if self.text.thaws:
            self.note(
                f"line {self.text.thaws[0]} lets parameters train once it has begun: "
                'where they are frozen at attach, that needs params="all"'
            )
        if len(self.text.optimizers) > 1:
            self.note(
                "several optimizers: an iteration is a step of the one that "
                "attach is given"
            )

    def why_no_step(self) -> None:
        """Why the script, which was run, made no step."""
        run, best, result = self.run, self.best, self.result
        if run is None:
            return
        result.output = run.tail
        reason = best.get("reason", "")
        if "failure" in best:
            result.why.append(
                f"check itself failed: {best['failure'].splitlines()[-1]}"
            )
        at = place_text(best.get("at", []), self)
        if (
            reason == "raised"
            and best["kind"] == "EOFError"
            and "stdin" in self.text.marks
        ):
            line = self.text.marks["stdin"][0]
            result.why.append(
                f"line {line} asks on standard input, where nothing is: "
                "give check a file with the answers (< answers)"
            )
        elif reason == "raised" and best.get("kind") == "ModuleNotFoundError":
            result.why.append(
                f"{best['error'].split(': ', 1)[-1]}{at}: install it where check runs"
            )
        elif reason == "raised":
            self.fail(f"it raises before its first step{at}: {best['error']}", "fails")
        elif reason == "exit":
            hint = ""
            if best["status"] == 2:
                hint = "; arguments of its own stand behind --"
            result.why.append(
                f"it exits with {best['status']} before its first step{hint}"
            )
        elif reason == "ended":
            result.why.append(self.why_ended())
        elif reason == "time":
            result.why.append(
                f"no step within {self.options.time:g} s{at}: give it "
                "more (--time), or less data"
            )
        elif run.status is not None:
            result.why.append(
                f"its process ended before step {self.options.steps} of its "
                f"optimizer, {status_text(run.status)}"
            )
        else:
            result.why.append(
                f"no step within {self.options.time:g} s, and it cannot "
                "be asked where it is"
            )

    def why_ended(self) -> str:
        if not self.best.get("torch"):
            return "it ended without having imported torch"
        if self.best.get("optimizers"):
            return "it ended, and its optimizer made no step"
        return "it ended without an optimizer of torch: is the loop in another file?"


# Of whose trainer: our module, what is called before which method of it.
FRAMEWORK_LINES = {
    "transformers": ("huggingface", "patch({trainer})", "train"),
    "lightning": (
        "lightning",
        "{trainer}.callbacks.append(StarswitchCallback())",
        "fit",
    ),
}


def indent_at(source: list[str], line: int) -> str:
    text = source[line - 1] if 0 < line <= len(source) else ""
    return text[: len(text) - len(text.lstrip())]


def place_text(at: list[Any], judge: Judge) -> str:
    if not at:
        return ""
    file, line, function = at[0]
    where = f" ({judge.shown(file)}, line {line}"
    return where + (")" if function == "<module>" else f", in {function})")


def some_steps(count: int) -> str:
    return "a step" if count == 1 else f"{count} steps"


def status_text(status: int) -> str:
    if status < 0:
        return f"by {signal.Signals(-status).name}"
    return f"with {status}"


def judge(
    options: argparse.Namespace, source: str, text: Text, run: Run | None
) -> Result:
    return Judge(options, source, text, run).judge()
