/** Distinguishes transports for the pools of sockets. */
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type { Transport } from "../../contract/domain/Transport.ts"

const keys = new WeakMap<Transport, string>()

/** The same text for transports that make the same sockets; without secrets in it. */
export const transportKey = (transport: Transport): string => {
  const known = keys.get(transport)
  if (known !== undefined) return known
  const { key, ...others } = transport
  const text = JSON.stringify([Object.entries(others), key === null ? null : Redacted.value(key)])
  const made = createHash("sha256").update(text).digest("hex")
  keys.set(transport, made)
  return made
}
