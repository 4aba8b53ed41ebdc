"""What can be wrong: one row per condition, each a pure function over facts."""
