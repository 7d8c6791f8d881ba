// @ts-check
// The block of custom hosts in a hosts file (https://man7.org/linux/man-pages/man5/hosts.5.html), as text. Texts are read as Latin-1, so
// that every byte outside the block stays what it is, whatever its encoding.

const begin = "# BEGIN gateway-inspector"
const end = "# END gateway-inspector"
/** Stands behind `begin` where the line before the block had no end, so that taking the block out gives the same bytes again. */
const addedLineEnd = " (added a line end)"

/** Addresses of both families: without the second, clients that prefer IPv6 would go past. */
export const addresses = ["127.0.0.1", "::1"]

/** @param {string} host */
export const linesOf = (host) => addresses.map((address) => `${address} ${host}`)

const ownShape = /^(?:127\.0\.0\.1|::1) [a-z0-9.-]{1,253}$/u

/** Lines with their ends; the last one may have none. @param {string} text @returns {string[]} */
const linesIn = (text) => {
  const lines = []
  let at = 0
  for (let next = text.indexOf("\n"); next >= 0; next = text.indexOf("\n", at)) {
    lines.push(text.slice(at, next + 1))
    at = next + 1
  }
  if (at < text.length) lines.push(text.slice(at))
  return lines
}

/** @param {string} text */
const lineEnd = (text) => {
  const first = text.indexOf("\n")
  return first > 0 && text[first - 1] === "\r" ? "\r\n" : "\n"
}

/** @param {string} line */
const isBegin = (line) => {
  const text = line.trim()
  return text === begin || text === begin + addedLineEnd
}

/** @param {string} line */
const isEnd = (line) => line.trim() === end

/**
 * @typedef {{ state: "none" } | { state: "one", lines: string[] } | { state: "broken", problem: string }} Block
 * `lines` are those between the marks, without ends.
 */

/** @param {string} text @returns {Block} */
export const readBlock = (text) => {
  /** @type {string[] | null} */
  let open = null
  /** @type {string[] | null} */
  let found = null
  for (const line of linesIn(text)) {
    if (isBegin(line)) {
      if (open !== null || found !== null) return { state: "broken", problem: "has two blocks of the gateway" }
      open = []
    } else if (isEnd(line)) {
      if (open === null) return { state: "broken", problem: "has the end of a block of the gateway and no beginning" }
      found = open
      open = null
    } else if (open !== null) open.push(line.trim())
  }
  if (open !== null) return { state: "broken", problem: "has a block of the gateway that does not end" }
  return found === null ? { state: "none" } : { state: "one", lines: found }
}

/**
 * Makes the check whether a line between the marks is ours.
 * @param {ReadonlyArray<string> | null} ours null: all of their shape
 * @returns {(line: string) => boolean}
 */
const ownLines = (ours) => {
  if (ours === null) return (line) => ownShape.test(line.trim())
  const own = new Set(ours)
  return (line) => own.has(line.trim())
}

/**
 * The text without our lines and the marks around them. Lines in the block that another program wrote stay where they are; where these
 * are another gateway's, the marks stay as well, by which that one finds them. Several blocks and one without an end are removed too.
 * @param {string} text
 * @param {ReadonlyArray<string> | null} ours lines that were written; null: all of their shape
 */
export const withoutBlock = (text, ours) => {
  const isOwn = ownLines(ours)
  let kept = ""
  /** @type {string[] | null} */
  let inside = null
  let endToTake = -1
  /** @param {string[]} block @param {string} last */
  const close = ([first = "", ...lines], last) => {
    const others = lines.filter((line) => !isOwn(line))
    if (others.some((line) => ownShape.test(line.trim()))) kept += first + others.join("") + last
    else {
      if (first.trim() !== begin) endToTake = kept.length
      kept += others.join("")
    }
  }
  for (const line of linesIn(text)) {
    if (isBegin(line)) {
      if (inside !== null) close(inside, "")
      inside = [line]
    } else if (isEnd(line)) {
      if (inside !== null) close(inside, line)
      inside = null
    } else if (inside === null) kept += line
    else inside.push(line)
  }
  if (inside !== null) close(inside, "")
  // Where something follows the block by now, the line end before it is needed.
  return endToTake === kept.length ? kept.replace(/\r?\n$/u, "") : kept
}

/**
 * The text with one block of these lines at its end, or in the place where it is. Lines of others inside the block are kept.
 * @param {string} text its block is none or one
 * @param {ReadonlyArray<string>} lines
 * @param {ReadonlyArray<string> | null} ours as for `withoutBlock`
 */
export const withBlock = (text, lines, ours) => {
  if (lines.length === 0) return withoutBlock(text, ours)
  const eol = lineEnd(text)
  if (readBlock(text).state === "none") {
    const isOpen = text !== "" && !text.endsWith("\n")
    const first = isOpen ? `${eol}${begin}${addedLineEnd}` : begin
    return `${text}${[first, ...lines, end].join(eol)}${eol}`
  }
  const isOwn = ownLines(ours)
  let result = ""
  let isInside = false
  for (const line of linesIn(text)) {
    if (isBegin(line)) {
      isInside = true
      result += line + lines.map((added) => added + eol).join("")
    } else if (isEnd(line)) {
      isInside = false
      result += line
    } else if (!(isInside && isOwn(line))) result += line
  }
  return result
}

/**
 * Hosts that an earlier line outside the block already gives an address, which therefore holds.
 * @param {string} text
 * @param {ReadonlyArray<string>} hosts
 */
export const shadowedHosts = (text, hosts) => {
  const asked = new Set(hosts)
  /** @type {Set<string>} */
  const found = new Set()
  for (const line of linesIn(text)) {
    if (isBegin(line)) break
    const [address = "", ...names] = line.replace(/#.*/su, "").trim().split(/\s+/u)
    if (address === "" || addresses.includes(address)) continue
    for (const name of names) if (asked.has(name.toLowerCase())) found.add(name.toLowerCase())
  }
  return [...found]
}
