/** `/api/tunnels`: bodies, answers and refusals, over tunnels that are made up. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { MeshToolFailed } from "../../../src/net/tunnels/mesh/MeshTools.ts"
import { InvalidTunnelOption } from "../../../src/net/tunnels/Tunnels.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import { type Answer, layerOf, TestApp } from "./TestApp.ts"

const keysRequired = { environment: new Map([["REQUIRE_API_KEY", "true"]]) }

const scene = (
  name: string,
  play: (given: {
    readonly tunnels: FakeTunnels.FakeTunnels
    readonly get: (path: string) => Effect.Effect<Answer>
    readonly post: (path: string, body: unknown) => Effect.Effect<Answer>
  }) => Effect.Effect<void>,
  config: Parameters<typeof layerOf>[0] = keysRequired
) => {
  const tunnels = FakeTunnels.make()
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      yield* play({
        tunnels,
        get: (path) => app.admin(`/api/tunnels${path}`),
        post: (path, body) => app.admin(`/api/tunnels${path}`, { method: "POST", body })
      })
    }).pipe(Effect.provide(layerOf(config, tunnels)))
  )
}

const lawFields = ["phase", "running", "publicUrl", "apiUrl", "targetUrl", "lastError"]

describe("the routes of tunnels", () => {
  scene("list every backend, opened or not, with the fields of a status", ({ get, post }) =>
    Effect.gen(function* () {
      const answer = yield* get("")
      const tunnels = JSON.parse(answer.text).tunnels as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        tunnels.map(({ backend, phase }) => [backend, phase]),
        ["quick", "token", "mesh", "ssh"].map((name) => [name, "stopped"])
      )
      for (const status of tunnels) {
        assert.includeMembers(Object.keys(status), [...lawFields, "warning", "since", "restarts", "allowKeyless"])
      }
      const opened = yield* post("/quick", { action: "enable" })
      assert.strictEqual(opened.status, 200)
      const shown = yield* get("/quick")
      assert.strictEqual(shown.text, opened.text)
      assert.deepInclude(JSON.parse(shown.text), {
        phase: "running",
        running: true,
        publicUrl: "https://calls.tunnel.example",
        apiUrl: "https://calls.tunnel.example/v1",
        warning: "It cannot carry server-sent events.",
        since: "2025-10-09T08:53:20.000Z"
      })
      const closed = yield* post("/quick", { action: "disable" })
      assert.deepInclude(JSON.parse(closed.text), {
        phase: "stopped",
        running: false,
        publicUrl: null,
        targetUrl: null
      })
    })
  )

  scene("hand on what was asked for", ({ post, tunnels }) =>
    Effect.gen(function* () {
      yield* post("/quick", { action: "enable", allowKeyless: true })
      yield* post("/token", { action: "enable", authToken: "token-of-a-test" })
      yield* post("/token", { action: "enable", authToken: null })
      yield* post("/ssh", { action: "enable", destination: "me@server.example" })
      const hostKey = `SHA256:${"a".repeat(43)}`
      yield* post("/ssh", { action: "enable", destination: "m.e@[::1]:2222", remotePort: 8080, hostKey })
      yield* post("/mesh/enable", {})
      yield* post("/mesh/enable", { port: 8443, sudoPassword: "of-this-machine" })
      const [, token, , ...rest] = tunnels.enabled
      assert.strictEqual(
        token?.backend === "token" && token.authToken !== null ? Redacted.value(token.authToken) : null,
        "token-of-a-test"
      )
      const last = rest.at(-1)
      assert.strictEqual(
        last?.backend === "mesh" && last.sudoPassword !== null ? Redacted.value(last.sudoPassword) : null,
        "of-this-machine"
      )
      assert.deepStrictEqual(
        [tunnels.enabled[0], tunnels.enabled[2], ...rest.slice(0, 3)],
        [
          { backend: "quick", allowKeyless: true },
          { backend: "token", authToken: null, allowKeyless: false },
          {
            backend: "ssh",
            user: "me",
            host: "server.example",
            port: 22,
            remotePort: 0,
            hostKey: null,
            allowKeyless: false
          },
          { backend: "ssh", user: "m.e", host: "::1", port: 2222, remotePort: 8080, hostKey, allowKeyless: false },
          { backend: "mesh", port: 443, sudoPassword: null, allowKeyless: false }
        ]
      )
    })
  )

  scene("name each wrong field, open nothing, and repeat no secret", ({ post, tunnels }) =>
    Effect.gen(function* () {
      const secret = "do-not-repeat"
      const cases: ReadonlyArray<readonly [path: string, body: unknown, field: string]> = [
        ["/quick", {}, "action"],
        ["/quick", { action: "open" }, "action"],
        ["/quick", { action: "enable", allowKeyles: true }, "allowKeyles"],
        ["/token", { action: "enable", authToken: "" }, "authToken"],
        ["/token", { action: "enable", authToken: `${secret}\n` }, "authToken"],
        ["/token", { action: "enable", authToken: `${secret}\u0000` }, "authToken"],
        ["/token", { action: "enable", authToken: `${secret}\u0085` }, "authToken"],
        ["/token", { action: "enable", authToken: secret + "x".repeat(4_096) }, "authToken"],
        ["/token", { action: "enable", token: secret }, "token"],
        ["/ssh", { action: "enable" }, "destination"],
        ["/ssh", { action: "enable", destination: "server.example" }, "destination"],
        ["/ssh", { action: "enable", destination: "-oProxyCommand=x@server.example" }, "destination"],
        ["/ssh", { action: "enable", destination: "me@-oProxyCommand=x" }, "destination"],
        ["/ssh", { action: "enable", destination: "me@server.example:0" }, "destination"],
        ["/ssh", { action: "enable", destination: "me@server.example:65536" }, "destination"],
        ["/ssh", { action: "enable", destination: "me@server.example\nx" }, "destination"],
        ["/ssh", { action: "enable", destination: "me@server.example", remotePort: 70_000 }, "remotePort"],
        ["/ssh", { action: "enable", destination: "me@server.example", hostKey: "MD5:00" }, "hostKey"],
        ["/mesh/enable", { port: 80 }, "port"],
        ["/mesh/enable", { hostname: "-x" }, "hostname"],
        ["/mesh/enable", { sudoPassword: `${secret}\r\nwhoami` }, "sudoPassword"],
        ["/mesh/disable", { sudoPassword: secret + "x".repeat(4_096) }, "sudoPassword"],
        ["/mesh/install", { sudoPassword: `${secret}\u001b` }, "sudoPassword"],
        ["/mesh/start-daemon", { password: secret }, "password"],
        ["/mesh/login", { hostname: "a".repeat(64) }, "hostname"]
      ]
      for (const [path, body, field] of cases) {
        const answer = yield* post(path, body)
        const why = `${path} ${JSON.stringify(body).slice(0, 90)}: ${answer.text}`
        assert.strictEqual(answer.status, 400, why)
        assert.strictEqual(answer.at("error.details.0.field"), field, why)
        assert.notInclude(answer.text, secret, why)
      }
      assert.deepStrictEqual(tunnels.enabled, [])
      assert.deepStrictEqual(tunnels.given, [])
    })
  )

  scene("tell what a person has to do, as a status and not as an error", ({ get, post, tunnels }) =>
    Effect.gen(function* () {
      tunnels.next({ phase: "needs_auth", lastError: "Give an authtoken." })
      const token = yield* post("/token", { action: "enable" })
      assert.strictEqual(token.status, 200)
      assert.deepInclude(JSON.parse(token.text), {
        phase: "needs_auth",
        running: false,
        lastError: "Give an authtoken."
      })

      const enableUrl = "https://login.mesh.example/f/funnel"
      tunnels.notice = { authUrl: null, funnelNotEnabled: true, enableUrl }
      tunnels.next({ phase: "needs_auth", lastError: "Funnels are not allowed." })
      const mesh = yield* post("/mesh/enable", {})
      assert.strictEqual(mesh.status, 200)
      assert.deepInclude(JSON.parse(mesh.text), { phase: "needs_auth", funnelNotEnabled: true, enableUrl })
      assert.deepInclude(JSON.parse((yield* get("/mesh")).text), { funnelNotEnabled: true, tunnelUrl: null })

      tunnels.notice = { authUrl: null, funnelNotEnabled: false, enableUrl: null }
      const open = yield* post("/mesh/enable", {})
      assert.deepInclude(JSON.parse(open.text), { tunnelUrl: "https://calls.tunnel.example", funnelNotEnabled: false })
    })
  )

  scene("an option that cannot be used is a 400 with its name", ({ post, tunnels }) =>
    Effect.gen(function* () {
      tunnels.next(new InvalidTunnelOption({ field: "hostKey", message: "is not the one of the server" }))
      const answer = yield* post("/ssh", { action: "enable", destination: "me@server.example" })
      assert.deepStrictEqual([answer.status, answer.at("error.param")], [400, "hostKey"])
      assert.include(String(answer.at("error.message")), "is not the one of the server")
    })
  )

  scene(
    "open nothing while no key is required, unless that is asked for",
    ({ post }) =>
      Effect.gen(function* () {
        const refused = yield* post("/token", { action: "enable", authToken: "token-of-a-test" })
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [409, "keys_required"])
        assert.match(String(refused.at("error.message")), /REQUIRE_API_KEY=true.*allowKeyless/)
        assert.notInclude(refused.text, "token-of-a-test")
        const open = yield* post("/token", { action: "enable", allowKeyless: true })
        assert.deepStrictEqual([open.status, open.at("allowKeyless")], [200, true])
      }),
    {}
  )

  scene("the mesh VPN: check, daemon, login and the events of an installation", ({ get, post, tunnels }) =>
    Effect.gen(function* () {
      const check = { installed: true, daemonRunning: true, loggedIn: false, version: "1.84.0", hostname: null }
      assert.deepStrictEqual(JSON.parse((yield* get("/mesh/check")).text), check)
      const started = yield* post("/mesh/start-daemon", { sudoPassword: "of-this-machine" })
      assert.deepStrictEqual(JSON.parse(started.text), check)
      const login = yield* post("/mesh/login", { hostname: "machine" })
      assert.deepStrictEqual(JSON.parse(login.text), { authUrl: "https://login.mesh.example/a/1", loggedIn: false })
      const failed = yield* post("/mesh/login", { hostname: "refused" })
      assert.deepStrictEqual([failed.status, failed.at("error.code")], [502, "mesh_tool_failed"])

      const installed = yield* post("/mesh/install", { sudoPassword: "of-this-machine" })
      assert.match(String(installed.headers["content-type"]), /^text\/event-stream/)
      assert.strictEqual(
        installed.text,
        'event: progress\ndata: {"step":"download","message":"Downloading the program.","percent":40}\n\n' +
          'event: progress\ndata: {"step":"install","message":"Installing it.","percent":null}\n\n' +
          `event: done\ndata: ${JSON.stringify(check)}\n\n`
      )
      tunnels.progress = Stream.concat(
        Stream.make({ step: "download", message: "line one\nline two", percent: null }),
        Stream.fail(new MeshToolFailed({ reason: "The password was not accepted." }))
      )
      const broken = yield* post("/mesh/install", {})
      assert.strictEqual(
        broken.text,
        'event: progress\ndata: {"step":"download","message":"line one\\nline two","percent":null}\n\n' +
          'event: error\ndata: {"message":"The password was not accepted."}\n\n'
      )
      assert.deepStrictEqual(
        tunnels.given.map((given) => (Redacted.isRedacted(given) ? Redacted.value(given) : given)),
        ["of-this-machine", "machine", "refused", "of-this-machine", null]
      )
    })
  )

  scene("close the mesh tunnel, with a password where nothing of it may be left", ({ post, tunnels }) =>
    Effect.gen(function* () {
      yield* post("/mesh/enable", {})
      assert.strictEqual((yield* post("/mesh/disable", {})).at("phase"), "stopped")
      assert.deepStrictEqual(tunnels.given, [])
      assert.strictEqual((yield* post("/mesh/disable", { sudoPassword: "of-this-machine" })).status, 200)
      assert.strictEqual(Redacted.value(tunnels.given[0] as Redacted.Redacted), "of-this-machine")
    })
  )

  scene("the name of a machine that is not logged in is used for its login", ({ post, tunnels }) =>
    Effect.gen(function* () {
      tunnels.next({ phase: "needs_auth", lastError: "Log in." })
      const answer = yield* post("/mesh/enable", { hostname: "machine" })
      assert.deepInclude(JSON.parse(answer.text), { phase: "needs_auth", authUrl: "https://login.mesh.example/a/1" })
      assert.deepStrictEqual(tunnels.given, ["machine"])
    })
  )

  it.scopedLive("leave rows in the audit log that name fields and hold no secret", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const secret = "token-of-an-audited-test"
      const post = (path: string, body: unknown) => app.admin(`/api/tunnels${path}`, { method: "POST", body })
      yield* post("/token", { action: "enable", authToken: secret })
      yield* post("/mesh/enable", { sudoPassword: secret })
      const log = yield* app.admin("/api/compliance/audit-log?action=tunnels.*")
      const rows = JSON.parse(log.text) as ReadonlyArray<{ action: string; details: { fields: unknown } }>
      assert.deepStrictEqual(
        rows.map(({ action, details }) => [action, details.fields]),
        [
          ["tunnels.enableMesh", ["sudoPassword"]],
          ["tunnels.setToken", ["action", "authToken"]]
        ]
      )
      assert.notInclude(log.text, secret)
    }).pipe(Effect.provide(layerOf(keysRequired)))
  )
})
