"""Work beside supervision: what runs used and left behind, and the runs of hosts that are gone."""
