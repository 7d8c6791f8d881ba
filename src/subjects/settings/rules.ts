/** Tells what is set, and by whom: every setting beside its default, with who changed it last. Pure. */
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"

/** A row of the audit log, as far as it says who changed which settings. */
export interface Changed {
  readonly timestampMs: number
  readonly actor: string
  /** Group of the API. */
  readonly resourceType: string
  /** Name of the API key that asked; null: it was none. */
  readonly keyName: string | null
  /** Names of the members that were sent. */
  readonly fields: ReadonlyArray<string>
}

export interface SettingOrigin {
  /** Operation that changes it. */
  readonly changedBy: string
  readonly name: string
  readonly value: unknown
  readonly usual: unknown
  readonly isSet: boolean
  readonly lastChange: { readonly atMs: number; readonly actor: string } | null
}

/** Settings that are changed together. */
export interface Family {
  /** Operation that changes them. */
  readonly changedBy: string
  /** Group of the API whose audit rows are about them. */
  readonly audited: string
  readonly values: object
  readonly defaults: object
  /** Levels to which a change may name a part; beyond them, it replaces the whole. */
  readonly depth: number
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isRecord(value) && !Array.isArray(value)

/** Objects whose members are known by the defaults are taken apart; others, such as a table of names, are one setting. */
const apart = (
  values: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
  depth: number,
  prefix: string
): ReadonlyArray<readonly [name: string, value: unknown, usual: unknown]> =>
  Object.entries(values).flatMap(([key, value]) => {
    const usual = Object.hasOwn(defaults, key) ? defaults[key] : null
    const name = `${prefix}${key}`
    return depth > 1 && isGroup(value) && isGroup(usual) && Object.keys(usual).length > 0
      ? apart(value, usual, depth - 1, `${name}.`)
      : [[name, value, usual] as const]
  })

const isSame = (one: unknown, other: unknown): boolean =>
  Equal.equals(one, other) || JSON.stringify(one) === JSON.stringify(other)

const actorOf = ({ actor, keyName }: Changed): string => (keyName === null ? actor : `key '${keyName}'`)

const namesOf = ({ defaults }: Family): ReadonlySet<string> => new Set(Object.keys(defaults))

/**
 * Keeps the changes that can only be about a family: the log has names of members, and families of one group have some in common. What may be
 * about two of them says nothing about either.
 */
const changesOf = (
  family: Family,
  families: ReadonlyArray<Family>,
  changes: ReadonlyArray<Changed>
): ReadonlyArray<Changed> => {
  const own = namesOf(family)
  const others = families.filter((other) => other !== family && other.audited === family.audited).map(namesOf)
  const isWithin = (names: ReadonlySet<string>, fields: ReadonlyArray<string>) =>
    fields.every((name) => names.has(name))
  return changes.filter(
    ({ fields, resourceType }) =>
      resourceType === family.audited && isWithin(own, fields) && !others.some((names) => isWithin(names, fields))
  )
}

/** The newest of the changes that named the member. `changes` come newest first. */
const lastOf = (member: string, changes: ReadonlyArray<Changed>): SettingOrigin["lastChange"] => {
  const last = changes.find(({ fields }) => fields.includes(member))
  return last === undefined ? null : { atMs: last.timestampMs, actor: actorOf(last) }
}

export const originsOf = (
  families: ReadonlyArray<Family>,
  changes: ReadonlyArray<Changed>
): ReadonlyArray<SettingOrigin> =>
  families.flatMap((family) => {
    const own = changesOf(family, families, changes)
    const { changedBy, defaults, depth, values } = family
    return apart(
      values as Readonly<Record<string, unknown>>,
      defaults as Readonly<Record<string, unknown>>,
      depth,
      ""
    ).map(([name, value, usual]) => ({
      changedBy,
      name,
      value,
      usual,
      isSet: !isSame(value, usual),
      lastChange: lastOf(name.split(".")[0] ?? name, own)
    }))
  })
