"""The process that sends messages, and where they may go."""
