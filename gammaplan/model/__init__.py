"""The mathematics: arrays in, frozen results out; no files, no printing, no clock, no prose."""
