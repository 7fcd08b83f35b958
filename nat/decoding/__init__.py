"""How text is produced from a model. One file, one method."""
