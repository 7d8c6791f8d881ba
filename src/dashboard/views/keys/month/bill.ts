/** The bill that an address asks for, and its rows as texts. Pure. */
import type { AnswerOf } from "../../../api/client.ts"
import type { billsShow } from "../../../api/calls.generated.ts"
import { words } from "../../../words/monthBill.ts"
import { type Month, monthOf, readMonth, textOfMonth } from "../money/period.ts"

export type Bill = AnswerOf<typeof billsShow>
export type Row = Bill["rows"][number]

export const dimensions = ["person", "team", "key", "model", "provider", "tag"] as const
export type Dimension = (typeof dimensions)[number]

const isDimension = (text: string | undefined): text is Dimension => dimensions.some((each) => each === text)

export interface Asked {
  readonly month: Month
  readonly timezone: string
  /** One or two of them, the first one leads. */
  readonly by: ReadonlyArray<Dimension>
  readonly isRolledUp: boolean
}

type Query = Readonly<Record<string, string>>

/** Reads an address; a month that is to come is this one. */
export const readAsked = (query: Query, nowMs: number): Asked => {
  const now = monthOf(nowMs)
  const found = readMonth(query["month"] ?? "")
  const month = found === null || textOfMonth(found) > textOfMonth(now) ? now : found
  const first = isDimension(query["by"]) ? query["by"] : "person"
  const wanted = query["and"] ?? "team"
  const by = isDimension(wanted) && wanted !== first ? [first, wanted] : [first]
  return {
    month,
    timezone: query["zone"] ?? "UTC",
    by,
    isRolledUp: query["below"] === "1" && by.includes("team")
  }
}

/** The query of the API. */
export const queryOf = ({ by, isRolledUp, month, timezone }: Asked) => ({
  month: textOfMonth(month),
  timezone,
  by: by.join(","),
  ...(isRolledUp ? { rollUp: "true" as const } : {})
})

const named = { person: "personName", team: "teamName", key: "keyName" } as const

/** Name of a row in a dimension; what is gone has its id. */
export const nameIn = (row: Row, dimension: Dimension): string => {
  const id = row[dimension]
  if (id === null) return words.none[dimension]
  const name = dimension === "person" || dimension === "team" || dimension === "key" ? row[named[dimension]] : null
  return name ?? id
}
