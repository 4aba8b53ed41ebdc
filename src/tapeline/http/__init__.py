"""The edge: requests in, answers out. What is decided here is wire, never business."""
