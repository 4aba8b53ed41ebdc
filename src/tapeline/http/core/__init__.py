"""What every route has in common: its row, who is calling, dispatch, the shapes of answers."""
