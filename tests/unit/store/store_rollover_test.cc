// placeholder for the tests of rollover of stores.
