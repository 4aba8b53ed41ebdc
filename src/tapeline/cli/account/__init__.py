"""Commands about servers, projects, members and keys."""
