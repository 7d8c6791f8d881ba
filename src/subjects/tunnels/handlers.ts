/** `/api/tunnels`. Opening and closing needs management rights, wherever it is asked from; a password of this machine is taken on it only. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { ServerResponse } from "node:http"
import { contractOf } from "../../contract/GroupContract.ts"
import { Tunnels as TunnelsGroup } from "./routes.ts"
import { Conflict, Forbidden, UpstreamFailed } from "../../contract/Errors.ts"
import { destinationForm, type MeshTunnelView, type SetSshTunnel, type TunnelView } from "./routes.ts"
import { enteredByTunnel } from "../auth/PeerAddress.ts"
import type { TunnelBackend, TunnelStatus } from "./entity.ts"
import type { MeshNotice, MeshProgress, MeshToolFailed } from "../../net/tunnels/mesh/MeshTools.ts"
import { MeshTools } from "../../net/tunnels/mesh/MeshTools.ts"
import { type EnableTunnel, type InvalidTunnelOption, type KeysRequired, Tunnels } from "../../net/tunnels/Tunnels.ts"
import { announcedStream, Events } from "../../observe/Events.ts"
import { InnerCaller } from "../../entry/listening/InnerCaller.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { isFromThisMachine } from "../../entry/handling/AtTheMachine.ts"
import { iso } from "../../entry/handling/Views.ts"

const viewOf = ({ sinceMs, ...status }: TunnelStatus): TunnelView => ({ ...status, since: iso(sinceMs) })

const meshView = (status: TunnelStatus, notice: MeshNotice): MeshTunnelView => ({
  ...viewOf(status),
  tunnelUrl: status.publicUrl,
  ...notice
})

const usualSshPort = 22

/** The parts of a destination whose form was checked. */
const partsOf = (destination: string) => {
  const [, user = "", host = "", port] = destinationForm.exec(destination) ?? []
  return { user, host: host.replace(/^\[|\]$/g, ""), port: port === undefined ? usualSshPort : Number(port) }
}

const sshOf = ({ allowKeyless = false, destination, hostKey, remotePort = 0 }: SetSshTunnel) =>
  destination === undefined
    ? badField("destination", "is missing")
    : Effect.succeed<EnableTunnel>({
        backend: "ssh",
        ...partsOf(destination),
        remotePort,
        hostKey: hostKey ?? null,
        allowKeyless
      })

const refusals = {
  KeysRequired: ({ backend }: KeysRequired) =>
    new Conflict({
      code: "keys_required",
      param: "allowKeyless",
      message: `The ${backend} tunnel is not opened while the gateway requires no API key: everybody who knows its address could use your accounts. Set REQUIRE_API_KEY=true, or send {"allowKeyless": true} if that is what you want.`
    }),
  InvalidTunnelOption: ({ field, message }: InvalidTunnelOption) => badField(field, message)
}

const toolFailed = ({ reason }: MeshToolFailed) => new UpstreamFailed({ message: reason, code: "mesh_tool_failed" })

/** A password that is sent from elsewhere has crossed machines that are not the user's. */
const passwordStaysHere = (password: Redacted.Redacted | undefined) =>
  Effect.gen(function* () {
    if (password === undefined || (yield* isFromThisMachine)) return
    return yield* new Forbidden({
      code: "loopback_only",
      param: "sudoPassword",
      message: "A password of the gateway's machine is taken over a direct connection from that machine only."
    })
  })

/** Time in ms that a program that carries a tunnel has to send on an answer that the gateway has written. */
const lastAnswerMs = 1_000

/** Waits until the answer of this request is written, or its client has left. */
const answerWritten = (response: ServerResponse) =>
  Effect.async<void>((resume) => {
    if (response.closed) resume(Effect.void)
    else response.once("close", () => resume(Effect.void))
  })

const encoder = new TextEncoder()
const event = (name: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

export const layer = HttpApiBuilder.group(contractOf(TunnelsGroup), "tunnels", (handlers) =>
  Effect.gen(function* () {
    const tunnels = yield* Tunnels
    const mesh = yield* MeshTools
    const events = yield* Events

    const enable = (tunnel: EnableTunnel) => Effect.catchTags(tunnels.enable(tunnel), refusals)
    const withNotice = (status: TunnelStatus) => Effect.map(mesh.notice, (notice) => meshView(status, notice))

    /** Closes a tunnel. A request that came through it is answered first, as the answer could not come through after that. */
    const disable = (backend: TunnelBackend) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const isInner = (yield* InnerCaller) !== null
        if (isInner || !enteredByTunnel(NodeHttpServerRequest.toIncomingMessage(request).socket)) {
          return yield* tunnels.disable(backend)
        }
        yield* answerWritten(NodeHttpServerRequest.toServerResponse(request)).pipe(
          Effect.zipRight(Effect.sleep(lastAnswerMs)),
          Effect.zipRight(tunnels.disable(backend)),
          Effect.catchAllCause((cause) => Effect.logError(`The ${backend} tunnel could not be closed`, cause)),
          Effect.forkDaemon
        )
        const status = yield* tunnels.status(backend)
        return { ...status, phase: "stopped" as const, running: false, publicUrl: null, apiUrl: null, targetUrl: null }
      })

    /** The steps as events; the last one says how it ended. */
    const installing = (sudoPassword: Redacted.Redacted | null) =>
      announcedStream(events, { kind: "install", id: "tailscale" }, mesh.install(sudoPassword)).pipe(
        Stream.map(({ message, percent, step }: MeshProgress) => event("progress", { step, message, percent })),
        Stream.concat(Stream.fromEffect(Effect.map(mesh.check, (check) => event("done", check)))),
        Stream.catchAll(({ reason }) => Stream.succeed(event("error", { message: reason })))
      )

    return handlers
      .handle("list", () => Effect.map(tunnels.list, (all) => ({ tunnels: all.map(viewOf) })))
      .handle("quick", () => Effect.map(tunnels.status("quick"), viewOf))
      .handle("token", () => Effect.map(tunnels.status("token"), viewOf))
      .handle("ssh", () => Effect.map(tunnels.status("ssh"), viewOf))
      .handle("mesh", () => Effect.flatMap(tunnels.status("mesh"), withNotice))
      .handle("setQuick", ({ payload: { action, allowKeyless = false } }) =>
        (action === "enable" ? enable({ backend: "quick", allowKeyless }) : disable("quick")).pipe(
          Effect.map(viewOf),
          answered
        )
      )
      .handle("setToken", ({ payload: { action, allowKeyless = false, authToken = null } }) =>
        (action === "enable" ? enable({ backend: "token", authToken, allowKeyless }) : disable("token")).pipe(
          Effect.map(viewOf),
          answered
        )
      )
      .handle("setSsh", ({ payload }) =>
        (payload.action === "enable" ? Effect.flatMap(sshOf(payload), enable) : disable("ssh")).pipe(
          Effect.map(viewOf),
          answered
        )
      )
      .handle("checkMesh", () => mesh.check)
      .handle("installMesh", ({ payload: { sudoPassword = null } }) =>
        Effect.succeed(
          HttpServerResponse.stream(installing(sudoPassword), {
            contentType: "text/event-stream",
            headers: { "Cache-Control": "no-store" }
          })
        )
      )
      .handle("startMeshDaemon", ({ payload: { sudoPassword = null } }) =>
        Effect.catchTag(mesh.startDaemon(sudoPassword), "MeshToolFailed", toolFailed)
      )
      .handle("logInMesh", ({ payload: { hostname = null } }) =>
        Effect.catchTag(mesh.login(hostname), "MeshToolFailed", toolFailed)
      )
      .handle("enableMesh", ({ payload: { allowKeyless = false, hostname, port = 443, sudoPassword } }) =>
        Effect.gen(function* () {
          yield* passwordStaysHere(sudoPassword)
          const status = yield* enable({ backend: "mesh", port, sudoPassword: sudoPassword ?? null, allowKeyless })
          const answer = yield* withNotice(status)
          if (hostname === undefined || status.phase !== "needs_auth" || answer.authUrl !== null) return answer
          return { ...answer, ...(yield* Effect.catchTag(mesh.login(hostname), "MeshToolFailed", toolFailed)) }
        }).pipe(answered)
      )
      .handle("disableMesh", ({ payload: { sudoPassword } }) =>
        Effect.gen(function* () {
          yield* passwordStaysHere(sudoPassword)
          const status = yield* disable("mesh")
          if (sudoPassword !== undefined) {
            yield* Effect.catchTag(mesh.takeBack(sudoPassword), "MeshToolFailed", toolFailed)
          }
          return yield* withNotice(status)
        }).pipe(answered)
      )
  })
)
