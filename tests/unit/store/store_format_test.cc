// placeholder for the tests of format of stores.
