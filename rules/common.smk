# The configuration, and what of it the rules and targets need. No rules.
import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.settings.types import DeploymentMethod

import nat

if Path(nat.__file__).resolve().parents[1] != Path(workflow.basedir).resolve():
    sys.exit(
        f"error: this is {workflow.basedir}, but {sys.executable} belongs to "
        f"{Path(nat.__file__).parents[1]}; run 'make environment' here, and .venv/bin/snakemake"
    )

from nat.configuration import choice, load
from nat.configuration.cluster import DEFAULT_NEEDS, needs, read_cluster, resources
from nat.configuration.configuration import start_of
from nat.configuration.named_runs import hold_to_overrides
from nat.configuration.notes import notes
from nat.data.splits import derived_from, split_names
from nat.data.splits import local_files as files_of_the_user
from nat.errors import UserError
from nat.reporting import reports as reporting
from nat.reporting.cells import ANALYSES
from nat.texts import candidates as texts
from nat.workflow_log import Screen
from nat.workflow_records import refuse_unknown_results
from nat.workflow_slurm import Watch, stop_left_behind

try:
    configuration = load(choice(config))
    if workflow.is_main_process:
        hold_to_overrides(configuration, keep=not workflow.output_settings.dryrun)
    cluster = read_cluster(configuration)
    ASKS = {stage: resources(configuration, cluster, stage) for stage in DEFAULT_NEEDS}
    CELLS = {
        target: reporting.cells(configuration, target)
        for target in reporting.targets(configuration)
    }
except UserError as error:
    sys.exit(f"error: {error}")

if workflow.is_main_process:
    shown = {(cell.corpus, cell.system) for found in CELLS.values() for cell in found}
    for note in notes(configuration, shown):
        sys.stderr.write(f"note: {note}\n")

GENERATED = [
    name for name in configuration.corpora if "generator" in configuration.corpus(name)
]

# Systems whose training also gives the folder of the checkpoints that its recipe keeps.
KEEPING = [
    name
    for name in configuration.systems
    if "keep" in configuration.recipe(configuration.system(name)["recipe"])
]

# glibc: memory that is freed stays with the process; small models train up to 1.6 times faster.
FAST_MEMORY = (
    "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456"
)

# Of `--sdm conda`, one for all jobs of a run; and the image of `--sdm apptainer`.
ENVIRONMENT = f"../envs/{'cuda' if needs(configuration, 'train').gpu else 'cpu'}.yaml"
IMAGE = "envs/nat.sif"
if (
    workflow.is_main_process
    and DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
    and not Path(IMAGE).exists()
):
    sys.exit(
        f"error: '--sdm apptainer' needs the image {IMAGE}, which is not there; make it with "
        f"'apptainer build {IMAGE} envs/apptainer.def'"
    )

# What every job inherits. `python` is the one that runs Snakemake, activated or not. `.venv` knows
# where this folder lies; a conda environment and a container have to be told: PYTHONPATH.
os.environ.update(
    PATH=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    ),
    PYTHONHASHSEED="0",
    PYTHONPATH=workflow.basedir,
    PYTHONWARNINGS="ignore",
)

for handler in workflow.logger_manager.get_log_handlers():
    if isinstance(handler, Screen):
        handler.targets = [
            *["all", "demo", "corpora", "teachers", "distilled", "students", "scores"],
            *configuration.papers,
            *map(reporting.name, CELLS),
        ]


def one_of(names):
    """A wildcard constraint: one of these names."""
    return "|".join(re.escape(name) for name in sorted(names))


# Targets


def reports(paper=None):
    """Tables, figures and judged claims: of all papers, or of one."""
    return [reporting.path(target) for target in CELLS if paper in (None, target[0])]


def cells():
    """Every cell of every report, once."""
    return list(dict.fromkeys(cell for found in CELLS.values() for cell in found))


def scores():
    """Every score, analysis and training record that a report asks for."""
    return list(dict.fromkeys(cell.score_path for cell in cells()))


def corpora():
    """The summary of every corpus of this scale."""
    names = dict.fromkeys(configuration.task(task) for task in configuration.tasks)
    return [f"results/corpora/{name}/corpus.json" for name in names]


def trainings():
    """All models as (corpus, system, seed): those of the cells, and those that they learn from."""
    found = {}
    left = [(cell.corpus, cell.system, cell.seed) for cell in cells()]
    for cell in cells():
        partner = configuration.partner(cell.decoding) if cell.decoding else None
        if partner is not None:
            left.append((cell.corpus, partner, configuration.teacher_seed))
        estimated = (
            configuration.language_model(cell.decoding) if cell.decoding else None
        )
        if estimated is not None:
            left.append((cell.corpus, estimated["system"], configuration.teacher_seed))
    while left:
        corpus, system, seed = left.pop()
        if (corpus, system, seed) not in found:
            found[corpus, system, seed] = None
            left += [
                (corpus, name, its_seed)
                for name, its_seed in learns_from(corpus, system, seed)
            ]
    return list(found)


def models(of_teachers):
    """Every model that others learn from, or every other model."""
    return [
        f"results/models/{corpus}/{system}/seed{seed}/model.pt"
        for corpus, system, seed in trainings()
        if (generations(system) > 1) == of_teachers
    ]


def distilled():
    """Every distilled text, and what was found by comparing some of them."""
    found = (distilled_texts(corpus, system) for corpus, system, _ in trainings())
    return list(dict.fromkeys(path for paths in found for path in paths))


# What a job needs


def sources_of_text(wildcards):
    """The files of a corpus that a user keeps, or the text of the corpus that it is made from.

    A file that is missing is for the program to tell.
    """
    corpus = configuration.corpus(wildcards.corpus)
    parent = derived_from(corpus)
    if parent is not None:
        return [f"results/corpora/{parent}/text"]
    files = files_of_the_user(corpus, Path())
    return [str(path) for path in files if path.exists()]


def threads_of_text(wildcards):
    """Processes that share the preparation of a text; an invented one is made in a moment."""
    return 1 if wildcards.corpus in GENERATED else 8


def learns_from(corpus, system, seed):
    """(system, seed) of the models that a training needs."""
    training = training_of(corpus, system)
    for text in texts.candidates(training["text"]):
        if text.system is not None:
            yield text.system, text.seed
            partner = configuration.partner(text.decoding)
            if partner is not None:
                yield partner, configuration.teacher_seed
            estimated = configuration.language_model(text.decoding)
            if estimated is not None:
                yield estimated["system"], configuration.teacher_seed
    start = start_of(training["init_from"])
    if start is not None:
        yield start.system, seed
    if training["teacher"] is not None:
        yield training["teacher"]["system"], training["teacher"]["seed"]


@cache
def training_of(corpus, system):
    """The effective configuration of a training."""
    return configuration.training(corpus, system)


def distilled_texts(corpus, system):
    """What a system is trained on that is made of translations; nothing for raw text."""
    text = training_of(corpus, system)["text"]
    folders = [
        each.binarised(corpus)
        for each in texts.candidates(text)
        if each.system is not None
    ]
    compared = texts.compared(text)
    return [*folders, texts.similarity(corpus, compared)] if compared else folders


@cache
def comparisons():
    """The sets of texts that some system wants to be compared, by the names in their path."""
    found = {}
    for name in configuration.systems:
        text = configuration.system(name)["text"]
        seeded = texts.effective(text, texts.choice(text), configuration.teacher_seed)
        compared = texts.compared(seeded)
        if compared:
            found[texts.joined_names(compared)] = compared
    return found


def texts_to_compare(wildcards):
    """The folders of a set of texts, in order."""
    return [
        each.subwords(wildcards.corpus) for each in comparisons()[wildcards.candidates]
    ]


def decoded_model(wildcards):
    """The model that is decoded; an error for a decoding that its system cannot do."""
    configuration.check_decoding(wildcards.system, wildcards.decoding)
    return f"results/models/{wildcards.corpus}/{wildcards.system}/seed{wildcards.seed}/model.pt"


def partner_model(wildcards):
    """The model that a decoding consults besides the one that it decodes; nothing for most."""
    partner = configuration.partner(wildcards.decoding)
    if partner is None:
        return []
    seed = configuration.teacher_seed
    return f"results/models/{wildcards.corpus}/{partner}/seed{seed}/model.pt"


def language_model(wildcards):
    """The n-grams of a distilled text that a decoding consults; nothing for most."""
    found = configuration.language_model(wildcards.decoding)
    if found is None:
        return []
    seed = configuration.teacher_seed
    return texts.ngrams_of(wildcards.corpus, found["system"], seed, found["order"])


def start_model(wildcards):
    """What a training starts from, of the same seed; nothing for a random start."""
    start = start_of(training_of(wildcards.corpus, wildcards.system)["init_from"])
    if start is None:
        return []
    file = "model.pt" if start.kept is None else "kept"
    return (
        f"results/models/{wildcards.corpus}/{start.system}/seed{wildcards.seed}/{file}"
    )


def teacher_model(wildcards):
    """The model that a training consults; nothing for most."""
    teacher = training_of(wildcards.corpus, wildcards.system)["teacher"]
    if teacher is None:
        return []
    return f"results/models/{wildcards.corpus}/{teacher['system']}/seed{teacher['seed']}/model.pt"


def translations_to_distil(wildcards):
    """The teacher's translations of the training text."""
    decoding = decodings_to_distil(wildcards.system)[0]
    return (
        f"results/outputs/{wildcards.corpus}/{wildcards.system}/seed{wildcards.seed}/"
        f"{decoding}/train.jsonl"
    )


def decodings_to_distil(teacher):
    """How the systems that learn from a teacher's translations want them to be made."""
    found = [
        text
        for name in configuration.systems
        for text in texts.candidates(configuration.system(name)["text"])
    ]
    return list(
        dict.fromkeys(text.decoding for text in found if text.system == teacher)
    )


def shards(wildcards):
    """The parts of a translation, in order."""
    count = configuration.shards[wildcards.split]
    return [
        f"results/outputs/{wildcards.corpus}/{wildcards.system}/seed{wildcards.seed}/"
        f"{wildcards.decoding}/shards/{wildcards.split}.{shard}of{count}.jsonl"
        for shard in range(1, count + 1)
    ]


def published(paper):
    """The file with a paper's published values; nothing for what is not a paper."""
    return reporting.published_file(configuration, paper) or []


def references(wildcards):
    """The folder of several references per sentence, which generated corpora have."""
    generated = wildcards.corpus in GENERATED
    return f"results/corpora/{wildcards.corpus}/references" if generated else []


def read_by_analysis(wildcards):
    """What an analysis looks at besides the model and the corpus; nothing for most."""
    corpus, system = wildcards.corpus, wildcards.system
    folder = f"results/corpora/{corpus}"
    several = [f"{folder}/references"] if corpus in GENERATED else []
    if wildcards.analysis == "latent_assignment":
        return [f"{folder}/bpe", f"{folder}/text", f"{folder}/tokens", *several]
    if wildcards.analysis == "mple":
        translated = [
            f"results/outputs/{corpus}/{text.system}/seed{text.seed}/{text.decoding}/{split}.jsonl"
            for text in texts.candidates(training_of(corpus, system)["text"])
            if text.system is not None
            for split in split_names(configuration.corpus(corpus))
            if split != "train"
        ]
        return [f"{folder}/text", f"{folder}/tokens", *several, *translated]
    return []


# Priority of what makes the texts. Every training waits for one, and no chain of systems is so long.
BEFORE_TRAININGS = 1000


@cache
def generations(system):
    """Length of the longest chain of systems that learn from each other, from this one on.

    It orders the jobs: what most is waiting for goes first, so that no core is left over at the end.
    """
    heirs = [
        name
        for name in configuration.systems
        if system in configuration.dependencies(name)
    ]
    return 1 + max(map(generations, heirs), default=0)


# Fingerprints: what a job depends on in the configuration. A change of it makes the job run again.


def fingerprint(value):
    """A few letters that stand for a part of the configuration."""
    return configuration.fingerprint(value)


def origin_of_text(corpus):
    """Fingerprint of where a text comes from."""
    found = configuration.corpus(corpus)
    # A split that is cut out of the training text counts only what cleaning will keep.
    cut = any("every" in split for split in found.get("splits", {}).values())
    others = ("description", "expected", *(() if cut else ("preprocessing",)))
    return fingerprint({key: found[key] for key in found if key not in others})


def preprocessing(corpus):
    """Fingerprint of all that is done to a text."""
    return fingerprint(configuration.corpus(corpus)["preprocessing"])


def description(paper, kind, number=""):
    """Fingerprint of a report: of all that it shows of the configuration."""
    return fingerprint(reporting.configured(configuration, (paper, kind, number)))


for teacher in configuration.systems:
    if len(decodings_to_distil(teacher)) > 1:
        sys.exit(
            f"error: config/systems: one text is distilled from {teacher}, but its students ask "
            f"for several decodings: {', '.join(decodings_to_distil(teacher))}; choose one"
        )
