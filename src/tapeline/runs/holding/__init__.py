"""What must not run, because somebody put it on hold."""
