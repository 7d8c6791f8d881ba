/** Computes the changes that make a gateway match a file. Pure: neither the file nor the gateway is touched. */
import { isSecretHeader, maskSecret } from "../../kernel/text/Masking.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"

export const kinds = [
  "node",
  "proxy",
  "connection",
  "model",
  "combo",
  "alias",
  "price",
  "key",
  "mcpServer",
  "quotaGroup",
  "budget",
  "tokenLimit",
  "proxyAssignment",
  "webhook",
  "plugin",
  "resilience",
  "settings"
] as const
export type Kind = (typeof kinds)[number]

/** One thing on the gateway. */
export interface Thing {
  readonly kind: Kind
  /** Name in files: prefix, `provider/name`, name, alias. */
  readonly name: string
  /** Id at the gateway; null: it has none. */
  readonly id: string | null
  readonly fields: JsonObject
  /**
   * True when it cannot be changed from a file: it comes from the environment of the gateway, or is a program that it
   * starts.
   */
  readonly readOnly: boolean
}

export interface FieldChange {
  readonly field: string
  readonly from: Json
  readonly to: Json
}

export interface Change {
  readonly kind: Kind
  readonly action: "create" | "update" | "remove"
  readonly name: string
  readonly id: string | null
  /** Differences of an update. Secrets are masked. */
  readonly changes: ReadonlyArray<FieldChange>
  /** Body that is sent. */
  readonly body: JsonObject
}

/** Provider and model of a price's name; ids of providers have no slash. */
export const priceParts = (name: string): readonly [provider: string, model: string] => {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}

/** Entry of a file for one thing. */
export interface DeclaredThing {
  readonly kind: Kind
  readonly name: string
  readonly fields: JsonObject
  /** Secrets that refer to variables without a value (`Kept.ts`). */
  readonly missing?: ReadonlyArray<MissingSecret>
}

export interface MissingSecret {
  readonly field: string
  /** Name of a header. Null: the whole field. */
  readonly member: string | null
  readonly variable: string
}

export interface PlanOptions {
  /** Things that an earlier run has made, as `kind name`; those that are not wanted any more are removed. Null: nothing is. */
  readonly prune: ReadonlySet<string> | null
}

const sorted = (value: Json): Json => {
  if (isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name] ?? null)])
  )
}

/** Checks whether two values are the same; an absent one is the same as null. */
export const same = (left: Json | undefined, right: Json | undefined): boolean =>
  JSON.stringify(sorted(left ?? null)) === JSON.stringify(sorted(right ?? null))

/** Members whose values are shown masked, and so are compared masked. */
const secretMembers: ReadonlySet<string> = new Set(["apiKey"])

const maskedHeaders = (wanted: Json): Json =>
  isObject(wanted)
    ? Object.fromEntries(
        Object.entries(wanted).map(([name, value]) => [
          name,
          typeof value === "string" && isSecretHeader(name, value) ? maskSecret(value) : (value ?? null)
        ])
      )
    : wanted

/** Returns the names of headers of MCP servers, in lower case, without values. */
export const namesOnly = (headers: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(headers.map((name) => [name.toLowerCase(), "…"]))

/** A value as the gateway shows it. */
export const shown = (kind: Kind, field: string, value: Json): Json => {
  if (secretMembers.has(field) && typeof value === "string") return maskSecret(value)
  if (field !== "headers") return value
  if (kind !== "mcpServer") return maskedHeaders(value)
  return isObject(value) && Object.keys(value).length > 0 ? namesOnly(Object.keys(value)) : null
}

/** Members that a change cannot have because they name the thing. */
const identity: Readonly<Record<Kind, ReadonlySet<string>>> = {
  node: new Set(["prefix"]),
  connection: new Set(["provider"]),
  combo: new Set(["id", "name"]),
  alias: new Set(),
  price: new Set(),
  key: new Set(["name"]),
  mcpServer: new Set(["name"]),
  proxy: new Set(["name"]),
  model: new Set(["provider", "modelId"]),
  quotaGroup: new Set(["name"]),
  budget: new Set(["key"]),
  tokenLimit: new Set(["key", "scopeType", "scopeValue", "resetInterval"]),
  proxyAssignment: new Set(["scope", "of"]),
  webhook: new Set(["url"]),
  plugin: new Set(["name"]),
  resilience: new Set(),
  settings: new Set()
}

/** Kinds of which a part is changed by naming its members, deep down. */
const deep: ReadonlySet<Kind> = new Set(["plugin", "resilience", "settings"])

/** Kinds that are one value, which is sent whole. */
const whole: ReadonlySet<Kind> = new Set(["budget", "model", "proxyAssignment", "tokenLimit"])

/** The wanted members of an object that differ, deep down to what is wanted. */
const differing = (wanted: Json, present: Json | undefined): boolean => {
  if (!isObject(wanted) || !isObject(present)) return !same(wanted, present)
  return Object.entries(wanted).some(([name, value]) => differing(value ?? null, present[name]))
}

const changesOf = ({ fields, kind }: DeclaredThing, present: Thing): ReadonlyArray<FieldChange> =>
  Object.entries(fields).flatMap(([field, value]) => {
    if (identity[kind].has(field) || field === "oauth") return []
    const to = shown(kind, field, value ?? null)
    const from = present.fields[field] ?? null
    const isDifferent = deep.has(kind) ? differing(to, from) : !same(to, from)
    return isDifferent ? [{ field, from, to }] : []
  })

/** Adds the secrets that go along with a new address: the stored ones are not sent to another address. */
const withSecrets = (changes: ReadonlyArray<FieldChange>, fields: JsonObject): ReadonlyArray<string> => {
  const changed = changes.map(({ field }) => field)
  const moves = changed.includes("url") || changed.includes("baseUrl")
  const secrets = moves ? ["apiKey", "headers"].filter((field) => field in fields && !changed.includes(field)) : []
  return [...changed, ...secrets]
}

export const keyOf = ({ kind, name }: { readonly kind: Kind; readonly name: string }): string => `${kind} ${name}`

const rank = (kind: Kind): number => kinds.indexOf(kind)

/** Places of combos by name: those that others name come before them. */
export const comboOrder = (
  combos: ReadonlyArray<{ readonly name: string; readonly targets: Json }>
): ReadonlyMap<string, number> => {
  const byName = new Map(combos.map((each) => [each.name, each]))
  const order = new Map<string, number>()
  const open = new Set<string>()
  const visit = (name: string): void => {
    const combo = byName.get(name)
    // A circle is refused by the gateway itself.
    if (combo === undefined || order.has(name) || open.has(name)) return
    open.add(name)
    const { targets } = combo
    for (const target of isArray(targets) ? targets : []) {
      const model = stringOr(objectOr(target)["model"]) ?? ""
      visit(model.startsWith("combo:") ? model.slice("combo:".length) : model)
    }
    order.set(name, order.size)
  }
  for (const name of byName.keys()) visit(name)
  return order
}

/**
 * Plans the changes in the order in which they can be done: the things that others need first, removals last and the
 * other way round.
 */
export const plan = (
  wanted: ReadonlyArray<DeclaredThing>,
  present: ReadonlyArray<Thing>,
  { prune }: PlanOptions
): ReadonlyArray<Change> => {
  const there = new Map(present.map((thing) => [keyOf(thing), thing]))
  const order = comboOrder(
    wanted.flatMap(({ fields, kind, name }) => (kind === "combo" ? [{ name, targets: fields["targets"] ?? null }] : []))
  )
  const made = wanted
    .toSorted((a, b) => rank(a.kind) - rank(b.kind) || (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0))
    .flatMap((each): ReadonlyArray<Change> => {
      const { fields, kind, name } = each
      const thing = there.get(keyOf(each))
      if (thing === undefined) return [{ kind, action: "create", name, id: null, changes: [], body: fields }]
      const changes = changesOf(each, thing)
      if (changes.length === 0) return []
      const body = whole.has(kind)
        ? fields
        : Object.fromEntries(withSecrets(changes, fields).map((field) => [field, fields[field] ?? null]))
      return [{ kind, action: "update", name, id: thing.id, changes, body }]
    })
  const names = new Set(wanted.map(keyOf))
  const removed = present
    .filter((thing) => prune?.has(keyOf(thing)) === true && !names.has(keyOf(thing)) && !thing.readOnly)
    .toSorted((a, b) => rank(b.kind) - rank(a.kind))
    .map(({ id, kind, name }): Change => ({ kind, action: "remove", name, id, changes: [], body: {} }))
  return [...made, ...removed]
}
