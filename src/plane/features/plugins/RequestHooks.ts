/** Asks plugins about a request before its model is resolved. The wait ends when the client leaves and when the gateway stops. */
import * as Effect from "effect/Effect"
import type { InferenceError } from "../../../contract/domain/Errors.ts"
import type { Hooks, RequestVerdict } from "../../../agents/plugins/hooks/Hooks.ts"
import type { HookRun } from "../../../agents/plugins/hooks/HookRun.ts"
import { isObject, type JsonObject, parseJson } from "../../../wire/json/Json.ts"
import { bytesOf } from "../../request/BodyBytes.ts"
import { unlessDisconnected } from "../../request/ClientDisconnect.ts"
import type { Exchange } from "../../request/Exchange.ts"
import * as StopSignal from "../../request/StopSignal.ts"

export interface AskingPlugins {
  readonly hooks: Pick<typeof Hooks.Service, "request">
  readonly stop: Pick<typeof StopSignal.StopSignal.Service, "isStopping" | "onStop">
}

export type Asked =
  | { readonly _tag: "Passed"; readonly exchange: Exchange }
  | Exclude<RequestVerdict, { readonly _tag: "Passed" }>
  /** A plugin has changed it into something that cannot be read. */
  | { readonly _tag: "Wrong"; readonly error: InferenceError }
  | { readonly _tag: "ClientGone" }
  | { readonly _tag: "ShuttingDown" }

/** Puts the members that a wire has in its path into the body for plugins; of those they may change the model. */
const withBody = (exchange: Exchange, body: Buffer): Exchange => {
  const clientBody = exchange.clientBody ?? exchange.body
  const { fromPath } = exchange
  if (fromPath === null) return { ...exchange, body, clientBody }
  const parsed = parseJson(body.toString("utf8"))
  // The check that follows says what is wrong with it.
  if (!isObject(parsed)) return { ...exchange, body, clientBody }
  const model = parsed["model"]
  const named = typeof model === "string" && Object.hasOwn(fromPath, "model") ? { ...fromPath, model } : fromPath
  return { ...exchange, fromPath: named, body: bytesOf(exchange, parsed), clientBody }
}

/** Asks the plugins. `parsed`: with the members that the wire has in its path. */
export const askPlugins = (
  { hooks, stop }: AskingPlugins,
  run: HookRun,
  exchange: Exchange,
  parsed: JsonObject
): Effect.Effect<Asked> =>
  Effect.suspend(() => {
    const { forPlugins } = exchange
    const wholeBody = exchange.fromPath === null ? exchange.body : Buffer.from(JSON.stringify(parsed))
    const asked = forPlugins?.body ?? wholeBody
    const asking = StopSignal.unlessStopped(stop, unlessDisconnected(exchange.reply, hooks.request(run, asked)))
    return Effect.match(asking, {
      onFailure: ({ _tag }): Asked => ({ _tag }),
      onSuccess: (verdict): Asked => {
        if (verdict._tag !== "Passed") return verdict
        const { body } = verdict
        if (body === asked) return { _tag: "Passed", exchange }
        const changed = Buffer.from(body)
        const read = forPlugins === undefined ? changed : forPlugins.read(changed)
        return Buffer.isBuffer(read)
          ? { _tag: "Passed", exchange: withBody(exchange, read) }
          : { _tag: "Wrong", error: read }
      }
    })
  })
