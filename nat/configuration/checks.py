"""What files of the configuration must agree on, beyond the schema of each.

Every check raises `UserError` with file, key and reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from nat import registry
from nat.configuration import families
from nat.configuration.configuration import Configuration
from nat.configuration.corpora import check_corpus
from nat.configuration.file_names import file_of
from nat.configuration.json_values import differences
from nat.configuration.lengths import check_lengths
from nat.configuration.models import Start
from nat.configuration.overrides import Overrides
from nat.configuration.suitability import check_order, check_positions
from nat.data.splits import sides
from nat.errors import UserError, told_of
from nat.options import options_of
from nat.spelling import hint
from nat.traits import KINDS, Order
from nat.transformer.decoder_options import DecoderOptions

_OF_ALL_PAPERS = "settings.csv"
"""Settings that all papers print, see `nat.papers.settings`."""


def check_names(configuration: Configuration) -> None:
    """Check scales and recipes, and that systems name what there is, without a circle.

    Scales that are not chosen are left out if the configuration is not `checked`, see `load`. No
    method is imported.

    Raises:
        UserError: for the first problem.
    """
    for folder in families.WITH_TASKS:
        for name in configuration.bases_first[folder]:
            for task in configuration.files[folder][name].get("tasks", {}):
                where = f"{configuration.places[folder][name]}: key 'tasks'"
                _known(task, configuration.all_tasks, "task", where)
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
            where = f"{file_of('corpora', name)}: key 'derived.side'"
            _known(derived.side, languages, "language", where)
        for teacher in description.distilled:
            where = f"{file_of('corpora', name)}: key 'distilled'"
            _known(teacher, configuration.systems, "system", where)
    for name in configuration.papers:
        file = file_of("papers", name)
        systems = configuration.paper(name).systems
        for own, described in systems.items():
            key = f"{file}: key 'systems.{own}"
            for task in described.tasks:
                _known(task, configuration.all_tasks, "task", f"{key}.tasks'")
            if described.baseline is not None:
                known = [*systems, *configuration.systems]
                _known(described.baseline, known, "system", f"{key}.baseline'")
    for path in sorted((configuration.root / "config" / "published").glob("[!.]*.csv")):
        if path.name != _OF_ALL_PAPERS:
            _known(path.stem, configuration.papers, "paper", f"config/published/{path.name}")
    for tasks in _tasks(configuration):
        view = configuration.for_tasks(tasks)
        decodings = view.bases_first["decodings"]
        for name in map(view.example_of, decodings):
            _check_assistant(view, name)
            _check_language_model(view, name)
        for name in decodings:
            _check_tuning(view, name)
        for name in view.bases_first["systems"]:
            if name in view.changed:
                check_system(view, name)
    corpora = {configuration.tasks_of(corpus): corpus for corpus in configuration.tasks.values()}
    for tasks, corpus in corpora.items():
        _check_written_alike(configuration, tasks, corpus)


def _tasks(configuration: Configuration) -> list[tuple[str, ...]]:
    """No task, and the tasks of each corpus of the scale."""
    of_corpora = map(configuration.tasks_of, configuration.tasks.values())
    return list(dict.fromkeys([(), *of_corpora]))


def _known(name: str, known: Iterable[str], what: str, where: str) -> None:
    names = list(known)
    if name not in names:
        raise UserError(f"{where}: unknown {what} '{name}'; {hint(name, names)}")


def _known_decoding(configuration: Configuration, name: str, where: str) -> None:
    if not configuration.has_decoding(name):
        raise UserError(
            f"{where}: unknown decoding '{name}'; {families.near(name, configuration.decodings)}"
        )


def _check_second(
    configuration: Configuration, second: str | None, wanted: Order | None, user: str
) -> None:
    """Check the second system that something uses: there is one if it is wanted, of its order."""
    if (second is None) != (wanted is None):
        expected = "no second system" if wanted is None else f"a second, {KINDS[wanted]} system"
        raise UserError(f"{user} uses {expected}, but found {second or 'null'}")
    if second is not None:
        _known(second, configuration.systems, "system", user)
        check_order(configuration, second, wanted, user)


def _check_assistant(configuration: Configuration, name: str) -> None:
    assistant, traits = configuration.assistant(name), configuration.decoding_traits(name)
    if assistant is None and traits.assistant_optional:
        return
    method = configuration.decoding(name).method
    user = f"{configuration.file_of('decodings', name)}: key 'assistant': {method}"
    _check_second(configuration, assistant, traits.assistant, user)
    if assistant is None or traits.assistant != "parallel":
        return
    if configuration.system(assistant).decoder.upsample is not None:
        raise UserError(
            f"{user} needs a canvas as long as the target, but that of '{assistant}' is upsampled"
        )


def _check_tuning(configuration: Configuration, decoding: str) -> None:
    name = configuration.example_of(decoding)
    for option, values in configuration.tried(name).items():
        where = f"{configuration.file_of('decodings', decoding)}: key 'tuning.{option}'"
        if option in families.placeholders(decoding):
            raise UserError(f"{where}: the name '{decoding}' says its value, so it is not tuned")
        for value in values:
            with told_of(f"{where}: "):
                method = configuration.decoding(name).with_options({option: value})
                registry.describe("decoding", method)


def _check_language_model(configuration: Configuration, name: str) -> None:
    options = configuration.language_model(name)
    if options is None:
        return
    where = f"{configuration.file_of('decodings', name)}: key 'language_model"
    _known(options.system, configuration.systems, "system", f"{where}.system'")
    where += ".decoding'"
    _known_decoding(configuration, options.decoding, where)
    if configuration.language_model(options.decoding) is not None:
        raise UserError(
            f"{where}: found {options.decoding}, expected a decoding without a language model"
        )
    with told_of(f"{where}: "):
        configuration.check_decoding(options.system, options.decoding)


def _check_scale(configuration: Configuration) -> None:
    scale = file_of("scales", configuration.scale)
    assert configuration.scale_settings  # validated
    for task, corpus in configuration.tasks.items():
        _known(corpus, configuration.corpora, "corpus", f"{scale}: key 'tasks.{task}'")
    recipes = configuration.files["recipes"]
    for recipe, change in configuration.files["scales"][configuration.scale]["recipes"].items():
        _known(recipe, recipes, "recipe", f"{scale}: key 'recipes'")
        if "as" in change:
            _known(change["as"], recipes, "recipe", f"{scale}: key 'recipes.{recipe}.as'")
    for decoding in configuration.scale_settings.browser.steps:
        _known_decoding(configuration, decoding, f"{scale}: key 'browser.steps'")
    names = configuration.bases_first["recipes"]
    _check_recipes(configuration, names)
    for task in dict.fromkeys(task for each in recipes.values() for task in each.get("tasks", {})):
        view = configuration.for_tasks((task,))
        own = {name for name in names if task in recipes[name].get("tasks", {})}
        _check_recipes(view, [name for name in names if view.replacements(name)[-1] in own])


def _check_recipes(configuration: Configuration, names: Iterable[str]) -> None:
    """Check recipes, each with those that replace it in turn at the scale."""
    scale = file_of("scales", configuration.scale)
    for name in names:
        chain = configuration.replacements(name)
        recipe = configuration.recipe(name)
        overridden = [each for each in chain if each in configuration.overrides.recipes]
        # what replaces a recipe leaves nothing of it but its own overrides
        where = configuration.file_of("recipes", [*overridden, chain[-1]][0])
        if name in configuration.files["scales"][configuration.scale]["recipes"]:
            where += f" with {scale}"
        if overridden:
            where += " with 'override'"
        validation = recipe.validation
        decoding = validation.decoding
        place = f"{where}: key 'validation.decoding': found {decoding or 'null'}"
        if decoding is None and validation.metric == "bleu":
            raise UserError(f"{place}, expected a decoding, since 'validation.metric' is bleu")
        if decoding is not None:
            _known_decoding(configuration, decoding, place)
            for used, what in (
                (configuration.assistant(decoding), "a second system"),
                (configuration.language_model(decoding), "a language model"),
                (configuration.tried(decoding), "options that are tuned with the trained model"),
            ):
                if used:
                    raise UserError(f"{place}, which has {what}; give one without")
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
    graph = {name: [other for other, _ in its] for name, its in needed.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]
        start = circle.index(min(circle))
        names = [*circle[start:], *circle[: start + 1]]
        steps = [f"{one} -({dict(needed[one])[two]})-> " for one, two in pairwise(names)]
        file = configuration.file_of("systems", names[0])
        raise UserError(
            f"{file}: '{names[0]}' needs itself: {''.join(steps)}{names[0]}; change one of these "
            "keys"
        ) from error


_ENCODER_ONLY = (
    "has no decoder layers, so give 'copy: repeated' and 'upsample', and no key that changes layers"
)
_LATENT_INPUT = "decoder_input needs 'decoder.copy' to be 'soft', 'soft_upsampled' or 'soft_index'"


def check_system(configuration: Configuration, name: str) -> None:
    """Check that what a system says fits its methods, and the systems that it refers to.

    Raises:
        UserError: for the first problem.
    """
    file = configuration.file_of("systems", name)
    system = configuration.system(name)
    input_, target = configuration.input_traits(name), configuration.target_traits(name)
    decoder, latent, order = system.decoder, configuration.latent(name), input_.decoding_order
    parallel, encoder_only = order == "parallel", configuration.is_encoder_only(name)
    source_alone = DecoderOptions(
        copy="repeated", upsample=decoder.upsample, count_source_end=decoder.count_source_end
    )
    shows_source = decoder == source_alone and decoder.upsample is not None
    is_plain = replace(decoder, chunk=None) == DecoderOptions()
    chunked = order in ("hybrid", "semi-autoregressive")
    aligned, upsampled = system.input.options.get("aligned_by"), decoder.upsample is not None
    in_input = latent is not None and latent.added_to == "decoder_input"
    suits_canvas = input_.upsampled in (None, target.upsampled)
    has_length = parallel and not target.upsampled
    method, shown = system.target.method, system.input.method
    own = f"'{name}' is {KINDS[order]} (input {shown})"
    canvas = "an upsampled canvas" if target.upsampled else "a canvas as long as the target"
    lengths = "'target', 'offset' or 'constant'" if has_length else "null"
    check_order(configuration, name, target.decoding_order, f"{file}: key 'target': {method}")
    for fits, key, problem in (
        ((decoder.chunk is not None) == chunked, "decoder.chunk", f"found {decoder.chunk}; {own}"),
        (parallel or is_plain, "decoder", f"a canvas is for non-autoregressive systems, but {own}"),
        (shows_source or not encoder_only, "decoder", f"the size {system.size} {_ENCODER_ONLY}"),
        (upsampled == target.upsampled, "decoder.upsample", f"{method} needs {canvas}"),
        (suits_canvas, "input", f"{shown} is not for {canvas}, which {method} needs"),
        (parallel or not latent, "latent", f"for non-autoregressive systems, but {own}"),
        (not (latent and encoder_only), "latent", f"the size {system.size} has no decoder layers"),
        (decoder.copy.startswith("soft") or not in_input, "latent.added_to", _LATENT_INPUT),
        ((system.length is not None) == has_length, "length", f"expected {lengths} with {method}"),
        (target.distils or aligned != "teacher", "input.aligned_by", f"{method} has no teacher"),
        (parallel or not target.distils, "target", f"{method} is non-autoregressive; {own}"),
    ):
        if not fits:
            raise UserError(f"{file}: key '{key}': {problem}")
    _check_teacher(configuration, name)
    _check_start(configuration, name)
    _check_texts(configuration, name)
    decoding = configuration.recipe(system.recipe).validation.decoding
    if decoding is not None:
        with told_of(f"{file}: key 'recipe': validation by '{system.recipe}': "):
            configuration.check_decoding(name, decoding)


def _check_written_alike(configuration: Configuration, tasks: tuple[str, ...], corpus: str) -> None:
    """What is the same training is known by what the files say, see `Configuration.canonical`."""
    first: dict[str, str] = {}
    view = configuration.for_tasks(tasks)
    names = set((configuration.on(corpus).canonical_names or {}).values())
    for name in sorted(names, key=lambda each: (len(each), each)):
        other = first.setdefault(view.identity(name, defaults=True), name)
        if other != name:
            changes = differences(view.written(other), view.written(name))
            raise UserError(
                f"{view.file_of('systems', name)}: '{name}' is the same training as '{other}' on "
                f"{corpus}, but one of them writes down an option that the other has by default "
                f"({'; '.join(changes)}); give both the same options"
            )


def _check_texts(configuration: Configuration, name: str) -> None:
    file = configuration.file_of("systems", name)
    text, start = configuration.text(name), configuration.system(name).init_from
    # U-DiMS learns from translations of the system whose steps it distils
    own_teacher = start if configuration.target_traits(name).distils else None
    for each in text.candidates:
        if each.system is None or each.decoding is None:
            continue
        where = f"{file}: key '{each.key}"
        if Start(each.system) != own_teacher:
            user = f"{where}.system': what translates a text"
            check_order(configuration, each.system, "autoregressive", user)
        with told_of(f"{where}.decoding': "):
            configuration.check_decoding(each.system, each.decoding)
    choice = configuration.text_choice(name)
    if choice is None:
        return
    method = choice.method.method
    user = f"{file}: key 'text': {method}"
    check_order(configuration, name, choice.traits.decoding_order, user)
    gamma = text.regulariser.get("gamma")
    if gamma is not None and not text.is_tuned and len(gamma) != len(text.candidates):
        raise UserError(
            f"{file}: key 'text.{method}.regulariser.gamma': found {len(gamma)} weights, expected "
            f"{len(text.candidates)}, one for each of the candidates"
        )


def _check_teacher(configuration: Configuration, name: str) -> None:
    file, system = configuration.file_of("systems", name), configuration.system(name)
    input_, target = configuration.input_traits(name), configuration.target_traits(name)
    wanted = input_.teacher or target.teacher
    if system.decoder.input_predictor:
        wanted = "parallel"
        both = [name] if system.teacher is None else [name, system.teacher]
        aligned = [configuration.system(each).decoder.upsample is None for each in both]
        has_teacher = target.distils or target.teacher is not None
        for fits, problem in (
            (input_.trains_on_partial_targets, f"{system.input.method} never reveals a token"),
            (not has_teacher, f"{system.target.method} has a teacher, too (key 'teacher')"),
            (all(aligned), "it and its teacher need canvases as long as the target"),
            (system.latent is None, "it depends on the source alone, so remove 'latent'"),
        ):
            if not fits:
                raise UserError(f"{file}: key 'decoder.input_predictor': {problem}")
    method = f"{system.input.method} with {system.target.method}"
    user = f"{file}: key 'teacher': {method}"
    _check_second(configuration, system.teacher, wanted, user)
    if system.teacher is not None:
        check_positions(configuration, name, system.teacher, user)


def _check_start(configuration: Configuration, name: str) -> None:
    file, system = configuration.file_of("systems", name), configuration.system(name)
    named, method = system.init_from, system.target.method
    distils = configuration.target_traits(name).distils
    if named is None:
        if distils:
            raise UserError(
                f"{file}: key 'init_from': found null, expected the system that {method} distils"
            )
        return
    start = configuration.system(named.system)
    if distils and (
        configuration.decoding_order(named.system) == "autoregressive"
        or not configuration.trained_on_partial_targets(named.system)
    ):
        raise UserError(
            f"{file}: key 'init_from': {method} distils several steps, but '{named.system}' takes "
            f"only one (input {start.input.method}); start from one such as random_mask"
        )
    keep = configuration.recipe(start.recipe).keep or {}
    if named.kept is not None and named.kept not in keep:
        raise UserError(
            f"{file}: key 'init_from.kept': no checkpoint '{named.kept}' is kept by the recipe "
            f"'{start.recipe}' of '{named.system}' (key 'keep'); {hint(named.kept, keep)}"
        )
    both = [(named.system, start), (name, system)]
    sizes = configuration.scale_settings.sizes  # a scale needs only the sizes that are used
    has_sizes = all(each.size in sizes for _, each in both)
    latents = [configuration.latent(each) for each, _ in both]
    parts: dict[str, list[Any]] = {
        "size": [options_of(sizes[each.size]) if has_sizes else {} for _, each in both],
        # the chunk size of the projection does not concern the weights
        "decoder": [options_of(replace(each.decoder, chunk=None)) for _, each in both],
        "latent": [
            each and {"dim": each.dim, "posterior_layers": each.posterior_layers}
            for each in latents
        ],
        "length": [each.length for _, each in both],
    }
    for key, (its, own) in parts.items():
        if its != own:
            raise UserError(
                f"{file}: key '{key}': '{name}' starts from '{named.system}', where it is another "
                f"one ({'; '.join(differences(its, own))})"
            )
