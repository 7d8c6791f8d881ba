/** What a search of the web has brought, and links in answers, as all wires know them. */

/** A page that was found. */
export interface SearchHit {
  readonly url: string
  readonly title: string
  /** Words of the page, as far as they are known; may be empty. */
  readonly snippet: string
  /** When it was published, as the provider writes it. */
  readonly pageAge: string | null
}

/** A search that was made for an answer. */
export interface SearchWork {
  /** Of the call, as its wire names it; empty where it has none. */
  readonly id: string
  readonly queries: ReadonlyArray<string>
  readonly hits: ReadonlyArray<SearchHit>
  /** Its results stand in a part of their own, which tells of the whole search. */
  readonly isBegun?: true
  /** Why nothing was found, in the words of the messages wire (`max_uses_exceeded`, `unavailable`, …); null: it was made. */
  readonly error: string | null
}

/** What a text rests on. */
export interface Link {
  readonly url: string
  readonly title: string
  /** Words of the page that is cited; may be empty. */
  readonly text: string
  /** The words of the answer that rest on it; null where that is not said. */
  readonly start: number | null
  readonly end: number | null
}
