"""N-gram language models of distilled text: estimation and scoring."""
