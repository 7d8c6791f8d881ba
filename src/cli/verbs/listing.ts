/** Flags of lists that are searched and sorted, as the contract has them (`Listing`). */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Listing } from "../../contract/Listing.ts"
import * as Output from "../output/Output.ts"

export interface ListingFlags {
  readonly search: Option.Option<string>
  readonly sort: Option.Option<string>
  readonly limit: Option.Option<number>
}

/** The flags of a list. */
export const listingFlags = ({ searched, sorts }: Pick<Listing, "searched" | "sorts">) => ({
  search: Options.text("search").pipe(
    Options.withDescription(`Only those with this text: ${searched}.`),
    Options.withSchema(Schema.String.pipe(Schema.maxLength(200))),
    Options.optional
  ),
  sort: Options.choice(
    "sort",
    sorts.flatMap((name) => [name, `-${name}`])
  ).pipe(Options.withDescription("The order; with - before it from the end."), Options.optional),
  limit: Options.integer("limit").pipe(
    Options.withDescription("At most so many."),
    Options.withSchema(Schema.Int.pipe(Schema.between(1, 1_000))),
    Options.optional
  )
})

/** The query of the list's route. */
export const queryOf = ({ limit, search, sort }: ListingFlags): Readonly<Record<string, string>> => ({
  ...(Option.isNone(search) ? {} : { search: search.value }),
  ...(Option.isNone(sort) ? {} : { sort: sort.value }),
  ...(Option.isNone(limit) ? {} : { limit: String(limit.value) })
})

type Value = string | number | boolean | null | undefined

/** Values that are not known come last, whatever the order. */
const inOrder = (one: Value, other: Value, isReversed: boolean): number => {
  if (one === other) return 0
  if (one === null || one === undefined) return 1
  if (other === null || other === undefined) return -1
  return one < other === isReversed ? 1 : -1
}

export interface Picked<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

/** The same of a list that is here as a whole. */
export const picked = <A>(
  all: ReadonlyArray<A>,
  { limit, search, sort }: ListingFlags,
  textsOf: (entry: A) => ReadonlyArray<string | null>,
  valueOf: (entry: A, name: string) => Value
): Picked<A> => {
  const text = Option.getOrElse(search, () => "").toLowerCase()
  const found =
    text === ""
      ? all
      : all.filter((entry) => textsOf(entry).some((each) => each?.toLowerCase().includes(text) === true))
  const ordered = Option.match(sort, {
    onNone: () => found,
    onSome: (order) => {
      const name = order.replace(/^-/, "")
      return found.toSorted((one, other) => inOrder(valueOf(one, name), valueOf(other, name), order.startsWith("-")))
    }
  })
  return { items: ordered.slice(0, Option.getOrUndefined(limit)), total: ordered.length }
}

/** Says how many were left out. */
export const tellLeftOut = (shown: number, total: number): Effect.Effect<void> =>
  total > shown ? Output.remark(`${shown} of ${total} are shown.`) : Effect.void

/** The sentence for a list without rows. */
export const emptyOf = ({ search }: Pick<ListingFlags, "search">, otherwise: string): string =>
  Option.isSome(search) ? "None of them has this text." : otherwise
