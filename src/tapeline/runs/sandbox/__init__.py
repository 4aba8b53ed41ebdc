"""The sandbox of a model: what it can see, which system calls it may make, how much it may use."""
