/** API keys, straight in this machine's database. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { CreateKey } from "../../api/Groups/Keys.ts"
import { locally } from "./room.ts"

/** Makes a key. `secret` is in clear text: it is to be shown once. */
export const createKey = (settings: CreateKey) =>
  locally((room) =>
    Effect.gen(function* () {
      const keys = yield* room.ApiKeys
      const expiresAt = settings.expiresAt ?? null
      const { key, secret } = yield* keys.create({
        name: settings.name,
        scopes: settings.scopes ?? [],
        allowedModels: settings.allowedModels ?? null,
        expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt),
        rateLimits: settings.rateLimits ?? [],
        isActive: settings.isActive ?? true
      })
      return { key: room.keyView(key), secret: Redacted.value(secret) }
    })
  )
