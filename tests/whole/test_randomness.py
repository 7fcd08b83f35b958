import pytest
import torch

from nat import randomness

IDS = torch.arange(20_000)


def test_numbers_never_change() -> None:
    # A change here changes every mask of a training that is resumed.
    found = randomness.uniform(1, 2, torch.tensor([0, 3]), 2, stream=1)
    assert found.mul(1 << 24).long().tolist() == [[7758351, 9370810], [11447418, 4472030]]


def test_seed_update_stream_and_position_all_matter() -> None:
    columns = [
        randomness.uniform(seed, update, IDS, 2, stream)[:, position]
        for seed in range(3)
        for update in range(3)
        for stream in range(2)
        for position in range(2)
    ]
    correlation = torch.corrcoef(torch.stack(columns))
    # 20,000 independent pairs correlate by 0.007; none of 630 by six times that
    assert (correlation - torch.eye(len(columns))).abs().max() < 0.045


def test_uniform_between_zero_and_one() -> None:
    numbers = randomness.uniform(5, 0, IDS, 10)
    assert numbers.dtype == torch.float32
    assert numbers.min() >= 0 and numbers.max() < 1
    expected = numbers.numel() / 50
    chi_square = ((torch.histc(numbers, 50, 0, 1) - expected) ** 2 / expected).sum()
    assert chi_square < 49 + 6 * (2 * 49) ** 0.5


def test_normal_numbers() -> None:
    numbers = randomness.normal(5, 0, IDS, 10).flatten().double()
    count = numbers.numel()
    assert numbers.isfinite().all() and numbers.abs().max() < 5.8
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)):
        # the variance of such a power is at most 7!! = 105
        assert (numbers**power).mean().item() == pytest.approx(moment, abs=6 * (105 / count) ** 0.5)
    within = numbers.abs().lt(1).double().mean().item()
    assert within == pytest.approx(0.6827, abs=6 * (0.22 / count) ** 0.5)


def test_numbers_of_sentences_depend_on_their_tokens_only() -> None:
    tokens = torch.tensor([[7, 8, 9, 0], [8, 7, 9, 0], [7, 8, 9, 9], [7, 8, 9, 0], [0, 0, 0, 0]])
    padding = tokens.eq(0)
    numbers = randomness.numbers_of(tokens, padding)
    assert numbers[0] == numbers[3]
    assert len(set(numbers.tolist())) == 4
    shorter = randomness.numbers_of(tokens[:2, :3], padding[:2, :3])
    assert torch.equal(shorter, numbers[:2])
