/** A gateway's configuration as a file: without what is as usual, and with references in the place of secrets. Pure. */
import { defaultGatewaySettings } from "../settings/entity.ts"
import { defaultWarningThreshold } from "../limits/entity.ts"
import { defaultResilience } from "../resilience/entity.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { hasSecret } from "./CurrentState.ts"
import { priceParts, same, type Thing } from "./Plan.ts"
import { escaped, variableOf } from "./Variables.ts"

export interface Exported {
  readonly document: JsonObject
  /** Variables that the file refers to. */
  readonly variables: ReadonlyArray<string>
  /** Sentences on the parts that a file cannot hold. */
  readonly leftOut: ReadonlyArray<string>
}

/** Values that a new thing has by itself. */
const usual: Readonly<Record<string, Json>> = {
  isActive: true,
  proxyEnabled: true,
  models: [],
  quotas: [],
  authType: "apikey",
  config: {},
  noLog: false,
  rateLimits: [],
  scopes: [],
  timeoutMs: 30_000,
  enabled: true,
  hidden: false,
  family: "auto",
  kind: "custom",
  warningThreshold: defaultWarningThreshold,
  dailyLimitUsd: 0,
  weeklyLimitUsd: 0,
  monthlyLimitUsd: 0,
  resetTime: "00:00",
  tz: "UTC"
}

const isUsual = (name: string, value: Json): boolean =>
  value === null ||
  (name in usual && same(usual[name], value)) ||
  (isArray(value) && value.length === 0 && name !== "targets")

const written = (value: Json): Json => {
  if (typeof value === "string") return escaped(value)
  if (isArray(value)) return value.map(written)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, written(member ?? null)]))
}

/** A header's value cannot have this sign, and each mask has it. */
const isMasked = (value: Json): boolean => typeof value === "string" && value.includes("…")

const kept = (fields: JsonObject, left: ReadonlySet<string> = new Set()): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      left.has(name) || isUsual(name, value ?? null) ? [] : [[name, written(value ?? null)]]
    )
  )

const unsaid: ReadonlySet<string> = new Set([hasSecret])

const elsewhere =
  "What is no part of the file at all: feature flags, the admin password, settings that have routes of their own (IP filter, thinking budget, system prompt, switch of proxies, guardrails, compression profiles), tunnels, capture, agents of the bridge, suites of evaluations, presets of the playground, skills, memories, files, batches, and what was used."

/** The members of settings that are not as usual. */
const changed = (settings: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]): ReadonlyArray<readonly [string, Json]> => {
      const usually = defaults[name]
      // Settings that have no default here belong to routes of their own, and may be secrets.
      if (usually === undefined || same(usually, value)) return []
      if (isObject(value) && isObject(usually) && Object.keys(usually).length > 0) {
        const inner = changed(value, usually)
        return Object.keys(inner).length === 0 ? [] : [[name, inner]]
      }
      return [[name, written(value ?? null)]]
    })
  )

/** Empty lists that mean "none" where an absent one means "all". */
const none = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => (name === "allowedKeys" || name === "allowedTools") && isArray(value) && value.length === 0
    )
  ) as JsonObject

export const exported = (present: ReadonlyArray<Thing>): Exported => {
  const variables = new Set<string>()
  const leftOut: Array<string> = []
  const of = (kind: Thing["kind"]) => present.filter((thing) => thing.kind === kind)
  const variable = (name: string): string => {
    variables.add(name)
    return `\${${name}}`
  }
  const headersOf = (fields: JsonObject, ...owner: ReadonlyArray<string>): JsonObject => {
    const names = Object.keys(objectOr(fields["headers"]))
    if (names.length === 0) return {}
    const headers = Object.entries(objectOr(fields["headers"])).map(([name, value]) => [
      name,
      isMasked(value ?? null) ? variable(variableOf(...owner, name).replace(/_API_KEY$/, "")) : written(value ?? null)
    ])
    return { headers: Object.fromEntries(headers) as JsonObject }
  }
  const secret = new Set(["apiKey", "headers"])

  const connections = of("connection").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (readOnly) {
      leftOut.push(`The connection '${name}' comes from the environment of the gateway.`)
      return []
    }
    if (fields["authType"] === "oauth") {
      leftOut.push(`The connection '${name}' was made by a sign-in; sign in anew on the other gateway.`)
      return []
    }
    const [provider = "", ...rest] = name.split("/")
    const key = typeof fields["apiKey"] === "string" ? { apiKey: variable(variableOf(provider, rest.join("_"))) } : {}
    return [{ ...kept(fields, secret), ...key, ...headersOf(fields, provider, rest.join("_")) }]
  })
  const nodes = of("node").map(({ fields, name }) => Object.assign(kept(fields, secret), headersOf(fields, name)))
  const combos = of("combo").map(({ fields }) => kept(fields))
  const aliases = Object.fromEntries(of("alias").map(({ fields, name }) => [name, written(fields["model"] ?? null)]))
  const priced = new Map<string, Array<readonly [string, Json]>>()
  for (const { fields, name } of of("price")) {
    const [provider, model] = priceParts(name)
    const models = priced.get(provider) ?? []
    models.push([model, fields["price"] ?? null])
    priced.set(provider, models)
  }
  const prices = Object.fromEntries(Array.from(priced, ([provider, models]) => [provider, Object.fromEntries(models)]))
  const servers = of("mcpServer").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (!readOnly) return [{ ...kept(fields, secret), ...none(fields), ...headersOf(fields, "mcp", name) }]
    leftOut.push(`The MCP server '${name}' is a program of the gateway's machine; add it there with 'gateway mcp add'.`)
    return []
  })
  const plainOf = (kind: Thing["kind"]) => of(kind).map(({ fields }) => kept(fields, unsaid))
  const proxies = of("proxy").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (readOnly)
      leftOut.push(`The proxy '${name}' was found in a public list; look for free ones on the other gateway.`)
    else if (hasSecret in fields)
      leftOut.push(`What the proxy '${name}' logs in with: set it with 'gateway proxy edit'.`)
    return readOnly ? [] : [kept(fields, unsaid)]
  })
  const free = new Set(of("proxy").flatMap(({ name, readOnly }) => (readOnly ? [name] : [])))
  const assignments = of("proxyAssignment").filter(({ fields }) => !free.has(String(fields["proxy"])))
  const webhooks = of("webhook").map(({ fields, name }) => {
    if (hasSecret in fields) leftOut.push(`The password of the mail server of the webhook '${name}'.`)
    return kept(fields, unsaid)
  })
  if (webhooks.length > 0)
    leftOut.push("Secrets of webhooks: one that is made anew signs with another key, which 'gateway webhook show' has.")
  const plugins = of("plugin").flatMap(({ fields, name }): ReadonlyArray<JsonObject> => {
    if (hasSecret in fields) leftOut.push(`The secret values of the plugin '${name}'.`)
    return Object.keys(objectOr(fields["values"])).length === 0
      ? []
      : [written({ name, values: fields["values"] ?? {} })].map(objectOr)
  })
  if (of("plugin").length > 0)
    leftOut.push("Plugins themselves: install them first, so that their configuration finds them.")
  const [resilience] = of("resilience")
  const { loadShedding, ...others } = resilience?.fields ?? {}
  const { maxInFlight, ...shedding } = objectOr(loadShedding)
  const resilient = changed({ ...others, loadShedding: shedding }, defaultResilience as unknown as JsonObject)
  if (maxInFlight !== undefined)
    leftOut.push(
      `resilience.loadShedding.maxInFlight (${String(maxInFlight)}): it is taken from the machine's memory where it is not set.`
    )
  leftOut.push(elsewhere)
  const keys = of("key").map(({ fields }) => kept(fields))
  if (keys.length > 0)
    leftOut.push("Secrets of API keys are not kept anywhere: a key that is made anew has another one.")
  const [settings] = of("settings")
  const own = changed(settings?.fields ?? {}, defaultGatewaySettings as unknown as JsonObject)
  const parts: ReadonlyArray<readonly [string, Json]> = [
    ["version", 1],
    ["nodes", nodes],
    ["connections", connections],
    ["combos", combos],
    ["aliases", aliases],
    ["prices", prices],
    ["keys", keys],
    ["mcpServers", servers],
    ["models", plainOf("model")],
    ["quotaGroups", plainOf("quotaGroup")],
    ["budgets", plainOf("budget")],
    ["tokenLimits", plainOf("tokenLimit")],
    ["proxies", proxies],
    ["proxyAssignments", assignments.map(({ fields }) => kept(fields))],
    ["webhooks", webhooks],
    ["plugins", plugins],
    ["resilience", resilient],
    ["settings", own]
  ]
  const document = Object.fromEntries(
    parts.filter(
      ([, part]) =>
        typeof part === "number" || Object.keys(objectOr(part)).length > 0 || (isArray(part) && part.length > 0)
    )
  )
  return { document, variables: [...variables], leftOut }
}
