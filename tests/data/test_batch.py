from nat.data.batch import Batch
from nat.data.vocabulary import EOS, PAD


def test_padding_is_on_the_right_and_source_ends_with_eos() -> None:
    batch = Batch.collate([7, 3], [[10, 11, 12], [13]], [[20], [21, 22]])
    assert batch.ids.tolist() == [7, 3]
    assert batch.source.tolist() == [[10, 11, 12, EOS], [13, EOS, PAD, PAD]]
    assert batch.target.tolist() == [[20, PAD], [21, 22]]
    assert batch.target_lengths.tolist() == [1, 2]
    assert batch.target_padding.tolist() == [[False, True], [False, False]]


def test_empty_sentences_keep_their_row() -> None:
    batch = Batch.collate([0, 1], [[], [10]], [[20], []])
    assert batch.source.tolist() == [[EOS, PAD], [10, EOS]]
    assert batch.target.tolist() == [[20], [PAD]]
    assert batch.target_lengths.tolist() == [1, 0]
    nothing = Batch.collate([0], [[]], [[]])
    assert nothing.target.shape == (1, 0)
    assert Batch.collate([], [], []).source.shape == (0, 0)
