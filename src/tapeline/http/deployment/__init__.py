"""The deployment API: accounts, projects, uploads and runs as existing clients call them."""
