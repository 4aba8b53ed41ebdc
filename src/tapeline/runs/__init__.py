"""Runs that people asked for: the supervisor, the engine, the sandbox, environments."""
