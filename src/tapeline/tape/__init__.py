"""The tape: every event a model sends, as it arrived and in its order."""
