"""What files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` with file, key and reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nat import registry
from nat.configuration import families
from nat.configuration.configuration import Configuration
from nat.configuration.corpora import check_corpus, check_derived
from nat.configuration.file_names import PAPER_SCALE, file_of
from nat.configuration.json_values import differences
from nat.configuration.lengths import check_lengths
from nat.configuration.models import Start, read_model
from nat.configuration.overrides import Overrides
from nat.data.candidates import RAW
from nat.data.splits import sides
from nat.errors import UserError, told_of
from nat.options import options_of
from nat.registry import KINDS
from nat.spelling import hint
from nat.transformer.decoder_options import DecoderOptions

if TYPE_CHECKING:
    from nat.papers.description import Paper


_OF_ALL_PAPERS = "settings.csv"
"""Settings that all papers print, see `nat.papers.settings`."""


def check_names(configuration: Configuration) -> None:
    """Check scales and recipes, and that systems name what there is, without a circle.

    Scales that are not chosen are left out if the configuration is not `checked`, see `load`. No
    method is imported.

    Raises:
        UserError: for the first problem.
    """
    _check_tasks(configuration)
    if configuration.checked:
        for scale in configuration.bases_first["scales"]:
            _check_scale(replace(configuration, scale=scale, overrides=Overrides()))
    _check_scale(configuration)
    # most systems are the same for every task, and every program checks them all
    systems: dict[str, Any] = {}
    decodings: dict[str, Any] = {}
    needed: dict[str, list[tuple[str, str]]] = {}
    for view in map(configuration.for_tasks, _tasks(configuration)):
        changed = [
            name
            for name in view.bases_first["systems"]
            if view.files["systems"][name] != systems.get(name)
        ]
        for name in changed:
            _check_names(view, name)
        if view.files["decodings"] != decodings:
            changed = view.systems
        needed |= {name: view.needed_systems(name) for name in changed}
        _check_cycles(view, needed)
        systems, decodings = view.files["systems"], view.files["decodings"]


def check_options(configuration: Configuration) -> None:
    """Check that decodings have options of their methods, and that families have such names.

    It comes first: what names a decoding of a family knows only the names that the family has.
    Every method of decoding is imported, and with it torch.

    Raises:
        UserError: for the first problem.
    """
    view = configuration.for_tasks(())
    for name in view.bases_first["decodings"]:
        view.decoding(view.example_of(name))


def check(configuration: Configuration) -> None:
    """Check all corpora, papers, decodings, and the systems at the chosen scale.

    `check_options` and `check_names` come before. Every method is imported, and with them torch.

    Raises:
        UserError: for the first problem.
    """
    for name in configuration.bases_first["corpora"]:
        description = configuration.corpus(name)
        check_corpus(name, description)
        derived = description.derived
        if derived is not None:
            languages = sides(configuration.corpus(derived.source))
            check_derived(name, derived.side, derived.source, languages)
        for teacher in description.distilled:
            where = f"{file_of('corpora', name)}: key 'distilled'"
            _known(teacher, configuration.systems, "system", where)
    from nat.papers.description import Paper  # see `MODELS`

    for name, content in configuration.files["papers"].items():
        paper = read_model(Paper, content, file_of("papers", name))
        _check_systems_of_paper(configuration, paper, file_of("papers", name))
    if configuration.papers and PAPER_SCALE not in configuration.files["scales"]:
        raise UserError(
            f"there is no {file_of('scales', PAPER_SCALE)}, with which tables of settings and the "
            "report compare a run; add it"
        )
    _check_published(configuration)
    for tasks in _tasks(configuration):
        view = configuration.for_tasks(tasks)
        decodings = view.bases_first["decodings"]
        for name in map(view.example_of, decodings):
            _check_assistant(view, name)
            _check_language_model(view, name)
        for name in decodings:
            _check_tuning(view, name)
        changed = set(configuration.changed_by(tasks) if tasks else configuration.systems)
        for name in view.bases_first["systems"]:
            if name in changed:
                check_system(view, name)
    corpora = {configuration.tasks_of(corpus): corpus for corpus in configuration.tasks.values()}
    for tasks, corpus in corpora.items():
        _check_written_alike(configuration, tasks, corpus)


def _check_published(configuration: Configuration) -> None:
    """Refuse published values that no table shows, since no paper has the name of their file."""
    for path in sorted((configuration.root / "config" / "published").glob("[!.]*.csv")):
        if path.name != _OF_ALL_PAPERS and path.stem not in configuration.papers:
            raise UserError(
                f"config/published/{path.name}: there is no paper '{path.stem}'; "
                f"{hint(path.stem, configuration.papers)} (rename or remove the file)"
            )


def _check_systems_of_paper(configuration: Configuration, paper: "Paper", file: str) -> None:
    for name, system in paper.systems.items():
        for task in system.tasks:
            where = f"{file}: key 'systems.{name}.tasks'"
            _known(task, configuration.all_tasks, "task", where)
        if system.baseline is not None:
            known = [*paper.systems, *configuration.systems]
            _known(system.baseline, known, "system", f"{file}: key 'systems.{name}.baseline'")


def _tasks(configuration: Configuration) -> list[tuple[str, ...]]:
    """No task, and the tasks of each corpus of the scale."""
    of_corpora = map(configuration.tasks_of, configuration.tasks.values())
    return list(dict.fromkeys([(), *of_corpora]))


def _check_tasks(configuration: Configuration) -> None:
    for folder in families.WITH_TASKS:
        for name in configuration.bases_first[folder]:
            for task in configuration.files[folder][name].get("tasks", {}):
                where = f"{configuration.places[folder][name]}: key 'tasks'"
                _known(task, configuration.all_tasks, "task", where)


def _known(name: str, known: Iterable[str], what: str, where: str) -> None:
    names = list(known)
    if name not in names:
        raise UserError(f"{where}: unknown {what} '{name}'; {hint(name, names)}")


def _known_decoding(configuration: Configuration, name: str, where: str) -> None:
    if not configuration.has_decoding(name):
        raise UserError(
            f"{where}: unknown decoding '{name}'; {families.near(name, configuration.decodings)}"
        )


def _check_assistant(configuration: Configuration, name: str) -> None:
    where = f"{configuration.file_of('decodings', name)}: key 'assistant'"
    method = configuration.decoding(name).method
    traits = configuration.decoding_traits(name)
    wanted = traits.assistant
    assistant = configuration.assistant(name)
    if wanted is None:
        if assistant is not None:
            raise UserError(
                f"{where}: found {assistant}, but {method} uses no second system; remove the key"
            )
        return
    if assistant is None and traits.assistant_optional:
        return
    if assistant is None:
        raise UserError(f"{where}: missing, expected the {KINDS[wanted]} system that {method} uses")
    _known(assistant, configuration.systems, "system", where)
    if configuration.decoding_order(assistant) != wanted:
        raise UserError(
            f"{where}: {method} needs a system that is {KINDS[wanted]}, but '{assistant}' is "
            f"{KINDS[configuration.decoding_order(assistant)]}"
        )
    if wanted == "parallel" and configuration.system(assistant).decoder.upsample is not None:
        raise UserError(
            f"{where}: {method} shares its canvas, which is as long as the target, with the second "
            f"system, but the canvas of '{assistant}' is upsampled"
        )


def _check_tuning(configuration: Configuration, decoding: str) -> None:
    name = configuration.example_of(decoding)
    method = configuration.decoding(name)
    for option, values in configuration.tried(name).items():
        where = f"{configuration.file_of('decodings', decoding)}: key 'tuning.{option}'"
        if option in families.placeholders(decoding):
            raise UserError(
                f"{where}: the name '{decoding}' says the value of '{option}', so it cannot be "
                "tuned; remove the key, or the placeholder from the name"
            )
        for value in values:
            with told_of(f"{where}: "):
                registry.describe("decoding", method.with_options({option: value}))


def _check_language_model(configuration: Configuration, name: str) -> None:
    options = configuration.language_model(name)
    if options is None:
        return
    where = f"{configuration.file_of('decodings', name)}: key 'language_model"
    _known(options.system, configuration.systems, "system", f"{where}.system'")
    _known_decoding(configuration, options.decoding, f"{where}.decoding'")
    if configuration.language_model(options.decoding) is not None:
        raise UserError(
            f"{where}.decoding': found {options.decoding}, which uses a language model itself; use "
            "a decoding without one for the text that the language model is estimated on"
        )
    _check_decoding(configuration, options.system, options.decoding, f"{where}.decoding'")


def _check_scale(configuration: Configuration) -> None:
    scale = file_of("scales", configuration.scale)
    for size in configuration.sizes:
        configuration.architecture(size)
    for task, corpus in configuration.tasks.items():
        _known(corpus, configuration.corpora, "corpus", f"{scale}: key 'tasks.{task}'")
    changed = configuration.files["scales"][configuration.scale]["recipes"]
    recipes = configuration.files["recipes"]
    chains = {name: [name] for name in configuration.bases_first["recipes"]}
    for recipe, change in changed.items():
        _known(recipe, recipes, "recipe", f"{scale}: key 'recipes'")
        followed = [recipe]
        while "as" in change:
            where = f"{scale}: key 'recipes.{followed[-1]}.as'"
            _known(change["as"], recipes, "recipe", where)
            if change["as"] in followed:
                circle = " -> ".join([*followed, change["as"]])
                raise UserError(
                    f"{where}: the replacements by 'as' form a circle: {circle}; change one of them"
                )
            followed.append(change["as"])
            change = changed.get(change["as"], {})
        chains[recipe] = followed
    for decoding in configuration.browser.steps:
        where = f"{scale}: key 'browser.steps'"
        _known_decoding(configuration, decoding, where)
    _check_recipes(configuration, chains, "")
    for task in dict.fromkeys(task for each in recipes.values() for task in each.get("tasks", {})):
        on_task = {name: families.on_task(content, task) for name, content in recipes.items()}
        files = {**configuration.files, "recipes": on_task}
        different = {
            name: chain
            for name, chain in chains.items()
            if task in recipes[chain[-1]].get("tasks", {})
        }
        _check_recipes(replace(configuration, files=files), different, f" on {task}")


def _check_recipes(
    configuration: Configuration, chains: Mapping[str, list[str]], on_task: str
) -> None:
    """Check recipes, each with those that replace it in turn at the scale."""
    scale = file_of("scales", configuration.scale)
    for name, chain in chains.items():
        recipe = configuration.recipe(name)
        overridden = [each for each in chain if each in configuration.overrides.recipes]
        # what replaces a recipe leaves nothing of it but its own overrides
        where = configuration.file_of("recipes", [*overridden, chain[-1]][0]) + on_task
        if name in configuration.files["scales"][configuration.scale]["recipes"]:
            where += f" with {scale}"
        if overridden:
            where += " with 'override'"
        validation = recipe.validation
        decoding = validation.decoding
        if decoding is not None:
            _known_decoding(configuration, decoding, f"{where}: key 'validation.decoding'")
            assistant = configuration.assistant(decoding)
            if assistant is not None:
                raise UserError(
                    f"{where}: key 'validation.decoding': found {decoding}, which uses "
                    f"'{assistant}', but validation decodes with the model that is trained alone"
                )
            if configuration.language_model(decoding) is not None:
                raise UserError(
                    f"{where}: key 'validation.decoding': found {decoding}, which uses a "
                    "language model, but validation decodes with the model that is trained alone"
                )
            if configuration.is_tuned(decoding):
                raise UserError(
                    f"{where}: key 'validation.decoding': found {decoding}, whose options "
                    "are tuned with the trained model; use one with options of its own"
                )
        elif validation.metric == "bleu":
            raise UserError(
                f"{where}: key 'validation.decoding': found null, expected a decoding, since "
                "'validation.metric' is bleu"
            )
        check_lengths(recipe, where)


def _check_names(configuration: Configuration, name: str) -> None:
    file = configuration.file_of("systems", name)
    system = configuration.system(name)
    sizes = {size for scale in configuration.files["scales"].values() for size in scale["sizes"]}
    _known(system.size, sorted(sizes), "size", f"{file}: key 'size' (sizes of config/scales)")
    _known(system.recipe, configuration.files["recipes"], "recipe", f"{file}: key 'recipe'")
    start, teacher = system.init_from, system.teacher
    if start is not None:
        key = "init_from" if start.kept is None else "init_from.system"
        _known(start.system, configuration.systems, "system", f"{file}: key '{key}'")
    if teacher is not None:
        _known(teacher, configuration.systems, "system", f"{file}: key 'teacher'")
    for text in system.text.candidates:
        if text.system is not None and text.decoding is not None:
            where = f"{file}: key '{text.key}"
            _known(text.system, configuration.systems, "system", f"{where}.system'")
            _known_decoding(configuration, text.decoding, f"{where}.decoding'")


def _check_cycles(
    configuration: Configuration, needed: Mapping[str, list[tuple[str, str]]]
) -> None:
    finished: set[str] = set()

    def visit(name: str, path: list[str], shown: str) -> None:
        for other, key in needed[name]:
            if other == name:
                verb = {"text": "distils from", "init_from": "starts from"}.get(key, "uses")
                raise UserError(
                    f"{configuration.file_of('systems', name)}: key '{key}': '{name}' {verb} "
                    "itself; name another system"
                )
            longer = f"{shown} -({key})-> {other}"
            if other in path:
                start = shown.split(f"{other} -(", 1)[0] if path[0] != other else ""
                cycle = longer.removeprefix(start)
                raise UserError(
                    f"{configuration.file_of('systems', other)}: '{other}' needs itself: {cycle}; "
                    "change one of these keys"
                )
            if other not in finished:
                visit(other, [*path, other], longer)
        finished.add(name)

    for name in configuration.systems:
        if name not in finished:
            visit(name, [name], name)


def check_system(configuration: Configuration, name: str) -> None:
    """Check that what a system says fits its methods, and the systems that it refers to.

    Raises:
        UserError: for the first problem.
    """
    file = configuration.file_of("systems", name)
    system = configuration.system(name)
    target = configuration.target_traits(name)
    if target.decoding_order not in (None, configuration.decoding_order(name)):
        raise UserError(
            f"{file}: key 'target': {system.target.method} is for "
            f"{KINDS[target.decoding_order]} systems, but '{name}' is "
            f"{KINDS[configuration.decoding_order(name)]} (input {system.input.method})"
        )
    _check_canvas(configuration, name)
    _check_latent(configuration, name)
    _check_length(configuration, name)
    _check_teacher(configuration, name)
    if system.input.options.get("aligned_by") == "teacher" and not target.distils:
        raise UserError(
            f"{file}: key 'input.aligned_by': found teacher, but {system.target.method} "
            "distils no teacher; remove the key"
        )
    if target.distils:
        method = system.target.method
        start = system.init_from
        if configuration.decoding_order(name) != "parallel":
            raise UserError(
                f"{file}: key 'target': {method} is for non-autoregressive systems, but the input "
                f"is {system.input.method}"
            )
        if start is None:
            raise UserError(
                f"{file}: key 'init_from': found null, expected the system whose steps "
                f"{method} distils"
            )
        its_input = configuration.system(start.system).input.method
        if configuration.is_autoregressive(
            start.system
        ) or not configuration.trained_on_partial_targets(start.system):
            raise UserError(
                f"{file}: key 'init_from': {method} distils several steps, but '{start.system}' "
                f"takes only one (input {its_input}); start from a "
                "system with an input such as random_mask"
            )
    if system.init_from is not None:
        _check_start(configuration, name)
    _check_texts(configuration, name)
    decoding = configuration.recipe(system.recipe).validation.decoding
    if decoding is not None:
        _check_decoding(
            configuration,
            name,
            decoding,
            f"{file}: key 'recipe': '{system.recipe}' validates with a decoding that does not fit",
        )


def _check_written_alike(configuration: Configuration, tasks: tuple[str, ...], corpus: str) -> None:
    """What is the same training is known by what the files say, see `Configuration.canonical`."""
    first: dict[str, str] = {}
    view = configuration.on(corpus)
    known = configuration.shared_identities(tasks, defaults=True)
    names = set((view.canonical_names or {}).values())
    for name in sorted(names, key=lambda each: (len(each), each)):
        other = first.setdefault(view.identity(name, known, defaults=True), name)
        if other != name:
            raise UserError(
                f"{view.file_of('systems', name)}: '{name}' is the same training as "
                f"'{other}' on {corpus}, but one of them writes down an option that the other has "
                f"by default ({'; '.join(view.written_differences(other, name))}); give "
                "both the same options"
            )


def _check_texts(configuration: Configuration, name: str) -> None:
    file = configuration.file_of("systems", name)
    text = configuration.text(name)
    found = text.candidates
    for each in found:
        if each.system is None or each.decoding is None:
            continue
        where = f"{file}: key '{each.key}"
        if each.system == RAW:
            raise UserError(
                f"{where}.system': a system of the name '{RAW}' cannot be told from the raw text; "
                "rename it"
            )
        own_teacher = (
            configuration.target_traits(name).distils
            and Start(each.system) == configuration.system(name).init_from
        )
        if not configuration.is_autoregressive(each.system) and not own_teacher:
            raise UserError(
                f"{where}.system': '{each.system}' is not autoregressive (input "
                f"{configuration.system(each.system).input.method}), but a text is "
                "distilled from an autoregressive system, or from the system whose steps are "
                "distilled (U-DiMS)"
            )
        _check_decoding(configuration, each.system, each.decoding, f"{where}.decoding'")
    chosen = text.choice
    if chosen is None:
        return
    method = chosen.method
    wanted = configuration.text_traits(name).decoding_order
    if wanted not in (None, configuration.decoding_order(name)):
        raise UserError(
            f"{file}: key 'text': {method} is for {KINDS[wanted]} systems, but '{name}' is "
            f"{KINDS[configuration.decoding_order(name)]} "
            f"(input {configuration.system(name).input.method})"
        )
    gamma = text.regulariser.get("gamma")
    if gamma is not None and not text.is_tuned and len(gamma) != len(found):
        raise UserError(
            f"{file}: key 'text.{method}.regulariser.gamma': found {len(gamma)} weights, expected "
            f"{len(found)}, one for each of the candidates"
        )


def _check_length(configuration: Configuration, name: str) -> None:
    file = configuration.file_of("systems", name)
    system = configuration.system(name)
    length = system.length
    order, method = configuration.decoding_order(name), system.target.method
    if order != "parallel":
        if length is not None:
            article = "an" if KINDS[order][0] in "aeiou" else "a"
            raise UserError(
                f"{file}: key 'length': found {length}, expected null: {article} {KINDS[order]} "
                f"system (input {system.input.method}) ends its sentences by itself"
            )
    elif configuration.target_traits(name).upsampled:
        if length is not None:
            raise UserError(
                f"{file}: key 'length': found {length}, expected null: {method} determines the "
                "length itself"
            )
    elif length is None:
        raise UserError(
            f"{file}: key 'length': found null, expected 'target', 'offset' or 'constant': a "
            f"non-autoregressive system trained with {method} needs a length predictor"
        )


def _check_canvas(configuration: Configuration, name: str) -> None:
    where = f"{configuration.file_of('systems', name)}: key 'decoder"
    system = configuration.system(name)
    decoder = system.decoder
    order, method = configuration.decoding_order(name), system.target.method
    chunked = order in ("hybrid", "semi-autoregressive")
    if chunked != (decoder.chunk is not None):
        found, expected = (
            ("null", "a number such as 2, the tokens predicted at a time:")
            if chunked
            else (decoder.chunk, "null:")
        )
        raise UserError(
            f"{where}.chunk': found {found}, expected {expected} '{name}' is {KINDS[order]} "
            f"(input {system.input.method})"
        )
    if order != "parallel" and replace(decoder, chunk=None) != DecoderOptions():
        raise UserError(
            f"{where}': a canvas is for non-autoregressive systems, but '{name}' is "
            f"{KINDS[order]} (input {system.input.method}); remove the key"
        )
    if configuration.is_encoder_only(name) and (
        decoder.copy != "repeated"
        or decoder.upsample is None
        or replace(decoder, copy="none", upsample=None, count_source_end=False) != DecoderOptions()
    ):
        raise UserError(
            f"{where}': the size {system.size} has no decoder layers, so the source can only be "
            "shown on an upsampled canvas: give 'copy: repeated' and 'upsample', and no key that "
            "changes layers of the decoder"
        )
    upsampled = configuration.target_traits(name).upsampled
    if upsampled and decoder.upsample is None:
        raise UserError(
            f"{where}.upsample': found null, expected a number such as 2: {method} aligns the "
            "target with a longer canvas"
        )
    if decoder.upsample is not None and not upsampled:
        raise UserError(
            f"{where}.upsample': found {decoder.upsample:g}, expected null: {method} needs a "
            "canvas as long as the target; only targets such as ctc align it with a longer one"
        )
    wanted = configuration.input_traits(name).upsampled
    if wanted is not None and wanted != upsampled:
        shown, canvas = (
            ("an alignment with an upsampled canvas", "as long as the target")
            if wanted
            else ("the target, token by token", "upsampled")
        )
        raise UserError(
            f"{configuration.file_of('systems', name)}: key 'input': {system.input.method} "
            f"reveals {shown}, but with {method} the canvas is {canvas}"
        )


def _check_latent(configuration: Configuration, name: str) -> None:
    order = configuration.decoding_order(name)
    if configuration.latent(name) is not None and order != "parallel":
        raise UserError(
            f"{configuration.file_of('systems', name)}: key 'latent': latents are for "
            f"non-autoregressive systems, but '{name}' is {KINDS[order]} (input "
            f"{configuration.system(name).input.method}); remove the key"
        )
    if configuration.latent(name) is not None and configuration.is_encoder_only(name):
        raise UserError(
            f"{configuration.file_of('systems', name)}: key 'latent': latents are added to the "
            f"states of an encoder, but the size {configuration.system(name).size} has no decoder "
            "layers that could see them; remove the key"
        )
    latent, copy = configuration.latent(name), configuration.system(name).decoder.copy
    if latent and latent.added_to == "decoder_input" and not copy.startswith("soft"):
        raise UserError(
            f"{configuration.file_of('systems', name)}: key 'latent.added_to': found "
            "decoder_input, but the decoder's input has no copy of the encoder states "
            f"('decoder.copy' is {copy}); choose one of the copies 'soft', 'soft_upsampled' and "
            "'soft_index'"
        )


def _check_teacher(configuration: Configuration, name: str) -> None:
    where = f"{configuration.file_of('systems', name)}: key 'teacher'"
    system = configuration.system(name)
    teacher = system.teacher
    wanted = None
    for chosen, traits in (
        (system.input, configuration.input_traits(name)),
        (system.target, configuration.target_traits(name)),
    ):
        if traits.teacher is not None:
            wanted, method = traits.teacher, chosen.method
    if configuration.system(name).decoder.input_predictor:
        _check_input_predictor(configuration, name)
        wanted, method = "parallel", "the input predictor"
    if wanted is None:
        if teacher is not None:
            raise UserError(
                f"{where}: found {teacher}, expected null: neither {system.input.method} "
                f"nor {system.target.method} uses a teacher"
            )
        return
    if teacher is None:
        raise UserError(
            f"{where}: found null, expected the {KINDS[wanted]} system that {method} uses"
        )
    if configuration.decoding_order(teacher) != wanted:
        raise UserError(
            f"{where}: {method} needs a system that is {KINDS[wanted]}, but '{teacher}' is "
            f"{KINDS[configuration.decoding_order(teacher)]}"
        )
    configuration.check_positions(name, teacher, f"{where}: it sees every pair of '{name}'")


def _check_input_predictor(configuration: Configuration, name: str) -> None:
    where = f"{configuration.file_of('systems', name)}: key 'decoder.input_predictor'"
    system, traits = configuration.system(name), configuration.target_traits(name)
    method, teacher = system.target.method, system.teacher
    if not configuration.input_traits(name).trains_on_partial_targets:
        raise UserError(
            f"{where}: there is nothing to predict, since {system.input.method} never "
            "reveals a token"
        )
    if traits.distils or traits.teacher is not None:
        raise UserError(
            f"{where}: the predictor uses the system of the key 'teacher', but so does "
            f"{method} or another one; train without one of the two"
        )
    canvases = [system.decoder]
    if teacher in configuration.systems:
        canvases.append(configuration.system(teacher).decoder)
    if any(canvas.upsample is not None for canvas in canvases):
        raise UserError(
            f"{where}: the predictor and its teacher need canvases as long as the target, but one "
            "of them is upsampled"
        )
    if system.latent is not None:
        raise UserError(
            f"{where}: the predictor needs a decoder that depends on the source alone, and "
            "not on latents of the target; remove 'latent'"
        )


def _check_start(configuration: Configuration, name: str) -> None:
    file = configuration.file_of("systems", name)
    system = configuration.system(name)
    named = system.init_from
    assert named is not None
    start = configuration.system(named.system)
    keep = configuration.recipe(start.recipe).keep or {}
    if named.kept is not None and named.kept not in keep:
        help = hint(named.kept, keep) if keep else "give that recipe the key 'keep'"
        raise UserError(
            f"{file}: key 'init_from.kept': no checkpoint '{named.kept}' is kept by the recipe "
            f"'{start.recipe}' of '{named.system}'; {help}"
        )
    sizes = system.size, start.size
    if set(sizes) <= set(configuration.sizes):  # a scale needs only the sizes that are used
        here, there = map(configuration.architecture, sizes)
        if here != there:
            changes = "; ".join(differences(options_of(there), options_of(here)))
            raise UserError(
                f"{file}: key 'size': '{name}' starts from '{named.system}', which has the "
                f"size '{start.size}', not '{system.size}' ({changes})"
            )
    # the chunk size of the projection does not concern the weights
    decoders = [options_of(replace(each.decoder, chunk=None)) for each in (start, system)]
    changes = "; ".join(differences(*decoders))
    if changes:
        raise UserError(
            f"{file}: key 'decoder': '{name}' starts from '{named.system}', which has "
            f"a different decoder ({changes})"
        )
    latents = [configuration.latent(one) for one in (named.system, name)]
    shapes = [
        each and {"dim": each.dim, "posterior_layers": each.posterior_layers} for each in latents
    ]
    if shapes[0] != shapes[1]:
        changes = "; ".join(differences(shapes[0], shapes[1]))
        raise UserError(
            f"{file}: key 'latent': '{name}' starts from '{named.system}', which has "
            f"different latents ({changes})"
        )
    if system.length != start.length:
        own, its = (length or "null" for length in (system.length, start.length))
        raise UserError(
            f"{file}: key 'length': '{name}' starts from '{named.system}', which has the length "
            f"{its}, not {own}; start from a system with the same 'length'"
        )


def _check_decoding(configuration: Configuration, system: str, decoding: str, where: str) -> None:
    try:
        configuration.check_decoding(system, decoding)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
