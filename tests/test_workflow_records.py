"""Results without a record of the configuration that made them."""

from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from nat.errors import UserError
from nat.workflow.records import refuse_unknown_results

OUTPUTS = [
    "results/demo/models/{system}/seed{seed,[0-9]+}/model.pt",
    "results/corpora/{corpus}/text",
    "results/demo/models/{system}/seed{seed,[0-9]+}/{engine,ctranslate2|onnx}",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()


def record(kind: str, path: str, length: int = 254) -> None:
    """As Snakemake files a record: names of at most 255 characters."""
    name = urlsafe_b64encode(path.encode()).decode()
    *parents, last = (name[start : start + length] for start in range(0, len(name), length))
    file = Path(".snakemake", kind, *(f"@{part}" for part in parents), last)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def test_results_with_a_record_are_accepted() -> None:
    refuse_unknown_results(OUTPUTS)
    model, text = f"results/demo/models/{'long' * 50}/seed1/model.pt", "results/corpora/toy/text"
    beside = ("seed1/.model.pt.sha256", "seed1/checkpoints/run.json", "notes.txt")
    for path in (model, text, *(f"results/demo/models/at/{name}" for name in beside)):
        make(path)
    record("metadata", model)
    record("incomplete", text)  # a job is making it, or was killed: Snakemake makes it again
    refuse_unknown_results(OUTPUTS)


def test_results_without_a_record_are_refused() -> None:
    for path in ("results/demo/models/at/seed1/model.pt", "results/demo/models/nat/seed2/model.pt"):
        make(path)
    with pytest.raises(UserError, match=r"models/at/seed1/model.pt and 1 more: .* no record"):
        refuse_unknown_results(OUTPUTS)
    record("metadata", "results/demo/models/at/seed1/model.pt")
    with pytest.raises(UserError, match=r"models/nat/seed2/model.pt: .* no record"):
        refuse_unknown_results(OUTPUTS)


def test_a_folder_that_a_wildcard_stands_for_is_refused_without_a_record() -> None:
    make("results/demo/models/at/seed1/onnx/encoder.onnx")
    with pytest.raises(UserError, match=r"models/at/seed1/onnx: .* no record"):
        refuse_unknown_results(OUTPUTS)


def test_results_on_another_disk_are_refused_without_a_record() -> None:
    make("elsewhere/at/seed1/model.pt")
    Path("results/demo").mkdir(parents=True)
    Path("results/demo/models").symlink_to(Path("elsewhere").resolve())
    with pytest.raises(UserError, match=r"models/at/seed1/model.pt: .* no record"):
        refuse_unknown_results(OUTPUTS)


def test_damaged_records_are_told() -> None:
    make("results/corpora/toy/text")
    Path(".snakemake/metadata").mkdir(parents=True)
    Path(".snakemake/metadata/x").touch()
    with pytest.raises(UserError, match="metadata is damaged"):
        refuse_unknown_results(OUTPUTS)
