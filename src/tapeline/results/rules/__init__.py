"""What an order, a price or cash means for the books: pure rules over a state and an entry."""
