"""The packages of models: which are asked for, which Python, and where they are kept."""
