/** The JSON Schema of a configuration file, which editors check it with. */
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import { Declared } from "./Document.ts"

let made: string | null = null

/** Draft 7, as text. Made once: it is the same as long as the program runs. */
export const declaredSchemaJson = (): string => {
  // What may be in a file, before it is read: a secret is a string there.
  made ??= `${JSON.stringify(JSONSchema.make(Schema.encodedBoundSchema(Declared) as Schema.Schema<unknown>), null, 2)}\n`
  return made
}
