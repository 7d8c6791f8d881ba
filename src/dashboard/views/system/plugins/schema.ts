/** Makes the schema of a form from what a plugin lets be set. Pure. */
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
  const isNumbers = choices !== null && choices.length > 0 && choices.every((choice) => typeof choice === "number")
  const isTexts = choices !== null && choices.every((choice) => typeof choice === "string")
  const kind = isNumbers ? "number" : type === "select" ? "string" : type
  // Numbers are typed: a choice is of texts.
  const hint = isNumbers ? { description: `${description ?? ""} ${choices.join(", ")}`.trim() } : {}
  // Null is the default again.
  return {
    type: [kind, "null"],
    ...words,
    ...hint,
    ...bounds,
    ...(isTexts ? { enum: [...choices] } : {}),
    ...(secret ? { writeOnly: true } : {})
  }
}

export const schemaOf = (schema: ConfigSchema): FieldSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(schema).map(([name, field]) => [name, { title: name, ...fieldOf(field) }])
  )
})
