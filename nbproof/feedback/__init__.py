"""What one learner gets back: pages, and the pictures on them."""
