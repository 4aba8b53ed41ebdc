"""The hash chain and the signatures over it."""
