"""Operations as graphs: how functions are traced, and run for one element or for many at once."""
