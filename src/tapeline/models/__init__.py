"""What people own: projects and the models in them."""
