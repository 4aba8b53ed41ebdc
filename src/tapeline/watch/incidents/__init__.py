"""What became of rules: their states, and the incidents that they opened."""
