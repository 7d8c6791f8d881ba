/**
 * `groundingMetadata`: searches of the web and what the answer rests on, both ways. Its offsets are in bytes of UTF-8.
 *
 * https://ai.google.dev/gemini-api/docs/google-search
 */
import type { Citation, OpaquePart } from "../canonical/Conversation.ts"
import { hitOf, ownCitation } from "../canonical/Links.ts"
import type { Link, SearchHit, SearchWork } from "../canonical/SearchFacts.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../json/Json.ts"
import { camel } from "./Casing.ts"

/** The kind of the opaque part that holds it. */
export const groundingKind = "groundingMetadata"

/** Most entries of it that are read. */
const maxChunks = 200
const maxSupports = 500

const listed = (value: Json | undefined, most: number): ReadonlyArray<JsonObject> =>
  isArray(value) ? value.slice(0, most).map((item) => camel(objectOr(item))) : []

export const groundingOf = (candidate: JsonObject | undefined): JsonObject | null => {
  const metadata = candidate?.["groundingMetadata"] ?? candidate?.["grounding_metadata"]
  return isObject(metadata) ? camel(metadata) : null
}

/** Reads the pages in their places, so that supports can point at them; null for a chunk that is no page. */
const pagesOf = (metadata: JsonObject): ReadonlyArray<SearchHit | null> =>
  listed(metadata["groundingChunks"], maxChunks).map((chunk) => hitOf(chunk["web"] ?? chunk["retrievedContext"]))

/** The part that tells of the search; null where there was none. */
export const searchPart = (metadata: JsonObject): OpaquePart | null => {
  const asked = metadata["webSearchQueries"]
  const queries = isArray(asked) ? asked.flatMap((query) => stringOr(query) ?? []) : []
  const hits = pagesOf(metadata).flatMap((page) => page ?? [])
  if (queries.length === 0 && hits.length === 0) return null
  const search: SearchWork = { id: "", queries, hits, error: null }
  return { type: "opaque", wire: "gemini", kind: groundingKind, value: { groundingMetadata: metadata }, search }
}

/** Bytes and UTF-16 units of one text, counted side by side. */
interface Place {
  readonly byte: number
  readonly unit: number
}

/** Places of a text, found in one walk. `marks`: ascending, in the measure of `member`. */
const placesOf = (text: string, member: keyof Place, marks: ReadonlyArray<number>): ReadonlyMap<number, Place> => {
  const found = new Map<number, Place>()
  const now = { byte: 0, unit: 0 }
  for (const mark of marks) {
    while (now[member] < mark && now.unit < text.length) {
      const code = text.codePointAt(now.unit) ?? 0
      now.byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
      now.unit += code < 0x10000 ? 1 : 2
    }
    found.set(mark, { ...now })
  }
  return found
}

const ascending = (marks: ReadonlyArray<number>): ReadonlyArray<number> => marks.toSorted((one, other) => one - other)

interface Support {
  readonly part: number
  readonly start: number
  readonly end: number
  readonly pages: ReadonlyArray<SearchHit>
}

const supportsOf = (metadata: JsonObject): ReadonlyArray<Support> => {
  const pages = pagesOf(metadata)
  return listed(metadata["groundingSupports"], maxSupports).map((support) => {
    const segment = camel(objectOr(support["segment"]))
    const indices = isArray(support["groundingChunkIndices"]) ? support["groundingChunkIndices"] : []
    return {
      part: numberOr(segment["partIndex"]) ?? 0,
      start: numberOr(segment["startIndex"]) ?? 0,
      end: numberOr(segment["endIndex"]) ?? 0,
      pages: indices.slice(0, maxChunks).flatMap((index) => (typeof index === "number" ? (pages[index] ?? []) : []))
    }
  })
}

const linkTo = ({ title, url }: SearchHit, start: number | null, end: number | null): Citation =>
  ownCitation({ url, title, text: "", start, end }, "gemini")

/** Returns the citations of a text. `isPart`: checks which parts of the content it is. */
export type GroundedIn = (text: string, isPart: (index: number) => boolean) => ReadonlyArray<Citation>

/** Pages that no support names are links without words, of the first text that is asked about. */
export const makeGrounded = (metadata: JsonObject): GroundedIn => {
  const supports = supportsOf(metadata)
  let pages = supports.length === 0 ? pagesOf(metadata).flatMap((page) => page ?? []) : []
  return (text, isPart) => {
    const bare = pages.map((page) => linkTo(page, null, null))
    pages = []
    const own = supports.filter(({ part }) => isPart(part))
    const places = placesOf(text, "byte", ascending(own.flatMap(({ end, start }) => [start, end])))
    const unitOf = (byte: number): number | null => places.get(byte)?.unit ?? null
    return [
      ...bare,
      ...own.flatMap(({ end, pages: named, start }) => named.map((page) => linkTo(page, unitOf(start), unitOf(end))))
    ]
  }
}

/** Puts the metadata of an answer together. */
export interface GroundingWriter {
  readonly search: (part: OpaquePart) => void
  /** Links of a text. `before`: bytes of text that stand before it in the same part. */
  readonly links: (links: ReadonlyArray<Link>, text: string, before: number, part: number) => void
  /** Null: there was no search, and there are no links. */
  readonly metadata: () => JsonObject | null
}

/** Links of one text that are told. */
const maxLinks = 100

interface PlacedLink extends Link {
  readonly start: number
  readonly end: number
}

const isPlaced = (link: Link): link is PlacedLink => link.start !== null && link.end !== null && link.end > link.start

export const makeGrounding = (): GroundingWriter => {
  let own: JsonObject | null = null
  const queries: Array<string> = []
  const chunks = new Map<string, { readonly index: number; readonly title: string }>()
  const supports: Array<JsonObject> = []

  const chunkOf = (url: string, title: string): number => {
    const known = chunks.get(url)
    if (known !== undefined) return known.index
    const index = chunks.size
    chunks.set(url, { index, title })
    return index
  }

  return {
    search: ({ search, value, wire }) => {
      if (wire === "gemini" && isObject(value["groundingMetadata"])) own = value["groundingMetadata"]
      if (search === undefined || search.isBegun === true) return
      queries.push(...search.queries)
      for (const { title, url } of search.hits) chunkOf(url, title)
    },
    links: (links, text, before, part) => {
      const told = links.slice(0, maxLinks)
      const spoken = told.filter(isPlaced)
      const places = placesOf(text, "unit", ascending(spoken.flatMap(({ end, start }) => [start, end])))
      for (const { title, url } of told) chunkOf(url, title)
      for (const { end, start, title, url } of spoken) {
        const startIndex = before + (places.get(start)?.byte ?? 0)
        const segment = {
          ...(part === 0 ? {} : { partIndex: part }),
          ...(startIndex === 0 ? {} : { startIndex }),
          endIndex: before + (places.get(end)?.byte ?? 0),
          text: text.slice(start, end)
        }
        supports.push({ segment, groundingChunkIndices: [chunkOf(url, title)] })
      }
    },
    metadata: () => {
      if (own !== null) return own
      if (queries.length === 0 && chunks.size === 0) return null
      return {
        webSearchQueries: queries,
        groundingChunks: [...chunks].map(([uri, { title }]) => ({ web: { uri, title } })),
        ...(supports.length === 0 ? {} : { groundingSupports: supports })
      }
    }
  }
}
