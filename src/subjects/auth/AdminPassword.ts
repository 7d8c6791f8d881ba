/**
 * The admin password. There is no default: until one is set, login is not possible. `GATEWAY_ADMIN_PASSWORD` sets it on the first
 * start only; later it is changed through `set`, which ends every session.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as SettingsRepo from "../settings/repo.ts"
import { hashPassword, verifyPassword } from "./Passwords.ts"
import { Sessions } from "./sessions/Sessions.ts"

const namespace = "auth"
const key = "admin_password"

export class AdminPassword extends Context.Tag("gateway/subjects/auth/AdminPassword")<
  AdminPassword,
  {
    /** Hot: tells whether a password is set, as far as this process knows. */
    readonly isSet: () => boolean
    /** False also when none is set. Reads the store, because another process may have reset it. */
    readonly verify: (password: Redacted.Redacted) => Effect.Effect<boolean, StoreError>
    /** Ends every session, or every one but `keptSession`. */
    readonly set: (password: Redacted.Redacted, keptSession?: string | null) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const config = yield* AppConfig
  const repo = yield* SettingsRepo.SettingsRepo
  const sessions = yield* Sessions

  const stored = Effect.map(repo.get(namespace, key), (value) => (typeof value === "string" ? value : null))
  let isSet = (yield* stored) !== null

  const set = Effect.fn("AdminPassword.set")(function* (
    password: Redacted.Redacted,
    keptSession: string | null = null
  ) {
    const hash = yield* hashPassword(password)
    yield* repo.set(namespace, key, hash)
    isSet = true
    yield* keptSession === null ? sessions.closeAll : sessions.closeOthers(keptSession)
  }, Effect.uninterruptible)

  const verify = Effect.fn("AdminPassword.verify")(function* (password: Redacted.Redacted) {
    const hash = yield* stored
    isSet = hash !== null
    return hash === null ? false : yield* verifyPassword(password, hash)
  })

  if (!isSet && config.adminPassword !== null) yield* set(config.adminPassword)
  return AdminPassword.of({ isSet: () => isSet, verify, set })
})

export const layer: Layer.Layer<AdminPassword, StoreError, AppConfig | SettingsRepo.SettingsRepo | Sessions> =
  Layer.effect(AdminPassword, make)
