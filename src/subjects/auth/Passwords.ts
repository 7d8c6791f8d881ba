/**
 * Password hashes: argon2id when its native module is there, else scrypt; both verify, distinguished by their PHC prefix.
 * Hashing runs off the event loop, at most two at a time, so that a storm of logins costs neither memory nor latency elsewhere.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeLane } from "../../kernel/Lane.ts"
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"

/** Argon2id, 64 MiB, three passes: about 50 ms. */
const argonOptions = { algorithm: 2, memoryCost: 65_536, timeCost: 3, parallelism: 4 } as const
const scryptCost = { logN: 15, r: 8, p: 1 } as const

const atMostTwo = makeLane(2)

const argon2 = Effect.option(Effect.tryPromise(() => import("@node-rs/argon2")))

const scryptHash = (password: string, salt: Buffer, logN: number, r: number, p: number): Effect.Effect<Buffer> =>
  Effect.async<Buffer>((resume) => {
    const N = 2 ** logN
    scrypt(password, salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

const hashWithScrypt = (password: string): Effect.Effect<string> =>
  Effect.suspend(() => {
    const salt = randomBytes(16)
    const { logN, r, p } = scryptCost
    return Effect.map(
      scryptHash(password, salt, logN, r, p),
      (key) => `$scrypt$ln=${logN},r=${r},p=${p}$${salt.toString("base64url")}$${key.toString("base64url")}`
    )
  })

const scryptPattern = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/

const verifyWithScrypt = (password: string, stored: string): Effect.Effect<boolean> => {
  const [, logN, r, p, salt, expected] = scryptPattern.exec(stored) ?? []
  if (salt === undefined || expected === undefined || Number(logN) > 20) return Effect.succeed(false)
  return Effect.map(scryptHash(password, Buffer.from(salt, "base64url"), Number(logN), Number(r), Number(p)), (key) => {
    const wanted = Buffer.from(expected, "base64url")
    return wanted.length === key.length && timingSafeEqual(wanted, key)
  })
}

/** A PHC string of a password, with a fresh salt. */
export const hashPassword = (password: Redacted.Redacted): Effect.Effect<string> =>
  atMostTwo
    .inTurn(
      Effect.flatMap(argon2, (native) =>
        native._tag === "Some"
          ? Effect.promise(() => native.value.hash(Redacted.value(password), argonOptions))
          : hashWithScrypt(Redacted.value(password))
      )
    )
    .pipe(Effect.withSpan("Passwords.hash"))

/** Checks whether a password is the one of a stored PHC string. An unreadable string is never right. */
export const verifyPassword = (password: Redacted.Redacted, stored: string): Effect.Effect<boolean> =>
  atMostTwo
    .inTurn(
      stored.startsWith("$scrypt$")
        ? verifyWithScrypt(Redacted.value(password), stored)
        : Effect.flatMap(argon2, (native) =>
            native._tag === "Some"
              ? Effect.promise(() => native.value.verify(stored, Redacted.value(password)).catch(() => false))
              : Effect.succeed(false)
          )
    )
    .pipe(Effect.withSpan("Passwords.verify"))
