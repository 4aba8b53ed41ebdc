"""Commands that show what a model did, and prove it."""
