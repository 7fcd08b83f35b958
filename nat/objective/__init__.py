"""The contract of every training method: the context of an update, decoder input, loss."""
