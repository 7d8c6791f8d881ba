/**
 * Reading a combo's `config` inside a strategy. It was validated when it was saved, but may be older than the rule, so any JSON is
 * borne: what is not of the right kind counts as missing, a number out of range as the nearest allowed one.
 */
type Config = Readonly<Record<string, unknown>>

export interface NumberRule {
  readonly key: string
  readonly fallback: number
  readonly min: number
  readonly max: number
}

const own = (config: Config, key: string): unknown => (Object.hasOwn(config, key) ? config[key] : undefined)

export const numberOf = (config: Config, { fallback, key, max, min }: NumberRule): number => {
  const value = own(config, key)
  return typeof value === "number" && !Number.isNaN(value) ? Math.min(max, Math.max(min, value)) : fallback
}

/** The texts of a list, or the one text; null when there is none. */
export const textsOf = (config: Config, key: string): ReadonlyArray<string> | null => {
  const value = own(config, key)
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string")
  return texts.length === 0 ? null : texts
}
