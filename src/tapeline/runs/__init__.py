"""What runs because somebody desired it: the supervisor, the engine, the sandbox, environments."""
