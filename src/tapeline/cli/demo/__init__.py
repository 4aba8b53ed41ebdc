"""Commands for the operator of a server, on its machine."""
