"""The way onto the tape: who may write, how much, in which order, and what is folded at once."""
