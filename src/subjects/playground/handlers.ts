/** `/api/playground`: the playground is loaded by the first request that needs it. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { contractOf } from "../../contract/GroupContract.ts"
import { type CreatePreset, Playground, type UpdatePreset } from "./routes.ts"
import { CurrentCaller } from "../../contract/Security.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import type { PresetFields } from "./entity.ts"
import { LazyPlayground, type PlaygroundServices } from "../../agents/playground/LazyPlayground.ts"
import { presetView, playgroundAnswered } from "./PlaygroundAnswers.ts"

const encoder = new TextEncoder()

const events = (text: Stream.Stream<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    Stream.map(text, (piece) => encoder.encode(piece)),
    { contentType: "text/event-stream", headers: { "Cache-Control": "no-cache", "X-Accel-Buffering": "no" } }
  )

const created = ({ endpoint, model, name, params_json = "{}", system }: CreatePreset): PresetFields => ({
  name,
  endpoint,
  model,
  system: system ?? null,
  paramsJson: params_json
})

const changed = ({ endpoint, model, name, params_json, system }: UpdatePreset): Partial<PresetFields> => ({
  ...(name === undefined ? {} : { name }),
  ...(endpoint === undefined ? {} : { endpoint }),
  ...(model === undefined ? {} : { model }),
  ...(system === undefined ? {} : { system }),
  ...(params_json === undefined ? {} : { paramsJson: params_json })
})

/** A client without a `Host` reaches it somehow. */
const usualAddress = "http://127.0.0.1:20128"

export const layer = HttpApiBuilder.group(contractOf(Playground), "playground", (handlers) =>
  Effect.map(LazyPlayground, (lazyPlayground) => {
    const asked = <A, E, R>(ask: (services: PlaygroundServices) => Effect.Effect<A, E, R>) =>
      playgroundAnswered(Effect.flatMap(lazyPlayground.get, ask))

    return handlers
      .handle("presets", () =>
        asked(({ presets }) => Effect.map(presets.list, (all) => ({ presets: all.map(presetView) })))
      )
      .handle("createPreset", ({ payload }) =>
        Effect.flatMap(CurrentCaller, (caller) =>
          asked(({ presets }) =>
            Effect.map(presets.create(created(payload), caller), (preset) => ({ preset: presetView(preset) }))
          )
        )
      )
      .handle("preset", ({ path: { id } }) =>
        asked(({ presets }) => Effect.map(presets.get(id), (preset) => ({ preset: presetView(preset) })))
      )
      .handle("updatePreset", ({ path: { id }, payload }) =>
        Effect.flatMap(CurrentCaller, (caller) =>
          asked(({ presets }) =>
            Effect.map(presets.update(id, changed(payload), caller), (preset) => ({ preset: presetView(preset) }))
          )
        )
      )
      .handle("removePreset", ({ path: { id } }) =>
        Effect.flatMap(CurrentCaller, (caller) => asked(({ presets }) => presets.remove(id, caller)))
      )
      .handle("improvePrompt", ({ payload: { model = "", ...texts } }) =>
        Effect.flatMap(CurrentCaller, (principal) => asked(({ improve }) => improve({ model, ...texts }, principal)))
      )
      .handle("compare", ({ payload }) =>
        Effect.flatMap(CurrentCaller, (principal) =>
          asked(({ compare }) => Effect.map(compare(payload, principal), events))
        )
      )
      .handle("snippets", ({ payload }) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          asked(({ snippets }) => Effect.succeed(snippets(requestedAddress(headers) ?? usualAddress, payload)))
        )
      )
  })
)
