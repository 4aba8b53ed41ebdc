"""Commands that make, run and change a model."""
