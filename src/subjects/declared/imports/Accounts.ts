/** Nodes and connections of an import, each once however many models refer to it. */
import { prefixFor } from "./Names.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"

/** Account at which models are asked, with its key. */
export interface Account {
  readonly provider: string
  /** A value of the file: a reference to a variable, or the key itself; null: none is needed. */
  readonly apiKey: string | null
  readonly baseUrl: string | null
}

interface Open extends Account {
  readonly name: string
  readonly models: Set<string>
  /** True when it may be asked for every model that the provider lists. */
  hasAll: boolean
}

export interface Accounts {
  /** Name of the connection, `<provider>/<name>`. `model` null: all that the provider lists. */
  readonly use: (account: Account, model: string | null) => string
  /** The prefix of the node at an address, for one key: a node has one connection unless a flag of the gateway allows more. */
  readonly node: (baseUrl: string, type: string, apiKey: string | null) => string
  readonly nodes: () => ReadonlyArray<JsonObject>
  readonly connections: () => ReadonlyArray<JsonObject>
}

const declared = ({ apiKey, baseUrl, hasAll, models, name, provider }: Open): JsonObject => ({
  provider,
  name,
  ...(apiKey === null ? {} : { apiKey }),
  ...(baseUrl === null ? {} : { baseUrl }),
  ...(hasAll || models.size === 0 ? {} : { models: [...models] })
})

/** `name` is what connections are named after. */
export const makeAccounts = (name: string, taken: ReadonlyMap<string, string>): Accounts => {
  const open = new Map<string, Open>()
  const counts = new Map<string, number>()
  const nodes = new Map<string, { readonly prefix: string; readonly baseUrl: string; readonly type: string }>()
  const prefixes = new Set(taken.keys())

  const free = (wanted: string): string => {
    for (let at = 1; ; at += 1) {
      const prefix = at === 1 ? wanted : `${wanted}-${at}`
      if (!prefixes.has(prefix)) {
        prefixes.add(prefix)
        return prefix
      }
    }
  }

  return {
    use: (account, model) => {
      const key = JSON.stringify([account.provider, account.apiKey, account.baseUrl])
      const known = open.get(key)
      const count = (counts.get(account.provider) ?? 0) + 1
      const found = known ?? {
        ...account,
        name: count === 1 ? name : `${name}-${count}`,
        models: new Set<string>(),
        hasAll: false
      }
      if (known === undefined) {
        counts.set(account.provider, count)
        open.set(key, found)
      }
      if (model === null) found.hasAll = true
      else found.models.add(model)
      return `${found.provider}/${found.name}`
    },
    node: (baseUrl, type, apiKey) => {
      const key = JSON.stringify([type, baseUrl, apiKey])
      const known = nodes.get(key)
      if (known !== undefined) return known.prefix
      const prefix = free(prefixFor(baseUrl))
      nodes.set(key, { prefix, baseUrl, type })
      return prefix
    },
    nodes: () => [...nodes.values()].map(({ baseUrl, prefix, type }) => ({ prefix, name: prefix, type, baseUrl })),
    connections: () => [...open.values()].map(declared)
  }
}
