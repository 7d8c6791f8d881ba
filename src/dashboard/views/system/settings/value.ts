/** Values of settings as people read them. Pure. */
import type { AnswerOf } from "../../../api/client.ts"
import type { gatewaySettingsOrigins } from "../../../api/calls.generated.ts"
import { words } from "../../../words/system/settings.ts"

export type Origin = AnswerOf<typeof gatewaySettingsOrigins>["settings"][number]

const mostCharacters = 120

export const shownValue = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return words.nothing
  const text =
    typeof value === "string"
      ? value
      : Array.isArray(value) && value.every((one) => typeof one === "string")
        ? value.length === 0
          ? words.nothing
          : value.join(", ")
        : JSON.stringify(value)
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}

/** `semanticCache` as words: `Semantic cache`. */
export const inWords = (name: string): string => {
  const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase()
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`
}

/** Heading under which a setting stands. */
export const groupOf = ({ name, operation }: Pick<Origin, "name" | "operation">): string => {
  const family = words.families[operation]
  if (family !== undefined) return family
  const dot = name.indexOf(".")
  return dot === -1 ? words.general : inWords(name.slice(0, dot))
}

export interface Filter {
  readonly text: string
  readonly isSetOnly: boolean
}

/** Settings that have all the words, by their headings in the order of the API. */
export const grouped = (
  all: ReadonlyArray<Origin>,
  describe: (origin: Origin) => string,
  { isSetOnly, text }: Filter
): ReadonlyArray<readonly [string, ReadonlyArray<Origin>]> => {
  const wanted = text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "")
  const groups = new Map<string, Array<Origin>>()
  for (const origin of all) {
    if (isSetOnly && origin.source === "default") continue
    const group = groupOf(origin)
    const about = `${group} ${origin.name} ${describe(origin)}`.toLowerCase()
    if (!wanted.every((word) => about.includes(word))) continue
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [origin])
    else known.push(origin)
  }
  return [...groups]
}

/** Body that sets one member: `cache.ttlSeconds` becomes `{cache: {ttlSeconds}}`. */
export const nested = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  name
    .split(".")
    .toReversed()
    .reduce<unknown>((inner, part) => ({ [part]: inner }), value) as Readonly<Record<string, unknown>>
