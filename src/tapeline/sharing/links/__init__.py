"""Links: made, changed, revoked and counted, and what their owners chose to show."""
