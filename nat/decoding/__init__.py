"""Decoding methods: how translations are generated. One method per file."""
