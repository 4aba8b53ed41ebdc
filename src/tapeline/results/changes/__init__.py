"""What was changed after the fact: one fold for pages, links, exports and `tapeline verify`."""
