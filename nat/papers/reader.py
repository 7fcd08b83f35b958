"""The numbers of cells, read from the results of a run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nat.data.splits import VALID
from nat.errors import told_of
from nat.measures import results
from nat.measures.known import LATENCY, MEASURES, SCORE, TRAINING
from nat.measures.results import Number
from nat.options import cached_method, require_at
from nat.papers.cells import QUOTED, Cell, Shown, training_of

NOT_RUN = "not run"
NOTHING = Number(None, reason=results.NOT_AVAILABLE)


class Reader:
    """Reads each file below a folder once; all raise UserErrors for damaged and missing files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ran(self, cell: Cell) -> bool:
        """Tell whether the file of a cell exists."""
        return cell.source is not None and (self.root / cell.path).exists()

    @cached_method
    def _content(self, path: str) -> dict[str, Any]:
        return results.read_file(self.root / path)

    def file(self, cell: Cell) -> dict[str, Any]:
        """Read all that the file of a cell says, if it says that it is of this cell."""
        results.check_names(self.root / cell.path, self._content(cell.path), vars(cell.source))
        return self._content(cell.path)

    @cached_method
    def numbers(self, path: str, part: str) -> dict[str, Number]:
        """Read the numbers of a part of a file, by measure."""
        return results.read(self.root / path, part, self._content(path))

    def number(self, cell: Cell) -> Number:
        """Read the number of a cell, or the reason why it has none.

        Of a relative measure it is the number that is compared, such as the latency.
        """
        if not self.ran(cell):
            return Number(None, reason=cell.reason or NOT_RUN)
        self.file(cell)
        known, name = MEASURES[cell.measure], cell.measure
        numbers = self.numbers(cell.path, cell.part)
        if name in ("l_target", "l_mple") and "target_bleu" in numbers:
            # Huang et al. 2022, equation 10, of which beta is the setting of the cell; the other
            # two losses are those of the validation set, as in section 4
            value = -float(cell.setting) * (numbers["target_bleu"].value or 0.0)
            if name == "l_mple":
                held_out = self.numbers(cell.path, VALID)
                value += sum(held_out[each].value or 0.0 for each in ("l_nat", "l_input"))
            return Number(value)
        if known.relative:
            name = {LATENCY: "latency", TRAINING: "parameters"}[known.source]
        if name not in numbers and known.source == SCORE:
            older = "these scores are older than the measure; --forcerun"
            return Number(None, reason=f"{NOT_RUN}: {older} {cell.path} makes them again")
        number = numbers.get(name, NOTHING)
        # what a training warns of is about its model, not about what is counted in it
        return replace(number, flags=()) if known.source == TRAINING else number

    def of_training(self, cell: Cell, measure: str) -> float | None:
        """Read a measure of the training behind a cell, as far as there is a record of it."""
        record = training_of(cell)
        if record is None or not (self.root / record.path).exists():
            return None
        results.check_names(self.root / record.path, self._content(record.path), vars(record))
        return self.numbers(record.path, TRAINING).get(measure, NOTHING).value

    def analysed(self, of: Shown, keys: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read parts of an analysis by keys such as `map.cosines`; of one that is not, a hint.

        Keys that begin with `measures` are those of the numbers of the split. Of several seeds the
        first that ran is read; before its parts stands what a record says of it.
        """
        cell = next((cell for cell in of.own if self.ran(cell)), None)
        if cell is None:
            return {"status": QUOTED if of.first.reason == QUOTED else NOT_RUN}, {}
        content = self.file(cell)
        of_split = {**content.get("splits", {}).get(cell.split, {})}
        of_split["measures"] = content["measures"].get(cell.split, {})
        with told_of(f"{cell.path}, split {cell.split}: "):
            parts = {name: require_at(of_split, key) for name, key in keys.items()}
        said = {"status": "run", "seeds": str(cell.seed), "sources": cell.path}
        return {**said, "remark": parts.get("caption", "")}, parts
