"""Models on the nodes of a Ray cluster: Ray places runs and carries calls; the rest is ours."""
