/** The download of cloudflared, from a server of this machine. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import * as Dns from "../../../../src/net/egress/Dns.ts"
import * as PublicDownload from "../../../../src/net/egress/PublicDownload.ts"
import { UpstreamSettings } from "../../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import { endOfArchive, headerOf, paddingOf } from "../../../../src/kernel/Tar.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import * as Timers from "../../../../src/platform/Timers.ts"
import { downloadLimits } from "../../../../src/net/tunnels/quick/Download.ts"
import { Installs } from "../../../../src/net/tunnels/Installs.ts"
import { announced, type GatewayEvent } from "../../../../src/observe/Events.ts"
import * as QuickProgram from "../../../../src/net/tunnels/quick/Program.ts"
import type { ReleaseFile } from "../../../../src/net/tunnels/quick/Release.ts"
import { releaseFiles } from "../../../../src/net/tunnels/quick/Release.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const program = Buffer.from("#!/bin/sh\necho a program\n".repeat(20_000))
const sumOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")
const archive = gzipSync(
  Buffer.concat([
    headerOf("README", 3, 0),
    Buffer.from("abc"),
    paddingOf(3),
    headerOf("cloudflared", program.length, 0),
    program,
    paddingOf(program.length),
    endOfArchive()
  ])
)

const harness = (
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  file: ReleaseFile | null,
  { guard = "false", path = "/nowhere" } = {}
) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? "")
      handle(request, response)
    }).listen(0, "127.0.0.1")
    yield* Effect.promise(() => once(server, "listening"))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const folder = yield* temporaryFolder
    const config = AppConfig.layerOf({ dataDir: folder, environment: new Map([["PATH", path]]) })
    const flags = Flags.layer.pipe(Layer.provide([layerMemory({ OUTBOUND_SSRF_GUARD_ENABLED: guard }), config]))
    const jobs: Array<string> = []
    const events = {
      publish: (event: GatewayEvent) => {
        if (event.type === "job.changed") jobs.push(`${event.kind} ${event.id} ${event.state}`)
      }
    }
    const layer = QuickProgram.layerOf({
      folder: `${folder}/tunnels`,
      base: `http://127.0.0.1:${port}/base`,
      files: new Map(file === null ? [] : [["this-machine", file]]),
      platform: "this-machine"
    }).pipe(
      Layer.provide(
        Layer.succeed(Installs, { announced: (id, install) => announced(events, { kind: "install", id }, install) })
      ),
      Layer.provide(PublicDownload.layer),
      Layer.provide([
        config,
        flags,
        Dns.layer,
        Timers.layer,
        Layer.succeed(UpstreamSettings, { connectTimeoutMs: () => 5_000 })
      ])
    )
    const service = yield* Effect.provide(QuickProgram.QuickProgram, yield* Layer.build(layer))
    return { asked, folder: `${folder}/tunnels`, jobs, path: service.path }
  })

const plain: ReleaseFile = { path: "1.2.3/cloudflared", sha256: sumOf(program), form: "program" }
const give = (bytes: Buffer) => (_: IncomingMessage, response: ServerResponse) => void response.end(bytes)

describe("QuickProgram", () => {
  it.live("downloads the program once for all who ask, with a redirect, and keeps it", () =>
    Effect.gen(function* () {
      const { asked, folder, jobs, path } = yield* harness((request, response) => {
        if (request.url === "/base/1.2.3/cloudflared") response.writeHead(302, { location: "/elsewhere" }).end()
        else response.end(program)
      }, plain)
      const [one, other] = yield* Effect.all([path, path], { concurrency: 2 })
      assert.strictEqual(one, other)
      assert.strictEqual(yield* path, one)
      assert.deepStrictEqual(asked, ["/base/1.2.3/cloudflared", "/elsewhere"])
      assert.deepStrictEqual(jobs, ["install cloudflared running", "install cloudflared completed"])
      assert.isTrue(readFileSync(one).equals(program))
      assert.strictEqual(statSync(one).mode & 0o777, 0o700)
      assert.strictEqual(readdirSync(folder).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("takes the program out of an archive", () =>
    Effect.gen(function* () {
      const { path } = yield* harness(give(archive), { path: "x.tgz", sha256: sumOf(archive), form: "tgz" })
      const file = yield* path
      assert.isTrue(readFileSync(file).equals(program))
      assert.strictEqual(statSync(file).mode & 0o777, 0o700)
    }).pipe(Effect.scoped)
  )

  const refusals: ReadonlyArray<
    readonly [string, (request: IncomingMessage, response: ServerResponse) => void, boolean, string]
  > = [
    ["another program", give(Buffer.from("evil")), true, "SHA-256"],
    [
      "half of it",
      (_, response) =>
        void response
          .writeHead(200, { "content-length": program.length })
          .write(program.subarray(9), () => response.destroy()),
      false,
      "could not be downloaded"
    ],
    ["a page that says no", (_, response) => void response.writeHead(404).end("no"), false, "status 404"],
    [
      "too much",
      (_, response) => void response.writeHead(200, { "content-length": downloadLimits.bytes + 1 }).flushHeaders(),
      false,
      "more than"
    ]
  ]
  for (const [what, handle, isFinal, reason] of refusals) {
    it.live(`keeps nothing when it gets ${what}`, () =>
      Effect.gen(function* () {
        const { folder, path } = yield* harness(handle, plain)
        const error = yield* Effect.flip(path)
        assert.include(error.reason, reason)
        assert.include(error.reason, "QUICK_TUNNEL_BIN")
        assert.strictEqual(error.isFinal, isFinal)
        assert.deepStrictEqual(readdirSync(folder), [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("is guarded by the outbound policy, and says what to do where there is no file", () =>
    Effect.gen(function* () {
      const guarded = yield* harness(give(program), plain, { guard: "true" })
      assert.include((yield* Effect.flip(guarded.path)).reason, "outbound policy")
      assert.deepStrictEqual(guarded.asked, [])
      const none = yield* harness(give(program), null)
      assert.include((yield* Effect.flip(none.path)).reason, "no cloudflared to download for this-machine")
    }).pipe(Effect.scoped)
  )

  it.live("takes an installed one first", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(`${folder}/cloudflared`, "#!/bin/sh\n")
      chmodSync(`${folder}/cloudflared`, 0o755)
      const { asked, path } = yield* harness(give(program), plain, { path: `relative:${folder}` })
      assert.strictEqual(yield* path, `${folder}/cloudflared`)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.scoped)
  )

  it("knows a whole sum of each file", () => {
    for (const { form, path, sha256 } of releaseFiles.values()) {
      assert.match(sha256, /^[0-9a-f]{64}$/)
      assert.strictEqual(form === "tgz", path.endsWith(".tgz"))
    }
  })
})
