/** Tunnels over SSH against OpenSSH's own server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http"
import * as Dns from "../../../../src/net/egress/Dns.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import * as SupervisedProgram from "../../../../src/platform/programs/SupervisedProgram.ts"
import * as Timers from "../../../../src/platform/Timers.ts"
import type { SshOptions } from "../../../../src/net/tunnels/ssh/Options.ts"
import * as SshBackend from "../../../../src/net/tunnels/ssh/SshBackend.ts"
import * as Supervisor from "../../../../src/net/tunnels/Supervisor.ts"
import { TunnelEntrance } from "../../../../src/net/tunnels/TunnelEntrance.ts"
import { eventually } from "../../../support/eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { sshServer, whyNoSshd } from "../../../support/tunnels/SshServer.ts"

const local = { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true" }
const guarded = { OUTBOUND_SSRF_GUARD_ENABLED: "true", GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "false" }

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** What stands behind the tunnel: answers, and a stream whose events the test sends. */
const origin = Effect.gen(function* () {
  const streams: Array<ServerResponse> = []
  const server = createServer((asked, answer) => {
    if (asked.url === "/stream") {
      answer.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      streams.push(answer)
    } else answer.end(`hello ${asked.headers.host ?? ""}`)
  }).listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
  )
  return { port: portOf(server), streams }
})

const harness = (flags: Readonly<Record<string, string>> = local) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const behind = yield* origin
    const environment = new Map([
      ["PATH", process.env["PATH"] ?? ""],
      ["HOME", dataDir]
    ])
    const config = AppConfig.layerOf({ dataDir, environment })
    const layer = SshBackend.layer.pipe(
      Layer.provide(SupervisedProgram.layer({ recordsFolder: `${dataDir}/tunnels` })),
      Layer.provide([Timers.layer, Dns.layer, Flags.layer.pipe(Layer.provide([layerMemory(flags), config])), config])
    )
    const backend = yield* Effect.provide(SshBackend.SshBackend, yield* Layer.build(layer))
    const supervisor = yield* Supervisor.make(backend, () => undefined).pipe(
      Effect.provideService(TunnelEntrance, { open: Effect.succeed({ host: "127.0.0.1" as const, port: behind.port }) })
    )
    const phase = (wanted: string) =>
      Effect.promise(() =>
        eventually(`phase ${wanted}`, supervisor.now, (status) => status.phase === wanted, { withinMs: 30_000 })
      )
    return { behind, dataDir, phase, supervisor }
  })

const optionsOf = (
  server: { readonly port: number; readonly user: string },
  more: Partial<SshOptions> = {}
): SshOptions => ({ user: server.user, host: "127.0.0.1", port: server.port, remotePort: 0, hostKey: null, ...more })

const why = whyNoSshd()

describe.skipIf(why !== null)(`SshBackend${why === null ? "" : ` (skipped: ${why})`}`, () => {
  it.live(
    "asks for the host key, then for its own key to be let in, then opens and carries requests and events",
    () =>
      Effect.gen(function* () {
        const server = yield* sshServer
        const { behind, dataDir, phase, supervisor } = yield* harness()

        yield* supervisor.start(optionsOf(server), false)
        const unknown = yield* phase("needs_auth")
        assert.include(unknown.lastError ?? "", server.fingerprint)
        assert.notInclude(readdirSync(`${dataDir}/tunnels`).join(), "known_hosts")

        yield* supervisor.start(optionsOf(server, { hostKey: server.fingerprint }), false)
        const refused = yield* phase("needs_auth")
        const line = /ssh-ed25519 \S+ gateway-tunnel/.exec(refused.lastError ?? "")?.[0]
        assert.strictEqual(line, readFileSync(`${dataDir}/tunnels/id_ed25519.pub`, "utf8").trim())
        assert.strictEqual(statSync(`${dataDir}/tunnels/id_ed25519`).mode & 0o777, 0o600)
        server.authorize(line ?? "")

        // The host key is pinned by now.
        yield* supervisor.start(optionsOf(server), false)
        const { publicUrl } = yield* phase("running")
        assert.match(publicUrl ?? "", /^http:\/\/127\.0\.0\.1:\d+$/)
        const text = yield* Effect.promise(async () => (await fetch(publicUrl ?? "")).text())
        assert.strictEqual(text, `hello ${new URL(publicUrl ?? "").host}`)

        const answer = yield* Effect.promise(
          () =>
            new Promise<IncomingMessage>((resolve, reject) =>
              request(`${publicUrl}/stream`, resolve).on("error", reject).end()
            )
        )
        for (const event of ["data: one\n\n", "data: two\n\n", "data: three\n\n"]) {
          const came = once(answer, "data")
          behind.streams[0]?.write(event)
          // The next is sent only when this one has come.
          assert.strictEqual(String((yield* Effect.promise(() => came))[0]), event)
        }
        answer.destroy()
        yield* supervisor.stop
        const isClosed = yield* Effect.promise(() =>
          fetch(publicUrl ?? "").then(
            () => false,
            () => true
          )
        )
        assert.isTrue(isClosed)
        assert.deepStrictEqual(
          readdirSync(`${dataDir}/tunnels`).filter((name) => name.endsWith(".json")),
          []
        )
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "refuses a server with another host key than the given one, and one that has changed its key",
    () =>
      Effect.gen(function* () {
        const server = yield* sshServer
        const { dataDir, phase, supervisor } = yield* harness()
        const wrong = `SHA256:${"A".repeat(43)}`
        yield* supervisor.start(optionsOf(server, { hostKey: wrong }), false)
        const { lastError } = yield* phase("error")
        assert.include(lastError ?? "", "another host key")
        assert.include(lastError ?? "", server.fingerprint)

        // Pinned at this address, then another server answers there.
        yield* supervisor.start(optionsOf(server, { hostKey: server.fingerprint }), false)
        yield* phase("needs_auth")
        const pinned = readdirSync(`${dataDir}/tunnels`).find((name) => name.startsWith("known_hosts-")) ?? ""
        const file = `${dataDir}/tunnels/${pinned}`
        const other = yield* sshServer
        const more = yield* harness()
        yield* more.supervisor.start(optionsOf(other, { hostKey: other.fingerprint }), false)
        yield* more.phase("needs_auth")
        const otherPinned = readdirSync(`${more.dataDir}/tunnels`).find((name) => name.startsWith("known_hosts-")) ?? ""
        yield* Effect.promise(async () => {
          const { copyFile } = await import("node:fs/promises")
          await copyFile(`${more.dataDir}/tunnels/${otherPinned}`, file)
        })
        yield* supervisor.start(optionsOf(server), false)
        assert.include((yield* phase("error")).lastError ?? "", "does not show the pinned host key")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "opens again when the server was killed and came back, at the port that was asked for",
    () =>
      Effect.gen(function* () {
        const server = yield* sshServer
        const { dataDir, phase, supervisor } = yield* harness()
        yield* supervisor.start(optionsOf(server, { hostKey: server.fingerprint }), false)
        yield* phase("needs_auth")
        server.authorize(readFileSync(`${dataDir}/tunnels/id_ed25519.pub`, "utf8").trim())
        yield* supervisor.start(optionsOf(server), false)
        const remotePort = Number(new URL((yield* phase("running")).publicUrl ?? "").port)
        yield* supervisor.start(optionsOf(server, { remotePort }), false)
        assert.strictEqual((yield* phase("running")).publicUrl, `http://127.0.0.1:${remotePort}`)
        yield* server.kill
        assert.match((yield* phase("error")).lastError ?? "", /^ssh /)
        yield* server.start
        assert.isAtLeast((yield* phase("running")).restarts, 1)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("does not connect to addresses that the outbound policy refuses", () =>
    Effect.gen(function* () {
      const { dataDir, phase, supervisor } = yield* harness(guarded)
      for (const host of ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1"]) {
        yield* supervisor.start({ user: "u", host, port: 22, remotePort: 0, hostKey: null }, false)
        assert.include((yield* phase("error")).lastError ?? "", "outbound policy", host)
      }
      assert.isFalse(existsSync(`${dataDir}/tunnels/known_hosts`))
    }).pipe(Effect.scoped)
  )
})
