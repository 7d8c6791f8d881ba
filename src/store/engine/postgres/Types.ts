/** Values of Postgres as the repositories know them: numbers for all that counts, 0 and 1 for what is true or not, texts for the rest. */

/** Ids of types, from `pg_type`. https://github.com/postgres/postgres/blob/REL_15_STABLE/src/include/catalog/pg_type.dat */
const numbers: ReadonlySet<number> = new Set([
  20, // bigint
  21, // smallint
  23, // integer
  26, // oid
  700, // real
  701, // double precision
  1700 // numeric: sums of bigint
])
const boolean = 16
const bytes = 17

const asIs = (text: string): string => text
const asBit = (text: string): number => (text === "t" ? 1 : 0)
const asBytes = (text: string): Uint8Array => Buffer.from(text.slice(2), "hex")

const readerOf = (type: number) => {
  if (numbers.has(type)) return Number
  if (type === boolean) return asBit
  return type === bytes ? asBytes : asIs
}

/** The reader of a column's text; values are asked for as texts only. */
export const types = {
  getTypeParser: ((type: number) => readerOf(type)) as never
}
