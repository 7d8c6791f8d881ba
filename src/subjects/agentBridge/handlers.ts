/** `/api/tools/agent-bridge`: the decrypting server, its authority and the transparent mode. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { AgentBridge } from "./routes.ts"
import { BadRequest, Conflict, NotFound, type Unavailable } from "../../contract/Errors.ts"
import type { AgentView, serverActions, TproxyView } from "./routes.ts"
import type { Agent } from "../../agents/bridge/agents/Agent.ts"
import { agentById, agents } from "../../agents/bridge/agents/Agents.ts"
import { LazyBridge } from "../../agents/bridge/LazyBridge.ts"
import { findProgram, programEnvironment } from "../../observe/capture/host/HostPrograms.ts"
import type { AgentState } from "./entity.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { askVersion } from "../../platform/programs/AskVersion.ts"
import type { Capture } from "../../observe/capture/Capture.ts"
import type { ServerState } from "../../observe/capture/CaptureViews.ts"
import { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import { defaultSettings, type TransparentSettings } from "../../observe/capture/transparent/Settings.ts"
import type { StartProblem, TransparentStatus } from "../../observe/capture/transparent/Transparent.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { badValue, captureAnswers, certificateView, portAnswers, trustFailed } from "../capture/CaptureAnswers.ts"
import { iso } from "../../entry/handling/Views.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

const serverView = ({ port, running, startedAtMs }: ServerState) => ({
  running,
  port,
  startedAt: isoOrNull(startedAtMs)
})

/** Sentences on traffic that the rules of the transparent mode do not reach. */
const notCaptured = [
  "Connections of containers and virtual machines: their packets are forwarded, not made here.",
  "HTTP/3, which is QUIC over UDP: programs that use it are not seen until they fall back to TCP.",
  "Programs with a trust store of their own, such as browsers with pinned certificates: their connections are handed on unread."
]

const tproxyView = ({ startedAtMs, tunnelled, ...status }: TransparentStatus): TproxyView => ({
  ...status,
  startedAt: isoOrNull(startedAtMs),
  tunnelled: tunnelled.map(({ host, untilMs, why }) => ({ host, until: iso(untilMs), why })),
  notCaptured
})

const notStarted = (problem: StartProblem): BadRequest | Conflict | Unavailable => {
  switch (problem._tag) {
    case "TransparentAlreadyRunning":
      return new Conflict({ code: "already_running", message: "The capture mode is already running." })
    case "TransparentUnavailable":
      return new Conflict({ code: "capture_unavailable", message: problem.reason, reason: problem.reason })
    case "TransparentBadSettings":
      return new BadRequest({
        message: `Invalid request: ${problem.problems.map(({ field, problem: what }) => `${field}: ${what}`).join("; ")}`,
        details: problem.problems.map(({ field, problem: what }) => ({ field, message: what })),
        ...(problem.problems[0] === undefined ? {} : { param: problem.problems[0].field })
      })
    case "TransparentTrustFailed":
      return new Conflict({ code: "trust_failed", message: problem.problem })
    case "TransparentPortInUse":
      return new Conflict({
        code: "port_in_use",
        message: `Another program listens on port ${problem.port}.`,
        port: problem.port,
        hint: "Give another 'onPort'."
      })
    case "TransparentFrontFailed":
      return new Conflict({ code: "port_not_opened", message: `The listener cannot be opened (${problem.code}).` })
    case "TransparentProbeFailed":
      return new Conflict({
        code: "capture_failed",
        message: `The rules were made, but connections over IPv${problem.family} did not come to the listener. All was taken back.`
      })
    case "TransparentTableInUse":
      return new Conflict({
        code: "table_in_use",
        message: `The routing table ${problem.routeTable} is used by others. Give another 'routeTable'.`
      })
    case "TransparentMarkInUse":
      return new Conflict({
        code: "mark_in_use",
        message: `The mark ${problem.mark} is used by rules of others. Give another 'mark'.`
      })
    case "TransparentNoFirewall":
      return new Conflict({
        code: "capture_unavailable",
        message: "Neither iptables nor nft can be used here.",
        reason: "Neither iptables nor nft can be used here."
      })
    case "TransparentRulesFailed":
      return new Conflict({
        code: "capture_failed",
        message: `Step ${problem.step} failed, and all was taken back: ${asSentence(problem.problem)}`
      })
    case "HostJournalFailed":
      return captureAnswers.HostJournalFailed(problem)
  }
}

const agentView = (agent: Agent, state: AgentState, dnsEnabled: boolean, certTrusted: boolean): AgentView => ({
  id: agent.id,
  name: agent.name,
  hosts: agent.hosts,
  port: agent.port,
  endpointPatterns: agent.endpointPatterns,
  defaultModels: agent.defaultModels,
  viability: agent.viability,
  riskNotice: agent.riskNotice,
  dnsEnabled,
  certTrusted,
  setupCompleted: state.setupCompleted,
  lastStartedAt: isoOrNull(state.lastStartedAtMs),
  lastError: state.lastError,
  setup: { steps: agent.setup.steps, detection: agent.setup.binary }
})

const answers = { ...captureAnswers, ...portAnswers("MITM_PORT"), TrustFailed: trustFailed }

const act = (
  capture: typeof Capture.Service,
  action: (typeof serverActions)[number],
  password: Redacted.Redacted | null
) => {
  const none: ReadonlyArray<string> = []
  switch (action) {
    case "start":
      return Effect.as(capture.startServer, none)
    case "stop":
      return Effect.as(capture.stopServer, none)
    case "restart":
      return Effect.as(Effect.zipRight(capture.stopServer, capture.startServer), none)
    case "trust-cert":
      return capture.trust(password)
    case "untrust-cert":
      return Effect.map(capture.untrust, ({ left, problem }): ReadonlyArray<string> => [
        ...(problem === null ? [] : [problem]),
        ...left.map((place) => `It is still in ${place}.`)
      ])
    case "regenerate-cert":
      return Effect.as(capture.regenerate, none)
  }
}

const services = Effect.all({ bridges: LazyBridge, config: AppConfig, lazyCapture: LazyCapture })
type Services = Effect.Effect.Success<typeof services>

type Endpoints = HttpApiGroup.HttpApiGroup.Endpoints<typeof AgentBridge>
type Request<Name extends Endpoints["name"]> = HttpApiEndpoint.HttpApiEndpoint.Request<
  HttpApiEndpoint.HttpApiEndpoint.WithName<Endpoints, Name>
>

const certOf = (capture: typeof Capture.Service) =>
  Effect.map(capture.certificate, (found) => (found === null ? null : certificateView(found)))

const bypassOf = (capture: typeof Capture.Service) => Effect.map(capture.bypass, (patterns) => ({ patterns }))

const capturing = <A, E, R>(
  { lazyCapture }: Services,
  use: (capture: typeof Capture.Service) => Effect.Effect<A, E, R>
) => Effect.flatMap(lazyCapture.get, use)

// ------------------------------------------------------------------------------------------------------- agents

const known = (id: string): Effect.Effect<Agent, NotFound> => {
  const agent = agentById.get(id)
  return agent === undefined ? new NotFound({ message: "There is no such agent.", param: "id" }) : Effect.succeed(agent)
}

const agentViewOf = ({ bridges, lazyCapture }: Services, agent: Agent) =>
  Effect.gen(function* () {
    const capture = yield* lazyCapture.get
    const bridge = yield* bridges.get
    const state = yield* Effect.catchTag(bridge.state(agent.id), "UnknownAgent", Effect.die)
    const cert = yield* capture.certificate
    return agentView(agent, state, capture.capturedAgents().has(agent.id), cert?.trusted ?? false)
  })

const listAgents = (services: Services) =>
  Effect.map(
    Effect.forEach(agents, (agent) => agentViewOf(services, agent)),
    (views) => ({ agents: views })
  ).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed))

const showAgent = (services: Services, id: string) =>
  Effect.map(
    Effect.flatMap(known(id), (agent) => agentViewOf(services, agent)),
    (agent) => ({ agent })
  ).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed))

const switchHosts = (services: Services, id: string, enabled: boolean) =>
  Effect.gen(function* () {
    const agent = yield* known(id)
    const capture = yield* services.lazyCapture.get
    const bridge = yield* services.bridges.get
    const warning = yield* capture.setAgentHosts(id, enabled ? agent.hosts : [])
    const nowMs = yield* Clock.currentTimeMillis
    yield* bridge
      .change(id, { dnsEnabled: enabled, lastError: warning, ...(enabled ? { lastStartedAtMs: nowMs } : {}) })
      .pipe(Effect.catchTag("UnknownAgent", Effect.die))
    return { ok: true as const, agent: yield* agentViewOf(services, agent), ...(warning === null ? {} : { warning }) }
  }).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed), answered)

const detect = ({ config: { environment } }: Services, id: string) =>
  Effect.gen(function* () {
    const { binary } = (yield* known(id)).setup
    const file = binary === null ? null : findProgram(environment, binary)
    if (file === null) return { installed: false, version: null }
    const asked = yield* askVersion(file, programEnvironment(environment))
    const text = asked._tag === "Answered" ? asked.text.slice(0, 1_000) : ""
    return { installed: true, version: /\d+(?:\.\d+)+[\w.+-]{0,40}/.exec(text)?.[0] ?? null }
  })

const listMappings = ({ bridges }: Services, id: string) =>
  Effect.gen(function* () {
    yield* known(id)
    const bridge = yield* bridges.get
    return { mappings: yield* Effect.catchTag(bridge.mappings(id), "UnknownAgent", Effect.die) }
  })

const setMappings = ({ bridges }: Services, id: string, { mappings }: Request<"setMappings">["payload"]) =>
  Effect.gen(function* () {
    yield* known(id)
    const bridge = yield* bridges.get
    return { mappings: yield* bridge.setMappings(id, mappings) }
  }).pipe(
    Effect.catchTags({
      UnknownAgent: Effect.die,
      InvalidBridgeSetting: ({ field, message }) => badField(field, message)
    }),
    answered
  )

// ------------------------------------------------------------------------------------------------------- server

const showState = (services: Services) =>
  Effect.gen(function* () {
    const capture = yield* services.lazyCapture.get
    return {
      server: serverView(yield* capture.server),
      cert: yield* certOf(capture),
      agents: yield* Effect.forEach(agents, (agent) => agentViewOf(services, agent))
    }
  }).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed))

const control = ({ lazyCapture }: Services, { action, sudoPassword }: Request<"server">["payload"]) =>
  Effect.gen(function* () {
    const capture = yield* lazyCapture.get
    const warnings = yield* act(capture, action, sudoPassword ?? null)
    return { ok: true as const, server: serverView(yield* capture.server), cert: yield* certOf(capture), warnings }
  }).pipe(Effect.catchTags(answers), answered)

const setBypass = (services: Services, patterns: ReadonlyArray<string>) =>
  capturing(services, (capture) => Effect.zipRight(capture.setBypass(patterns), bypassOf(capture))).pipe(
    Effect.catchTag("CaptureBadValue", badValue),
    answered
  )

const setConfig = (services: Services, { config: nested = {}, ...plain }: Request<"setConfig">["payload"]) =>
  capturing(services, (capture) => capture.setConfig({ ...plain, ...nested })).pipe(
    Effect.map((config) => ({ config })),
    Effect.catchTag("CaptureBadValue", badValue),
    answered
  )

// -------------------------------------------------------------------------------------------------- certificates

const showCert = (services: Services) =>
  Effect.map(capturing(services, certOf), (cert) => ({ cert })).pipe(
    Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
  )

const downloadCert = (services: Services) =>
  capturing(services, (capture) => capture.certificatePem).pipe(
    Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
  )

const regenerateCert = (services: Services) =>
  capturing(services, (capture) => capture.regenerate).pipe(
    Effect.map((cert) => ({ cert: certificateView(cert) })),
    Effect.catchTags({ ...captureAnswers, TrustFailed: trustFailed })
  )

const setUpstreamCa = ({ lazyCapture }: Services, { pem }: Request<"setUpstreamCa">["payload"]) =>
  Effect.gen(function* () {
    const capture = yield* lazyCapture.get
    yield* capture.setUpstreamCa(pem)
    return { pem: yield* capture.upstreamCa }
  }).pipe(Effect.catchTag("CaptureBadValue", badValue), answered)

const removeUpstreamCa = (services: Services) =>
  capturing(services, (capture) => capture.setUpstreamCa(null)).pipe(
    Effect.catchTag("CaptureBadValue", Effect.die),
    answered
  )

// ------------------------------------------------------------------------------------------------------ the rest

const diagnose = (services: Services) =>
  capturing(services, (capture) => capture.diagnose).pipe(
    Effect.map((checks) => ({ checks })),
    Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
  )

const repair = (services: Services) =>
  capturing(services, (capture) => capture.repair).pipe(
    Effect.map(({ repaired }) => ({ repaired })),
    Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
  )

const startTproxy = (services: Services, { sudoPassword, ...given }: Request<"startTproxy">["payload"]) =>
  capturing(services, ({ transparent }) =>
    transparent.start({
      settings: { ...defaultSettings, ...given } as TransparentSettings,
      sudoPassword: sudoPassword ?? null
    })
  ).pipe(Effect.map(tproxyView), Effect.mapError(notStarted))

const stopTproxy = (services: Services) =>
  Effect.map(
    capturing(services, ({ transparent }) => transparent.stop),
    (brokenConnections) => ({ running: false as const, brokenConnections })
  )

export const layer = HttpApiBuilder.group(contractOf(AgentBridge), "agentBridge", (handlers) =>
  Effect.map(services, (all) =>
    handlers
      .handle("agents", () => listAgents(all))
      .handle("agent", ({ path: { id } }) => showAgent(all, id))
      .handle("agentDns", ({ path: { id }, payload: { enabled } }) => switchHosts(all, id, enabled))
      .handle("detectAgent", ({ path: { id } }) => detect(all, id))
      .handle("mappings", ({ path: { id } }) => listMappings(all, id))
      .handle("setMappings", ({ path: { id }, payload }) => setMappings(all, id, payload))
      .handle("state", () => showState(all))
      .handle("server", ({ payload }) => control(all, payload))
      .handle("bypass", () => capturing(all, bypassOf))
      .handle("setBypass", ({ payload: { patterns } }) => setBypass(all, patterns))
      .handle("cert", () => showCert(all))
      .handle("downloadCert", () => downloadCert(all))
      .handle("regenerateCert", () => regenerateCert(all))
      .handle("upstreamCa", () =>
        Effect.map(
          capturing(all, (capture) => capture.upstreamCa),
          (pem) => ({ pem })
        )
      )
      .handle("setUpstreamCa", ({ payload }) => setUpstreamCa(all, payload))
      .handle("removeUpstreamCa", () => removeUpstreamCa(all))
      .handle("config", () =>
        Effect.map(
          capturing(all, (capture) => capture.config),
          (config) => ({ config })
        )
      )
      .handle("setConfig", ({ payload }) => setConfig(all, payload))
      .handle("diagnose", () => diagnose(all))
      .handle("repair", () => repair(all))
      .handle("tproxy", () =>
        Effect.map(
          capturing(all, ({ transparent }) => transparent.status),
          tproxyView
        )
      )
      .handle("startTproxy", ({ payload }) => startTproxy(all, payload))
      .handle("stopTproxy", () => stopTproxy(all))
  )
)
