/** What a file wants, thing by thing. Pure. */
import { isArray, type JsonObject, objectOr, stringOr } from "../wire/json/Json.ts"
import type { Thing, Wanted } from "./Plan.ts"

const listOf = (document: JsonObject, member: string): ReadonlyArray<JsonObject> => {
  const list = document[member]
  return isArray(list) ? list.map(objectOr) : []
}

const textOf = (value: unknown): string => stringOr(value) ?? ""

/** Names that stand twice, as sentences. */
export const doubles = (wanted: ReadonlyArray<Wanted>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return wanted.flatMap(({ kind, name }) => {
    const key = `${kind} '${name}'`
    if (seen.has(key)) return [`${key} stands twice.`]
    seen.add(key)
    return []
  })
}

/** What is wanted and there more than once, as sentences: it cannot be told which is meant. */
export const ambiguous = (wanted: ReadonlyArray<Wanted>, present: ReadonlyArray<Thing>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { kind, name } of present) counts.set(`${kind} '${name}'`, (counts.get(`${kind} '${name}'`) ?? 0) + 1)
  return wanted
    .map(({ kind, name }) => `${kind} '${name}'`)
    .filter((key) => (counts.get(key) ?? 0) > 1)
    .map((key) => `The gateway has the ${key} more than once: rename all but one.`)
}

/** As the gateway keeps it: what is not paid for by tokens costs nothing by them. */
const wholePrice = (given: JsonObject): JsonObject => ({ input: 0, output: 0, ...given })

/** The document is one that fits the schema. */
export const wantedOf = (document: JsonObject): ReadonlyArray<Wanted> => [
  ...listOf(document, "nodes").map((fields): Wanted => ({ kind: "node", name: textOf(fields["prefix"]), fields })),
  ...listOf(document, "connections").map((given): Wanted => {
    const provider = textOf(given["provider"])
    const name = stringOr(given["name"]) ?? provider
    return { kind: "connection", name: `${provider}/${name}`, fields: { ...given, name } }
  }),
  ...listOf(document, "combos").map((fields): Wanted => ({ kind: "combo", name: textOf(fields["name"]), fields })),
  ...Object.entries(objectOr(document["aliases"])).map(([name, model]): Wanted => ({
    kind: "alias",
    name,
    fields: { model: model ?? null }
  })),
  ...Object.entries(objectOr(document["prices"])).flatMap(([provider, models]) =>
    Object.entries(objectOr(models)).map(([model, price]): Wanted => ({
      kind: "price",
      name: `${provider}/${model}`,
      fields: { price: wholePrice(objectOr(price)) }
    }))
  ),
  ...listOf(document, "keys").map((fields): Wanted => ({ kind: "key", name: textOf(fields["name"]), fields })),
  ...listOf(document, "mcpServers").map((fields): Wanted => ({
    kind: "mcpServer",
    name: textOf(fields["name"]),
    fields
  })),
  ...(document["settings"] === undefined
    ? []
    : [{ kind: "settings", name: "settings", fields: objectOr(document["settings"]) } satisfies Wanted])
]
