"""Hugging Face's Trainer and Lightning against real hubs, with models made from
nothing: no downloads."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import free_port, wait_offers

torch.set_num_threads(1)

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"


class Centre:
    """Notes when a link's center() is entered and left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from contextlib import contextmanager

        import starswitch._link

        self.inside = False
        self.entered = 0
        real = starswitch._link.Link.center

        @contextmanager
        def center(link: Any, **given: Any) -> Any:
            with real(link, **given):
                self.inside = True
                self.entered += 1
                try:
                    yield
                finally:
                    self.inside = False

        monkeypatch.setattr(starswitch._link.Link, "center", center)


# ---- Hugging Face ----


def language(tmp_path: Path, steps: int, **arguments: Any) -> Any:
    """A Trainer of a tiny GPT-2 that learns to count, and its arguments."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=1, n_head=2, n_embd=16, vocab_size=32, n_positions=16
    )
    rows = [
        {"input_ids": ids, "labels": ids}
        for i in range(64)
        for ids in [[(i + j) % 32 for j in range(8)]]
    ]
    return transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config),
        args=transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=steps,
            per_device_train_batch_size=4,
            learning_rate=1e-2,
            logging_steps=5,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            **arguments,
        ),
        train_dataset=rows,
        eval_dataset=rows[:8],
    )


def test_huggingface_callback_attaches_reports_and_leaves(
    hub: Any, tmp_path: Path
) -> None:
    trainer = language(tmp_path, 60, gradient_accumulation_steps=2)
    from starswitch.integrations.huggingface import StarswitchCallback
    from transformers import TrainerCallback

    running = hub("--every", 5, "--delay", 1, "--init", "hub")
    callback = StarswitchCallback(name="hf")
    seen: list[Any] = []

    class Look(TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            wait_offers(callback.link)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            assert callback.link is not None
            seen.append(callback.link.state())
            time.sleep(0.03)  # a node tells its loss once a second

    trainer.add_callback(callback)
    trainer.add_callback(Look())
    result = trainer.train()
    assert callback.link is not None
    assert [one.iteration for one in seen] == list(range(1, 61))
    assert seen[-1].offered == 12
    assert seen[-1].applied >= 5
    assert not callback.link.attached
    node = running.status()["nodes"][0]
    assert node["name"] == "hf"
    assert node["gone"]
    assert 0 < node["loss"] < 4
    assert result.training_loss < 3.4


def test_huggingface_samples_of_a_step_are_those_of_all_its_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = language(tmp_path, 3, gradient_accumulation_steps=2)
    from starswitch._link import Link
    from starswitch.integrations.huggingface import StarswitchCallback

    told: list[Any] = []
    real = Link.report
    monkeypatch.setattr(
        Link, "report", lambda link, **given: (told.append(given), real(link, **given))
    )
    trainer.add_callback(StarswitchCallback())
    trainer.train()
    assert [one["samples"] for one in told if "samples" in one] == [8, 8, 8]


def test_huggingface_training_stops_when_the_run_is_over(
    hub: Any, tmp_path: Path
) -> None:
    trainer = language(tmp_path, 5000)
    from starswitch.integrations.huggingface import patch

    hub(
        *("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean"),
        *("--iterations", 40),
    )
    callback = patch(trainer)
    trainer.train()
    assert 40 <= trainer.state.global_step < 4000
    assert callback.link is not None
    assert callback.link.over


def test_huggingface_patch_evaluates_what_the_hub_holds(
    hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = language(tmp_path, 20, eval_strategy="steps", eval_steps=10)
    from starswitch.integrations.huggingface import StarswitchCallback, patch

    hub("--every", 5, "--delay", 1)
    centre = Centre(monkeypatch)
    loop = trainer.evaluation_loop
    inside: list[bool] = []
    monkeypatch.setattr(
        trainer,
        "evaluation_loop",
        lambda *a, **k: (inside.append(centre.inside), loop(*a, **k))[1],
    )
    callback = patch(trainer, name="hf")
    assert patch(trainer) is callback
    with pytest.raises(ValueError, match="own options"):
        patch(trainer, name="other")
    assert trainer.evaluate()["eval_loss"] > 0  # before training: no link
    trainer.train()
    trainer.evaluate()  # perhaps of a checkpoint, and not of a replica
    assert inside == [False, True, True, False]
    assert centre.entered == 2
    count = sum(
        isinstance(one, StarswitchCallback)
        for one in trainer.callback_handler.callbacks
    )
    assert count == 1


def test_huggingface_without_a_hub_results_are_those_of_the_script(
    tmp_path: Path,
) -> None:
    from starswitch.integrations.huggingface import patch

    results = []
    for patched in (False, True):
        trainer = language(tmp_path, 10, seed=3)
        if patched:
            patch(trainer)
        trainer.train()
        results.append([one.detach().clone() for one in trainer.model.parameters()])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_huggingface_trains_an_adapter_and_sends_only_that(
    hub: Any, tmp_path: Path
) -> None:
    peft = pytest.importorskip("peft")
    trainer = language(tmp_path, 20)
    from starswitch.integrations.huggingface import StarswitchCallback
    from transformers import Trainer

    running = hub("--every", 4, "--delay", 0, "--policy", "mean", "--init", "hub")
    model = peft.get_peft_model(
        trainer.model,
        peft.LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True),
    )
    adapted = Trainer(
        model=model, args=trainer.args, train_dataset=trainer.train_dataset
    )
    callback = StarswitchCallback()
    adapted.add_callback(callback)
    adapted.add_callback(_Waits(callback))
    adapted.train()
    assert callback.link is not None
    assert callback.link.state().applied >= 4
    # Beside the adapter only the frozen part's fingerprint, one element.
    held = running.export()
    frozen = [name for name in held if "lora" not in name]
    assert len(frozen) == 1 and frozen[0].startswith("frozen.")
    assert held[frozen[0]].numel() == 1 and len(held) == 3


def _Waits(callback: Any) -> Any:
    from transformers import TrainerCallback

    class Waits(TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            wait_offers(callback.link)

    return Waits()


# ---- Lightning ----


PACKAGES = ["lightning.pytorch", "pytorch_lightning"]


def module_of(pl: Any, optimizers: int = 1) -> Any:
    """A LightningModule that learns a line; with two optimizers, by hand."""

    class Line(pl.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.line = torch.nn.Linear(4, 1)
            self.other = torch.nn.Linear(4, 1)
            self.automatic_optimization = optimizers == 1
            self.validated: list[Any] = []
            self.look: Any = None

        def training_step(self, batch: Any, index: int) -> Any:
            x, y = batch
            loss = (self.line(x) - y).square().mean()
            if optimizers > 1:
                for one in self.optimizers():
                    one.zero_grad()
                (loss + self.other(x).square().mean()).backward()
                for one in self.optimizers():
                    one.step()
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            if self.look is not None:
                self.validated.append(self.look())

        def configure_optimizers(self) -> Any:
            one = torch.optim.SGD(self.line.parameters(), lr=0.05)
            if optimizers == 1:
                return one
            return one, torch.optim.Adam(self.other.parameters())

    return Line()


def trainer_of(pl: Any, tmp_path: Path, callback: Any, **given: Any) -> Any:
    return pl.Trainer(
        accelerator="cpu",
        callbacks=[callback],
        default_root_dir=str(tmp_path),
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        **{"max_epochs": 1, **given},
    )


def data(count: int = 60) -> Any:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(8 * count, 4, generator=random)
    rows = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    return torch.utils.data.DataLoader(rows, batch_size=8)


@pytest.fixture(params=PACKAGES)
def pl(request: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(request.param)


def make_callback(wait: bool = True, **options: Any) -> Any:
    from starswitch.integrations.lightning import StarswitchCallback

    class Waits(StarswitchCallback):
        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            super().on_fit_start(trainer, pl_module)
            if wait:
                wait_offers(self.link)

    return Waits(**options)


def test_lightning_callback_attaches_reports_and_leaves(
    hub: Any, pl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = hub("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean")
    centre = Centre(monkeypatch)
    callback = make_callback(name="pl")
    module = module_of(pl)
    module.look = lambda: centre.inside
    trainer = trainer_of(pl, tmp_path, callback, accumulate_grad_batches=2)
    trainer.fit(module, data(60), data(2))
    state = callback.link.state()
    assert state.iteration == 30
    assert state.offered >= 6
    assert state.applied >= 4
    assert not state.attached
    node = running.status()["nodes"][0]
    assert node["name"] == "pl"
    assert node["gone"]
    # The sanity check, the validation of one epoch, and one behind fit, perhaps
    # of a checkpoint.
    trainer.validate(module, data(2), verbose=False)
    assert module.validated == [False, False, True, True, False, False]
    assert not centre.inside


def test_lightning_samples_of_a_step_are_those_of_all_its_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    from starswitch._link import Link
    from starswitch.integrations.lightning import StarswitchCallback

    told: list[Any] = []
    real = Link.report
    monkeypatch.setattr(
        Link, "report", lambda link, **given: (told.append(given), real(link, **given))
    )
    trainer = trainer_of(pl, tmp_path, StarswitchCallback(), accumulate_grad_batches=3)
    trainer.fit(module_of(pl), data(6))
    assert [one["samples"] for one in told if "samples" in one] == [24, 24]
    assert sum("loss" in one for one in told) == 6


def test_lightning_a_fit_that_fails_leaves_the_run(hub: Any, tmp_path: Path) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    running = hub("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean")
    callback = make_callback(name="pl")
    module = module_of(pl)

    def fail() -> None:
        raise RuntimeError("a bug of the user's")

    module.look = fail
    trainer = trainer_of(pl, tmp_path, callback, num_sanity_val_steps=0)
    with pytest.raises(RuntimeError, match="a bug of the user's"):
        trainer.fit(module, data(20), data(1))
    assert not callback.link.attached
    assert running.status()["nodes"][0]["gone"]


def test_lightning_fit_stops_when_the_run_is_over(hub: Any, tmp_path: Path) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    hub(
        *("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean"),
        *("--iterations", 40),
    )
    callback = make_callback()
    trainer = trainer_of(pl, tmp_path, callback, max_epochs=100)
    trainer.fit(module_of(pl), data(60))
    assert 40 <= trainer.global_step < 3000
    assert callback.link.over


def test_lightning_of_several_optimizers_one_is_the_clock(
    hub: Any, tmp_path: Path
) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    hub("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean")
    callback = make_callback(clock=1)
    trainer_of(pl, tmp_path, callback).fit(module_of(pl, 2), data(20))
    assert callback.link.state().iteration == 20
    from starswitch.integrations.lightning import StarswitchCallback

    with pytest.raises(ValueError, match="clock is 2"):
        trainer_of(pl, tmp_path, StarswitchCallback(clock=2)).fit(
            module_of(pl, 2), data(2)
        )


def test_lightning_who_resumes_is_the_same_node(hub: Any, tmp_path: Path) -> None:
    pl = pytest.importorskip("lightning.pytorch")
    hub("--every", 5, "--delay", 0, "--init", "hub", "--policy", "mean")
    callback = make_callback(name="same")
    trainer = trainer_of(pl, tmp_path, callback)
    trainer.fit(module_of(pl), data(10))
    file = tmp_path / "kept.ckpt"
    trainer.save_checkpoint(file)
    other = make_callback(wait=False)  # what the hub has comes with the first step
    again = trainer_of(pl, tmp_path, other, max_epochs=2)
    again.fit(module_of(pl), data(10), ckpt_path=str(file), weights_only=False)
    assert other.link._options.name == "same"
    assert again.global_step == 20


RANK = """
    import lightning.pytorch as pl
    from pathlib import Path
    from test_faces_frameworks import data, module_of, trainer_of
    from starswitch.integrations.lightning import StarswitchCallback

    class Waits(StarswitchCallback):
        def on_fit_start(self, trainer, pl_module):
            super().on_fit_start(trainer, pl_module)
            self.link.wait_ready(60)

    trainer = trainer_of(pl, Path("."), Waits(), strategy="ddp", devices=2)
    module = module_of(pl)
    del module.other  # DDP wants all parameters used
    trainer.fit(module, data(8))
"""


def test_lightning_ranks_of_slurm_are_one_node(hub: Any, script: Any) -> None:
    """SLURM sets no LOCAL_RANK: the module in DDP says it."""
    pytest.importorskip("lightning")
    running = hub("--every", 2)
    slurm = {
        "SLURM_NTASKS": "2",
        "SLURM_NTASKS_PER_NODE": "2",
        "SLURM_JOB_NAME": "test",
        "SLURM_JOB_ID": "1",
        "SLURM_NODEID": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    ranks = [
        script(RANK, SLURM_PROCID=str(i), SLURM_LOCALID=str(i), **slurm)
        for i in range(2)
    ]
    for rank in ranks:
        assert rank.wait() == 0, rank.text
    assert len(running.told("node_joined")) == 1
