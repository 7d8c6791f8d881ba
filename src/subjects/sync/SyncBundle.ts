/**
 * The bundle of a configuration: what another gateway may take over, with a version that only rises and a signature over its bytes. Pure.
 * Credentials are no part of it: an account is connected on each machine by itself.
 */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, createHmac, timingSafeEqual } from "node:crypto"

export const SyncConfig = Schema.Struct({
  combos: Schema.Array(
    Schema.Struct({
      name: Schema.String.pipe(Schema.maxLength(200)),
      strategy: Schema.String,
      targets: Schema.Array(Schema.Unknown).pipe(Schema.maxItems(1_000)),
      config: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
      isActive: Schema.Boolean
    })
  ).pipe(Schema.maxItems(10_000)),
  modelAliases: Schema.Array(Schema.Struct({ alias: Schema.String, model: Schema.String })).pipe(
    Schema.maxItems(10_000)
  )
})
export type SyncConfig = typeof SyncConfig.Type

export const SyncBundle = Schema.Struct({
  version: Schema.Int.pipe(Schema.between(0, Number.MAX_SAFE_INTEGER - 1)),
  configHash: Schema.String.pipe(Schema.maxLength(100)),
  config: SyncConfig
})
export type SyncBundle = typeof SyncBundle.Type

/** The same value gives the same text, whatever the order of its members. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.join(",")}}`
}

export const hashOf = (config: SyncConfig): string => createHash("sha256").update(canonical(config)).digest("hex")

export const textOf = (bundle: SyncBundle): string => canonical(bundle)

const mac = (key: Redacted.Redacted, text: string | Uint8Array): Buffer =>
  createHmac("sha256", Redacted.value(key)).update(text).digest()

const scheme = "sha256="

/** Value of `X-Gateway-Signature` for a body. */
export const signatureOf = (key: Redacted.Redacted, body: string | Uint8Array): string =>
  `${scheme}${mac(key, body).toString("hex")}`

/** Checks whether a signature is that of the body; compared in constant time. A missing one is wrong. */
export const isSigned = (key: Redacted.Redacted, body: string | Uint8Array, signature: string | null): boolean => {
  if (signature === null || !signature.startsWith(scheme)) return false
  const given = Buffer.from(signature.slice(scheme.length), "hex")
  const right = mac(key, body)
  return given.length === right.length && timingSafeEqual(given, right)
}
