"""The view API, for pages, the command line and scripts."""
