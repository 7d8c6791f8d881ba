/** Results of a web search, and links in answers, as all wires know them. */

/** A page that was found. */
export interface SearchHit {
  readonly url: string
  readonly title: string
  /** Words of the page, as far as they are known; may be empty. */
  readonly snippet: string
  /** Time of its publication, as the provider writes it. */
  readonly pageAge: string | null
}

/** A search that was made for an answer. */
export interface SearchWork {
  /** Id of the call, as its wire names it; empty where it has none. */
  readonly id: string
  readonly queries: ReadonlyArray<string>
  readonly hits: ReadonlyArray<SearchHit>
  /** True when its results stand in a part of their own, which tells of the whole search. */
  readonly isBegun?: true
  /** Code of the messages wire for why nothing was found (`max_uses_exceeded`, `unavailable`, …); null: it was made. */
  readonly error: string | null
}

/** Page on which a text rests. */
export interface Link {
  readonly url: string
  readonly title: string
  /** Words of the page that is cited; may be empty. */
  readonly text: string
  /** The words of the answer that rest on it; null where that is not said. */
  readonly start: number | null
  readonly end: number | null
}
