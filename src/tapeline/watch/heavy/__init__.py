"""Libraries that take long to load or much memory, in a process of their own when needed."""
