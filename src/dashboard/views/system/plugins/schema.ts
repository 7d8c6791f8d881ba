/** What a plugin lets be set, as a schema of a form. Pure. */
import type { AnswerOf } from "../../../api/client.ts"
import type { pluginsConfig } from "../../../api/calls.generated.ts"
import type { FieldSchema } from "../../../forms/operations.ts"

type ConfigSchema = AnswerOf<typeof pluginsConfig>["schema"]
type ConfigField = ConfigSchema[string]

const fieldOf = ({ default: usual, description, enum: choices, max, min, secret, type }: ConfigField): FieldSchema => {
  const bounds = {
    ...(min === null ? {} : type === "number" ? { minimum: min } : {}),
    ...(max === null ? {} : type === "number" ? { maximum: max } : { maxLength: max })
  }
  const words = {
    ...(description === null ? {} : { description }),
    ...(usual === null || secret ? {} : { default: usual })
  }
  // Null is the default again.
  const types = [type === "select" ? "string" : type, "null"]
  const listed = choices?.every((choice) => typeof choice === "string") === true ? { enum: [...choices] } : {}
  return { type: types, ...words, ...bounds, ...listed, ...(secret ? { writeOnly: true } : {}) }
}

export const schemaOf = (schema: ConfigSchema): FieldSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(schema).map(([name, field]) => [name, { title: name, ...fieldOf(field) }])
  )
})
