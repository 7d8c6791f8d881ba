/** The built program captures, is killed, and gives the machine back; commands that need no server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import * as Program from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const before = "127.0.0.1\tlocalhost\r\n# mine\n10.0.0.7 intranet.example"

const setUp = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const hostsFile = join(folder, "hosts")
  writeFileSync(hostsFile, before)
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const program = yield* Program.start({
    GATEWAY_HOSTS_FILE: hostsFile,
    MITM_PORT: "0",
    INSPECTOR_HTTP_PROXY_PORT: "0"
  })
  const gateway = (...argv: ReadonlyArray<string>) => Program.run(argv, program.dataDir)
  return { gateway, hosts: () => readFileSync(hostsFile, "latin1"), program }
})

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)

const watchdogOf = (pid: number): number =>
  childrenOf(pid).find((child) => readFileSync(`/proc/${child}/cmdline`, "latin1").includes("watchdog")) ??
  assert.fail("there is no watchdog")

describe("a gateway that is killed", () => {
  it.scopedLive(
    "leaves the hosts file as it was",
    () =>
      Effect.gen(function* () {
        const { gateway, hosts, program } = yield* setUp
        const added = yield* gateway("capture", "hosts", "add", "api.example.test")
        assert.strictEqual(added.code, 0, added.stderr)
        assert.include(hosts(), "127.0.0.1 api.example.test")
        program.signal("SIGKILL")
        yield* Effect.promise(() => eventually("the file as it was", hosts, (text) => text === before))
      }),
    120_000
  )

  it.scopedLive(
    "together with its watchdog is found by doctor and put right by capture restore",
    () =>
      Effect.gen(function* () {
        if (process.platform !== "linux") return
        const { gateway, hosts, program } = yield* setUp
        yield* gateway("capture", "hosts", "add", "api.example.test")
        const watchdog = watchdogOf(program.pid)
        // Stopped, it cannot take anything back before it is killed itself.
        process.kill(watchdog, "SIGSTOP")
        program.signal("SIGKILL")
        yield* Effect.promise(() => program.ended)
        process.kill(watchdog, "SIGKILL")
        assert.notStrictEqual(hosts(), before)

        const ill = yield* gateway("doctor", "--no-liveness", "--json")
        const { checks } = JSON.parse(ill.stdout)
        const found = checks.find(({ name }: { name: string }) => name === "capture")
        assert.strictEqual(found.status, "fail", ill.stdout)
        assert.include(found.hint, "gateway capture restore")

        const restored = yield* gateway("capture", "restore", "--json")
        assert.strictEqual(restored.code, 0, restored.stderr)
        assert.strictEqual(JSON.parse(restored.stdout).restored.length, 1, restored.stdout)
        assert.strictEqual(hosts(), before)
        const again = yield* gateway("capture", "restore")
        assert.strictEqual(again.code, 0)
        assert.include(again.stderr, "nothing to take back")
      }),
    120_000
  )
})

describe("capture run", () => {
  it.scopedLive(
    "gives a command the proxy and the certificate, and has its exit code",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp
        const script = 'echo "$HTTPS_PROXY $NODE_EXTRA_CA_CERTS"; head -1 "$NODE_EXTRA_CA_CERTS"; exit 7'
        const ran = yield* gateway("capture", "run", "--", "sh", "-c", script)
        assert.strictEqual(ran.code, 7, ran.stderr)
        assert.match(ran.stdout, /^http:\/\/127\.0\.0\.1:\d+ \/\S+\n-----BEGIN CERTIFICATE-----\n$/)
        const status = yield* gateway("capture", "status", "--json")
        assert.isTrue(JSON.parse(status.stdout).httpProxy.running, status.stdout)
        const missing = yield* gateway("capture", "run")
        assert.strictEqual(missing.code, 2, missing.stderr)
        for (const words of [
          ["proxy", "stop"],
          ["tls-intercept", "on"],
          ["tls-intercept", "off"],
          ["cert", "show"],
          ["bridge", "status"],
          ["bridge", "agents"],
          ["hosts", "list"],
          ["tproxy", "status"]
        ]) {
          const shown = yield* gateway("capture", ...words, "--json")
          assert.strictEqual(shown.code, 0, `${words.join(" ")}: ${shown.stderr}`)
          assert.isObject(JSON.parse(shown.stdout), words.join(" "))
        }
      }),
    240_000
  )
})
