/** References to variables in the texts of a file: `${NAME}`; `$${` is a plain `${`. Pure. */
import * as Predicate from "effect/Predicate"

const reference = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** A value with each text changed; keys stay. */
const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((each: unknown) => mapTexts(each, change))
  if (!Predicate.isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]))
}

/** The names that a value refers to, each once. */
export const variablesOf = (value: unknown): ReadonlyArray<string> => {
  const names = new Set<string>()
  mapTexts(value, (text) => {
    for (const [, , name] of text.matchAll(reference)) if (name !== undefined) names.add(name)
    return text
  })
  return [...names]
}

/** The value with the references replaced; those of unknown variables stay. */
export const withVariables = (value: unknown, variables: ReadonlyMap<string, string>): unknown =>
  mapTexts(value, (text) =>
    text.replace(reference, (whole, escaped: string | undefined, name: string) =>
      escaped === undefined ? (variables.get(name) ?? whole) : escaped
    )
  )

/** The text as it has to stand in a file so that nothing of it is taken for a reference. */
export const escaped = (text: string): string => text.replaceAll("${", "$${")

/** The name of the variable of a secret, such as `OPENAI_WORK_API_KEY`. */
export const variableFor = (...parts: ReadonlyArray<string>): string => {
  const name = parts
    .join("_")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
  return /^[A-Z]/.test(name) ? name : `GATEWAY_${name}`
}
