"""Files of logits or probabilities, read a block of rows at a time."""
