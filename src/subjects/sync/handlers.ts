/** `/api/sync`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { Sync } from "./routes.ts"
import type { SyncView } from "./routes.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { CloudSync } from "./service.ts"
import type { CloudSyncState } from "./repo.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { isoOrNull } from "../../entry/handling/Views.ts"

const view = (state: CloudSyncState): SyncView => ({
  enabled: state.enabled,
  connected: state.connected,
  lastSyncAt: isoOrNull(state.lastSyncAtMs),
  cloudUrl: state.cloudUrl,
  sharedKey: state.sharedKey === null ? null : maskSecret(Redacted.value(state.sharedKey)),
  version: state.version,
  lastError: state.lastError
})

const initialized = (state: CloudSyncState) => ({ initialized: true as const, ...view(state) })

export const layer = HttpApiBuilder.group(contractOf(Sync), "sync", (handlers) =>
  Effect.map(CloudSync, (sync) =>
    handlers
      .handle("status", () => answered(Effect.map(sync.state, view)))
      .handle("act", ({ payload: { action, ...settings } }) =>
        answered(Effect.map(Effect.zipRight(sync.configure(settings), sync[action]), view))
      )
      .handle("bundle", () =>
        Effect.gen(function* () {
          const { configHash, signature, text } = yield* answered(sync.bundle)
          const etag = `"${configHash}"`
          const headers = { ETag: etag, "Cache-Control": "no-cache", "X-Gateway-Signature": signature }
          const request = yield* HttpServerRequest.HttpServerRequest
          return request.headers["if-none-match"] === etag
            ? HttpServerResponse.empty({ status: 304, headers })
            : HttpServerResponse.text(text, { contentType: "application/json", headers })
        })
      )
      .handle("initialize", () =>
        answered(
          Effect.flatMap(sync.state, (state) => (state.enabled ? sync.sync : Effect.succeed(state))).pipe(
            Effect.map(initialized)
          )
        )
      )
  )
)
