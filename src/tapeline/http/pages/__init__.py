"""Pages that are rendered here, and the shell of the web app."""
