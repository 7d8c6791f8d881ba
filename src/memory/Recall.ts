/** Memories that are looked at for one block, the best match first. */
export const mostRecalled = 12
