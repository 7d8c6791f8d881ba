/** `gateway tunnel …` against a running gateway whose tunnels are made up. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { Readable } from "node:stream"
import { afterAll, beforeAll, vi } from "vitest"
import { Tunnels } from "../../src/net/tunnels/Tunnels.ts"
import { InvalidTunnelOption } from "../../src/net/tunnels/Tunnels.ts"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import * as FakeTunnels from "../support/FakeTunnels.ts"
import { eventually } from "../support/eventually.ts"
import { typed } from "../unit/cli/inProcess.ts"

beforeAll(() => void vi.stubEnv("DATA_DIR", "/nonexistent"))
afterAll(() => vi.unstubAllEnvs())

const asked = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* typed([...words, "--url", url, "--gateway-key", adminKey])
})

const json = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* asked(...words, "--json")
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

/** Runs a command with something on standard input. */
const fed = (input: string, ...words: ReadonlyArray<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([Buffer.from(input)]) as never)),
    () => asked(...words),
    (spy) => Effect.sync(() => spy.mockRestore())
  )

const tunnels = FakeTunnels.make()
const keysRequired = layerOf({ environment: new Map([["REQUIRE_API_KEY", "true"]]) }, tunnels)
const apiUrl = `https://${FakeTunnels.publicHost}/v1`

layer(keysRequired, { excludeTestServices: true })("gateway tunnel", (it) => {
  it.scoped("opens one, prints its address alone on stdout, shows it and closes it", () =>
    Effect.gen(function* () {
      const opened = yield* asked("tunnel", "create", "quick")
      assert.deepStrictEqual([opened.code, opened.stdout], [0, apiUrl], opened.stderr)
      assert.include(opened.stderr, "It cannot carry server-sent events.")
      assert.deepInclude(yield* json("tunnel", "create", "quick"), { backend: "quick", phase: "running", apiUrl })
      const named = yield* asked("tunnel", "create", "quick", "-o", "name")
      assert.strictEqual(named.stdout, apiUrl)

      const { tunnels: all } = yield* json("tunnel", "list")
      assert.deepStrictEqual(
        all.map(({ backend, phase }: Record<string, unknown>) => [backend, phase]),
        [
          ["quick", "running"],
          ["token", "stopped"],
          ["mesh", "stopped"],
          ["ssh", "stopped"]
        ]
      )
      const table = yield* asked("tunnels", "ls")
      assert.match(table.stdout, /quick +running +https:\/\/calls\.tunnel\.example\/v1/)
      assert.strictEqual((yield* json("tunnel", "status", "quick")).running, true)

      const stopped = yield* asked("tunnel", "stop", "quick")
      assert.deepStrictEqual([stopped.code, stopped.stderr], [0, "Closed: quick."])
      assert.strictEqual((yield* json("tunnel", "status", "quick")).phase, "stopped")
      assert.include((yield* asked("tunnel", "stop", "quick")).stderr, "No tunnel had to be closed.")
    })
  )

  it.scoped("closes all that are open with --all, and nothing without a name", () =>
    Effect.gen(function* () {
      yield* asked("tunnel", "create", "quick")
      yield* asked("tunnel", "create", "token")
      const unsaid = yield* asked("tunnel", "stop")
      assert.strictEqual(unsaid.code, 2)
      assert.include((yield* asked("tunnel", "stop", "--all")).stderr, "Closed: quick, token.")
    })
  )

  it.scoped("shows the address as a QR code on stderr", () =>
    Effect.gen(function* () {
      const { stderr, stdout } = yield* asked("tunnel", "create", "quick", "--qr")
      assert.strictEqual(stdout, apiUrl)
      assert.match(stderr, / ▄▄▄▄▄ /u)
      yield* asked("tunnel", "stop", "quick")
    })
  )

  it.scoped("reads the authtoken from standard input, and says what is missing without one", () =>
    Effect.gen(function* () {
      tunnels.next({ phase: "needs_auth", lastError: "The tunnel needs an authtoken." })
      const missing = yield* asked("tunnel", "create", "token")
      assert.strictEqual(missing.code, 1)
      assert.match(missing.stderr, /needs an authtoken[\s\S]*--auth-token-stdin/)

      const given = yield* fed("token-of-a-test\n", "tunnel", "create", "token", "--auth-token-stdin")
      assert.strictEqual(given.stdout, apiUrl)
      assert.notInclude(given.stderr, "token-of-a-test")
      const last = tunnels.enabled.at(-1)
      assert.strictEqual(
        last?.backend === "token" && last.authToken !== null ? Redacted.value(last.authToken) : null,
        "token-of-a-test"
      )
      const broken = yield* fed("token\u0007of-a-test\n", "tunnel", "create", "token", "--auth-token-stdin")
      assert.strictEqual(broken.code, 2)
      assert.include(broken.stderr, "--auth-token-stdin: must not hold control characters")
      assert.notInclude(broken.stderr, "of-a-test")
      assert.strictEqual((yield* fed("", "tunnel", "create", "token", "--auth-token-stdin")).code, 2)
      yield* asked("tunnel", "stop", "token")
    })
  )

  it.scoped("shows the fingerprint of an unknown server and how to confirm it", () =>
    Effect.gen(function* () {
      const fingerprint = `SHA256:${"b".repeat(43)}`
      const words = `the server's key is not known yet: ${fingerprint}`
      tunnels.next(new InvalidTunnelOption({ field: "hostKey", message: words }))
      const first = yield* asked("tunnel", "create", "ssh", "me@server.example")
      assert.strictEqual(first.code, 2)
      assert.include(first.stderr, `--host-key ${fingerprint}`)
      tunnels.next({ phase: "needs_auth", lastError: `Confirm ${fingerprint}.` })
      const second = yield* asked("tunnel", "create", "ssh", "me@server.example")
      assert.include(second.stderr, `--host-key ${fingerprint}`)

      const opened = yield* asked(
        "tunnel",
        "create",
        "ssh",
        "me@server.example:2222",
        "--host-key",
        fingerprint,
        "--remote-port",
        "8080"
      )
      assert.strictEqual(opened.stdout, apiUrl, opened.stderr)
      assert.deepInclude(tunnels.enabled.at(-1), {
        host: "server.example",
        port: 2222,
        remotePort: 8080,
        hostKey: fingerprint
      })
      yield* asked("tunnel", "stop", "ssh")
    })
  )

  it.scoped("prepares the mesh VPN step by step", () =>
    Effect.gen(function* () {
      tunnels.check = { ...tunnels.check, installed: false, daemonRunning: false }
      const unasked = yield* asked("tunnel", "create", "mesh")
      assert.strictEqual(unasked.code, 2)
      assert.include(unasked.stderr, "not installed")
      const login = yield* fed("of-this-machine\n", "tunnel", "create", "mesh", "--install", "--sudo-password-stdin")
      assert.strictEqual(login.code, 1)
      assert.match(
        login.stderr,
        /Downloading the program\. 40 %\nInstalling it\.\n[\s\S]*https:\/\/login\.mesh\.example\/a\/1/
      )
      assert.notInclude(login.stderr, "of-this-machine")
      assert.isTrue(
        tunnels.given
          .slice(0, 2)
          .every((one) => Redacted.isRedacted(one) && Redacted.value(one as Redacted.Redacted) === "of-this-machine")
      )

      tunnels.check = { ...tunnels.check, installed: true, daemonRunning: true, loggedIn: true }
      tunnels.notice = { authUrl: null, funnelNotEnabled: true, enableUrl: "https://login.mesh.example/f/funnel" }
      tunnels.next({ phase: "needs_auth", lastError: "The network does not allow funnels." })
      const refused = yield* asked("tunnel", "create", "mesh")
      assert.match(refused.stderr, /does not allow funnels[\s\S]*https:\/\/login\.mesh\.example\/f\/funnel/)
      const opened = yield* asked("tunnel", "create", "mesh", "--public-port", "8443")
      assert.strictEqual(opened.stdout, apiUrl, opened.stderr)
      yield* asked("tunnel", "stop", "mesh")
    })
  )

  it.scoped("waits while a tunnel starts, and says why one did not open", () =>
    Effect.gen(function* () {
      tunnels.next({ phase: "starting" })
      const starting = yield* Effect.fork(asked("tunnel", "create", "quick"))
      const service = yield* Tunnels
      yield* Effect.promise(() =>
        eventually(
          "the tunnel to start",
          () => Effect.runPromise(service.status("quick")),
          ({ phase }) => phase === "starting"
        )
      )
      yield* service.enable({ backend: "quick", allowKeyless: false })
      assert.strictEqual((yield* Fiber.join(starting)).stdout, apiUrl)
      tunnels.next({ phase: "error", lastError: "The program ended with 1." })
      const failed = yield* asked("tunnel", "create", "quick")
      assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
      assert.include(failed.stderr, "The program ended with 1.")
    })
  )

  it.scoped("watches a tunnel until it is stopped, a line of JSON for each change", () =>
    Effect.gen(function* () {
      const service = yield* Tunnels
      yield* service.enable({ backend: "quick", allowKeyless: false })
      const watching = yield* Effect.fork(asked("tunnel", "status", "quick", "--watch", "--json"))
      yield* Effect.sleep("200 millis")
      yield* service.disable("quick")
      const { code, stdout } = yield* Fiber.join(watching)
      const phases = stdout.split("\n").map((line) => JSON.parse(line).phase)
      assert.deepStrictEqual([code, phases.at(-1)], [0, "stopped"])
    })
  )

  it.scoped("refuses what does not belong to the tunnel, with its flag", () =>
    Effect.gen(function* () {
      for (const [words, says] of [
        [["create", "quick", "me@server.example"], "only the ssh tunnel"],
        [["create", "quick", "--auth-token-stdin"], "--auth-token-stdin: only the token tunnel"],
        [["create", "mesh", "--remote-port", "80"], "--remote-port: only the ssh tunnel"],
        [["create", "ssh"], "Where the SSH tunnel leads"],
        [["create", "ssh", "server.example"], "must be user@host"],
        [["create", "ssh", "me@server.example", "--host-key", "x"], "--host-key: must be a fingerprint"],
        [["create", "mesh", "--public-port", "80"], "--public-port: must be one of 443, 8443, 10000"]
      ] as const) {
        const { code, stderr } = yield* asked("tunnel", ...words)
        assert.strictEqual(code, 2, words.join(" "))
        assert.include(stderr, says)
      }
      assert.notStrictEqual((yield* asked("tunnel", "create", "other")).code, 0)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("gateway tunnel, without keys", (it) => {
  it.scoped("opens nothing unless that is asked for, and says how", () =>
    Effect.gen(function* () {
      const refused = yield* asked("tunnel", "create", "quick")
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.match(refused.stderr, /requires no API key[\s\S]*flags set REQUIRE_API_KEY true[\s\S]*--allow-keyless/)
      const opened = yield* asked("tunnel", "create", "quick", "--allow-keyless")
      assert.strictEqual(opened.stdout, apiUrl, opened.stderr)
      assert.include(opened.stderr, "without an API key")
    })
  )
})
