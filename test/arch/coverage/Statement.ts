import type { Shown } from "./Shown.ts"

/** Something that is said of the gateway, and the tests that show it. */
export interface StatementRow {
  readonly what: string
  readonly shown: ReadonlyArray<Shown>
}

export const statement = (what: string, ...shown: ReadonlyArray<Shown>): StatementRow => ({ what, shown })
