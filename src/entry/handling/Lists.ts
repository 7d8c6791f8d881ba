/**
 * Lists that are searched, sorted and shown in short, and answers of long lists, which are written in slices: what others ask for waits for a few
 * milliseconds at most.
 */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { BadRequest } from "../../contract/Errors.ts"
import { type Listing, listQuery } from "../../contract/Listing.ts"
import { type Page, pageOf } from "../../kernel/Page.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { badField, badInput } from "./Answers.ts"

type Sorted = string | number | boolean | null

/** A list as its contract says (`Listing`): how an entry is named, searched and sorted. */
export interface ListOf<A, L extends Listing> {
  readonly listing: L
  readonly idOf: (entry: A) => string
  /** Texts that are searched. */
  readonly texts: (entry: A) => ReadonlyArray<string | null>
  readonly sorts: { readonly [Name in L["sorts"][number]]: (entry: A) => Sorted }
  /** Tests of an entry by the filters of the listing. */
  readonly filters?: { readonly [Name in FilterName<L>]: (entry: A, value: string) => boolean }
}

type FilterName<L extends Listing> = L["filters"] extends object ? keyof L["filters"] & string : never

export interface Listed<A> extends Page<A> {
  /** Entries of all pages. */
  readonly total: number
  readonly isSummary: boolean
}

/** Compares values; those that are not known come last. */
const compare = (left: Sorted, right: Sorted): number => {
  if (left === right) return 0
  if (left === null) return 1
  if (right === null) return -1
  return left < right ? -1 : 1
}

/** Keeps the entries that fit, in slices. */
const keeping = Effect.fnUntraced(function* <A>(all: ReadonlyArray<A>, fits: (entry: A) => boolean) {
  const { each } = yield* Slices
  const found: Array<A> = []
  yield* each(all, (entry) => {
    if (fits(entry)) found.push(entry)
  })
  return found
})

type Fits<A> = (entry: A) => boolean

/** The tests that an entry has to pass: the filters that are given, and the text that is searched for. */
const testsOf = <A, L extends Listing>(
  { filters, texts }: ListOf<A, L>,
  request: ListRequest
): ReadonlyArray<Fits<A>> => {
  const wanted = (request.search ?? "").toLowerCase()
  const given = Object.entries<(entry: A, value: string) => boolean>(filters ?? {}).flatMap(
    ([name, has]): ReadonlyArray<Fits<A>> => {
      const value = request[name]
      return typeof value === "string" ? [(entry) => has(entry, value)] : []
    }
  )
  const holds: Fits<A> = (entry) => texts(entry).some((text) => text !== null && text.toLowerCase().includes(wanted))
  return wanted === "" ? given : [...given, holds]
}

const sorted = <A>(all: ReadonlyArray<A>, valueOf: (entry: A) => Sorted, isReversed: boolean): ReadonlyArray<A> => {
  const valued = all.map((entry) => ({ entry, value: valueOf(entry) }))
  const direction = isReversed ? -1 : 1
  return valued
    .sort((left, right) =>
      left.value === null || right.value === null
        ? compare(left.value, right.value)
        : direction * compare(left.value, right.value)
    )
    .map(({ entry }) => entry)
}

/** The part of a list that the request asks for. */
export const listed = <A, L extends Listing>(
  all: ReadonlyArray<A>,
  list: ListOf<A, L>
): Effect.Effect<Listed<A>, BadRequest, HttpServerRequest.ParsedSearchParams | Slices> =>
  Effect.gen(function* () {
    const { idOf, listing, sorts } = list
    const request = yield* Effect.catchTag(
      HttpServerRequest.schemaSearchParams(listQuery(listing) as Schema.Schema<ListRequest, Record<string, string>>),
      "ParseError",
      (error) => Effect.flatMap(HttpApiDecodeError.fromParseError(error), badInput)
    )
    const { sort, view } = request
    const tests = testsOf(list, request)
    const found = tests.length === 0 ? all : yield* keeping(all, (entry) => tests.every((fits) => fits(entry)))
    const name = sort?.replace(/^-/, "") as L["sorts"][number] | undefined
    const ordered = name === undefined ? found : sorted(found, sorts[name], sort?.startsWith("-") === true)
    const page = pageOf(ordered, idOf, request)
    if (page === null) return yield* badField("cursor", "is not one that this list gave out")
    return { ...page, total: ordered.length, isSummary: view === "summary" }
  })

interface ListRequest {
  readonly [filter: string]: string | number | undefined
  readonly limit?: number
  readonly cursor?: string
  readonly search?: string
  readonly sort?: string
  readonly view?: "full" | "summary"
}

/** Characters that are kept as text until they become bytes: the collector moves texts again and again, and bytes never. */
const keptLength = 65_536

/** Writes the entries of a list as JSON, in slices. */
const entriesBytes = Effect.fnUntraced(function* <A>(items: ReadonlyArray<A>, textOf: (entry: A) => string) {
  const { each } = yield* Slices
  const pieces: Array<Buffer> = []
  let texts: Array<string> = []
  let length = 0
  const keep = (): void => {
    pieces.push(Buffer.from(texts.join("")))
    texts = []
    length = 0
  }
  let before = "["
  yield* each(items, (entry) => {
    const text = textOf(entry)
    texts.push(before, text)
    length += text.length
    before = ","
    if (length >= keptLength) keep()
  })
  texts.push(before === "[" ? "[]" : "]")
  keep()
  return pieces
})

/** The same as text. */
export const entriesText = <A>(items: ReadonlyArray<A>, textOf: (entry: A) => string) =>
  Effect.map(entriesBytes(items, textOf), (pieces) => Buffer.concat(pieces).toString())

/** Writes an entry by its view. */
export const asJson =
  <A>(view: (entry: A) => object) =>
  (entry: A): string =>
    JSON.stringify(view(entry))

/** The answer with all entries and some other members, the entries written as the contract has them. */
export const entriesAnswer = Effect.fnUntraced(function* <A>(
  name: string,
  items: ReadonlyArray<A>,
  textOf: (entry: A) => string,
  more: Readonly<Record<string, unknown>> = {}
) {
  const entries = yield* entriesBytes(items, textOf)
  const rest = JSON.stringify(more).slice(1)
  const beginning = Buffer.from(`{${JSON.stringify(name)}:`)
  const bytes = Buffer.concat([beginning, ...entries, Buffer.from(rest === "}" ? rest : `,${rest}`)])
  return HttpServerResponse.uint8Array(bytes, { contentType: "application/json" })
})

/** The answer with a list, whose entries are written as the contract has them. */
export const listAnswer = <A>(
  name: string,
  { items, nextCursor, total }: Pick<Listed<A>, "items" | "nextCursor" | "total">,
  textOf: (entry: A) => string,
  more: Readonly<Record<string, unknown>> = {}
) => entriesAnswer(name, items, textOf, { nextCursor, total, ...more })
