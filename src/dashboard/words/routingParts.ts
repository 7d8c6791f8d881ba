/** Words of the parts of routing beside combos. */
import { plural } from "./plural.ts"

/** Preferences by what comes after `auto/`. */
const preferred: Readonly<Record<string, string>> = {
  "": "Balanced over all factors.",
  lkgp: "Balanced; starts with the target that answered last.",
  coding: "Quality first.",
  smart: "Quality first; tries others in 10 % of the requests.",
  fast: "Speed first.",
  cheap: "The lowest price first.",
  offline: "Servers of one's own first.",
  chat: "Balanced.",
  reasoning: "Balanced, among models that reason.",
  vision: "Balanced, among models that see.",
  multimodal: "Balanced, among models that see."
}

const tiers: Readonly<Record<string, string>> = {
  fast: "Speed first.",
  cheap: "The lowest price first.",
  floor: "The lowest price first.",
  reliable: "Reliability first.",
  free: "Only what costs nothing.",
  pro: "Only models of the highest class."
}

/** Says what an automatic id prefers, in a sentence or two; empty: an id that has no words yet. */
export const meaningOfAuto = (id: string): string => {
  const [category = "", tier] = id.replace(/^auto\/?/u, "").split(":")
  return [preferred[category], tier === undefined ? undefined : tiers[tier]]
    .filter((text) => text !== undefined)
    .join(" ")
}

export const words = {
  auto: {
    hint: "Clients can ask for these ids without any combo: all connected models are scored for each request.",
    list: "Automatic ids",
    columns: { id: "Id", means: "What it prefers", candidates: "Candidates", actions: "Actions" },
    candidates: (value: number): string => plural(value, { one: "1 candidate", other: `${value} candidates` }),
    hidden: "not in model lists",
    where: "Where will it go?",
    none: "No id fits."
  },
  aliases: {
    hint: "Another name for anything that can be asked for.",
    list: "Aliases",
    none: "No alias yet.",
    alias: "Alias",
    model: "Stands for",
    add: "Add",
    change: (alias: string): string => `Model of ${alias}`,
    remove: (alias: string): string => `Remove the alias ${alias}`,
    removed: (alias: string): string => `The alias ${alias} is removed.`,
    undo: "Undo",
    saved: (alias: string): string => `The alias ${alias} is saved.`,
    search: "Search aliases",
    more: (value: number): string =>
      plural(value, { one: "1 more: search for it", other: `${value} more: search for them` }),
    actions: "Actions"
  },
  fallbacks: {
    hint: "Ids that nothing serves are answered by these models. The exact id wins, then the pattern with the most letters; * stands for any text.",
    name: "the fallbacks",
    none: "No fallback yet: an unknown id is answered with 404.",
    pattern: "Id or pattern",
    model: "Model used instead",
    patternAt: (place: number): string => `Pattern ${place}`,
    modelAt: (place: number): string => `Model instead of pattern ${place}`,
    add: "Add a fallback",
    remove: (place: number): string => `Remove fallback ${place}`,
    twice: "This pattern is there twice.",
    empty: "Both are needed.",
    background: "What agents ask in the background",
    backgroundHint:
      "Titles, summaries and topic checks are answered by this model while the flag GATEWAY_ENABLE_RUNTIME_BACKGROUND_TASKS is on. Empty: the one they ask for.",
    save: "Save",
    discard: "Discard changes",
    actions: "Actions"
  },
  groups: {
    hint: "Connections whose quota several keys share by weight. Clients ask for qtSd/<group>/<provider>/<model>.",
    list: "Quota groups",
    none: "No quota group yet.",
    create: "Create a quota group",
    newTitle: "New quota group",
    back: "All quota groups",
    name: "Name",
    nameHint: "The <group> of the model id.",
    members: "Connections",
    keys: "Keys",
    everybody: "everybody may use it",
    closed: "nobody: its last key was deleted",
    member: (place: number): string => `Connection ${place}`,
    memberWeight: (place: number): string => `Weight of connection ${place}`,
    key: (place: number): string => `Key ${place}`,
    keyWeight: (place: number): string => `Weight of key ${place}`,
    addMember: "Add a connection",
    addKey: "Add a key",
    removeMember: (place: number): string => `Remove connection ${place}`,
    removeKey: (place: number): string => `Remove key ${place}`,
    choose: "choose",
    used: (used: string, limit: string, unit: string, window: string): string =>
      `${used} of ${limit} ${unit}, ${window}`,
    weight: "Weight",
    share: "Share",
    save: "Save",
    createIt: "Create the group",
    discard: "Discard changes",
    remove: "Delete",
    removeTitle: (name: string): string => `Delete the quota group “${name}”?`,
    removeMeans: (name: string): string =>
      `Requests for qtSd/${name}/… are refused from then on. Connections and keys stay.`,
    removed: (name: string): string => `${name} is deleted.`,
    saved: (name: string): string => `${name} is saved.`,
    unknown: "There is no such quota group.",
    incomplete: "A group needs a name and at least one connection, each with a weight above 0.",
    actions: "Actions",
    edit: (name: string): string => `Edit ${name}`
  },
  resilience: {
    hint: "When a target that fails is left alone, for how long, and what a request waits for. In force at once.",
    name: "the resilience settings",
    local:
      "Servers on this machine or in its network are not edited on this page. They fail by being switched off, so their breaker opens after two failures and is tried again soon. A program may change it: PATCH /api/resilience."
  },
  settings: { hint: "What holds for every request.", name: "the routing settings" }
} as const
