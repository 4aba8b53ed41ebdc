"""The view API: what pages, the command line and scripts read."""
