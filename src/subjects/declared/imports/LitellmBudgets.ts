/**
 * Budgets in a configuration of LiteLLM: those of teams become API keys with budgets, others are named. Pure.
 * https://docs.litellm.ai/docs/proxy/users and https://docs.litellm.ai/docs/proxy/team_budgets
 */
import { isArray, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"
import { escaped } from "../Variables.ts"
import { leftOut, type Row, taken } from "./Imported.ts"

/** Lengths that are windows here. */
const windows: Readonly<Record<string, string>> = {
  "1d": "dailyLimitUsd",
  "24h": "dailyLimitUsd",
  "7d": "weeklyLimitUsd",
  "1w": "weeklyLimitUsd",
  "30d": "monthlyLimitUsd",
  "1mo": "monthlyLimitUsd"
}

const mostUsd = 1_000_000

export interface LitellmBudgets {
  readonly keys: ReadonlyArray<JsonObject>
  readonly budgets: ReadonlyArray<JsonObject>
  readonly rows: ReadonlyArray<Row>
}

const durationOf = (of: JsonObject): string => stringOr(of["budget_duration"]) ?? "no budget_duration"

/** Teams are in either place; each has a name or an id. */
const teamsOf = (config: JsonObject): ReadonlyArray<JsonObject> =>
  [objectOr(config["litellm_settings"])["default_team_settings"], config["teams"]]
    .flatMap((given: Json | undefined) => (isArray(given) ? given : []))
    .map(objectOr)

export const budgetsOf = (config: JsonObject): LitellmBudgets => {
  const keys: Array<JsonObject> = []
  const budgets: Array<JsonObject> = []
  const rows: Array<Row> = []
  const seen = new Set<string>()
  for (const team of teamsOf(config)) {
    const name = stringOr(team["team_alias"]) ?? stringOr(team["team_id"]) ?? ""
    const limit = numberOr(team["max_budget"])
    if (name === "" || limit === null) continue
    const what = `team ${name}: max_budget`
    const duration = durationOf(team)
    const window = Object.hasOwn(windows, duration) ? windows[duration] : undefined
    if (window === undefined || limit <= 0 || limit > mostUsd || seen.has(name)) {
      const why = seen.has(name) ? "There is another team of that name above." : `${limit} USD with ${duration}.`
      rows.push(leftOut(what, `${why} Budgets here are per day, week or month: 'gateway budget set <key>'.`))
      continue
    }
    seen.add(name)
    keys.push({ name: escaped(name) })
    budgets.push({ key: escaped(name), [window]: limit })
    rows.push(taken(what))
  }
  return { keys, budgets, rows }
}

/** Advice on the gateway's counterparts of these limits. */
export const budgetsElsewhere: Readonly<Record<string, string>> = {
  max_budget: "Budgets are of API keys here: 'gateway budget set <key> --monthly <usd>'.",
  budget_duration: "Budgets are of API keys here, per day, week or month.",
  max_internal_user_budget: "Budgets are of API keys here: 'gateway budget set <key> --monthly <usd>'.",
  internal_user_budget_duration: "Budgets are of API keys here, per day, week or month.",
  max_end_user_budget: "Budgets are of API keys here: 'gateway budget set <key> --monthly <usd>'.",
  default_internal_user_params: "There are no users here; give each person an API key with a budget.",
  default_key_generate_params: "Each API key has its own limits: 'gateway key add' and 'gateway budget set'.",
  default_team_settings: "Of teams only budgets are taken, each as an API key with a budget.",
  provider_budget_config:
    "What a connection may spend is a quota of it: 'quotas' of the connection in gateway.yaml, in USD."
}
