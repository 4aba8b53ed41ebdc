"""How long a project keeps what its models say, and the removal of what is older."""
