"""What the files of `config/` say at the scale of a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nat import registry
from nat.configuration import families
from nat.configuration.entries import Entries
from nat.configuration.file_names import file_of
from nat.configuration.json_values import copied
from nat.configuration.lengths import in_proportion
from nat.configuration.models import Latency, Recipe, Scale, Task, read_model
from nat.data.candidates import Text
from nat.data.splits import local_files, split_names
from nat.errors import UserError, told_of
from nat.traits import NetworkPart
from nat.transformer.architecture import Architecture
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED, has_compiled_parts


@dataclass(frozen=True, eq=False)
class AtScale(Entries):
    """Tasks, sizes, recipes, and what can be run."""

    @property
    def run(self) -> str:
        """Name of the folder in `results/` for all results that depend on the scale."""
        name = self.overrides.name
        return self.scale if name is None else f"{self.scale}@{name}"

    @property
    def choices(self) -> dict[str, str]:
        """Keys and values for `snakemake --config` that choose this configuration."""
        found = {"scale": self.scale}
        if self.overrides.name is not None:
            found["name"] = self.overrides.name
        if self.overrides.given:
            found["override"] = " ".join(self.overrides.given)
        return found

    @property
    def arguments(self) -> list[str]:
        """Command line arguments with which a program loads this configuration."""
        return [word for key, value in self.choices.items() for word in (f"--{key}", value)]

    @cached_property
    def scale_settings(self) -> Scale:
        """The file of the scale."""
        return read_model(Scale, self._raw_scale, file_of("scales", self.scale))

    @property
    def seeds(self) -> list[int]:
        """Seeds that every system is trained with."""
        return list(self.scale_settings.seeds)

    def seeds_of(self, paper: str) -> list[int]:
        """Seeds of the trainings that a paper shows: its own, or those of the scale."""
        return list(self.paper(paper).seeds or self.seeds)

    @property
    def teacher_seed(self) -> int:
        """Seed of the teacher that distils: every student, of any seed, learns from this one."""
        return self.seeds[0]

    @property
    def mirror(self) -> Path | None:
        """Folder with files HOST/PATH that are used instead of downloads; it need not exist."""
        mirror = self.settings.mirror
        return None if mirror is None else self.root / Path(mirror).expanduser()

    @property
    def threads(self) -> int:
        """Threads of one training on CPU."""
        return self.settings.threads

    @property
    def latency(self) -> Latency:
        """How latencies are measured."""
        own = self.scale_settings.latency
        return own.model_copy(update={"threads": own.threads or self.threads})

    @property
    def shards(self) -> dict[str, int]:
        """Number of jobs that decode each split."""
        shards: dict[str, int] = dict(self.scale_settings.shards)
        for corpus in self.corpora:
            for split in split_names(self.corpus(corpus)):
                shards.setdefault(split, shards["test"])
        return shards

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Tasks of this scale and the corpora that it uses for them."""
        tasks = self.scale_settings.tasks.items()
        return {name: task.corpus if isinstance(task, Task) else task for name, task in tasks}

    def heading(self, task: str) -> str | None:
        """What the scale says that tables call a task; None where it says nothing."""
        found = self.scale_settings.tasks.get(task)
        return found.heading if isinstance(found, Task) else None

    @property
    def all_tasks(self) -> list[str]:
        """Tasks that any scale knows."""
        return sorted({task for scale in self.files["scales"].values() for task in scale["tasks"]})

    def task(self, task: str) -> str:
        """The corpus that this scale uses for a task.

        Raises:
            UserError: if the scale has none for it.
        """
        where = f"{file_of('scales', self.scale)}: key 'tasks'"
        return self.tasks[families.require(task, self.tasks, "task", where)]

    def recipe(self, name: str) -> Recipe:
        """A recipe with the changes of the scale and of the command line."""
        return read_model(Recipe, self._recipe(name), self.file_of("recipes", name))

    def architecture(self, size: str) -> Architecture:
        """The architecture of a size at this scale."""
        sizes = self.scale_settings.sizes
        where = f"{file_of('scales', self.scale)}: key 'sizes'"
        return sizes[families.require(size, sizes, "size", where)]

    def _recipe(self, name: str) -> dict[str, Any]:
        """`recipe`, JSON-able and not validated."""
        written = copied(self._find("recipes", name))
        change = self._raw_scale["recipes"].get(name, {})
        override = self.overrides.recipes.get(name, {})
        if "as" in change:
            other = self._recipe(change["as"])
            recipe = in_proportion(other, families.merged(other, override), override)
        else:
            change = families.merged(change, override)
            recipe = in_proportion(written, families.merged(written, change), change)
        return {key: recipe[key] for key in recipe if key not in ("description", "tasks")}

    def replacements(self, recipe: str) -> list[str]:
        """A recipe, and the one that replaces it at this scale (key `as`), and so on.

        Raises:
            UserError: for a circle.
        """
        found = [recipe]
        while other := self._raw_scale["recipes"].get(found[-1], {}).get("as"):
            if other in found:
                raise UserError(
                    f"{file_of('scales', self.scale)}: key 'recipes.{found[-1]}.as': recipes "
                    f"replace each other in a circle: {' -> '.join([*found, other])}"
                )
            found.append(other)
        return found

    def dependencies(self, system: str) -> list[str]:
        """Systems that must be trained first: teachers and the initial model."""
        return list(dict.fromkeys(name for name, _ in self.needed_systems(system)))

    def needed_systems(self, system: str) -> list[tuple[str, str]]:
        """Systems that a system needs, each with the key that names it (`text`, also for what
        the decodings of its texts use)."""
        found = self.system(system)
        needed: list[tuple[str | None, str]] = []
        for text in found.text.candidates:
            needed.append((text.system, "text"))
            if text.decoding is not None:
                needed += [(used, "text") for used in self.helpers(text.decoding)]
        needed.append((found.init_from.system if found.init_from else None, "init_from"))
        needed.append((found.teacher, "teacher"))
        return [(name, key) for name, key in needed if name is not None]

    def helpers(self, decoding: str) -> list[str]:
        """Systems that a decoding uses besides the one that it decodes."""
        assistant, estimated = self.assistant(decoding), self.language_model(decoding)
        found = [] if assistant is None else [assistant]
        if estimated is not None:
            found += [estimated.system, *self.helpers(estimated.decoding)]
        return found

    def cannot_train(self, system: str) -> str:
        """Why there can be no model of a system on this machine; empty if there can be one."""
        found = self.system(system)
        if found.target.options.get("model") in COMPILED and not has_compiled_parts():
            return NEEDS_COMPILED
        if found.size not in self.scale_settings.sizes:
            if found.imported is not None:
                scales = self.files["scales"].items()
                having = [name for name, scale in scales if found.size in scale["sizes"]]
                return f"not run: published models are of scale {' or '.join(having)}"
            return f"not run: scale {self.scale} has no size {found.size}"
        files = (
            () if found.imported is None else (found.imported.checkpoint, found.imported.dictionary)
        )
        return _not_there(self.root, files)

    def cannot_translate(self, decoding: str) -> str:
        """Why no job of the scale can translate with a decoding; empty if one can."""
        stage = self.scale_settings.stages.get("translate")
        if self.is_only_on_gpus(decoding) and not (stage and stage.gpu):
            return f"not run: float16 needs a GPU, and jobs of scale {self.scale} ask for none"
        return ""

    def is_only_on_gpus(self, decoding: str) -> bool:
        """Whether a decoding cannot run on a processor."""
        return bool(self._find("decodings", decoding).get("precision") == "float16")

    def cannot_prepare(self, corpus: str) -> str:
        """Why nothing can be run on a corpus: its text is licensed, and not there; else empty."""
        description = self.corpus(corpus)
        if not description.licensed_by:
            return ""
        files = local_files(description) | local_files(description, references=True)
        missing = _not_there(self.root, files.values())
        return missing and f"{missing} (licensed by {description.licensed_by})"

    def is_encoder_only(self, system: str) -> bool:
        """Whether the size of a system has no decoder layers; not if the scale lacks the size."""
        size = self.scale_settings.sizes.get(self.system(system).size)
        return size is not None and not size.decoder_layers

    def parts(self, system: str) -> dict[str, NetworkPart]:
        """The network parts of a system by name, with the changes of the scale."""
        changes, described = self.scale_settings.parts, {}
        for name, options in self.system(system).parts.items():
            method = registry.Method(method=name, **{**options, **changes.get(name, {})})
            file = (
                file_of("scales", self.scale)
                if name in changes
                else self.file_of("systems", system)
            )
            with told_of(f"{file}: key 'parts': "):
                described[name] = registry.describe("parts", method).traits
        return described

    def text(self, system: str) -> Text:
        """What a system learns, with the changes of the scale."""
        return self.system(system).text.with_regulariser(self.scale_settings.regulariser)

    @property
    def _raw_scale(self) -> dict[str, Any]:
        return self.files["scales"][self.scale]


def _not_there(root: Path, files: Iterable[str | Path]) -> str:
    missing = next((file for file in files if not (root / file).exists()), None)
    return "" if missing is None else f"not run: {missing} is not there"
