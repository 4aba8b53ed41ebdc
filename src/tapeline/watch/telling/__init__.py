"""Telling people of incidents: channels, the outbox, and the process that sends."""
