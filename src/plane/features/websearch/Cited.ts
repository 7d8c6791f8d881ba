/** Finds the pages that a text names among those that were found: its links. Pure. */
import type { Citation } from "../../../wire/canonical/Conversation.ts"
import { ownCitation } from "../../../wire/canonical/Links.ts"
import type { Link, SearchHit } from "../../../wire/canonical/SearchFacts.ts"

/** Links of one text, and pages that are told where it names none. */
const maxLinks = 50
const maxPages = 10
/** Most characters of a text: what stands behind is not looked at. */
const maxTextChars = 500_000
/** Most characters of a page, as clients show it beside a link. */
const maxCitedChars = 150
/** Words before an address that may be those of its Markdown link. */
const maxLabelChars = 300

const linkOf = ({ snippet, title, url }: SearchHit, start: number, end: number): Link => ({
  url,
  title,
  text: snippet.slice(0, maxCitedChars),
  start,
  end
})

const wordSign = /[\w/%#?=&+~-]/

/** Returns the place of an address, with the words of a Markdown link around it. */
const around = (text: string, at: number, end: number): readonly [start: number, end: number] => {
  if (text[at - 1] !== "(" || text[at - 2] !== "]" || text[end] !== ")") return [at, end]
  const label = text.lastIndexOf("[", at - 2)
  return label === -1 || at - label > maxLabelChars ? [at, end] : [label, end + 1]
}

const linksTo = (text: string, hit: SearchHit, most: number): ReadonlyArray<Link> => {
  const found: Array<Link> = []
  for (let at = text.indexOf(hit.url); at !== -1 && found.length < most; at = text.indexOf(hit.url, at + 1)) {
    const end = at + hit.url.length
    // A longer address is another page.
    if (wordSign.test(text[end] ?? "")) continue
    found.push(linkOf(hit, ...around(text, at, end)))
  }
  return found
}

/** The pages that a text names; where it names none, those that were found, for all of it. */
export const citationsOf = (said: string, hits: ReadonlyArray<SearchHit>): ReadonlyArray<Citation> => {
  if (hits.length === 0 || said.trim() === "") return []
  const text = said.slice(0, maxTextChars)
  const pages = [...new Map(hits.map((hit) => [hit.url, hit])).values()]
  const named: Array<Link> = []
  for (const hit of pages) named.push(...linksTo(text, hit, maxLinks - named.length))
  const links =
    named.length > 0
      ? named.toSorted((one, other) => (one.start ?? 0) - (other.start ?? 0))
      : pages.slice(0, maxPages).map((hit) => linkOf(hit, 0, said.length))
  return links.map((link) => ownCitation(link))
}
