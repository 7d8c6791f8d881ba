/** `gateway capture bridge` and `cert`: the decrypting server, the agents, and the certificate authority. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { AgentView } from "../../agentBridge/routes.ts"
import { readSecret } from "../../../cli/asking/stdin.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

export const passwordStdin = Options.boolean("sudo-password-stdin").pipe(
  Options.withDescription(
    "Read your password for sudo from standard input, where the gateway is not root; it is not kept."
  )
)

/** Reads the password as a field of a request; nothing where it is not wanted. */
export const passwordField = (isWanted: boolean) =>
  isWanted
    ? Effect.map(readSecret, (text) => ({ sudoPassword: Redacted.make(text.replace(/\r?\n$/, "")) }))
    : Effect.succeed({})

type Action = "start" | "stop" | "trust-cert" | "untrust-cert"

const act = (to: Client.Target, action: Action, isPasswordGiven = false) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "agentBridge")
    const password = yield* passwordField(isPasswordGiven)
    const answer = yield* client.server({ payload: { action, ...password } }).pipe(Client.orExplain(to))
    for (const warning of answer.warnings) yield* Output.remark(warning)
    return answer
  })

export const bridgeStatus = asking("status", "agentBridge", {}, function* (client) {
  const state = yield* client.state()
  const { agents, cert, server } = state
  const on = agents.filter(({ dnsEnabled }) => dnsEnabled).map(({ id }) => id)
  const lines = [
    server.running ? `The decrypting server listens on port ${server.port ?? "?"}.` : "The decrypting server is off.",
    cert === null
      ? "No certificate authority was made yet."
      : `The certificate is ${cert.trusted ? "" : "not "}trusted by this system.`,
    on.length === 0 ? "No agent is captured." : `Agents that are captured: ${on.join(", ")}.`
  ]
  yield* Output.result({
    schema: Schema.Unknown,
    value: state,
    text: Effect.forEach(lines, Output.print, { discard: true }),
    name: server.running ? "running" : "stopped"
  })
})

const serverCommand = (name: "start" | "stop") =>
  Command.make(name, { ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const answer = yield* act(yield* Client.target(given), name)
      const { port, running } = answer.server
      yield* Output.done(
        answer,
        running
          ? `The decrypting server listens on port ${port ?? "?"}.`
          : "The decrypting server is off, and its names are out of the hosts file.",
        running ? String(port) : ""
      )
    })
  )
export const bridgeStart = serverCommand("start")
export const bridgeStop = serverCommand("stop")

const columns: ReadonlyArray<Column.Column<AgentView>> = [
  Column.name("AGENT", ({ id }) => id),
  Column.text("VIABILITY", ({ viability }) => viability, { fit: "keep" }),
  Column.yesNo("CAPTURED", ({ dnsEnabled }) => dnsEnabled),
  Column.text("HOSTS", ({ hosts }) => hosts.join(", ")),
  Column.prose("LAST ERROR", ({ lastError }) => lastError)
]

export const bridgeAgents = asking("agents", "agentBridge", {}, function* (client) {
  const value = yield* client.agents()
  yield* Output.list({ schema: Schema.Unknown, value, rows: value.agents, columns, empty: "There are no agents." })
})

const agent = Args.text({ name: "agent" }).pipe(Args.withDescription("Its id; see 'gateway capture bridge agents'."))

const dnsCommand = (name: "enable" | "disable") =>
  Command.make(name, { agent, ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "agentBridge")
      const enabled = name === "enable"
      const answer = yield* client
        .agentDns({ path: { id: given.agent }, payload: { enabled } })
        .pipe(Client.orExplain(to))
      if (enabled) yield* Output.remark(answer.agent.riskNotice)
      yield* Output.done(
        answer,
        answer.warning ?? `${answer.agent.name} is ${enabled ? "" : "not "}captured${enabled ? "" : " any more"}.`,
        answer.agent.id
      )
    })
  )
export const bridgeEnable = dnsCommand("enable")
export const bridgeDisable = dnsCommand("disable")

export const certShow = asking("show", "agentBridge", {}, function* (client) {
  const pem = yield* client.downloadCert()
  const { cert } = yield* client.cert()
  yield* Output.result({
    schema: Schema.Unknown,
    value: { ...cert, pem },
    text: Effect.zipRight(
      Output.note(`${cert?.subject ?? ""}, ${cert?.trusted === true ? "" : "not "}trusted by this system.`),
      Output.print(pem.trimEnd())
    ),
    name: cert?.sha256 ?? ""
  })
})

export const certTrust = Command.make("trust", { passwordStdin, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const answer = yield* act(yield* Client.target(given), "trust-cert", given.passwordStdin)
    yield* Output.done(
      answer,
      "This system trusts the gateway's certificate authority, until 'gateway capture cert untrust'.",
      "trusted"
    )
  })
)

export const certUntrust = Command.make("untrust", { ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const answer = yield* act(yield* Client.target(given), "untrust-cert")
    yield* Output.done(answer, "This system does not trust the gateway's certificate authority.", "untrusted")
  })
)
