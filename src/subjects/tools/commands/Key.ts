/** The key of a tool: made for the tool on this machine, with the tool's models only, and ended when the tool has another. */
import * as Effect from "effect/Effect"
import { keyNameOf } from "../../../agents/tools/files/Machine.ts"
import type { Chosen } from "../../../agents/tools/config/Chosen.ts"
import type { KeyOfTool } from "../../../agents/tools/files/SetUp.ts"
import type { ToolSetup } from "../../../agents/tools/config/ToolSetup.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"

/** Lists the models that the tool is set up with. Automatic ids choose from these. */
const allowedModels = ({ models }: Chosen): ReadonlyArray<string> =>
  models.filter(({ kind }) => kind !== "auto").map(({ id }) => id)

export const makeKey = (tool: ToolSetup, to: Client.Target, chosen: Chosen): Effect.Effect<KeyOfTool, CliFailure> =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "keys")
    const payload = {
      name: keyNameOf(tool),
      allowedModels: allowedModels(chosen)
    }
    const { key, secret } = yield* client.create({ payload }).pipe(Client.orExplain(to))
    return { secret, id: key.id }
  })

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && new Set([...some, ...others]).size === some.length

/**
 * Checks whether the key works and is the one of this secret, as far as its beginning shows. With `adapts` it may use
 * the tool's models afterwards, and no others.
 */
export const isAlive = (
  to: Client.Target,
  { id, secret }: { readonly id: string; readonly secret: string },
  chosen: Chosen,
  adapts: boolean
): Effect.Effect<boolean, CliFailure> =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "keys")
    const { keys } = yield* client.list().pipe(Client.orExplain(to))
    const key = keys.find((each) => each.id === id)
    if (key === undefined || !key.isActive || !secret.startsWith(key.prefix)) return false
    const models = allowedModels(chosen)
    if (adapts && !isSame(key.allowedModels ?? [], models)) {
      yield* client.patch({ path: { id }, payload: { allowedModels: models } }).pipe(Client.orExplain(to))
    }
    return true
  })

/** Ends a key. One that is gone already is no failure. */
export const revokeKey = (to: Client.Target, id: string): Effect.Effect<void, CliFailure> =>
  Effect.flatMap(Client.group(to, "keys"), (client) =>
    client.remove({ path: { id } }).pipe(
      Effect.catchTag("NotFound", () => Effect.void),
      Client.orExplain(to)
    )
  )
