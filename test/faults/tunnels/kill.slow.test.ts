/** A gateway that is killed with tunnels open: the next start ends what it left, touches nothing else, and opens them again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import {
  isRunning,
  type ProcessIdentity,
  processesWith,
  startedAt
} from "../../../src/platform/programs/ProcessIdentity.ts"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import { backends, manage, phase, type BackendName } from "../../support/tunnels/Backends.ts"
import { fakeCloudflared } from "../../support/tunnels/FakeCloudflared.ts"
import { whyNoSshd } from "../../support/tunnels/SshServer.ts"

const patienceMs = 60_000
const markVariable = "GATEWAY_PROGRAM_MARK"

const recordsOf = (dataDir: string): ReadonlyArray<string> =>
  readdirSync(join(dataDir, "tunnels")).filter((name) => name.endsWith(".program.json"))

/** Everything that runs because of the programs on record, and what else carries their marks. */
const childrenOf = (dataDir: string): ReadonlyArray<ProcessIdentity> =>
  recordsOf(dataDir).flatMap((name) => {
    const { mark } = JSON.parse(readFileSync(join(dataDir, "tunnels", name), "utf8"))
    return processesWith(markVariable, mark)
  })

/** A process of somebody else, which is ended with the scope. */
const bystander = (command: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(command, args, { stdio: "ignore" })
      await once(child, "spawn")
      return child
    }),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null

const killed = (program: Program.Program) =>
  Effect.promise(() => {
    program.signal("SIGKILL")
    return program.ended
  })

/** By one second after the start has told where it listens. */
const allGone = (processes: ReadonlyArray<ProcessIdentity>) =>
  Effect.promise(() =>
    eventually(
      "the processes of the former run to be gone",
      () => processes.filter(isRunning),
      (left) => left.length === 0,
      { withinMs: 1_000 }
    )
  )

const why = whyNoSshd()
const three: ReadonlyArray<BackendName> = ["quick", "token", "ssh"]

describe.skipIf(why !== null)(`kill -9 of the built program${why === null ? "" : ` (skipped: ${why})`}`, () => {
  it.scopedLive(
    "with three tunnels open",
    () =>
      Effect.gen(function* () {
        const behind = yield* backends()
        const environment = { ...behind.environment, REQUIRE_API_KEY: "true" }
        const first = yield* Program.start(environment)
        const { dataDir } = first
        yield* Effect.promise(async () => {
          for (const backend of three) {
            const { json } = await behind.open(first, backend)
            assert.strictEqual(json.phase, "running", JSON.stringify(json))
          }
        })
        const left = childrenOf(dataDir)
        const carrier = behind.cloudflared.seen()?.pid ?? 0
        assert.include(
          left.map(({ pid }) => pid),
          carrier
        )
        assert.lengthOf(recordsOf(dataDir), 2)
        // The same programs, started by somebody else: `cloudflared` has a folder of its own, since it writes into it.
        const other = yield* fakeCloudflared
        other.behave("ok")
        const { port, user } = behind.ssh ?? { port: 0, user: "" }
        const others = [
          yield* bystander(other.path, ["tunnel", "--url", "http://127.0.0.1:9"]),
          yield* bystander(
            "ssh",
            `-F /dev/null -N -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -p ${port} -l ${user}`
              .split(" ")
              .concat("-i", join(dataDir, "tunnels/id_ed25519"), "127.0.0.1")
          )
        ]
        yield* killed(first)
        assert.isTrue(isRunning({ pid: carrier, startedAt: startedAt(carrier) ?? "" }), "it outlives the gateway")
        behind.cloudflared.nameHost("other-words-after-restart.trycloudflare.com")

        const second = yield* Program.start(environment, dataDir)
        yield* allGone(left)
        assert.isTrue(others.every(isAlive))
        yield* Effect.promise(async () => {
          for (const backend of three) {
            const status = await phase(second, backend, "running")
            const { publicHost, url } = await behind.outside(backend, status.publicUrl)
            const answer = await RawRequest.ask(url, {
              method: "GET",
              path: "/v1/models",
              headers: { host: publicHost }
            })
            assert.strictEqual(answer.status, 401, backend)
          }
          const { json } = await manage(second, "GET", "/api/tunnels/quick")
          assert.strictEqual(json.publicUrl, "https://other-words-after-restart.trycloudflare.com")
        })
        assert.lengthOf(recordsOf(dataDir), 2)
        assert.lengthOf(behind.edge.tokens, 2)
        const running = childrenOf(dataDir)
        const { code } = yield* second.stop
        assert.strictEqual(code, 0, second.stderr())
        assert.deepStrictEqual(running.filter(isRunning), [])
        assert.deepStrictEqual(recordsOf(dataDir), [])
        assert.isTrue(others.every(isAlive))
      }),
    patienceMs
  )

  it.scopedLive(
    "while they are starting",
    () =>
      Effect.gen(function* () {
        const behind = yield* backends({ edge: { refusal: null } })
        const environment = { ...behind.environment, REQUIRE_API_KEY: "true" }
        behind.cloudflared.behave("nothing")
        // A server of SSH that takes connections and says nothing: its host key is waited for.
        const mute = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const server = createServer(() => {}).listen(0, "127.0.0.1")
            await once(server, "listening")
            return server
          }),
          (server) => Effect.sync(() => void server.close())
        )
        const first = yield* Program.start(environment)
        const { dataDir } = first
        const left = yield* Effect.promise(async () => {
          const destination = `me@127.0.0.1:${(mute.address() as AddressInfo).port}`
          const hostKey = `SHA256:${"b".repeat(43)}`
          const opening = [
            behind.open(first, "quick"),
            behind.open(first, "token"),
            manage(first, "POST", "/api/tunnels/ssh", { action: "enable", destination, hostKey })
          ]
          for (const each of opening) each.catch(() => {})
          await eventually("cloudflared", behind.cloudflared.hasSaid, Boolean)
          await eventually(
            "the edge",
            () => behind.edge.tokens.length,
            (count) => count === 1
          )
          await eventually(
            // A program is on record before it runs.
            "cloudflared and ssh-keyscan to run",
            () => childrenOf(dataDir).length,
            (count) => count >= 2
          )
          const { json } = await manage(first, "GET", "/api/tunnels")
          assert.deepStrictEqual(
            json.tunnels.map(({ phase: now }: { readonly phase: string }) => now),
            ["starting", "starting", "stopped", "starting"]
          )
          return childrenOf(dataDir)
        })
        assert.isAtLeast(left.length, 2)
        yield* killed(first)
        behind.cloudflared.behave("ok")
        const second = yield* Program.start(environment, dataDir)
        yield* allGone(left)
        yield* Effect.promise(() => phase(second, "quick", "running"))
        const running = childrenOf(dataDir)
        yield* second.stop
        assert.deepStrictEqual(running.filter(isRunning), [])
        assert.deepStrictEqual(recordsOf(dataDir), [])
      }),
    patienceMs
  )
})
