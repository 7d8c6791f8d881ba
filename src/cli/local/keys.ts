/** API keys, straight in this machine's database. */
import * as Effect from "effect/Effect"
import type { CreateKey } from "../../subjects/keys/routes.ts"
import { refuseTaken } from "../sameName.ts"
import { exclusively } from "./localServices.ts"

/** Makes a key. `secret` is in clear text: it is to be shown once. */
export const createKey = (input: CreateKey, isAllowed: boolean) =>
  exclusively((room) =>
    Effect.gen(function* () {
      const keys = yield* room.Keys
      yield* refuseTaken(yield* keys.list, { what: "key", name: input.name, isAllowed, ownId: null })
      return room.createdKeyView(yield* keys.create(input))
    })
  )
