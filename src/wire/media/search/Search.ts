/** A search of the web: what a client may say, and what it gets. In the gateway's own form; `adapters` bring it to providers. */
import type { Json, JsonObject } from "../../json/Json.ts"

export const searchTypes = ["web", "news"] as const
export type SearchType = (typeof searchTypes)[number]

export const timeRanges = ["day", "week", "month", "year"] as const
export type TimeRange = (typeof timeRanges)[number]

export const safeSearches = ["off", "moderate", "strict"] as const
export type SafeSearch = (typeof safeSearches)[number]

/** The name that searches have where a model's name is: in usage rows, prices and rules of API keys. */
export const searchModel = "search"

/** A request that was read. Null where the client says nothing. */
export interface Search {
  readonly query: string
  /** Most results, from 1 to 100. */
  readonly maxResults: number
  readonly type: SearchType
  /** Results that are passed over. */
  readonly offset: number
  /** ISO 3166, two capital letters. */
  readonly country: string | null
  /** BCP 47. */
  readonly language: string | null
  readonly timeRange: TimeRange | null
  /** The day on which `timeRange` begins, `YYYY-MM-DD`. */
  readonly since: string | null
  readonly snippet: boolean
  readonly fullPage: boolean
  readonly format: "text" | "markdown"
  /** Most characters of a page's content. */
  readonly maxCharacters: number | null
  readonly includeDomains: ReadonlyArray<string>
  readonly excludeDomains: ReadonlyArray<string>
  readonly safeSearch: SafeSearch | null
  /** An answer in words, beside the results. */
  readonly synthesis: boolean
  /** Members of the provider's own form; they go before what the gateway says. */
  readonly options: JsonObject
}

/** Nothing is said but that pages are searched. */
export const emptySearch: Search = {
  query: "",
  maxResults: 5,
  type: "web",
  offset: 0,
  country: null,
  language: null,
  timeRange: null,
  since: null,
  snippet: true,
  fullPage: false,
  format: "text",
  maxCharacters: null,
  includeDomains: [],
  excludeDomains: [],
  safeSearch: null,
  synthesis: false,
  options: {}
}

/** Settings that not every provider supports, by the names of the request. */
export const abilities = [
  "offset",
  "country",
  "language",
  "time_range",
  "content.full_page",
  "filters.include_domains",
  "filters.exclude_domains",
  "filters.safe_search",
  "synthesis"
] as const
export type Ability = (typeof abilities)[number]

/** Lists the settings of `abilities` that a search asks for. */
export const asksFor = (search: Search): ReadonlyArray<Ability> => {
  const asked: Readonly<Record<Ability, boolean>> = {
    offset: search.offset > 0,
    country: search.country !== null,
    language: search.language !== null,
    time_range: search.timeRange !== null,
    "content.full_page": search.fullPage,
    "filters.include_domains": search.includeDomains.length > 0,
    "filters.exclude_domains": search.excludeDomains.length > 0,
    "filters.safe_search": search.safeSearch !== null,
    synthesis: search.synthesis
  }
  return abilities.filter((ability) => asked[ability])
}

/** Result as a provider reports it. Absent: it does not say. */
export interface Result {
  readonly title: string
  /** `http` or `https`. */
  readonly url: string
  readonly snippet: string
  readonly score?: number | null
  /** Date as the provider writes it. */
  readonly publishedAt?: string | null
  readonly faviconUrl?: string | null
  /** The text of the page. */
  readonly content?: string | null
  readonly metadata?: JsonObject
}

export interface Found {
  /** Best first. */
  readonly results: ReadonlyArray<Result>
  readonly answer?: string | null
  /** Number of results in all. */
  readonly total?: number | null
}

/** A search in a provider's own form. */
export interface AskedAs {
  readonly method: "GET" | "POST"
  /** Values for the braces in the provider's path. */
  readonly values?: Readonly<Record<string, string>>
  /** The body of a `POST`, the query of a `GET`. Members that are null are left out. */
  readonly members: Readonly<Record<string, Json | undefined>>
}

export interface SearchAdapter {
  /** Address of the provider's documentation. */
  readonly docs: string
  readonly types: ReadonlyArray<SearchType>
  readonly can: ReadonlySet<Ability>
  /** Most results of one call. */
  readonly mostResults: number
  /** True when a connection of the provider serves searches only with a key of its own. */
  readonly needsKey?: true
  /** Computes the price as a multiple of an ordinary search's; absent: 1. */
  readonly units?: (search: Search) => number
  readonly ask: (search: Search) => AskedAs
  /** Null when the body is no answer of this form. */
  readonly read: (body: JsonObject, search: Search) => Found | null
}
