// placeholder for the tests of room of stores.
