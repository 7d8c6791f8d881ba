/**
 * The floors of ARCHITECTURE.md. A file imports from its own floor and from those before it in the list. In a subject the name of a file says
 * its floor, so that all of an entity stands in one folder.
 */

/** @param {string} names */
const inSubjects = (names) => new RegExp(`^src/subjects/[^/]+/(?:${names})`)

/** The first pattern that fits a path says its floor; these come before the folders. */
const named = [
  ["domain", inSubjects("entity(?:/|\\.ts$)")],
  ["tiers", inSubjects("subject\\.ts$")],
  ["contract", inSubjects("routes\\.ts$")],
  ["store", inSubjects("(?:repo|[A-Z]\\w*Repo)\\.ts$")],
  ["entry", inSubjects("(?:handlers|[A-Z]\\w*(?:Views|Answers|Filters)|Inspector(?:Import|Replay))\\.ts$")],
  ["cli", inSubjects("commands(?:/|\\.ts$)")]
]

const folders = [
  ["kernel", /^src\/kernel\//],
  ["platform", /^src\/platform\//],
  ["domain", /^src\/contract\/domain\//],
  ["wire", /^src\/wire\//],
  ["tiers", /^src\/contract\/tiers\//],
  ["contract", /^src\/contract\//],
  ["store", /^src\/store\//],
  ["access", /^src\/subjects\/(?:flags|auth|people)\//],
  ["net", /^src\/net\//],
  ["state", /^src\/plane\/state\/(?!kept\/)/],
  ["resilience", /^src\/(?:plane\/(?:resilience|tokens|guard)\/|observe\/Events\.ts)/],
  ["providers", /^src\/plane\/providers\//],
  ["usage", /^src\/observe\/usage\//],
  ["routing", /^src\/plane\/routing\//],
  [
    "parts",
    /^src\/(?:plane\/(?:ledger|cache|memory|compression)|observe|agents\/(?:plugins|tools|skills)|subjects\/files)\//
  ],
  ["plane", /^src\/plane\//],
  ["agents", /^src\/agents\//],
  ["services", /^src\/subjects\//],
  ["entry", /^src\/entry\//],
  ["cli", /^src\/cli\//],
  ["app", /^src\/app\//],
  // It knows the others by their types alone.
  ["dashboard", /^src\/dashboard\//]
]

export const floors = folders.map(([name]) => name)

/**
 * Returns the floor of a file in `src`; null when it has none.
 * @param {string} path
 */
export const floorOf = (path) => [...named, ...folders].find(([, pattern]) => pattern.test(path))?.[0] ?? null

/**
 * Returns a path that says the floor first: `domain/of keys/entity.ts` for `src/subjects/keys/entity.ts`.
 * @param {string} path
 */
export const placeOf = (path) =>
  `${floorOf(path)}/${path.replace(/^src\/subjects\/(?=[^/]+\/)/, "of ").replace(/^src\/(?:subjects|contract\/domain|contract|store|entry|cli|plane|observe|agents|kernel|platform|wire|net|app|dashboard)\//, "")}`
