/** A recorded request asked again: its answer goes to the client as it comes, over node's own response. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { DirectReplayChanges, ReplayChanges } from "./routes.ts"
import type { DirectChanges } from "../../agents/bridge/DirectRequest.ts"
import { Replay, type ReplayChanges as Changes } from "../../agents/bridge/Replay.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { CurrentTrail } from "../../entry/handling/AuditTrail.ts"
import { NodeReply } from "../../entry/listening/NodeReply.ts"
import { OpenStreams } from "../../entry/listening/OpenStreams.ts"

const changesOf = (given: typeof ReplayChanges.Type): Changes => {
  const { body, headers, model } = given ?? {}
  return {
    // It was read from JSON.
    ...(body === undefined ? {} : { body: body as JsonObject }),
    ...(model === undefined ? {} : { model }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)])) })
  }
}

/** Converts the given changes, without absent members. */
export const directChangesOf = (given: typeof DirectReplayChanges.Type): DirectChanges => {
  const { body, connectionId, headers, model, path } = given ?? {}
  return {
    ...(body === undefined ? {} : { body }),
    ...(connectionId === undefined ? {} : { connectionId }),
    ...(headers === undefined ? {} : { headers }),
    ...(model === undefined ? {} : { model }),
    ...(path === undefined ? {} : { path })
  }
}

export const makeReplay = Effect.gen(function* () {
  const replay = yield* Replay
  const streams = yield* OpenStreams

  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    id: string,
    given: typeof ReplayChanges.Type
  ) {
    const trail = yield* CurrentTrail
    const response = NodeHttpServerRequest.toServerResponse(request)
    const reply = new NodeReply(response, streams)
    yield* replay.ask(id, changesOf(given), trail?.principal ?? { _tag: "Anonymous" }, reply)
    // It is written already; this is what the audit log reads.
    return HttpServerResponse.empty({ status: response.statusCode })
  })
})
