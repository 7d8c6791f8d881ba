/** Recovers access when a password or the master key is lost. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { exclusively, inRecovery } from "./localServices.ts"

/** Sets the admin password; every session ends. */
export const setPassword = (password: Redacted.Redacted) =>
  exclusively((room) => Effect.flatMap(room.AdminPassword, (admin) => admin.set(password)))

/** Drops every encrypted value; gives how many rows lost one. */
export const dropCredentials = inRecovery((room) => room.resetSecrets)
