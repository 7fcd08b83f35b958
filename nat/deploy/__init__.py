"""Use of trained models: folders that travel, raw text to raw text, and the command `nat`."""
