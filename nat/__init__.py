"""Non-autoregressive translation: models, losses, decoding and measures of five papers."""

__version__ = "0.1.0"
