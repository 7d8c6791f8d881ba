/** Words of the models of all providers, of nodes, and of pauses. */
import { plural } from "./plural.ts"

export const words = {
  models: {
    label: "Models",
    search: "Search models",
    provider: "Provider",
    shows: { label: "By price", all: "All", priced: "With a price", unpriced: "Without a price" },
    none: "No model fits.",
    noneYet: "No model can be reached yet. Add a provider.",
    total: (value: string, many: number): string => `${value} ${plural(many, { one: "model", other: "models" })}`,
    columns: {
      model: "Model",
      context: "Context",
      output: "Answer",
      can: "Can",
      price: "USD per 1M tokens",
      served: "Served by",
      actions: "Actions"
    },
    can: {
      vision: "pictures",
      reasoning: "thinks",
      toolCalling: "tools",
      structuredOutput: "schema"
    },
    price: (input: string, output: string): string => `${input} in, ${output} out`,
    otherUnit: "by other units",
    noPrice: "no price",
    sources: { override: "set here", synced: "fetched", embedded: "comes with it" },
    accounts: (value: number): string => plural(value, { one: "1 account", other: `${value} accounts` }),
    down: (value: number): string => `${value} down`,
    set: "Set price",
    change: "Change price",
    setTitle: (model: string): string => `Price of ${model}`,
    input: "USD per 1,000,000 tokens of the prompt",
    output: "USD per 1,000,000 tokens of the answer",
    cached: "USD per 1,000,000 tokens from the provider's cache",
    cachedHint: "Empty: as the prompt.",
    keeps: "Other parts of the price stay as they are.",
    isSet: (model: string): string => `The price of ${model} is set.`,
    notNumber: "Give a number, 0 or more.",
    ask: "Ask it"
  },
  nodes: {
    label: "Own servers",
    hint: "Servers that speak a known API at an address of yours. The prefix is the provider's name in model ids: `prefix/model`.",
    add: "Add a server",
    none: "No server of your own yet. Add one to use a local model, or any endpoint that speaks a known API.",
    columns: { name: "Name", prefix: "Prefix", type: "API", address: "Address", accounts: "Accounts" },
    accounts: "Its accounts",
    addKey: "Add its account",
    edit: "Edit",
    back: "All servers",
    apiKeyHint: "Where the address changes, its account's key has to be given again.",
    remove: {
      verb: "Delete",
      title: (name: string): string => `Delete ${name}?`,
      means: (name: string): string => `${name} and the accounts at it are deleted. Requests for its models fail.`,
      done: (name: string): string => `${name} is deleted.`
    }
  },
  pauses: {
    hint: "Accounts, providers and models that are not used for a while, with the reason. Each can be let go on at once.",
    none: "Nothing pauses: all accounts, providers and models may be used.",
    accounts: "Accounts",
    breakers: "Breakers",
    locks: "Locked models",
    more: (value: number): string => `${value} more are not shown. Search for them among the connections.`,
    letAll: "Let all go on",
    allGoOn: "All of them go on."
  }
} as const
