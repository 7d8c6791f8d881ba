/** `/api/tools/agent-bridge`: the decrypting server, its authority and the transparent mode. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
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

export const layer = HttpApiBuilder.group(contractOf(AgentBridge), "agentBridge", (handlers) =>
  Effect.gen(function* () {
    const lazyCapture = yield* LazyCapture
    const bridges = yield* LazyBridge
    const { environment } = yield* AppConfig
    const certOf = (capture: typeof Capture.Service) =>
      Effect.map(capture.certificate, (found) => (found === null ? null : certificateView(found)))
    const bypassOf = (capture: typeof Capture.Service) => Effect.map(capture.bypass, (patterns) => ({ patterns }))

    const agentViewOf = (agent: Agent) =>
      Effect.gen(function* () {
        const capture = yield* lazyCapture.get
        const bridge = yield* bridges.get
        const state = yield* Effect.catchTag(bridge.state(agent.id), "UnknownAgent", Effect.die)
        const cert = yield* capture.certificate
        return agentView(agent, state, capture.capturedAgents().has(agent.id), cert?.trusted ?? false)
      })
    const known = (id: string): Effect.Effect<Agent, NotFound> => {
      const agent = agentById.get(id)
      return agent === undefined
        ? new NotFound({ message: "There is no such agent.", param: "id" })
        : Effect.succeed(agent)
    }

    return handlers
      .handle("agents", () =>
        Effect.map(Effect.forEach(agents, agentViewOf), (views) => ({ agents: views })).pipe(
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("agent", ({ path: { id } }) =>
        Effect.map(Effect.flatMap(known(id), agentViewOf), (agent) => ({ agent })).pipe(
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("agentDns", ({ path: { id }, payload: { enabled } }) =>
        Effect.gen(function* () {
          const agent = yield* known(id)
          const capture = yield* lazyCapture.get
          const bridge = yield* bridges.get
          const warning = yield* capture.setAgentHosts(id, enabled ? agent.hosts : [])
          const nowMs = yield* Clock.currentTimeMillis
          yield* bridge
            .change(id, { dnsEnabled: enabled, lastError: warning, ...(enabled ? { lastStartedAtMs: nowMs } : {}) })
            .pipe(Effect.catchTag("UnknownAgent", Effect.die))
          return { ok: true as const, agent: yield* agentViewOf(agent), ...(warning === null ? {} : { warning }) }
        }).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed), answered)
      )
      .handle("detectAgent", ({ path: { id } }) =>
        Effect.gen(function* () {
          const { binary } = (yield* known(id)).setup
          const file = binary === null ? null : findProgram(environment, binary)
          if (file === null) return { installed: false, version: null }
          const asked = yield* askVersion(file, programEnvironment(environment))
          const text = asked._tag === "Answered" ? asked.text.slice(0, 1_000) : ""
          return { installed: true, version: /\d+(?:\.\d+)+[\w.+-]{0,40}/.exec(text)?.[0] ?? null }
        })
      )
      .handle("mappings", ({ path: { id } }) =>
        Effect.gen(function* () {
          yield* known(id)
          const bridge = yield* bridges.get
          return { mappings: yield* Effect.catchTag(bridge.mappings(id), "UnknownAgent", Effect.die) }
        })
      )
      .handle("setMappings", ({ path: { id }, payload: { mappings } }) =>
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
      )
      .handle("state", () =>
        Effect.gen(function* () {
          const capture = yield* lazyCapture.get
          return {
            server: serverView(yield* capture.server),
            cert: yield* certOf(capture),
            agents: yield* Effect.forEach(agents, agentViewOf)
          }
        }).pipe(Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed))
      )
      .handle("server", ({ payload: { action, sudoPassword = null } }) =>
        Effect.gen(function* () {
          const capture = yield* lazyCapture.get
          const warnings = yield* act(capture, action, sudoPassword)
          return {
            ok: true as const,
            server: serverView(yield* capture.server),
            cert: yield* certOf(capture),
            warnings
          }
        }).pipe(Effect.catchTags(answers), answered)
      )
      .handle("bypass", () => Effect.flatMap(lazyCapture.get, bypassOf))
      .handle("setBypass", ({ payload: { patterns } }) =>
        Effect.flatMap(lazyCapture.get, (capture) =>
          Effect.zipRight(capture.setBypass(patterns), bypassOf(capture))
        ).pipe(Effect.catchTag("CaptureBadValue", badValue), answered)
      )
      .handle("cert", () =>
        Effect.map(Effect.flatMap(lazyCapture.get, certOf), (cert) => ({ cert })).pipe(
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("downloadCert", () =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.certificatePem).pipe(
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("regenerateCert", () =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.regenerate).pipe(
          Effect.map((cert) => ({ cert: certificateView(cert) })),
          Effect.catchTags({ ...captureAnswers, TrustFailed: trustFailed })
        )
      )
      .handle("upstreamCa", () =>
        Effect.map(
          Effect.flatMap(lazyCapture.get, (capture) => capture.upstreamCa),
          (pem) => ({ pem })
        )
      )
      .handle("setUpstreamCa", ({ payload: { pem } }) =>
        Effect.gen(function* () {
          const capture = yield* lazyCapture.get
          yield* capture.setUpstreamCa(pem)
          return { pem: yield* capture.upstreamCa }
        }).pipe(Effect.catchTag("CaptureBadValue", badValue), answered)
      )
      .handle("removeUpstreamCa", () =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.setUpstreamCa(null)).pipe(
          Effect.catchTag("CaptureBadValue", Effect.die),
          answered
        )
      )
      .handle("config", () =>
        Effect.map(
          Effect.flatMap(lazyCapture.get, (capture) => capture.config),
          (config) => ({ config })
        )
      )
      .handle("setConfig", ({ payload: { config: nested = {}, ...plain } }) =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.setConfig({ ...plain, ...nested })).pipe(
          Effect.map((config) => ({ config })),
          Effect.catchTag("CaptureBadValue", badValue),
          answered
        )
      )
      .handle("diagnose", () =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.diagnose).pipe(
          Effect.map((checks) => ({ checks })),
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("repair", () =>
        Effect.flatMap(lazyCapture.get, (capture) => capture.repair).pipe(
          Effect.map(({ repaired }) => ({ repaired })),
          Effect.catchTag("CaptureAuthorityFailed", answers.CaptureAuthorityFailed)
        )
      )
      .handle("tproxy", () =>
        Effect.map(
          Effect.flatMap(lazyCapture.get, (capture) => capture.transparent.status),
          tproxyView
        )
      )
      .handle("startTproxy", ({ payload: { sudoPassword = null, ...given } }) =>
        Effect.flatMap(lazyCapture.get, (capture) =>
          capture.transparent.start({ settings: { ...defaultSettings, ...given } as TransparentSettings, sudoPassword })
        ).pipe(Effect.map(tproxyView), Effect.mapError(notStarted))
      )
      .handle("stopTproxy", () =>
        Effect.map(
          Effect.flatMap(lazyCapture.get, (capture) => capture.transparent.stop),
          (brokenConnections) => ({ running: false as const, brokenConnections })
        )
      )
  })
)
