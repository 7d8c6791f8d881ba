/** Words of the page of a person who has signed in. */
export const words = {
  title: "Your page",
  role: (role: string): string => `role: ${role}`,
  you: "Your limits",
  noLimit: "No limit of its own.",
  allModels: "A team of yours; all models.",
  onlyModels: (models: string): string => `A team of yours; only the models ${models}.`,
  requests: (used: string, limit: string, interval: string): string => `${used} of ${limit} requests ${interval}`,
  keys: "Your keys",
  columns: ["Key", "State", "Spent", "Last used", "Action"],
  noKey: "You have no key yet. Who leads your team or administers the gateway can give you one.",
  states: { active: "active", paused: "paused", expired: "expired" },
  never: "never",
  notTold: "not told now",
  renew: "New secret",
  renewOf: (name: string): string => `Give '${name}' a new secret`,
  renewMeans: "The secret it has now stops working at once: every tool that uses it needs the new one.",
  once: "Copy the secret now: it is not shown again.",
  of: {
    none: "",
    own: "Of your keys.",
    team: "Of your keys, and of the teams that you lead.",
    all: "Of the whole gateway."
  },
  last: "The last requests",
  none: "Nothing was asked yet. Below is how to call the gateway.",
  allRequests: "All requests",
  tools: "Set up a coding tool",
  toolsHint:
    "Put a key into the variable GATEWAY_API_KEY and run this on your machine; it is not in these texts. The command takes it back with --undo.",
  tool: "Tool",
  setUp: "The command",
  modelsOf: "Models of the key",
  noModels: "With a key that is active the models that it may ask stand here."
} as const
