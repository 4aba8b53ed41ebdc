"""The journals that shims write: reading them, and what they mean for a run."""
