"""Trees of the heads of all tapes, the log of their roots, and stamps of others on it."""
