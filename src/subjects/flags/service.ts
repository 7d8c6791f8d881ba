/**
 * Feature flags at run time: database override > environment (set, not empty) > default.
 * Flags that need a restart are persisted at once and listed as persisted, but `isOn` and `value` keep their start value.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { isLoopbackHost } from "../../kernel/BindAddress.ts"
import { booleanOf, booleanTexts } from "../../kernel/text/BooleanText.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import {
  type BooleanFlag,
  type EnumFlag,
  type EnumFlagValue,
  findFlag,
  flagCatalog,
  type FlagDefinition,
  type FlagKey
} from "./FlagCatalog.ts"
import { FlagStore } from "./repo.ts"

export type FlagSource = "db" | "env" | "default"

export interface FlagState extends FlagDefinition {
  readonly effectiveValue: string
  readonly source: FlagSource
  /** The value in force is another one until the next start. */
  readonly pendingRestart: boolean
}

/** The result of a write: the state after it, and before. */
export interface FlagChange {
  readonly key: string
  readonly effectiveValue: string
  readonly source: FlagSource
  readonly previousValue: string
  readonly previousSource: FlagSource
  readonly requiresRestart: boolean
  readonly pendingRestart: boolean
}

/** The flag cannot be switched on here; `reason` says why, for people. */
export class FlagRefused extends Data.TaggedError("FlagRefused")<{ readonly key: string; readonly reason: string }> {}

export class UnknownFlag extends Data.TaggedError("UnknownFlag")<{ readonly key: string }> {}

export class InvalidFlagValue extends Data.TaggedError("InvalidFlagValue")<{
  readonly key: string
  readonly allowed: ReadonlyArray<string>
}> {}

/**
 * Error of a setting without required keys, under which any client that reaches the gateway's address could spend the
 * owner's money.
 */
export class OpenToOthers extends Data.TaggedError("OpenToOthers")<{ readonly host: string }> {}

export class Flags extends Context.Tag("gateway/subjects/flags/Flags")<
  Flags,
  {
    /** Hot: tells whether a boolean flag is on now. */
    readonly isOn: (key: BooleanFlag) => boolean
    /** Hot: the value of an enum flag now; always one of its allowed values. */
    readonly value: <K extends EnumFlag>(key: K) => EnumFlagValue<K>
    /** All flags in catalogue order, as persisted. */
    readonly list: Effect.Effect<ReadonlyArray<FlagState>>
    /** Persists an override. */
    readonly set: (
      key: string,
      value: string
    ) => Effect.Effect<FlagChange, UnknownFlag | InvalidFlagValue | FlagRefused | OpenToOthers>
    /** Removes an override. */
    readonly unset: (key: string) => Effect.Effect<FlagChange, UnknownFlag | OpenToOthers>
    /** Removes all overrides; returns how many there were. */
    readonly clear: Effect.Effect<number, OpenToOthers>
    /** Calls `listener` after each change of the value in force, synchronously. Returns the function that stops it. */
    readonly onChange: (key: FlagKey, listener: () => void) => () => void
  }
>() {}

/** Checks whether a boolean flag with this value is on. */
export const isEnabled = (value: string): boolean => booleanOf(value) === true

/** The values a flag may be set to. */
export const allowedValues = (flag: FlagDefinition): ReadonlyArray<string> => flag.enumValues ?? booleanTexts

const accepts = (flag: FlagDefinition, value: string): boolean =>
  flag.enumValues === null ? booleanOf(value) !== null : flag.enumValues.includes(value)

/** Variables whose value no flag can have, each as `NAME must be one of: …`. An empty variable is not set. */
export const environmentProblems = (environment: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  flagCatalog.flatMap((flag) => {
    const value = environment.get(flag.key) ?? ""
    return value === "" || accepts(flag, value) ? [] : [`${flag.key} must be one of: ${allowedValues(flag).join(", ")}`]
  })

type Resolved = Pick<FlagState, "effectiveValue" | "source">

/**
 * The value of a flag and its source. A value that is not allowed is skipped: the next source counts.
 */
export const resolve = (
  flag: FlagDefinition,
  overrides: ReadonlyMap<string, string>,
  environment: ReadonlyMap<string, string>
): Resolved => {
  const usable = (value: string | undefined): value is string =>
    value !== undefined && value !== "" && accepts(flag, value) && !(flag.refusal !== null && isEnabled(value))
  const override = overrides.get(flag.key)
  if (usable(override)) return { effectiveValue: override, source: "db" }
  const variable = environment.get(flag.key)
  if (usable(variable)) return { effectiveValue: variable, source: "env" }
  return { effectiveValue: flag.defaultValue, source: "default" }
}

const services = Effect.all({ config: AppConfig, store: FlagStore })
interface State {
  overrides: ReadonlyMap<string, string>
}
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly inForce: Map<string, string>
  readonly enabled: Set<string>
  readonly listeners: Map<string, Set<() => void>>
  readonly writing: Lane
  readonly state: State
}

const apply = ({ config: { environment }, enabled, inForce, listeners, state }: Deps, flag: FlagDefinition): void => {
  const { effectiveValue } = resolve(flag, state.overrides, environment)
  if (inForce.get(flag.key) === effectiveValue) return
  inForce.set(flag.key, effectiveValue)
  if (isEnabled(effectiveValue)) enabled.add(flag.key)
  else enabled.delete(flag.key)
  for (const listener of listeners.get(flag.key) ?? []) listener()
}

const refresh = (deps: Deps) =>
  Effect.map(deps.store.load, (loaded) => {
    deps.state.overrides = loaded
    for (const flag of flagCatalog) if (!flag.requiresRestart) apply(deps, flag)
  })

const isSame = ({ enabled, inForce }: Deps, flag: FlagDefinition, value: string): boolean =>
  flag.type === "boolean" ? isEnabled(value) === enabled.has(flag.key) : value === inForce.get(flag.key)

const stateNow = (deps: Deps, flag: FlagDefinition): Resolved & Pick<FlagState, "pendingRestart"> => {
  const resolved = resolve(flag, deps.state.overrides, deps.config.environment)
  return { ...resolved, pendingRestart: !isSame(deps, flag, resolved.effectiveValue) }
}

const stateOf = (deps: Deps, flag: FlagDefinition): FlagState => ({ ...flag, ...stateNow(deps, flag) })

const find = (key: string): Effect.Effect<FlagDefinition, UnknownFlag> => {
  const flag = findFlag(key)
  return flag === null ? Effect.fail(new UnknownFlag({ key })) : Effect.succeed(flag)
}

const keysRequired = (
  { config: { environment } }: Deps,
  flag: FlagDefinition,
  under: ReadonlyMap<string, string>
): boolean => isEnabled(resolve(flag, under, environment).effectiveValue)

/** Refuses overrides that would make keys optional while other machines can reach the gateway. */
const checkOpenAccess = (deps: Deps, next: ReadonlyMap<string, string>): Effect.Effect<void, OpenToOthers> => {
  const flag = findFlag("REQUIRE_API_KEY")
  const opens = flag !== null && keysRequired(deps, flag, deps.state.overrides) && !keysRequired(deps, flag, next)
  return opens && !deps.config.allowKeyless && !isLoopbackHost(deps.config.host)
    ? Effect.fail(new OpenToOthers({ host: deps.config.host }))
    : Effect.void
}

const change = (
  deps: Deps,
  flag: FlagDefinition,
  value: string | null,
  write: Effect.Effect<void>
): Effect.Effect<FlagChange, OpenToOthers> =>
  Effect.gen(function* () {
    const previous = resolve(flag, deps.state.overrides, deps.config.environment)
    const next = new Map(deps.state.overrides)
    if (value === null) next.delete(flag.key)
    else next.set(flag.key, value)
    yield* checkOpenAccess(deps, next)
    yield* write
    yield* refresh(deps)
    return {
      key: flag.key,
      ...stateNow(deps, flag),
      previousValue: previous.effectiveValue,
      previousSource: previous.source,
      requiresRestart: flag.requiresRestart
    }
  }).pipe(Effect.uninterruptible, deps.writing.inTurn)

const set = Effect.fn("Flags.set")(function* (deps: Deps, key: string, value: string) {
  const flag = yield* find(key)
  if (!accepts(flag, value)) return yield* new InvalidFlagValue({ key, allowed: allowedValues(flag) })
  if (flag.refusal !== null && isEnabled(value)) return yield* new FlagRefused({ key, reason: flag.refusal })
  return yield* change(deps, flag, value, deps.store.save(key, value))
})

const unset = Effect.fn("Flags.unset")(function* (deps: Deps, key: string) {
  const flag = yield* find(key)
  return yield* change(deps, flag, null, deps.store.remove(key))
})

const clear = (deps: Deps) =>
  Effect.gen(function* () {
    const count = deps.state.overrides.size
    yield* checkOpenAccess(deps, new Map())
    yield* deps.store.clear
    yield* refresh(deps)
    return count
  }).pipe(Effect.uninterruptible, deps.writing.inTurn, Effect.withSpan("Flags.clear"))

export const make = Effect.gen(function* () {
  const all = yield* services
  // One writer at a time, so that the values in force never differ from what was stored last.
  const writing = makeLane(1)
  const listeners = new Map<string, Set<() => void>>()
  const inForce = new Map<string, string>()
  const enabled = new Set<string>()
  const state: State = { overrides: yield* all.store.load }
  const deps: Deps = { ...all, inForce, enabled, listeners, writing, state }
  yield* (yield* Snapshots).register(["settings/feature_flags"], () => writing.inTurn(refresh(deps)))
  for (const flag of flagCatalog) {
    apply(deps, flag)
    if (flag.refusal !== null && isEnabled(all.config.environment.get(flag.key) ?? "")) {
      yield* Effect.logWarning(`${flag.key} stays off. ${flag.refusal}`)
    }
  }

  return Flags.of({
    isOn: (key) => enabled.has(key),
    // `resolve` lets no other value of an enum flag through.
    value: <K extends EnumFlag>(key: K) => inForce.get(key) as EnumFlagValue<K>,
    list: Effect.sync(() => flagCatalog.map((flag) => stateOf(deps, flag))),
    set: (key, value) => set(deps, key, value),
    unset: (key) => unset(deps, key),
    clear: clear(deps),
    onChange: (key, listener) => {
      const known = listeners.get(key) ?? new Set()
      listeners.set(key, known.add(listener))
      return () => void known.delete(listener)
    }
  })
})

export const layer: Layer.Layer<Flags, never, FlagStore | AppConfig> = Layer.effect(Flags, make)
