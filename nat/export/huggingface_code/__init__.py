"""Classes of Hugging Face's transformers, which travel with an exported model."""
