"""What other tools wrote: records, samples in tar archives, data sets of Hugging Face."""
