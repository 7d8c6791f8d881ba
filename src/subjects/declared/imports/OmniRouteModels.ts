/** Combos, fallbacks, aliases and prices of OmniRoute. Pure. */
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr } from "../../../wire/json/Json.ts"
import { escaped } from "../Variables.ts"
import { changed, leftOut, type Row, taken } from "./Imported.ts"
import { comboName } from "./Names.ts"
import type { OmniRouteAccounts } from "./OmniRouteAccounts.ts"
import { isOn, type OmniRouteRecords, textOf } from "./OmniRouteRecords.ts"

/** Strategies that are the same here. */
const strategies: ReadonlySet<string> = new Set([
  "priority",
  "weighted",
  "round-robin",
  "context-relay",
  "fill-first",
  "p2c",
  "random",
  "least-used",
  "cost-optimized",
  "reset-aware",
  "reset-window",
  "headroom",
  "strict-random",
  "auto",
  "lkgp",
  "context-optimized",
  "fusion"
])

/** Former names that OmniRoute still reads (`src/shared/constants/routingStrategies.ts` there). */
const former: Readonly<Record<string, string>> = {
  usage: "least-used",
  context: "context-optimized",
  "weekly-reset": "reset-window",
  "reset-window-order": "reset-window"
}

const mostTargets = 1_000
const mostLabelLetters = 200
const mostModelLetters = 300

export interface OmniRouteModels {
  readonly combos: ReadonlyArray<JsonObject>
  readonly aliases: ReadonlyMap<string, string>
  readonly prices: JsonObject
  readonly rows: ReadonlyArray<Row>
}

/** The model of a step: its provider is before it or beside it. */
const modelOf = (step: JsonObject): string | null => {
  const model = textOf(step["model"])
  const provider = textOf(step["providerId"]) ?? textOf(step["provider"])
  return model === null || model.includes("/") || provider === null ? model : `${provider}/${model}`
}

const usd = (value: Json | undefined): number | null => {
  const number = numberOr(value)
  return number !== null && number >= 0 && number <= 1_000_000 ? number : null
}

/** Prices there are in USD per million tokens, too. */
const priceOf = (given: JsonObject): JsonObject | null => {
  const input = usd(given["input"])
  const output = usd(given["output"])
  if (input === null || output === null) return null
  const others = {
    cached: usd(given["cached"]),
    cacheCreation: usd(given["cache_creation"] ?? given["cacheCreation"]),
    reasoning: usd(given["reasoning"])
  }
  return { input, output, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)) }
}

interface Open {
  readonly what: string
  readonly name: string
  readonly strategy: string
  readonly isActive: boolean
  readonly targets: ReadonlyArray<JsonObject>
  readonly notes: Set<string>
}

/** The name of the combo that a target asks; null: it asks a model. */
const innerOf = ({ model }: JsonObject): string | null =>
  typeof model === "string" && model.startsWith("combo:") ? model.slice("combo:".length) : null

/** Targets without circles, and without combos that have no target left. */
const settled = (open: ReadonlyMap<string, Open>): ReadonlyMap<string, ReadonlyArray<JsonObject>> => {
  const done = new Map<string, ReadonlyArray<JsonObject>>()
  const visiting = new Set<string>()
  const visit = (combo: Open): ReadonlyArray<JsonObject> => {
    const known = done.get(combo.name)
    if (known !== undefined) return known
    visiting.add(combo.name)
    const targets = combo.targets.filter((target) => {
      const inner = open.get(innerOf(target) ?? "")
      if (inner === undefined) return true
      if (visiting.has(inner.name)) combo.notes.add(`Without '${inner.name}', which leads back to it.`)
      else if (visit(inner).length === 0) combo.notes.add(`Without '${inner.name}', which is left out.`)
      else return true
      return false
    })
    visiting.delete(combo.name)
    done.set(combo.name, targets)
    return targets
  }
  for (const combo of open.values()) visit(combo)
  return done
}

const mostReasons = 10

/** State of a reading. */
interface Reading {
  readonly accounts: OmniRouteAccounts
  readonly rows: Array<Row>
  readonly combos: Array<JsonObject>
  /** Names of combos here by their names there. */
  readonly names: Map<string, string>
  /** Names that combos have here. */
  readonly used: Set<string>
}

const report = ({ rows }: Reading, what: string, notes: ReadonlySet<string>, isTaken: boolean): void => {
  const reason = [...notes].slice(0, mostReasons).join(" ")
  rows.push(!isTaken ? leftOut(what, reason) : notes.size === 0 ? taken(what) : changed(what, reason))
}

const targetOf = (
  { accounts, names }: Reading,
  given: Json,
  notes: Set<string>,
  isWeighted: boolean
): ReadonlyArray<JsonObject> => {
  const step = typeof given === "string" ? { model: given } : objectOr(given)
  const weight = numberOr(step["weight"])
  const label = textOf(step["label"])
  const more = {
    ...(isWeighted && weight !== null && weight >= 0 ? { weight: Math.min(weight, 1_000_000) } : {}),
    ...(label === null ? {} : { label: escaped(label.slice(0, mostLabelLetters)) })
  }
  const text = textOf(step["comboName"]) ?? modelOf(step) ?? ""
  const inner = step["kind"] === "model" ? undefined : names.get(text)
  if (inner !== undefined) return [{ model: `combo:${inner}`, ...more }]
  const model = accounts.model(text)
  if (model === null || model.length > mostModelLetters) {
    notes.add(`Without '${text.slice(0, 100)}', whose provider or combo is not known here.`)
    return []
  }
  const allowed = isArray(step["allowedConnectionIds"]) ? step["allowedConnectionIds"].map(textOf) : []
  const wanted = textOf(step["connectionId"]) ?? (allowed.length === 1 ? (allowed[0] ?? null) : null)
  const connection = wanted === null ? undefined : accounts.byId.get(wanted)
  const isWider = (wanted !== null && connection === undefined) || (wanted === null && allowed.length > 1)
  if (isWider) notes.add(`'${text}' may use any connection of its provider.`)
  return [{ model: escaped(model), ...more, ...(connection === undefined ? {} : { connection: escaped(connection) }) }]
}

/** A combo of the records under its name here. */
interface Named {
  readonly combo: JsonObject
  readonly name: string
  readonly ours: string
  readonly steps: ReadonlyArray<Json>
  readonly what: string
}

/** Gives a combo its name here; none where it can have none. */
const named = ({ names, rows, used }: Reading, combo: JsonObject): ReadonlyArray<Named> => {
  const name = textOf(combo["name"])
  const ours = name === null ? "" : comboName(name)
  const what = `combo ${name ?? "without a name"}`
  const steps = isArray(combo["models"]) ? combo["models"] : []
  const why =
    name === null || ours === ""
      ? "It has no name that combos may have here."
      : steps.length === 0
        ? "It has no models; 'auto' chooses from all of them."
        : used.has(ours)
          ? `Another one has the name '${ours}' here.`
          : null
  if (why !== null || name === null) {
    rows.push(leftOut(what, why ?? ""))
    return []
  }
  used.add(ours)
  names.set(name, ours)
  return [{ combo, name, ours, steps, what }]
}

const openOf = (reading: Reading, { combo, name, ours, steps, what }: Named): Open => {
  const wanted = (textOf(combo["strategy"]) ?? "priority").toLowerCase()
  const now = Object.hasOwn(former, wanted) ? (former[wanted] ?? wanted) : wanted
  const strategy = strategies.has(now) ? now : "priority"
  const notes = new Set<string>()
  if (name !== ours) notes.add(`Its name here is '${ours}'.`)
  if (strategy !== now) notes.add(`Its strategy '${now}' is not known here: it is 'priority' now.`)
  if (isObject(combo["config"]) && Object.keys(combo["config"]).length > 0) notes.add("Without its config.")
  if (steps.length > mostTargets) notes.add(`Without all but ${mostTargets} of its models.`)
  const targets = steps.slice(0, mostTargets).flatMap((step) => targetOf(reading, step, notes, strategy === "weighted"))
  return { what, name: ours, strategy, isActive: isOn(combo["isActive"]), targets, notes }
}

const readCombos = (reading: Reading, given: OmniRouteRecords["combos"]): void => {
  // All names first: a combo may name one that comes after it.
  const all = given.flatMap((combo) => named(reading, combo))
  const open = new Map(all.map((each) => [each.ours, openOf(reading, each)]))
  for (const [name, targets] of settled(open)) {
    const combo = open.get(name)
    if (combo === undefined) continue
    report(reading, combo.what, combo.notes, targets.length > 0)
    if (targets.length === 0) reading.used.delete(name)
    else {
      const { isActive, strategy } = combo
      reading.combos.push({ name, strategy, targets, ...(isActive ? {} : { isActive: false }) })
    }
  }
}

const readFallbacks = (reading: Reading, row: JsonObject): void => {
  const { accounts, combos, used } = reading
  const model = textOf(row["model"]) ?? ""
  const what = `fallbacks of ${model === "" ? "no model" : model}`
  const chain = (isArray(row["chain"]) ? row["chain"] : [])
    .map(objectOr)
    .filter(({ enabled }) => isOn(enabled))
    .toSorted((a, b) => (numberOr(a["priority"]) ?? 0) - (numberOr(b["priority"]) ?? 0))
  const notes = new Set<string>()
  const bare = accounts.model(model) === null ? model : model.slice(model.indexOf("/") + 1)
  const targets = chain
    .slice(0, mostTargets)
    .flatMap(({ provider }) => targetOf(reading, `${textOf(provider) ?? ""}/${bare}`, notes, false))
  const name = comboName(bare)
  const isTaken = targets.length > 0 && name === bare && !used.has(name)
  if (targets.length === 0) notes.add("It has no provider that is known here.")
  else if (!isTaken)
    notes.add(`Make a combo of them: '${name}' is the name of another one, or none that combos may have.`)
  else {
    used.add(name)
    combos.push({ name, strategy: "priority", targets })
  }
  report(reading, what, notes, isTaken)
}

/** An alias of a model; null: it was left out, or became a combo, because a combo is what it names. */
const readAlias = (reading: Reading, alias: string, value: Json): string | null => {
  const { accounts, combos, names, rows, used } = reading
  const what = `alias ${alias}`
  const target = textOf(value) ?? ""
  const inner = names.get(target)
  const model = accounts.model(target)
  const why =
    alias.trim() === "" || alias.length > mostModelLetters || accounts.provider(alias.split("/", 1)[0] ?? "") !== null
      ? "It begins with the name of a provider, or is too long."
      : used.has(alias)
        ? "A combo has its name."
        : inner !== undefined && used.has(inner)
          ? comboName(alias) === alias
            ? null
            : "It is no name that combos may have here."
          : model === null
            ? `'${target.slice(0, 100)}' names no provider that is known here.`
            : null
  rows.push(why === null ? taken(what) : leftOut(what, why))
  if (why !== null) return null
  if (inner === undefined || !used.has(inner)) return model === null ? null : escaped(model)
  used.add(alias)
  combos.push({ name: alias, strategy: "priority", targets: [{ model: `combo:${inner}` }] })
  return null
}

const pricesOf = (
  reading: Reading,
  given: OmniRouteRecords["prices"]
): ReadonlyMap<string, Map<string, JsonObject>> => {
  const prices = new Map<string, Map<string, JsonObject>>()
  for (const [word, models] of given) {
    const provider = reading.accounts.provider(word)
    const what = `prices of ${word}`
    if (provider === null) {
      reading.rows.push(leftOut(what, "The provider is not known here."))
      continue
    }
    const ofProvider = prices.get(provider) ?? new Map<string, JsonObject>()
    const without = Object.entries(models).filter(([model, found]) => {
      const price = priceOf(objectOr(found))
      if (price !== null && model !== "" && !ofProvider.has(model)) ofProvider.set(model, price)
      return price === null
    })
    if (ofProvider.size > 0) prices.set(provider, ofProvider)
    const which = without.slice(0, mostReasons).map(([model]) => model)
    const notes = new Set(which.length === 0 ? [] : [`Without ${which.join(", ")}: input or output is missing.`])
    report(reading, what, notes, ofProvider.size > 0)
  }
  return prices
}

export const modelsOf = (records: OmniRouteRecords, accounts: OmniRouteAccounts): OmniRouteModels => {
  const reading: Reading = { accounts, rows: [], combos: [], names: new Map(), used: new Set() }
  readCombos(reading, records.combos)
  for (const row of records.fallbacks) readFallbacks(reading, row)
  const aliases = new Map<string, string>()
  for (const [alias, value] of records.aliases) {
    const model = readAlias(reading, alias, value)
    if (model !== null) aliases.set(alias, model)
  }
  const prices = pricesOf(reading, records.prices)
  return {
    combos: reading.combos,
    aliases,
    prices: Object.fromEntries(Array.from(prices, ([provider, models]) => [provider, Object.fromEntries(models)])),
    rows: reading.rows
  }
}
