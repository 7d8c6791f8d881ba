/** Bounds of the look for attempts to take over a model. */

/** Characters of the texts of one request that are looked at: about half a million tokens. */
export const scannedChars = 2_097_152
