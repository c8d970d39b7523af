// The precompiled header is all that is wanted of this library.
