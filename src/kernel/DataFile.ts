/** Data files (`*.yaml`) that stand beside the code which reads them: parsed when the program is built (`bin/dataFiles.mjs`), and checked by a schema where they are read. */
import * as Schema from "effect/Schema"

/** Reads what a data file holds. Throws a `ParseError` that names the place: a file with a fault fails the build's tests, not a request. */
export const decodeData = <A, I>(schema: Schema.Schema<A, I>): ((value: unknown) => A) =>
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })

/** Takes what a data file holds without a check, for what every start of the program needs: a test reads the file by its schema. */
export const checkedByTests = <A>(value: unknown): A => value as A
