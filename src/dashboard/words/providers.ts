/** Words of the view of providers. */
import { plural } from "./plural.ts"

export const words = {
  title: "Providers",
  add: "Add a provider",
  none: "No provider is connected yet. Add one: an account at a provider, or a server of your own.",
  noneFound: "No account fits.",
  list: "Connections",
  parts: {
    label: "Parts of the providers",
    connections: "Connections",
    models: "Models",
    quotas: "Quotas",
    pauses: "Pauses",
    nodes: "Own servers"
  },
  search: "Search accounts",
  searchHint: "name, provider, address, model",
  total: (value: string, many: number): string => `${value} ${plural(many, { one: "account", other: "accounts" })}`,
  shows: {
    label: "By state",
    all: (value: number | null): string => (value === null ? "All" : `All ${value}`),
    available: (value: number | null): string => (value === null ? "Usable" : `Usable ${value}`),
    cooling: (value: number | null): string => (value === null ? "Resting" : `Resting ${value}`),
    terminal: (value: number | null): string => (value === null ? "Ended" : `Ended ${value}`),
    inactive: (value: number | null): string => (value === null ? "Off" : `Off ${value}`)
  },
  columns: {
    state: "State",
    name: "Account",
    provider: "Provider",
    priority: "Priority",
    models: "Models",
    left: "Left",
    actions: "Actions"
  },
  states: {
    off: "turned off",
    active: "works",
    unknown: "not tried yet",
    resting: "rests",
    banned: "suspended by the provider",
    expired: "key not accepted any more",
    credits_exhausted: "out of credits",
    unavailable: "rests"
  },
  models: (value: string, many: number): string => `${value} ${plural(many, { one: "model", other: "models" })}`,
  test: "Test",
  testing: "Testing …",
  tested: (name: string, ms: string): string => `${name} answered after ${ms}.`,
  testedModel: (name: string, ms: string, model: string): string => `${name} answered with ${model} after ${ms}.`,
  turnOff: "Turn off",
  turnOn: "Turn on",
  turnedOff: (name: string): string => `${name} is turned off.`,
  turnedOn: (name: string): string => `${name} is turned on.`,
  fromEnvironment: "from the environment",
  used: (text: string): string => `${text} used`,
  endsAt: "used up",
  renewed: "renewed",
  letGo: "Let go on",
  lets: (name: string): string => `${name} is used again.`,
  back: "All accounts",
  undo: "Undo",
  takenBack: "Taken back."
} as const
