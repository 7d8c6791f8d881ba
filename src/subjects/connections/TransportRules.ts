/** Checks the transport of a connection before it is saved. */
import * as Redacted from "effect/Redacted"
import { createPrivateKey, X509Certificate } from "node:crypto"
import type { TransportInput } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { type Transport, usualTransport } from "../../contract/domain/Transport.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"

const problem = (field: string, message: string): FieldProblem => ({ field: `transport.${field}`, message })

/** A masked key was read and sent back unchanged, so the stored one stays. */
const keyAfter = (given: Redacted.Redacted | null | undefined, before: Transport | null): Redacted.Redacted | null => {
  const stored = before?.key ?? null
  if (given === undefined || given === null) return null
  return stored !== null && Redacted.value(given) === maskSecret(Redacted.value(stored)) ? stored : given
}

/** The whole transport as it is after a change; null when nothing in it differs from the usual. */
export const transportOf = (input: TransportInput | null, before: Transport | null): Transport | null => {
  if (input === null) return null
  const after = { ...usualTransport, ...input, key: keyAfter(input.key, before) }
  return Object.values(after).every((value) => value === null) ? null : after
}

const blocks = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** All certificates of a PEM text; null when one of them, or all, cannot be read. */
const certificatesIn = (pem: string): ReadonlyArray<X509Certificate> | null => {
  try {
    const found = (pem.match(blocks) ?? []).map((block) => new X509Certificate(block))
    return found.length === 0 ? null : found
  } catch {
    return null
  }
}

/** Describes its problem; null: none. `isOwnAddress`: whether this machine has the address. */
export const transportProblem = (
  transport: Transport | null,
  isOwnAddress: (address: string) => boolean
): FieldProblem | null => {
  if (transport === null) return null
  const { ca, certificate, key, localAddress } = transport
  if (ca !== null && certificatesIn(ca) === null) return problem("ca", "must hold certificates in PEM")
  if (localAddress !== null && !isOwnAddress(localAddress)) {
    return problem("localAddress", "must be an address of the gateway's machine")
  }
  if (certificate === null) return key === null ? null : problem("certificate", "is needed with a key")
  if (key === null) return problem("key", "is needed with a certificate")
  const own = certificatesIn(certificate)?.[0]
  if (own === undefined) return problem("certificate", "must hold certificates in PEM, the client's own first")
  try {
    const isPair = own.checkPrivateKey(createPrivateKey(Redacted.value(key)))
    return isPair ? null : problem("key", "does not belong to the certificate")
  } catch {
    return problem("key", "must be a private key in PEM without a passphrase")
  }
}
