/**
 * Settings of capture that persist over restarts, in the settings table. The switches of the proxies do not: they are
 * off after every start.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreError } from "../../store/Errors.ts"
import { SettingsRepo } from "../../subjects/settings/repo.ts"

export const customHostKinds = ["llm", "app", "custom"] as const

export const CustomHost = Schema.Struct({
  host: Schema.String,
  enabled: Schema.Boolean,
  label: Schema.NullOr(Schema.String),
  kind: Schema.Literal(...customHostKinds)
})
export type CustomHost = typeof CustomHost.Type

/** Keys of the table and how their values are read; what cannot be read counts as not stored. */
const fields = {
  hosts: Schema.Array(CustomHost),
  /** Hosts of agents whose traffic is sent here, by the agent's id. */
  agentHosts: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }),
  /** State of the decrypting server by a person; null: it runs while there are hosts for it. */
  server: Schema.NullOr(Schema.Literal("on", "off")),
  tlsIntercept: Schema.Boolean,
  /** Patterns of a person; the built-in ones come on top. */
  bypass: Schema.Array(Schema.String),
  /** PEM; null: none. */
  upstreamCa: Schema.NullOr(Schema.String),
  recordPassthrough: Schema.Boolean,
  /** Null: that of the environment. */
  idleTimeoutMs: Schema.NullOr(Schema.Number)
} as const

export type StoredCapture = { readonly [Key in keyof typeof fields]: (typeof fields)[Key]["Type"] }

export const nothingStored: StoredCapture = {
  hosts: [],
  agentHosts: {},
  server: null,
  tlsIntercept: false,
  bypass: [],
  upstreamCa: null,
  recordPassthrough: true,
  idleTimeoutMs: null
}

const namespace = "capture"

const readOne = <Key extends keyof StoredCapture>(
  key: Key,
  values: ReadonlyMap<string, unknown>
): StoredCapture[Key] => {
  const schema = fields[key] as unknown as Schema.Schema<StoredCapture[Key]>
  return Option.getOrElse(Schema.decodeUnknownOption(schema)(values.get(key)), () => nothingStored[key])
}

export const read: Effect.Effect<StoredCapture, StoreError, SettingsRepo> = Effect.gen(function* () {
  const values = yield* (yield* SettingsRepo).list(namespace)
  return {
    hosts: readOne("hosts", values),
    agentHosts: readOne("agentHosts", values),
    server: readOne("server", values),
    tlsIntercept: readOne("tlsIntercept", values),
    bypass: readOne("bypass", values),
    upstreamCa: readOne("upstreamCa", values),
    recordPassthrough: readOne("recordPassthrough", values),
    idleTimeoutMs: readOne("idleTimeoutMs", values)
  }
})

export interface CaptureSettings {
  /** Hot. */
  readonly current: () => StoredCapture
  readonly set: (changed: Partial<StoredCapture>) => Effect.Effect<void, StoreError>
}

export const make: Effect.Effect<CaptureSettings, StoreError, SettingsRepo> = Effect.gen(function* () {
  const repo = yield* SettingsRepo
  let current = yield* read
  return {
    current: () => current,
    set: (changed) =>
      repo.setAll(namespace, new Map(Object.entries(changed))).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            current = { ...current, ...changed }
          })
        )
      )
  }
})

/** Names that the machine is to send here. */
export const wantedHosts = ({ agentHosts, hosts }: StoredCapture): ReadonlyArray<string> => [
  ...new Set([...hosts.filter(({ enabled }) => enabled).map(({ host }) => host), ...Object.values(agentHosts).flat()])
]

/** Checks whether a start has something to resume. */
export const resumes = (stored: StoredCapture): boolean =>
  stored.server === "on" || (stored.server === null && wantedHosts(stored).length > 0)
