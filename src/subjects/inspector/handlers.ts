/** `/api/tools/traffic-inspector`: the inspector is loaded by the first request that needs it. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { contractOf } from "../../contract/GroupContract.ts"
import { Inspector } from "./routes.ts"
import { DirectReplay } from "../../agents/bridge/DirectReplay.ts"
import { GatewayCapture } from "../../plane/tap/GatewayCapture.ts"
import { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import { LazyInspector, type InspectorServices } from "../../observe/inspector/LazyInspector.ts"
import { LazyPlayground } from "../../agents/playground/LazyPlayground.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import type { StoreError } from "../../store/Errors.ts"
import { InspectorFeed, maxClients, path } from "../../entry/live/InspectorFeed.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { inspectorAnswered } from "./InspectorAnswers.ts"
import { receiveArchive } from "./InspectorImport.ts"
import { directChangesOf, makeReplay } from "./InspectorReplay.ts"
import { noPreset, presetBody } from "../playground/PlaygroundAnswers.ts"
import { iso } from "../../entry/handling/Views.ts"

const usualLimit = 1_000
const usualBreaks = 100

/**
 * Writes JSON as it is: records come out of the inspector as the contract has them, and a thousand are too many to be
 * checked one by one.
 */
const json = (value: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(value, { status })

const encoder = new TextEncoder()

const streamed = (text: Stream.Stream<string, StoreError>, contentType: string, name?: string) =>
  HttpServerResponse.stream(
    Stream.map(text, (piece) => encoder.encode(piece)),
    {
      contentType,
      ...(name === undefined ? {} : { headers: { "Content-Disposition": `attachment; filename="${name}"` } })
    }
  )

const harType = "application/har+json"
const linesType = "application/jsonl"

const countsOf = (services: InspectorServices | null) => {
  const nothing = { recorded: 0, bodiesLost: 0, behindMs: 0, waiting: 0 }
  const { behindMs, bodiesLost, recorded, waiting } = services?.inspector.load() ?? nothing
  return { recorded, bodiesLost, behindMs, waiting }
}

/** Text without anything is none. */
const noteOf = (text: string | null): string | null => (text === "" ? null : text)

const services = Effect.all({
  bodies: BodyBudget,
  capture: GatewayCapture,
  direct: DirectReplay,
  feed: InspectorFeed,
  lazyCapture: LazyCapture,
  lazyInspector: LazyInspector,
  playground: LazyPlayground,
  replay: makeReplay
})
type Services = Effect.Effect.Success<typeof services>

type Endpoints = HttpApiGroup.HttpApiGroup.Endpoints<typeof Inspector>
type Request<Name extends Endpoints["name"]> = HttpApiEndpoint.HttpApiEndpoint.Request<
  HttpApiEndpoint.HttpApiEndpoint.WithName<Endpoints, Name>
>

const inspecting = <A, E>({ lazyInspector }: Services, ask: (services: InspectorServices) => Effect.Effect<A, E>) =>
  inspectorAnswered(Effect.flatMap(lazyInspector.get, ask))

const list = (
  services: Services,
  { cursor, groupBy, limit = usualLimit, retries, ...filter }: Request<"list">["urlParams"]
) =>
  inspecting(services, ({ inspector }) =>
    Effect.map(
      inspector.list(filter, {
        limit,
        areFolded: retries === "together",
        hasGroups: groupBy === "contextKey",
        ...(cursor === undefined ? {} : { cursor })
      }),
      (page) => json(page)
    )
  )

const replayDirect = ({ direct, lazyInspector }: Services, id: string, payload: Request<"replayDirect">["payload"]) =>
  inspectorAnswered(
    Effect.gen(function* () {
      const { connectionId, id: answerId } = yield* direct.ask(id, directChangesOf(payload))
      const { inspector, views } = yield* lazyInspector.get
      const diff = yield* views.answers(id, answerId)
      return json({ record: yield* inspector.get(answerId), connectionId, diff })
    })
  )

const preset = (services: Services, id: string) =>
  inspecting(services, ({ inspector }) =>
    Effect.flatMap(inspector.get(id), (record) =>
      Effect.flatMap(services.playground.get, ({ presetOf }) => {
        const made = presetOf(record)
        return made instanceof Error ? Effect.fail(noPreset(made)) : Effect.succeed(presetBody(made))
      })
    )
  )

const modes = ({ capture, lazyCapture, lazyInspector }: Services) =>
  Effect.map(
    Effect.flatMap(lazyCapture.get, (machine) => machine.modes),
    ({ customHosts, httpProxy, server, systemProxy, tlsIntercept, transparent }) => ({
      agentBridge: true,
      customHosts,
      httpProxy,
      systemProxy: {
        applied: systemProxy.applied,
        guardUntil: systemProxy.guardUntilMs === null ? null : iso(systemProxy.guardUntilMs),
        port: systemProxy.port,
        platform: systemProxy.platform ?? process.platform,
        supported: systemProxy.supported
      },
      tlsIntercept: { enabled: tlsIntercept },
      gateway: { enabled: capture.isEnabled(), ...countsOf(lazyInspector.current()) },
      tproxy: { running: transparent.running, available: transparent.available },
      mitm: { running: server.running, port: server.port }
    })
  )

const importArchive = ({ bodies, lazyInspector }: Services, request: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(lazyInspector.get, ({ inspector, views }) =>
    Effect.flatMap(receiveArchive(request, views.maxHarBytes, bodies), (bytes) =>
      inspectorAnswered(Effect.map(inspector.importHar(bytes, null), (session) => ({ session })))
    )
  )

export const layer = HttpApiBuilder.group(contractOf(Inspector), "inspector", (handlers) =>
  Effect.map(services, (all) => {
    const asked = <A, E>(ask: (services: InspectorServices) => Effect.Effect<A, E>) => inspecting(all, ask)

    return handlers
      .handle("list", ({ urlParams }) => list(all, urlParams))
      .handle("clear", () => asked(({ inspector }) => inspector.clear))
      .handle("get", ({ path: { id }, urlParams: { showSecrets } }) =>
        asked(({ inspector }) => Effect.map(inspector.get(id, showSecrets), (record) => json(record)))
      )
      .handle("annotate", ({ path: { id }, payload: { annotation } }) =>
        asked(({ inspector }) => Effect.map(inspector.annotate(id, noteOf(annotation)), (record) => json(record)))
      )
      .handle("replay", ({ path: { id }, payload, request }) => inspectorAnswered(all.replay(request, id, payload)))
      .handle("replayDirect", ({ path: { id }, payload }) => replayDirect(all, id, payload))
      .handle("conversation", ({ path: { id } }) =>
        asked(({ views }) => Effect.map(views.conversation(id), (conversation) => json(conversation)))
      )
      .handle("anatomy", ({ path: { id } }) => asked(({ views }) => views.anatomy(id)))
      .handle("diff", ({ path: { id, other } }) =>
        asked(({ views }) => Effect.map(views.diff(id, other), (diff) => json(diff)))
      )
      .handle("cache", ({ path: { id } }) =>
        asked(({ cacheWatch }) => Effect.map(cacheWatch.of(id), (cache) => ({ cache })))
      )
      .handle("cacheBreaks", ({ urlParams: { limit = usualBreaks, since } }) =>
        asked(({ cacheWatch }) =>
          Effect.sync(() => cacheWatch.breaks(since === undefined ? 0 : Date.parse(since), limit))
        )
      )
      .handle("code", ({ path: { id }, urlParams: { format } }) =>
        asked(({ views }) => Effect.map(views.code(id, format), (text) => HttpServerResponse.text(text)))
      )
      .handle("preset", ({ path: { id } }) => preset(all, id))
      .handle("har", ({ urlParams }) =>
        asked(({ views }) => Effect.map(views.har(urlParams), (text) => streamed(text, harType, "requests.har")))
      )
      .handle("jsonl", ({ urlParams }) =>
        asked(({ views }) => Effect.map(views.jsonl(urlParams), (text) => streamed(text, linesType, "requests.jsonl")))
      )
      .handle("modes", () => modes(all))
      .handle("gateway", ({ payload: { enabled } }) =>
        Effect.as(answered(all.capture.setEnabled(enabled)), { ok: true as const, gateway: { enabled } })
      )
      .handle("sessions", () =>
        asked(({ inspector }) => Effect.map(inspector.sessions.list, (sessions) => ({ sessions })))
      )
      .handle("startSession", ({ payload: { name } }) =>
        asked(({ inspector }) => Effect.map(inspector.sessions.start(name ?? null), (session) => ({ session })))
      )
      .handleRaw("importSession", ({ request }) => importArchive(all, request))
      .handle("session", ({ path: { id } }) =>
        asked(({ views }) => Effect.map(views.session(id), (text) => streamed(text, "application/json")))
      )
      .handle("changeSession", ({ path: { id }, payload: { action, name } }) =>
        asked(({ inspector: { sessions } }) =>
          Effect.map(action === "stop" ? sessions.stop(id) : sessions.rename(id, name ?? null), (session) => ({
            session
          }))
        )
      )
      .handle("removeSession", ({ path: { id } }) => asked(({ inspector }) => inspector.sessions.remove(id)))
      .handle("sessionHar", ({ path: { id } }) =>
        asked(({ views }) => Effect.map(views.sessionHar(id), (text) => streamed(text, harType, "session.har")))
      )
      .handle("sessionJsonl", ({ path: { id } }) =>
        asked(({ views }) => Effect.map(views.sessionJsonl(id), (text) => streamed(text, linesType, "session.jsonl")))
      )
      .handle("ingest", ({ payload }) =>
        asked(({ handIn, inspector }) =>
          // Who asks for it next finds it.
          Effect.as(Effect.zipRight(handIn(payload), inspector.listed(payload.id)), {
            ok: true as const,
            id: payload.id
          })
        )
      )
      .handle("feed", () => Effect.sync(() => ({ path, clients: all.feed.clients(), maxClients })))
  })
)
