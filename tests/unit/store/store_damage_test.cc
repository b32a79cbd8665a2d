// placeholder for the tests of damage of stores.
