"""Commands that show a model's record, and prove it."""
