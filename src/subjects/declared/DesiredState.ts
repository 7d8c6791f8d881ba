/** Reads the entries of a file, thing by thing. Pure. */
import { defaultWarningThreshold } from "../limits/entity.ts"
import { isArray, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { labelsOf } from "./Labels.ts"
import { assignmentName, limitName, modelName } from "./CurrentState.ts"
import { placeOf, type Sorted } from "./Kept.ts"
import type { Thing, DeclaredThing } from "./Plan.ts"

const listOf = (document: JsonObject, member: string): ReadonlyArray<JsonObject> => {
  const list = document[member]
  return isArray(list) ? list.map(objectOr) : []
}

const textOf = (value: unknown): string => stringOr(value) ?? ""

/** Names that are twice, as sentences. */
export const doubles = (wanted: ReadonlyArray<DeclaredThing>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return wanted.flatMap(({ kind, name }) => {
    const key = `${kind} '${name}'`
    if (seen.has(key)) return [`${key} stands twice.`]
    seen.add(key)
    return []
  })
}

/** Lists wanted things that exist more than once, as sentences: it is not clear which is meant. */
export const ambiguous = (
  wanted: ReadonlyArray<DeclaredThing>,
  present: ReadonlyArray<Thing>
): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { kind, name } of present) counts.set(`${kind} '${name}'`, (counts.get(`${kind} '${name}'`) ?? 0) + 1)
  return wanted
    .map(({ kind, name }) => `${kind} '${name}'`)
    .filter((key) => (counts.get(key) ?? 0) > 1)
    .map((key) => `The gateway has the ${key} more than once: rename all but one.`)
}

/** Completes a price as the gateway stores it: a model that is not paid for by tokens costs nothing by them. */
const wholePrice = (given: JsonObject): JsonObject => ({ input: 0, output: 0, ...given })

const usualWindow = { resetTime: "00:00", tz: "UTC" }

/** Completes a budget as the gateway stores it: it replaces the one before it. */
const wholeBudget = (given: JsonObject): JsonObject => ({
  dailyLimitUsd: 0,
  weeklyLimitUsd: 0,
  monthlyLimitUsd: 0,
  warningThreshold: defaultWarningThreshold,
  ...usualWindow,
  ...given
})

const wholeTokenLimit = (given: JsonObject): JsonObject => ({
  resetInterval: "monthly",
  enabled: true,
  ...usualWindow,
  ...given
})

/** `generic` is another name of `custom`, and 1 of true. */
const plainWebhook = (given: JsonObject): JsonObject => ({
  ...given,
  ...(given["kind"] === "generic" ? { kind: "custom" } : {}),
  ...(given["enabled"] === 1 ? { enabled: true } : given["enabled"] === 0 ? { enabled: false } : {})
})

/** Things of which several may have one name. */
const labelled = (
  all: ReadonlyArray<JsonObject>,
  kind: "key" | "webhook",
  member: "name" | "url"
): ReadonlyArray<DeclaredThing> => {
  const labels = labelsOf(all.map((fields) => textOf(fields[member])))
  return all.map((fields, at) => ({ kind, name: labels[at] ?? "", fields }))
}

type Missing = Sorted["missing"]
const none: Missing = new Map()

/** Adds the secrets of an entry that refer to variables without a value. */
const withMissing = (wanted: DeclaredThing, missing: Missing, list: string, at: number): DeclaredThing => {
  const secrets = missing.get(placeOf(list, at))
  return secrets === undefined ? wanted : { ...wanted, missing: secrets }
}

/** The document is one that fits the schema; `missing`: its secrets without a value. */
export const wantedOf = (document: JsonObject, missing = none): ReadonlyArray<DeclaredThing> => [
  ...listOf(document, "nodes").map((fields, at) =>
    withMissing({ kind: "node", name: textOf(fields["prefix"]), fields }, missing, "nodes", at)
  ),
  ...listOf(document, "connections").map((given, at) => {
    const provider = textOf(given["provider"])
    const name = stringOr(given["name"]) ?? provider
    const wanted: DeclaredThing = { kind: "connection", name: `${provider}/${name}`, fields: { ...given, name } }
    return withMissing(wanted, missing, "connections", at)
  }),
  ...listOf(document, "combos").map((fields): DeclaredThing => ({
    kind: "combo",
    name: textOf(fields["name"]),
    fields
  })),
  ...Object.entries(objectOr(document["aliases"])).map(([name, model]): DeclaredThing => ({
    kind: "alias",
    name,
    fields: { model: model ?? null }
  })),
  ...Object.entries(objectOr(document["prices"])).flatMap(([provider, models]) =>
    Object.entries(objectOr(models)).map(([model, price]): DeclaredThing => ({
      kind: "price",
      name: `${provider}/${model}`,
      fields: { price: wholePrice(objectOr(price)) }
    }))
  ),
  ...labelled(listOf(document, "keys"), "key", "name"),
  ...listOf(document, "mcpServers").map((fields, at) =>
    withMissing({ kind: "mcpServer", name: textOf(fields["name"]), fields }, missing, "mcpServers", at)
  ),
  ...listOf(document, "proxies").map((fields): DeclaredThing => ({
    kind: "proxy",
    name: textOf(fields["name"]),
    fields
  })),
  ...listOf(document, "models").map((fields): DeclaredThing => ({ kind: "model", name: modelName(fields), fields })),
  ...listOf(document, "quotaGroups").map((fields): DeclaredThing => ({
    kind: "quotaGroup",
    name: textOf(fields["name"]),
    fields
  })),
  ...listOf(document, "budgets").map((given): DeclaredThing => {
    const fields = wholeBudget(given)
    return { kind: "budget", name: textOf(fields["key"]), fields }
  }),
  ...listOf(document, "tokenLimits").map((given): DeclaredThing => {
    const fields = wholeTokenLimit(given)
    return { kind: "tokenLimit", name: limitName(fields), fields }
  }),
  ...listOf(document, "proxyAssignments").map((fields): DeclaredThing => ({
    kind: "proxyAssignment",
    name: assignmentName(fields),
    fields
  })),
  ...labelled(listOf(document, "webhooks").map(plainWebhook), "webhook", "url"),
  ...listOf(document, "plugins").map((fields): DeclaredThing => ({
    kind: "plugin",
    name: textOf(fields["name"]),
    fields
  })),
  ...(document["resilience"] === undefined
    ? []
    : [{ kind: "resilience", name: "resilience", fields: objectOr(document["resilience"]) } satisfies DeclaredThing]),
  ...(document["settings"] === undefined
    ? []
    : [{ kind: "settings", name: "settings", fields: objectOr(document["settings"]) } satisfies DeclaredThing])
]
