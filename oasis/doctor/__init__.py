"""The doctor: checks from the link up to the application, by code and not by a model; each finding has its evidence."""
