"""What the books know of prices: fills and marks for a chart, and closes that become marks."""
