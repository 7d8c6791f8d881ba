/** E-mail addresses in a text: found from their `@`, so that the work is linear. Pure. */

const maxLocalChars = 64
const maxDomainChars = 253

const isLocal = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || isLocalMark(code)

/** Checks for one of `. _ % + - '`. */
const isLocalMark = (code: number): boolean =>
  code === 46 || code === 95 || code === 37 || code === 43 || code === 45 || code === 39

const domainLabel = /^(?:[\da-z](?:[\da-z-]{0,61}[\da-z])?\.)+[a-z][\da-z-]{0,61}[a-z]/i
/** Names such as `icon@2x.png` end like files. */
const fileEnding = /\.(?:png|jpe?g|gif|svg|webp|ico|css|scss|json|html?|md|tsx?|jsx?|mjs|cjs|map|txt|ya?ml|gz)$/i

const startOf = (text: string, at: number): number => {
  const least = Math.max(0, at - maxLocalChars)
  let start = at
  while (start > least && isLocal(text.charCodeAt(start - 1))) start -= 1
  // Neither a dot nor a quotation mark begins one.
  while (start < at && (text.charCodeAt(start) === 46 || text.charCodeAt(start) === 39)) start += 1
  return start
}

export const findEmails = (text: string, found: (start: number, end: number) => void): void => {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const start = startOf(text, at)
    if (start === at || text.charCodeAt(at - 1) === 46) continue
    const domain = domainLabel.exec(text.slice(at + 1, at + 1 + maxDomainChars))?.[0]
    if (domain === undefined || fileEnding.test(domain)) continue
    const end = at + 1 + domain.length
    // The user of a repository's address (`git@github.com:owner/name`) is the same for all.
    if (text.slice(start, at) === "git" && (text[end] === ":" || text[end] === "/")) continue
    found(start, end)
  }
}
