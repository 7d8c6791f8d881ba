/** Reads a request of `POST /v1/search`. Pure. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { type FieldReader, invalidField, makeFieldReader, mismatch } from "../../json/FieldReader.ts"
import { isObject, type JsonObject } from "../../json/Json.ts"
import { read } from "../../json/Members.ts"
import { makeSpelling } from "../../json/Spelling.ts"
import { type SafeSearch, safeSearches, type Search, type SearchType, searchTypes, timeRanges } from "./Search.ts"

export interface SearchRequest {
  readonly search: Omit<Search, "since">
  /** Provider as the client names it; null: any. */
  readonly provider: string | null
  /** True when only providers that support everything asked for may answer. */
  readonly strict: boolean
  /** Members that mean nothing here. */
  readonly dropped: ReadonlyArray<string>
}

const maxQueryChars = 500
const maxResults = 100
const maxOffset = 1_000
const maxDomains = 100
const maxContentChars = 1_000_000
const maxOptionsChars = 8_192
const maxDropped = 100

const members = [
  "query",
  "provider",
  "max_results",
  "search_type",
  "offset",
  "country",
  "language",
  "time_range",
  "content",
  "filters",
  "synthesis",
  "provider_options",
  "strict_filters",
  // Names the search provider, where other requests name a model.
  "model"
] as const
const known = new Set<string>(members)

/** Finds members that programs could read in two ways. */
export const misspelt = makeSpelling({
  ...read(...members),
  filters: { of: read("include_domains", "exclude_domains", "safe_search") }
})

const controls = /\p{Cc}/u
const hostName = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u
const languageTag = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i
const countryCode = /^[a-z]{2}$/i

/** The code points of a text, counted no further than one behind `limit`. */
const isLonger = (text: string, limit: number): boolean =>
  text.length > 2 * limit || (text.length > limit && Array.from(text).length > limit)

const queryOf = (body: JsonObject, reader: FieldReader): string => {
  const query = reader.string(body, "query")
  if (query === undefined) {
    if ((body["query"] ?? null) === null) reader.fail("query", "a query is required")
    return ""
  }
  if (query.trim() === "") reader.fail("query", "must not be empty")
  else if (isLonger(query, maxQueryChars)) reader.fail("query", `longer than ${maxQueryChars} characters, the limit`)
  else if (controls.test(query)) reader.fail("query", "must not contain control characters")
  return query.trim()
}

const oneOf = <A extends string>(
  body: JsonObject,
  field: string,
  values: ReadonlyArray<A>,
  reader: FieldReader,
  path?: string
): A | null => {
  const given = reader.string(body, field, path)
  if (given === undefined) return null
  const found = values.find((value) => value === given)
  if (found === undefined) {
    reader.fail(path === undefined ? field : `${path}.${field}`, `expected one of: ${values.join(", ")}`)
  }
  return found ?? null
}

const whole = (
  body: JsonObject,
  field: string,
  [least, most]: readonly [number, number],
  reader: FieldReader,
  path?: string
): number | null => {
  const given = reader.number(body, field, path)
  if (given === undefined) return null
  if (Number.isInteger(given) && given >= least && given <= most) return given
  reader.fail(path === undefined ? field : `${path}.${field}`, `expected a whole number from ${least} to ${most}`)
  return null
}

const spelled = (body: JsonObject, field: string, form: RegExp, expected: string, reader: FieldReader) => {
  const given = reader.string(body, field)
  if (given === undefined) return null
  if (form.test(given)) return given
  reader.fail(field, `expected ${expected}`)
  return null
}

const domainsOf = (filters: JsonObject, field: string, reader: FieldReader): ReadonlyArray<string> => {
  const given = reader.array(filters, field, "filters") ?? []
  if (given.length > maxDomains) {
    reader.fail(`filters.${field}`, `at most ${maxDomains} domains`)
    return []
  }
  return given.flatMap((domain, index) => {
    if (typeof domain === "string" && hostName.test(domain)) return [domain.toLowerCase()]
    reader.fail(`filters.${field}[${index}]`, "expected the name of a host, such as example.com")
    return []
  })
}

const safeSearchOf = (filters: JsonObject, reader: FieldReader): SafeSearch | null => {
  const given = filters["safe_search"]
  if (typeof given === "boolean") return given ? "strict" : "off"
  return oneOf(filters, "safe_search", safeSearches, reader, "filters")
}

const optionsOf = (body: JsonObject, reader: FieldReader): JsonObject => {
  const options = reader.object(body, "provider_options") ?? {}
  if (JSON.stringify(options).length <= maxOptionsChars) return options
  reader.fail("provider_options", `longer than ${maxOptionsChars} characters, the limit`)
  return {}
}

const droppedOf = (body: JsonObject): ReadonlyArray<string> =>
  Object.keys(body)
    .filter((name) => !known.has(name))
    .slice(0, maxDropped)

export const readSearchRequest = (body: unknown): Either.Either<SearchRequest, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const reader = makeFieldReader()
  const content = reader.object(body, "content") ?? {}
  const filters = reader.object(body, "filters") ?? {}
  const range = oneOf(body, "time_range", [...timeRanges, "any"], reader)
  const type: SearchType = oneOf(body, "search_type", searchTypes, reader) ?? "web"
  const country = spelled(body, "country", countryCode, "two letters, such as DE", reader)
  return reader.result({
    search: {
      query: queryOf(body, reader),
      maxResults: whole(body, "max_results", [1, maxResults], reader) ?? 5,
      type,
      offset: whole(body, "offset", [0, maxOffset], reader) ?? 0,
      country: country?.toUpperCase() ?? null,
      language: spelled(body, "language", languageTag, "a language, such as en or pt-BR", reader),
      timeRange: range === "any" ? null : range,
      snippet: reader.boolean(content, "snippet", "content") ?? true,
      fullPage: reader.boolean(content, "full_page", "content") ?? false,
      format: oneOf(content, "format", ["text", "markdown"], reader, "content") ?? "text",
      maxCharacters: whole(content, "max_characters", [1, maxContentChars], reader, "content"),
      includeDomains: domainsOf(filters, "include_domains", reader),
      excludeDomains: domainsOf(filters, "exclude_domains", reader),
      safeSearch: safeSearchOf(filters, reader),
      synthesis: reader.boolean(body, "synthesis") ?? false,
      options: optionsOf(body, reader)
    },
    provider: reader.string(body, "provider") ?? null,
    strict: reader.boolean(body, "strict_filters") ?? false,
    dropped: droppedOf(body)
  })
}
