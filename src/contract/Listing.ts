/** Queries of lists that are searched, sorted, and shown in short. */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../kernel/Documented.ts"
import { PageQuery } from "./Inputs.ts"

export interface Listing {
  /** Names that the list can be sorted by. */
  readonly sorts: readonly [string, ...ReadonlyArray<string>]
  /** Description of the fields that are searched. */
  readonly searched: string
  /** Fields of an entry in short. */
  readonly summary: readonly [string, ...ReadonlyArray<string>]
}

/** Marks a list that is searched and sorted, with what it can be asked for. */
export class ListedBy extends Context.Tag("gateway/contract/ListedBy")<ListedBy, Listing>() {}

const orderOf = (sorts: Listing["sorts"]) => Schema.Literal(...sorts, ...sorts.map((name) => `-${name}`))

/** The query of a list: its page, and what of it. */
export const listQuery = ({ searched, sorts, summary }: Listing) =>
  Schema.Struct({
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
