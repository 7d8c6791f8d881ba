/** Words of the view of providers. */
import { plural } from "./plural.ts"

export const words = {
  title: "Providers",
  add: "Add a provider",
  none: "No provider is connected yet.",
  list: "Connections",
  columns: {
    state: "State",
    provider: "Provider",
    name: "Name",
    models: "Models",
    left: "Left",
    actions: "Actions"
  },
  states: {
    off: "turned off",
    active: "works",
    unknown: "not tried yet",
    resting: (until: string): string => `rests until ${until}`,
    failed: (status: string): string => status.replaceAll("_", " ")
  },
  models: (value: number): string => plural(value, { one: "1 model", other: `${value} models` }),
  test: "Test",
  testing: "Testing …",
  tested: (name: string, ms: string): string => `${name} answered after ${ms}.`,
  turnOff: "Turn off",
  turnOn: "Turn on",
  edit: "Edit",
  fromEnvironment: "from the environment",
  used: (text: string): string => `${text} used`,
  endsAt: (time: string): string => `used up ${time}`,
  wizard: {
    choose: "Choose a provider",
    search: "Search providers",
    found: (value: number): string => plural(value, { one: "1 provider", other: `${value} providers` }),
    another: "Choose another",
    key: (name: string): string => `Key for ${name}`,
    where: "Where do I get one?",
    looksLike: (hint: string): string => `It begins with ${hint}`,
    baseUrl: "Address",
    baseUrlHint: "Another address of the provider's API; empty: its own.",
    name: "Name",
    nameHint: "A name for people, where there are several accounts.",
    check: "Check",
    checking: "Checking …",
    accepted: (ms: string): string => `The key is accepted (${ms}).`,
    refused: "The key is not accepted.",
    save: "Save",
    nothingStored: "Nothing is stored before you save.",
    signIn: "This provider signs in with an account. In a terminal:",
    saved: (name: string): string => `${name} is connected.`,
    question: "First question",
    prompt: "Ask",
    model: "Model",
    ask: "Ask it",
    asking: "Asking …",
    firstPrompt: "Say hello in one word.",
    toList: "To the list"
  }
} as const
