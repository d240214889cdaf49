"""Where the library has its recurrences."""
