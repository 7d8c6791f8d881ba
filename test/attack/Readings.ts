/**
 * Bodies of JSON that programs read in two ways: a member is there twice, or under a name that differs from its own by the case of its letters
 * only.
 */
import type { Attempt, Verdict } from "./Attempt.ts"
import type { Arena } from "./Arena.ts"

/** What came back: whether it is a refusal, and its words. */
export interface Reply {
  readonly isRefused: boolean
  readonly text: string
}

/** A place that takes a body. */
export interface Place {
  readonly name: string
  /** A body that has one reading. */
  readonly body: Readonly<Record<string, unknown>>
  /** Paths of members, with spaces between them: names and indexes with dots, as in `messages.0.role`. */
  readonly members: string
  /** The member that holds a request, whose refusal tells the path within it; absent: there is none. */
  readonly holder?: string
  readonly send: (arena: Arena, text: string) => Promise<Reply>
}

interface Way {
  readonly name: string
  /** Of the member's own name; the same name repeats it. Null where the name has no such form. */
  readonly spell: (name: string) => string | null
  /** The second name in the text. */
  readonly literal: (name: string) => string
  /** Whether the member is there by its own name, too. */
  readonly isBeside: boolean
}

const capital = (name: string): string => name.replace(/[a-z]/, (letter) => letter.toUpperCase())
const escaped = (name: string): string => `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"`
/** U+017F and U+212A are letters that other programs fold to `s` and `k`. */
const strange = (name: string): string | null =>
  /[sk]/.test(name) ? name.replace(/[sk]/, (letter) => (letter === "s" ? "\u017f" : "\u212a")) : null

const same = (name: string): string => name
const quoted = (name: string): string => JSON.stringify(name)

export const ways: ReadonlyArray<Way> = [
  { name: "twice", spell: same, literal: quoted, isBeside: true },
  { name: "twice, once by an escape", spell: same, literal: escaped, isBeside: true },
  { name: "in capitals beside it", spell: (name) => name.toUpperCase(), literal: quoted, isBeside: true },
  { name: "with a capital", spell: capital, literal: quoted, isBeside: false },
  { name: "with a letter that folds to it", spell: strange, literal: quoted, isBeside: true }
]

const mark = "@@"

/** The body as text with one more member behind the named one, or in its place. Null where the way has no form for it. */
export const written = (
  { body }: Pick<Place, "body">,
  path: string,
  { isBeside, literal, spell }: Way
): { readonly text: string; readonly named: string } | null => {
  const steps = path.split(".")
  const name = steps.at(-1) ?? ""
  const other = spell(name)
  if (other === null || (!isBeside && other === name)) return null
  const copy = structuredClone(body)
  // eslint-disable-next-line typescript/no-explicit-any -- a body is any JSON
  let holder: any = copy
  for (const step of steps.slice(0, -1)) holder = holder[step]
  const value = JSON.stringify(holder[name])
  if (!isBeside) delete holder[name]
  holder[mark] = 0
  const text = JSON.stringify(copy).replace(`"${mark}":0`, () => `${literal(other)}:${value}`)
  return { text, named: [...steps.slice(0, -1), other].join(".") }
}

/** Refused, with the name of the member. */
const verdictOf = ({ isRefused, text }: Reply, named: string, holder?: string): Verdict => {
  if (!isRefused) return `taken: ${text.slice(0, 160)}`
  const path = holder !== undefined && named.startsWith(`${holder}.`) ? named.slice(holder.length + 1) : named
  return text.includes(path) ? null : `refused without '${path}': ${text.slice(0, 200)}`
}

const attemptOf = (place: Place, path: string, way: Way): ReadonlyArray<Attempt> => {
  const made = written(place, path, way)
  if (made === null) return []
  return [
    {
      name: `${place.name}: ${path} ${way.name}`,
      run: async (arena) => verdictOf(await place.send(arena, made.text), made.named, place.holder)
    }
  ]
}

/** The body as it should be is not refused for its members. */
const control = (place: Place): Attempt => ({
  name: `${place.name}: a body of one reading`,
  run: async (arena) => {
    const { text } = await place.send(arena, JSON.stringify(place.body))
    return /is repeated|is spelled|is there as/.test(text) ? `refused: ${text.slice(0, 200)}` : null
  }
})

/** Every member in every way. */
export const attemptsAt = (place: Place): ReadonlyArray<Attempt> => [
  control(place),
  ...place.members.split(" ").flatMap((path) => ways.flatMap((way) => attemptOf(place, path, way)))
]
