"""The walls around a model: what it sees, what it may call, how much it may use."""
