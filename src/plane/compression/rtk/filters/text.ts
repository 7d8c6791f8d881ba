/** A text written line by line. */
export const text = (lines: ReadonlyArray<string>): string => lines.join("\n")
