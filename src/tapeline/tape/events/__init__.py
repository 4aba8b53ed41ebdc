"""What an event is: its kinds, what each may carry, and its form on the tape. No store here."""
