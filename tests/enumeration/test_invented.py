"""The invented language pairs: the exact law against enumeration and against draws."""

import hashlib
import itertools
import json
import math
from collections import Counter
from dataclasses import replace

import pytest

from nat.data.corpus import GeneratorOptions
from nat.data.corpus_parts import part_of
from nat.data.invented.language import Language, language_of
from nat.data.invented.law import (
    corpus_entropies,
    corpus_subword_entropies,
    entropies,
    modes,
    subword_law,
)
from nat.data.invented.text import generate, split_of, write_corpus
from nat.data.invented.words import clause, lexicon
from nat.options import validated
from tests.made_up_corpus import as_corpus
from tests.messages import told

NOISELESS = {"slip_probability": 0.0, "drop_probability": 0.0}
SHORT = {f"{part}_probability": 0 for part in ("adjective", "attribute", "object", "phrase")}
FEW = {"nouns": 5, "verbs": 1, "adjectives": 5, "adverbs": 1, "prepositions": 3}
# probabilities without symmetries, so that a factor that is swapped or forgotten shows
SKEWED = Language(
    seed=3,
    fertile_share=0.3,
    synonym_share=0.7,
    register_probabilities=(0.5, 0.3, 0.2),
    front_probability=0.4,
    slip_probability=0.07,
    drop_probability=0.2,
)


def shortest(language, count, longest=7):
    """The first source sentences whose targets are short enough to be enumerated at once."""
    sources = (source for source, _ in generate(language, "train", 1500))
    short = (
        source
        for source in dict.fromkeys(sources)
        if len(next(iter(modes(language, source))).split()) <= longest
    )
    return list(itertools.islice(short, count))


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities if p > 0)


def entropy_of(position):
    return entropy(position.values())


def split_all(words, split):
    return [subword for word in words for subword in split(word).split()]


def enumerate_law(language, source):
    """The law from the description alone: each choice of register, order, drop and slips."""
    frame = clause(language, source)
    law = Counter()
    words = [*frame.main, *frame.adverbial]
    content = [number for number, word in enumerate(words) if word.slip is not None]
    p, q, s = (language.front_probability, language.drop_probability, language.slip_probability)
    for register, weight in enumerate(language.register_probabilities):
        for front, dropped in itertools.product((False, True), repeat=2):
            for slips in itertools.product((False, True), repeat=len(content)):
                slipped = dict(zip(content, slips, strict=True))
                forms = [
                    word.slip if slipped.get(number) else word.forms[register]
                    for number, word in enumerate(words)
                ]
                main, adverbial = forms[: len(frame.main)], forms[len(frame.main) :]
                if dropped:
                    del main[frame.particle]
                probability = weight * (p if front else 1 - p) * (q if dropped else 1 - q)
                for slip in slips:
                    probability *= s if slip else 1 - s
                law[" ".join(adverbial + main if front else main + adverbial)] += probability
    return {target: probability for target, probability in law.items() if probability > 0}


def enumerate_marginals(law):
    positions = [Counter() for _ in range(max(map(len, law)))]
    for target, probability in law.items():
        for position, word in itertools.zip_longest(positions, target, fillvalue=""):
            position[word] += probability
    return positions


def letters(word):
    """Subwords of two letters, so that forms differ in length."""
    pieces = [word[place : place + 2] for place in range(0, len(word), 2)]
    return " ".join([f"{piece}@@" for piece in pieces[:-1]] + pieces[-1:])


LANGUAGES = {
    "default": Language(),
    "skewed": SKEWED,
    "no noise": replace(SKEWED, **NOISELESS),
    "no synonyms": replace(SKEWED, synonym_share=0.0),
    "all slips": replace(SKEWED, slip_probability=1.0),
    "one register": replace(SKEWED, register_probabilities=(1.0,)),
    "always in front, always dropped": replace(SKEWED, front_probability=1.0, drop_probability=1.0),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_exact_law_is_that_of_enumeration(name):
    language = LANGUAGES[name]
    sources = shortest(language, 12)
    for source in sources:
        words = {tuple(target.split()): p for target, p in enumerate_law(language, source).items()}
        for split in (str, letters):
            law = {tuple(split_all(target, split)): p for target, p in words.items()}
            assert subword_law(language, split, source) == pytest.approx(law)
            lengths = Counter()
            for target, p in law.items():
                lengths[len(target)] += p
            given = 0.0
            for length, weight in lengths.items():
                there = {target: p / weight for target, p in law.items() if len(target) == length}
                given += weight * sum(map(entropy_of, enumerate_marginals(there)))
            of_subwords = entropies(language, split, source)
            assert of_subwords.joint == pytest.approx(entropy(law.values()), abs=1e-9)
            assert of_subwords.length == pytest.approx(entropy(lengths.values()), abs=1e-9)
            assert of_subwords.given_length == pytest.approx(given, abs=1e-9)
            padded = sum(map(entropy_of, enumerate_marginals(law)))
            assert of_subwords.padded == pytest.approx(padded, abs=1e-9)
            tokens = sum(len(target) * p for target, p in law.items())
            assert of_subwords.tokens == pytest.approx(tokens)


def test_to_know_the_length_helps():
    sources = shortest(SKEWED, 4)
    mean = corpus_subword_entropies(SKEWED, letters, sources)
    assert mean["joint"] < mean["length"] + mean["given_length"] < mean["padded"]
    each = [entropies(SKEWED, letters, source).padded for source in sources]
    assert mean["padded"] == pytest.approx(sum(each) / 4)


def test_draws_follow_the_law():
    # one source sentence comes often
    changes = {"register_probabilities": (0.7, 0.3), "slip_probability": 0.1, "synonym_share": 1.0}
    language = replace(SKEWED, **FEW, **SHORT, **changes, zipf_exponent=3)
    pairs = list(generate(language, "train", 25000))
    ((source, total),) = Counter(source for source, _ in pairs).most_common(1)
    assert total > 5000
    counts = Counter(target for other, target in pairs if other == source)
    law = {" ".join(target): p for target, p in subword_law(language, str, source).items()}
    assert set(counts) <= set(law)
    for target, probability in law.items():
        spread = math.sqrt(probability * (1 - probability) / total)
        assert abs(counts[target] / total - probability) < 5 * spread + 1e-3


def test_modes_are_the_targets_without_noise():
    language = replace(SKEWED, synonym_share=0.4, **NOISELESS)
    seen, merged = Counter(), 0
    for source, target in generate(language, "train", 2000):
        law = modes(language, source)
        assert sum(law.values()) == pytest.approx(1)
        assert list(law.values()) == sorted(law.values(), reverse=True)
        # registers that sound alike are one mode
        assert len(law) in (2, 6)
        merged += len(law) == 2
        seen[list(law).index(target)] += len(law) == 6
    assert 0 < merged < 2000
    assert all(seen[rank] > 0 for rank in range(6))


def test_an_optional_particle_is_a_mode():
    """The text stays the same; targets without the particle are correct as well."""
    noise = replace(SKEWED, slip_probability=0, drop_probability=0.4)
    mode = replace(noise, optional_particle=True)
    pairs = list(generate(noise, "test", 200))
    assert pairs == list(generate(mode, "test", 200))
    assert all(target in modes(mode, source) for source, target in pairs)
    outside = sum(target not in modes(noise, source) for source, target in pairs)
    assert 50 < outside < 110
    for source, _ in pairs[:20]:
        law = modes(mode, source)
        assert sum(law.values()) == pytest.approx(1)
        whole = {target: law[target] / 0.6 for target in modes(noise, source)}
        assert whole == pytest.approx(modes(noise, source))


def test_generation_is_the_same_everywhere_and_prefixes_agree():
    # published numbers hang on these sentences: a change of the generator must be meant
    pairs = list(generate(Language(), "train", 2000))
    digest = hashlib.sha256(json.dumps(pairs).encode()).hexdigest()
    assert digest[:16] == "6ba7bdc8b8b38b9e"
    assert pairs[:700] == list(generate(Language(), "train", 700))
    other = list(generate(Language(seed=2), "train", 2000))
    assert not {source for source, _ in pairs} & {source for source, _ in other}


def test_splits_are_disjoint_and_test_sets_differ():
    language = Language(nouns=8, verbs=4, adjectives=5, adverbs=2, attribute_probability=0.0)
    counts = {"train": 6000, "valid": 600, "test": 600, "test_a": 600}
    sets = {split: list(generate(language, split, count)) for split, count in counts.items()}
    for split, pairs in sets.items():
        assert len(pairs) == counts[split]
        assert {split_of(language, source) for source, _ in pairs} == {split.removesuffix("_a")}
    assert sets["test_a"] != sets["test"]


def test_forms_are_distinct_and_the_shares_kept():
    language = Language()
    words_of = lexicon(language)
    assert len(words_of.category) == 80
    words = [word for words in words_of.target.values() for word in words] + [words_of.particle]
    forms = [form for word in words for form in {*word.forms, word.slip} - {None}]
    assert len(set(forms)) == len(forms)
    assert not set(forms) & set(words_of.category)
    content = [concept for concept, letter in words_of.category.items() if letter != "P"]
    fertile = [concept for concept in content if len(words_of.target[concept]) == 2]
    varied = [concept for concept in content if len(set(words_of.target[concept][0].forms)) == 2]
    assert len(fertile) == round(0.2 * len(content))
    assert len(varied) == round(0.9 * len(content))


def test_entropies_of_a_corpus_are_means():
    sources = [source for source, _ in generate(SKEWED, "valid", 300)]
    found = corpus_entropies(SKEWED, sources)
    # by themselves, while sentences of one shape share their entropies there
    each = [entropies(SKEWED, str, source) for source in sources]
    assert found["sentences"] == 300
    for scope, units in (("per_sentence", 300), ("per_word", sum(one.tokens for one in each))):
        joint = sum(one.joint for one in each) / units
        total = sum(one.padded - one.joint for one in each) / units
        nats = {"joint_entropy": joint, "total_correlation": total}
        assert found[scope]["nats"] == pytest.approx(nats | {"marginal_entropies": joint + total})
        bits = {name: value / math.log(2) for name, value in found[scope]["nats"].items()}
        assert found[scope]["bits"] == pytest.approx(bits)


PAIRS = {"train": 60, "valid": 20, "test": 10}


def written(folder, *splits):
    """Write these splits of a corpus; returns its facts and the contents of its files."""
    corpus = as_corpus({"source": "ka", "target": "lu", "generator": {"pairs": PAIRS, "seed": 4}})
    folder.mkdir()
    facts = write_corpus(part_of(corpus, splits), folder, folder)
    return facts, {path.name: path.read_bytes() for path in folder.glob("[!.]*")}


def test_a_corpus_and_its_references_are_written(tmp_path):
    facts, files = written(tmp_path / "whole", *PAIRS)
    assert files.keys() == {*facts["sha256"], "test.lu.jsonl", "valid.lu.jsonl"}
    language = Language(seed=4)
    for split, count in PAIRS.items():
        sources, targets = (files[f"{split}.{side}"].decode().splitlines() for side in ("ka", "lu"))
        assert list(zip(sources, targets, strict=True)) == list(generate(language, split, count))
        assert facts["entropies"][split] == corpus_entropies(language, sources)
        if split != "train":
            rows = map(json.loads, files[f"{split}.lu.jsonl"].decode().splitlines())
            for number, (row, source) in enumerate(zip(rows, sources, strict=True)):
                assert row["id"] == number
                law = dict(zip(row["references"], row["weights"], strict=True))
                assert law == modes(language, source)
    for name, checksum in facts["sha256"].items():
        assert hashlib.sha256(files[name]).hexdigest() == checksum
    assert language_of(generator(facts["parameters"])) == language
    # a test set that is written alone is the same
    alone = written(tmp_path / "alone", "test")[1]
    assert {name for name in alone if not name.startswith("test")} == set()
    assert written(tmp_path / "rest", "train", "valid")[1] | alone == files


def generator(options):
    return validated(GeneratorOptions, {"pairs": PAIRS, **options})


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"pairs": {**PAIRS, "tset": 1}}, "'tset'"),
        ({"pairs": {**PAIRS, "valid": 0}}, "pairs.valid"),
        ({"slip_probabilty": 0.1}, "slip_probability"),
        ({"slip_probability": 1.5}, "slip_probability"),
        ({"register_probabilities": [0.5, 0.4]}, "register_probabilities"),
        ({"nouns": 4}, "nouns"),
    ],
)
def test_bad_options(options, part):
    with told(part):
        language_of(generator(options))


def test_what_is_no_sentence_of_the_language_is_told():
    source = next(generate(Language(), "train", 1))[0]
    for wrong in ("", "hello", source.split()[0], f"{source} {source}"):
        with told(f"'{wrong}'", error=ValueError):
            modes(Language(), wrong)
