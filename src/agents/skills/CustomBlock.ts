/** The part of a page that people write, and that stays when the page is generated again. Pure. */

const start = "<!-- skill:custom-start -->"
const end = "<!-- skill:custom-end -->"

/** Returns the text between the markers of a page; null where they are missing or in the wrong order. */
export const customOf = (page: string): string | null => {
  const from = page.indexOf(start)
  const to = page.indexOf(end, from + start.length)
  return from === -1 || to === -1 ? null : page.slice(from + start.length, to)
}

/** The lines of an empty block, for a page that has none yet. */
export const emptyBlock: ReadonlyArray<string> = [start, end]

/** A page with the block of another one; as it is when that has none. */
export const withCustom = (page: string, former: string): string => {
  const custom = customOf(former)
  const from = page.indexOf(start)
  const to = page.indexOf(end, from)
  if (custom === null || from === -1 || to === -1) return page
  return page.slice(0, from + start.length) + custom + page.slice(to)
}
