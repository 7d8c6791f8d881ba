/** Descriptions of the fields of a schema in the API document. */
import * as Schema from "effect/Schema"

/** A field that may be left out, and is never `undefined`. */
export const exactOptional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** A type, and the field that holds it once it is described. */
export type Documented<S> = S extends Schema.Schema.All ? Schema.propertySignature<S> : S

/**
 * A field with its meaning and examples, the examples as the decoded type has them. Written to the field, because error messages quote the
 * description of a type: "must be string" would become "must be the name of the key".
 */
export const field = <S extends Schema.Schema.All | Schema.PropertySignature.All>(
  signature: S,
  description: string,
  ...examples: ReadonlyArray<unknown>
): Documented<S> => {
  const property = (
    Schema.isPropertySignature(signature) ? signature : Schema.propertySignature(signature)
  ) as Schema.propertySignature<Schema.Schema.Any>
  const [first, ...others] = examples
  return property.annotations(
    examples.length === 0 ? { description } : { description, examples: [first, ...others] }
  ) as unknown as Documented<S>
}
