/**
 * OmniRoute's database or JSON export, as `OmniRouteRecords` reads them. Pure.
 * https://github.com/diegosouzapw/OmniRoute
 */
import type { Json } from "../../../wire/json/Json.ts"
import { type Imported, type ImportOptions, leftOut, type Row } from "./Imported.ts"
import { accountsOf } from "./OmniRouteAccounts.ts"
import { modelsOf } from "./OmniRouteModels.ts"
import { recordsOf, textOf } from "./OmniRouteRecords.ts"

/** Most rows of one kind that are reported one by one. */
const mostRows = 100

const each = (names: ReadonlyArray<string>, reason: string): ReadonlyArray<Row> => [
  ...names.slice(0, mostRows).map((what) => leftOut(what, reason)),
  ...(names.length > mostRows ? [leftOut(`${names.length - mostRows} more`, reason)] : [])
]

export const readOmniRoute = (given: Json, options: ImportOptions): Imported => {
  const records = recordsOf(given)
  const accounts = accountsOf(records, options)
  const models = modelsOf(records, accounts)
  const parts = {
    nodes: accounts.nodes,
    connections: accounts.connections,
    combos: models.combos,
    aliases: Object.fromEntries(models.aliases),
    prices: models.prices
  }
  return {
    document: {
      version: 1,
      ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0))
    },
    rows: [
      ...accounts.rows,
      ...models.rows,
      ...each(
        records.mappings.map(({ pattern }) => `combo for ${textOf(pattern) ?? "no model"}`),
        "Patterns of models have no counterpart here; give the combo the model's name, or make an alias."
      ),
      ...each(
        records.customModels.map((provider) => `models added to ${provider}`),
        "Declare them here: 'gateway model declare'."
      ),
      ...each(
        records.keys.map(({ name }) => `API key ${textOf(name) ?? "without a name"}`),
        "Keys of clients are made here: 'gateway key add <name>'."
      ),
      ...(records.proxies > 0
        ? [leftOut(`${records.proxies} proxies`, "They are not part of the configuration file.")]
        : []),
      ...(records.webhooks > 0
        ? [leftOut(`${records.webhooks} webhooks`, "Make them here: 'gateway webhook add'.")]
        : []),
      ...(records.hasSettings ? [leftOut("settings", "Set them here: 'gateway settings'.")] : [])
    ]
  }
}
