/** API keys, straight in this machine's database. */
import * as Effect from "effect/Effect"
import type { CreateKey } from "../../api/Groups/Keys.ts"
import { exclusively } from "./room.ts"

/** Makes a key. `secret` is in clear text: it is to be shown once. */
export const createKey = (input: CreateKey) =>
  exclusively((room) =>
    Effect.gen(function* () {
      return room.createdKeyView(yield* (yield* room.Keys).create(input))
    })
  )
