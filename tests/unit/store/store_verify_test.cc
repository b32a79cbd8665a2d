// placeholder for the tests of verify of stores.
