"""Imputer decoding: an alignment is completed block by block, then collapsed."""

from nat.decoding.imputation import Imputing
from nat.decoding.options import ImputerDecodingOptions


class ImputerDecoding(Imputing, ImputerDecodingOptions):
    """The labels of an upsampled canvas in several passes, see `nat.decoding.imputation.impute`."""


METHOD = ImputerDecoding
