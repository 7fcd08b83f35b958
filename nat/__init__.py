"""Non-autoregressive translation: models, losses, decoding and measures of five papers."""
