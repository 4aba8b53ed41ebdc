"""The process of ours on each node of a cluster, and what it is asked."""
