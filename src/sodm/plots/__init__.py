"""Pictures. Matplotlib is needed to draw them, not to import them."""
