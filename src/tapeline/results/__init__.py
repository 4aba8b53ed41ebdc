"""What a model's orders come to: profit and loss, and the lists and figures that show it."""
