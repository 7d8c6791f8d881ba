/** Queries of lists that are searched, sorted, and shown in short. */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../kernel/Documented.ts"
import { PageQuery } from "./Inputs.ts"

/** A filter of a list: the values that it takes; absent: any text. */
export interface ListFilter {
  readonly description: string
  readonly example: string
  readonly values?: readonly [string, ...ReadonlyArray<string>]
}

export interface Listing {
  /** Names that the list can be sorted by. */
  readonly sorts: readonly [string, ...ReadonlyArray<string>]
  /** Description of the fields that are searched. */
  readonly searched: string
  /** Fields of an entry in short. */
  readonly summary: readonly [string, ...ReadonlyArray<string>]
  /** Members of the query by which entries are left out. */
  readonly filters?: Readonly<Record<string, ListFilter>>
}

/** Marks a list that is searched and sorted, with what it can be asked for. */
export class ListedBy extends Context.Tag("gateway/contract/ListedBy")<ListedBy, Listing>() {}

const orderOf = (sorts: Listing["sorts"]) => Schema.Literal(...sorts, ...sorts.map((name) => `-${name}`))

const filterFields = (filters: NonNullable<Listing["filters"]>) =>
  Object.fromEntries(
    Object.entries(filters).map(([name, { description, example, values }]) => [
      name,
      field(
        exactOptional(values === undefined ? Schema.String.pipe(Schema.maxLength(300)) : Schema.Literal(...values)),
        `Only entries ${description}.`,
        example
      )
    ])
  )

/** The query of a list: its page, and what of it. */
export const listQuery = ({ filters = {}, searched, sorts, summary }: Listing) =>
  Schema.Struct({
    ...filterFields(filters),
    ...PageQuery.fields,
    search: field(
      exactOptional(Schema.String.pipe(Schema.maxLength(200))),
      `Only entries with this text, in any letter case: ${searched}.`,
      "work"
    ),
    sort: field(
      exactOptional(orderOf(sorts)),
      "The order; with `-` before it from the end. Absent: as they are kept.",
      sorts[0]
    ),
    view: field(
      exactOptional(Schema.Literal("full", "summary")),
      `\`summary\`: of each entry only ${summary.map((name) => `\`${name}\``).join(", ")}. Absent: all of it.`,
      "full"
    )
  })
