/** Names of files from elsewhere. Pure. */

const maxNameChars = 255

/** The name without folders and control characters; never empty. */
export const safeName = (given: string): string => {
  const bounded = given.slice(-4096)
  const base = bounded.slice(Math.max(bounded.lastIndexOf("/"), bounded.lastIndexOf("\\")) + 1)
  const name = base
    // Control characters, and those that turn the direction of a text.
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "")
    .trim()
    .slice(0, maxNameChars)
    .replace(/[\ud800-\udbff]$/, "")
  return /^\.*$/.test(name) ? "file" : name
}
