/* Gives its argument, on a path for each value: the engine answers. */
long __wryneck_concretise(long);
