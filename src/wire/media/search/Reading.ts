/** Shared parts of the adapters: the reading of foreign results, and domains written into a query. */
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../json/Json.ts"
import type { Ability, Result, Search } from "./Search.ts"

/** More results than any provider gives. */
const mostRead = 200
const maxUrlChars = 8_192

/** Ends a text without cutting a character in two. */
export const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : text.slice(0, /[\ud800-\udbff]/.test(text.charAt(chars - 1)) ? chars - 1 : chars)

/** Clients show it as a link. */
export const isWebAddress = (url: string): boolean =>
  url.length <= maxUrlChars && /^https?:\/\//i.test(url) && URL.canParse(url)

interface ResultFields {
  readonly title: Json | undefined
  readonly url: Json | undefined
  readonly snippet: Json | undefined
  readonly score?: Json | undefined
  readonly publishedAt?: Json | undefined
  readonly faviconUrl?: Json | undefined
  readonly content?: Json | undefined
  readonly metadata?: Readonly<Record<string, Json | undefined>>
}

const said = (members: ResultFields["metadata"]): JsonObject =>
  Object.fromEntries(Object.entries(members ?? {}).filter(([, value]) => value !== undefined && value !== null))

const resultOf = (told: ResultFields): ReadonlyArray<Result> => {
  const url = stringOr(told.url)
  if (url === null || !isWebAddress(url)) return []
  return [
    {
      title: stringOr(told.title) ?? "",
      url,
      snippet: stringOr(told.snippet) ?? "",
      score: numberOr(told.score),
      publishedAt: stringOr(told.publishedAt),
      faviconUrl: stringOr(told.faviconUrl),
      content: stringOr(told.content),
      metadata: said(told.metadata)
    }
  ]
}

/** The results of a list; what is no result is passed over. Null when there is no list. */
export const resultsIn = (
  list: Json | undefined,
  tell: (item: JsonObject) => ResultFields
): ReadonlyArray<Result> | null =>
  isArray(list) ? list.slice(0, mostRead).flatMap((item) => (isObject(item) ? resultOf(tell(item)) : [])) : null

/** The texts of a list, as one. */
export const joined = (list: Json | undefined): string | null => {
  const texts = isArray(list) ? list.flatMap((text) => stringOr(text) ?? []) : []
  return texts.length === 0 ? null : texts.join("\n")
}

/** The query with its domains as operators, which the large search engines know. */
export const withOperators = ({ excludeDomains, includeDomains, query }: Search): string => {
  const wanted = includeDomains.map((domain) => `site:${domain}`).join(" OR ")
  const parts = [
    query,
    includeDomains.length > 1 ? `(${wanted})` : wanted,
    ...excludeDomains.map((name) => `-site:${name}`)
  ]
  return parts.filter((part) => part !== "").join(" ")
}

/** The first part of a language tag. */
export const languageOf = ({ language }: Search): string | null => language?.split("-")[0]?.toLowerCase() ?? null

/** Pages of a size, counted from `first`. */
export const pageOf = ({ offset }: Search, size: number, first: number): number => Math.floor(offset / size) + first

export const able = (...abilities: ReadonlyArray<Ability>): ReadonlySet<Ability> => new Set(abilities)
