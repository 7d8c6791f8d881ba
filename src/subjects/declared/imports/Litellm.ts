/**
 * `config.yaml` of the LiteLLM proxy. Pure.
 * https://docs.litellm.ai/docs/proxy/configs and https://docs.litellm.ai/docs/proxy/config_settings
 */
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"
import { same } from "../Plan.ts"
import { escaped, variableOf } from "../Variables.ts"
import { makeAccounts } from "./Accounts.ts"
import { changed, type Imported, type ImportOptions, leftOut, type Row, taken } from "./Imported.ts"
import { budgetsElsewhere, budgetsOf } from "./LitellmBudgets.ts"
import { priceOf } from "./LitellmPrices.ts"
import { comboName, prefixFor } from "./Names.ts"

/** Names of providers that are others here. https://docs.litellm.ai/docs/providers */
const names: Readonly<Record<string, string>> = {
  azure: "azure-openai",
  azure_ai: "azure-foundry",
  cohere_chat: "cohere",
  vertex_ai: "vertex",
  together_ai: "together",
  fireworks_ai: "fireworks",
  nvidia_nim: "nvidia",
  ollama_chat: "ollama",
  lm_studio: "lm-studio",
  cloudflare: "cloudflare-ai",
  github: "github-models",
  voyage: "voyage-ai",
  jina_ai: "jina-ai",
  friendliai: "friendliai",
  volcengine: "volcengine",
  dashscope: "alibaba",
  text_completion_openai: "openai",
  "text-completion-openai": "openai"
}

/** Servers that speak OpenAI's API at an address of their own. */
const compatible: ReadonlySet<string> = new Set([
  "openai",
  "hosted_vllm",
  "vllm",
  "openai_like",
  "custom_openai",
  "litellm_proxy",
  "llamafile",
  "xinference",
  "infinity"
])

/** https://docs.litellm.ai/docs/routing#advanced---routing-strategies */
const strategies: Readonly<Record<string, string>> = {
  "simple-shuffle": "random",
  "least-busy": "least-used",
  "usage-based-routing": "headroom",
  "usage-based-routing-v2": "headroom",
  "latency-based-routing": "p2c",
  "cost-based-routing": "cost-optimized"
}

/** Settings that say how requests are made here anyway, or that have another place. */
const elsewhere: Readonly<Record<string, string>> = {
  master_key: "Keys of clients are made here: 'gateway key add <name>'.",
  database_url: "The gateway keeps its own database.",
  num_retries: "The gateway goes to the next target by itself; see docs/resilience.md.",
  request_timeout: "Set it with 'gateway settings'; see docs/resilience.md.",
  timeout: "Set it with 'gateway settings'; see docs/resilience.md.",
  cooldown_time: "The gateway measures cooldowns from what providers answer.",
  allowed_fails: "The gateway decides by the statuses of providers; see docs/resilience.md.",
  cache: "Set it with 'gateway cache'; see docs/cache.md."
}

interface Deployment {
  /** `<provider>/<model>`. */
  readonly model: string
  readonly connection: string
  readonly weight: number | null
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (isArray(value) ? value : [])

/** A key as it is in the file: `os.environ/NAME` names a variable. */
const keyOf = (given: Json | undefined, variable: string, { withSecrets }: ImportOptions) => {
  const text = stringOr(given)
  const named = text === null ? null : /^os\.environ\/(\w+)$/.exec(text)
  if (named !== null) return { apiKey: `\${${named[1] ?? ""}}`, isReplaced: false }
  if (text === null) return { apiKey: null, isReplaced: false }
  return withSecrets ? { apiKey: escaped(text), isReplaced: false } : { apiKey: `\${${variable}}`, isReplaced: true }
}

/** A variable for each key of a provider: two keys must not become one. */
const makeVariables = () => {
  const keys = new Map<string, Array<string>>()
  return (provider: string, key: string | null): string => {
    const known = keys.get(provider) ?? []
    const at = known.indexOf(key ?? "")
    if (at === -1) keys.set(provider, [...known, key ?? ""])
    const place = at === -1 ? known.length : at
    return place === 0 ? variableOf(provider) : variableOf(provider, String(place + 1))
  }
}

/** Fallbacks are as a list of objects with one or several groups each. */
const fallbacksOf = (...given: ReadonlyArray<Json | undefined>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const all = new Map<string, Array<string>>()
  for (const each of given.flatMap(list)) {
    for (const [group, others] of Object.entries(objectOr(each))) {
      const known = all.get(group) ?? []
      for (const other of list(others)) if (typeof other === "string" && !known.includes(other)) known.push(other)
      all.set(group, known)
    }
  }
  return all
}

const priceTable = (prices: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>): JsonObject =>
  Object.fromEntries(Array.from(prices, ([provider, models]) => [provider, Object.fromEntries(models)]))

/** State of a reading. */
interface Reading {
  readonly options: ImportOptions
  readonly rows: Array<Row>
  readonly accounts: ReturnType<typeof makeAccounts>
  readonly variables: ReturnType<typeof makeVariables>
  readonly groups: Map<string, Array<Deployment>>
  readonly prices: Map<string, Map<string, JsonObject>>
  readonly combos: Array<JsonObject>
  readonly aliases: Record<string, string>
}

/** Names of model groups as they are here. */
interface Naming {
  readonly fallbacks: ReadonlyMap<string, ReadonlyArray<string>>
  /** Groups that become a combo. */
  readonly combosOf: ReadonlySet<string>
}

/** Notes a price for a model that has none yet; true: it has another one. */
const notePrice = ({ prices }: Reading, provider: string, model: string, price: JsonObject | null): boolean => {
  if (price === null) return false
  const ofProvider = prices.get(provider) ?? new Map<string, JsonObject>()
  const former = ofProvider.get(model)
  if (former === undefined) prices.set(provider, ofProvider.set(model, price))
  return former !== undefined && !same(price, former)
}

const readDeployment = (reading: Reading, each: Json, at: number): Row => {
  const { accounts, groups, options, variables } = reading
  const entry = objectOr(each)
  const params = objectOr(entry["litellm_params"])
  const group = stringOr(entry["model_name"]) ?? ""
  const whole = stringOr(params["model"]) ?? ""
  const what = `model_list.${at}: ${group === "" ? "no name" : group}`
  if (group === "" || whole === "") return leftOut(what, "It has no model_name or no litellm_params.model.")
  const slash = whole.indexOf("/")
  const prefix = slash === -1 ? "openai" : whole.slice(0, slash)
  const model = slash === -1 ? whole : whole.slice(slash + 1)
  const base = stringOr(params["api_base"]) ?? stringOr(params["base_url"])
  const baseUrl = base === null || base.startsWith("os.environ/") ? null : base.replace(/\/+$/, "")
  const known = options.providers.get(names[prefix] ?? prefix)
  if (base !== null && baseUrl === null) {
    return leftOut(what, `Its address is a variable (${base}): write the address itself.`)
  }
  const isNode = baseUrl !== null && compatible.has(prefix)
  if (!isNode && known === undefined) {
    return leftOut(what, `The provider '${prefix}' is not known here; add a node with 'gateway provider node'.`)
  }
  const host = isNode ? prefixFor(baseUrl ?? "") : (known ?? prefix)
  const { apiKey, isReplaced } = keyOf(params["api_key"], variables(host, stringOr(params["api_key"])), options)
  const provider = isNode ? accounts.node(baseUrl ?? "", "openai-compatible", apiKey) : host
  const isPattern = model.includes("*")
  const account = { provider, apiKey, baseUrl: isNode ? null : baseUrl }
  const connection = accounts.use(account, isPattern ? null : model)
  const weight = numberOr(params["weight"]) ?? numberOr(params["rpm"]) ?? numberOr(params["tpm"])
  if (!isPattern) {
    const target = { model: `${provider}/${model}`, connection, weight }
    groups.set(group, [...(groups.get(group) ?? []), target])
  }
  const own = priceOf(params, objectOr(entry["model_info"]))
  const isOtherPrice = !isPattern && notePrice(reading, provider, model, own.price)
  const read = new Set(["model", "api_base", "base_url", "api_key", "weight", "rpm", "tpm", ...own.read])
  const extras = Object.keys(params).filter((name) => !read.has(name))
  const notes = [
    ...(isReplaced ? [`Its key is ${apiKey ?? ""} now: set that variable, or use --with-secrets.`] : []),
    ...(isPattern ? ["All models of the provider are offered under their own names."] : []),
    ...(isOtherPrice ? [`Its price is not taken: '${provider}/${model}' has another one above.`] : []),
    ...(own.problem === null ? [] : [own.problem]),
    ...(isPattern && own.price !== null ? ["Its price is not taken: it is of no model."] : []),
    ...(extras.length > 0 ? [`Without ${extras.join(", ")}.`] : [])
  ]
  return notes.length === 0 ? taken(what) : changed(what, notes.join(" "))
}

const namingOf = ({ groups }: Reading, router: JsonObject, library: JsonObject): Naming => {
  const fallbacks = fallbacksOf(
    router["fallbacks"],
    library["fallbacks"],
    router["context_window_fallbacks"],
    library["context_window_fallbacks"]
  )
  const combosOf = new Set(
    [...groups].filter(([group, all]) => all.length > 1 || fallbacks.has(group)).map(([group]) => group)
  )
  return { fallbacks, combosOf }
}

const referenceTo = ({ groups }: Reading, { combosOf }: Naming, group: string): string | null => {
  if (combosOf.has(group)) return `combo:${comboName(group)}`
  const [only] = groups.get(group) ?? []
  return only?.model ?? null
}

const poolName = ({ fallbacks }: Naming, group: string): string =>
  comboName(fallbacks.has(group) ? `${group} pool` : group)

/** A group without its own fallbacks, so that two groups may be each other's. */
const poolOf = ({ groups }: Reading, naming: Naming, group: string): string | null => {
  const all = groups.get(group) ?? []
  return all.length > 1 ? `combo:${poolName(naming, group)}` : (all[0]?.model ?? null)
}

const addAlias = ({ aliases, options, rows }: Reading, name: string, model: string): boolean => {
  if (!options.providers.has(name.split("/", 1)[0] ?? "")) {
    aliases[name] = model
    return true
  }
  rows.push(leftOut(`model group ${name}`, `It begins with the name of a provider; ask for '${model}'.`))
  return false
}

/** Makes an alias of a group of one deployment, and a combo, or two, of each other one. */
const readGroup = (
  reading: Reading,
  naming: Naming,
  group: string,
  deployments: ReadonlyArray<Deployment>,
  wanted: string
): void => {
  const { combos, rows } = reading
  const [only] = deployments
  if (only === undefined) return
  const name = comboName(group)
  if (!naming.combosOf.has(group)) {
    if (only.model !== group) addAlias(reading, group, only.model)
    return
  }
  const hasWeights = wanted === "simple-shuffle" && deployments.every(({ weight }) => weight !== null && weight > 0)
  const strategy = hasWeights ? "weighted" : (strategies[wanted] ?? "random")
  const pool = deployments.map(({ connection, model, weight }) =>
    hasWeights ? { model, connection, weight } : { model, connection }
  )
  const others = (naming.fallbacks.get(group) ?? []).flatMap((other) => {
    const model = poolOf(reading, naming, other)
    if (model === null) rows.push(leftOut(`fallback ${group} -> ${other}`, "There is no model group of that name."))
    return model === null ? [] : [{ model }]
  })
  if (!naming.fallbacks.has(group)) combos.push({ name, strategy, targets: pool })
  else if (pool.length === 1) combos.push({ name, strategy: "priority", targets: [...pool, ...others] })
  else {
    const inner = poolName(naming, group)
    combos.push({ name: inner, strategy, targets: pool })
    combos.push({ name, strategy: "priority", targets: [{ model: `combo:${inner}` }, ...others] })
  }
  if (name !== group) rows.push(changed(`model group ${group}`, `Its name here is '${name}'.`))
}

const readAlias = (reading: Reading, naming: Naming, name: string, to: Json | undefined): void => {
  const { combos, rows } = reading
  const group = stringOr(to) ?? stringOr(objectOr(to)["model"]) ?? ""
  const model = referenceTo(reading, naming, group)
  if (model === null) rows.push(leftOut(`model_group_alias ${name}`, `There is no model group '${group}'.`))
  else if (model.startsWith("combo:")) {
    combos.push({ name: comboName(name), strategy: "priority", targets: [{ model }] })
    rows.push(taken(`model_group_alias ${name}`))
  } else if (addAlias(reading, name, model)) rows.push(taken(`model_group_alias ${name}`))
}

/** Sections and members that are not read. */
const leftOutOf = (config: JsonObject): ReadonlyArray<Row> =>
  Object.entries(config).flatMap(([section, members]) => {
    if (section === "model_list") return []
    if (!isObject(members)) {
      return [
        leftOut(section, section === "teams" ? "Of teams only budgets are taken." : "It has no counterpart here.")
      ]
    }
    return Object.keys(members)
      .filter(
        (name) => !["fallbacks", "context_window_fallbacks", "model_group_alias", "routing_strategy"].includes(name)
      )
      .map((name) =>
        leftOut(`${section}.${name}`, elsewhere[name] ?? budgetsElsewhere[name] ?? "It has no counterpart here.")
      )
  })

export const readLitellm = (given: Json, options: ImportOptions): Imported => {
  const config = objectOr(given)
  const reading: Reading = {
    options,
    rows: [],
    accounts: makeAccounts("litellm", options.providers),
    variables: makeVariables(),
    groups: new Map(),
    prices: new Map(),
    combos: [],
    aliases: {}
  }
  const { accounts, aliases, combos, groups, prices, rows } = reading
  for (const [at, each] of list(config["model_list"]).entries()) rows.push(readDeployment(reading, each, at))

  const router = objectOr(config["router_settings"])
  const naming = namingOf(reading, router, objectOr(config["litellm_settings"]))
  const wanted = stringOr(router["routing_strategy"]) ?? "simple-shuffle"
  for (const [group, deployments] of groups) readGroup(reading, naming, group, deployments, wanted)
  for (const [name, to] of Object.entries(objectOr(router["model_group_alias"]))) {
    readAlias(reading, naming, name, to)
  }
  const teams = budgetsOf(config)
  for (const row of [...teams.rows, ...leftOutOf(config)]) rows.push(row)

  const nodes = accounts.nodes()
  const connections = accounts.connections()
  return {
    document: {
      version: 1,
      ...(nodes.length > 0 ? { nodes } : {}),
      ...(connections.length > 0 ? { connections } : {}),
      ...(combos.length > 0 ? { combos } : {}),
      ...(Object.keys(aliases).length > 0 ? { aliases } : {}),
      ...(prices.size > 0 ? { prices: priceTable(prices) } : {}),
      ...(teams.keys.length > 0 ? { keys: teams.keys, budgets: teams.budgets } : {})
    },
    rows
  }
}
