/**
 * A key chosen by a person can be guessed from a copy of the database. Scrypt makes each guess cost memory and time (RFC 7914; the
 * cost is OWASP's for 32 MiB). The parameters are stored in the database as `scrypt:<log2 N>:<r>:<p>:<salt>`.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes, scrypt } from "node:crypto"

const keyBytes = 32
const saltBytes = 16

/** New parameters with a fresh salt. */
export const fresh = (): string => `scrypt:15:8:3:${randomBytes(saltBytes).toString("base64url")}`

const shape = /^scrypt:(1\d|20):([1-9]|1\d):([1-9]):([\w-]{16,64})$/

/** The master key of a chosen key. Malformed parameters are a defect: the row was altered. */
export const stretch = (
  chosen: Redacted.Redacted<Uint8Array>,
  parameters: string
): Effect.Effect<Redacted.Redacted<Uint8Array>> =>
  Effect.async((resume) => {
    const [, logN, r, p, salt] = shape.exec(parameters) ?? []
    if (logN === undefined || salt === undefined) {
      return resume(Effect.dieMessage("The database's note of how its encryption key is stretched cannot be read."))
    }
    const options = { N: 2 ** Number(logN), r: Number(r), p: Number(p), maxmem: 256 * 2 ** Number(logN) * Number(r) }
    scrypt(Redacted.value(chosen), Buffer.from(salt, "base64url"), keyBytes, options, (error, key) =>
      resume(error === null ? Effect.succeed(Redacted.make(new Uint8Array(key))) : Effect.die(error))
    )
  })
