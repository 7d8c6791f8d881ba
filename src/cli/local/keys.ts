/** API keys, straight in this machine's database. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { CreateKey } from "../../api/Groups/Keys.ts"
import { BadArgument } from "../Failure.ts"
import { locally } from "./room.ts"

/** Makes a key. `secret` is in clear text: it is to be shown once. */
export const createKey = (input: CreateKey) =>
  locally((room) =>
    Effect.gen(function* () {
      const keys = yield* room.ApiKeys
      const settings = room.keySettingsOf(input, yield* Clock.currentTimeMillis)
      if (Either.isLeft(settings)) {
        return yield* new BadArgument({ message: `${settings.left.field} ${settings.left.message}.` })
      }
      const { key, secret } = yield* keys.create(settings.right)
      return { key: room.keyView(key), secret: Redacted.value(secret) }
    })
  )
