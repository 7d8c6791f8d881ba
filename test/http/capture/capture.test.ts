/** Capture over real HTTP: custom hosts, the HTTP proxy, the desktop's proxy, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { eventually } from "../../support/eventually.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { A, admin, getThroughProxy, I, setUp, usualHosts } from "./support.ts"
import { http2Server, tlsServer } from "./TlsServer.ts"

const block = (...hosts: ReadonlyArray<string>): ReadonlyArray<string> =>
  hosts.flatMap((host) => [`127.0.0.1 ${host}`, `::1 ${host}`])

const taken = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    return { server, port: (server.address() as AddressInfo).port }
  }),
  ({ server }) => Effect.sync(() => void server.close())
)

describe("custom hosts", () => {
  it.scopedLive("stand in the hosts file byte for byte, and leave it as it was", () =>
    Effect.gen(function* () {
      const { ask, hosts } = yield* setUp()
      yield* Effect.promise(async () => {
        assert.deepStrictEqual((await ask("GET", `${I}/hosts`)).body, { hosts: [] })
        const added = await ask("POST", `${I}/hosts`, { host: "API.Example.test", label: "Mine", kind: "llm" })
        assert.strictEqual(added.status, 201)
        assert.deepStrictEqual(added.body, {
          ok: true,
          host: { host: "api.example.test", enabled: true, label: "Mine", kind: "llm", inHostsFile: true }
        })
        const text = hosts()
        assert.isTrue(text.startsWith(usualHosts), text)
        for (const line of block("api.example.test")) assert.include(text, line)
        const state = (await ask("GET", `${A}/state`)).body
        assert.isTrue(state.server.running)
        assert.isAbove(state.server.port, 0)

        const off = await ask("PATCH", `${I}/hosts/api.example.test`, { enabled: false })
        assert.deepInclude(off.body.host, { enabled: false, inHostsFile: false })
        assert.strictEqual(hosts(), usualHosts)
        // Nothing is captured any more, so nothing listens.
        assert.isFalse((await ask("GET", `${A}/state`)).body.server.running)

        await ask("PATCH", `${I}/hosts/api.example.test`, { enabled: true })
        assert.notStrictEqual(hosts(), usualHosts)
        const removed = await ask("DELETE", `${I}/hosts/api.example.test`)
        assert.strictEqual(removed.status, 204)
        assert.strictEqual(hosts(), usualHosts)
      })
    })
  )

  it.scopedLive("that are none are refused, with nothing done", () =>
    Effect.gen(function* () {
      const { ask, hosts } = yield* setUp()
      yield* Effect.promise(async () => {
        for (const host of [
          "",
          "127.0.0.1",
          "localhost",
          "https://a.test",
          "a b",
          "*.a.test",
          `${"a".repeat(64)}.test`,
          7
        ]) {
          const { body, status } = await ask("POST", `${I}/hosts`, { host })
          assert.strictEqual(status, 400, String(host))
          assert.strictEqual(body.error.details[0].field, "host", String(host))
        }
        assert.strictEqual((await ask("POST", `${I}/hosts`, { host: "a.test", enabled: false })).status, 201)
        const again = await ask("POST", `${I}/hosts`, { host: "A.test" })
        assert.strictEqual(again.status, 409)
        assert.strictEqual((await ask("PATCH", `${I}/hosts/b.test`, { enabled: true })).status, 404)
        assert.strictEqual((await ask("DELETE", `${I}/hosts/b.test`)).status, 404)
        assert.strictEqual(hosts(), usualHosts)
      })
    })
  )

  it.scopedLive("are kept with a warning where the server has no port or the file is broken", () =>
    Effect.gen(function* () {
      const { port } = yield* taken
      const first = yield* setUp({ environment: { MITM_PORT: String(port) } })
      const twice = `# BEGIN gateway-inspector\n# END gateway-inspector\n`.repeat(2)
      const second = yield* setUp({ hosts: twice })
      yield* Effect.promise(async () => {
        const noPort = await first.ask("POST", `${I}/hosts`, { host: "a.test" })
        assert.strictEqual(noPort.status, 201)
        assert.include(noPort.body.warning, String(port))
        assert.isFalse(noPort.body.host.inHostsFile)
        assert.strictEqual(first.hosts(), usualHosts)
        const broken = await second.ask("POST", `${I}/hosts`, { host: "a.test" })
        assert.strictEqual(broken.status, 201)
        assert.include(broken.body.warning, "hosts")
        assert.strictEqual(second.hosts(), twice)
        const { checks } = (await second.ask("GET", `${A}/diagnose`)).body
        assert.isFalse(checks.find(({ id }: { id: string }) => id === "hosts-file").ok)
        const { repaired } = (await second.ask("POST", `${A}/repair`)).body
        assert.include(repaired, "hosts-file")
      })
    })
  )

  it.scopedLive("are taken up again by the next start, and given back by each end", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const { ask, hosts } = yield* setUp({ dataDir })
          yield* Effect.promise(() => ask("POST", `${I}/hosts`, { host: "kept.test" }))
          assert.include(hosts(), "127.0.0.1 kept.test")
          return hosts
        })
      )
      assert.throws(first)
      const { ask, hosts } = yield* setUp({ dataDir })
      yield* Effect.promise(() =>
        eventually("the host in the file", hosts, (text) => text.includes("127.0.0.1 kept.test"))
      )
      yield* Effect.promise(async () => {
        await ask("POST", `${A}/server`, { action: "stop" })
        assert.strictEqual(hosts(), usualHosts)
        assert.deepInclude((await ask("GET", `${I}/hosts`)).body.hosts[0], { enabled: true, inHostsFile: false })
      })
    })
  )
})

describe("the HTTP proxy", () => {
  it.scopedLive("records that a tunnel was there, and with TLS intercepted what went through it", () =>
    Effect.gen(function* () {
      const { ask, records } = yield* setUp()
      const upstream = yield* tlsServer
      const target = { host: "localhost", port: upstream.port, path: "/v1/things?key=sk-0123456789abcdefghij0123" }
      yield* Effect.promise(async () => {
        const started = await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })
        assert.strictEqual(started.status, 201)
        const { port } = started.body
        assert.deepStrictEqual(started.body, { ok: true, running: true, port })
        assert.strictEqual((await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body.port, port)

        const plain = await getThroughProxy(port, target, upstream.authority.certificate)
        assert.include(plain.answer, '{"hello":"world"}')
        assert.include(plain.issuer, "Test servers")

        const on = await ask("POST", `${I}/capture-modes/tls-intercept`, { enabled: true })
        assert.deepStrictEqual(on.body, { ok: true, tlsIntercept: { enabled: true } })
        assert.strictEqual((await ask("PUT", `${A}/upstream-ca`, { pem: upstream.authority.certificate })).status, 200)
        const ours = String((await ask("GET", `${A}/cert/download`)).body)
        const decrypted = await getThroughProxy(port, target, ours, "Authorization: Bearer secret-of-the-client\r\n")
        assert.include(decrypted.answer, '{"hello":"world"}')
        assert.include(decrypted.issuer, "Gateway traffic inspector")
        assert.strictEqual(upstream.seen.length, 2)

        const bypassed = await ask("PUT", `${A}/bypass`, { patterns: ["Local*"] })
        assert.deepInclude(bypassed.body.patterns, { pattern: "local*", source: "user" })
        const unread = await getThroughProxy(port, target, upstream.authority.certificate)
        assert.include(unread.issuer, "Test servers")

        const stopped = await ask("POST", `${I}/capture-modes/http-proxy`, { action: "stop" })
        assert.deepStrictEqual(stopped.body, { ok: true, running: false })
        assert.strictEqual(stopped.status, 200)
      })
      const [third, second, first, ...others] = yield* records
      assert.deepStrictEqual(others, [])
      for (const tunnel of [first, third]) {
        assert.deepInclude(tunnel, {
          source: "http-proxy",
          method: "CONNECT",
          host: "localhost",
          path: `:${upstream.port}`,
          status: 200,
          requestBody: null,
          responseBody: null
        })
        assert.isAbove(tunnel?.responseSize ?? 0, 0)
      }
      assert.include(first?.note ?? "", "TLS is not intercepted")
      assert.include(third?.note ?? "", "never decrypted")
      assert.deepInclude(second, {
        source: "http-proxy",
        method: "GET",
        scheme: "https",
        host: `localhost:${upstream.port}`,
        status: 200,
        responseBody: '{"hello":"world"}',
        responseSize: 17,
        error: null
      })
      assert.notInclude(JSON.stringify(second), "secret-of-the-client")
      assert.notInclude(JSON.stringify(second), "sk-0123456789abcdefghij0123")
      assert.isAtLeast(second?.totalLatencyMs ?? -1, second?.upstreamLatencyMs ?? 0)
    })
  )

  it.scopedLive("reads HTTP/2 of curl through the proxy, and tells the version in records and archives", () =>
    Effect.gen(function* () {
      const { ask, folder, records } = yield* setUp()
      const upstream = yield* http2Server
      yield* Effect.promise(async () => {
        const { port } = (await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body
        await ask("POST", `${I}/capture-modes/tls-intercept`, { enabled: true })
        await ask("PUT", `${A}/upstream-ca`, { pem: upstream.authority.certificate })
        const ca = join(folder, "ca.pem")
        writeFileSync(ca, String((await ask("GET", `${A}/cert/download`)).body))
        const { stdout } = await promisify(execFile)("curl", [
          "-s",
          "--http2",
          "--cacert",
          ca,
          "-x",
          `http://127.0.0.1:${port}`,
          "-w",
          "|%{http_version}",
          "-H",
          "Authorization: Bearer secret-of-the-client",
          `https://localhost:${upstream.port}/v1/things`
        ])
        assert.strictEqual(stdout, '{"by":"2.0","key":"Bearer secret-of-the-client"}|2')
      })
      const [only, ...others] = yield* records
      assert.deepStrictEqual(others, [])
      assert.deepInclude(only, {
        source: "http-proxy",
        method: "GET",
        host: `localhost:${upstream.port}`,
        path: "/v1/things",
        status: 200,
        httpVersion: "HTTP/2"
      })
      assert.notInclude(JSON.stringify(only), "secret-of-the-client")
      yield* Effect.promise(async () => {
        const shown = (await ask("GET", `${I}/requests/${only?.id}`)).body
        assert.strictEqual(shown.httpVersion, "HTTP/2")
        const { log } = (await ask("GET", `${I}/export.har`)).body
        assert.strictEqual(log.entries[0].request.httpVersion, "HTTP/2")
      })
    })
  )

  it.scopedLive("whose port is taken is a conflict that says what to do", () =>
    Effect.gen(function* () {
      const { port } = yield* taken
      const { ask } = yield* setUp({
        environment: { INSPECTOR_HTTP_PROXY_PORT: String(port), MITM_PORT: String(port) }
      })
      yield* Effect.promise(async () => {
        const proxy = await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })
        assert.strictEqual(proxy.status, 409)
        assert.deepInclude(proxy.body.error, { code: "port_in_use", port })
        assert.include(proxy.body.error.hint, "INSPECTOR_HTTP_PROXY_PORT")
        const server = await ask("POST", `${A}/server`, { action: "start" })
        assert.strictEqual(server.status, 409)
        assert.deepInclude(server.body.error, { code: "port_in_use", port })
        assert.strictEqual((await ask("POST", `${I}/capture-modes/http-proxy`, { action: "go" })).status, 400)
      })
    })
  )
})

describe("certificates of servers", () => {
  const cases = [
    ["without MITM_DISABLE_TLS_VERIFY a server whose certificate is not good is refused", {}, "502", 0],
    [
      "MITM_DISABLE_TLS_VERIFY takes a server whose certificate is not good",
      { MITM_DISABLE_TLS_VERIFY: "true" },
      "200",
      1
    ]
  ] as const

  for (const [name, environment, status, asked] of cases) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const { ask } = yield* setUp({ environment })
        const upstream = yield* tlsServer
        yield* Effect.promise(async () => {
          await ask("POST", `${I}/capture-modes/tls-intercept`, { enabled: true })
          const { port } = (await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body
          const ours = String((await ask("GET", `${A}/cert/download`)).body)
          const target = { host: "localhost", port: upstream.port, path: "/" }
          const { answer } = await getThroughProxy(port, target, ours)
          assert.match(answer, new RegExp(`^HTTP/1.1 ${status}`))
          assert.strictEqual(upstream.seen.length, asked)
        })
      })
    )
  }
})

describe("the desktop's proxy", () => {
  it.scopedLive("is set to the running proxy alone, and given back as it was", () =>
    Effect.gen(function* () {
      const { ask, gnome } = yield* setUp()
      const before = gnome?.read()
      yield* Effect.promise(async () => {
        const path = `${I}/capture-modes/system-proxy`
        const early = await ask("POST", path, { action: "apply" })
        assert.strictEqual(early.status, 409)
        assert.strictEqual(early.body.error.code, "proxy_not_running")
        const { port } = (await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body
        const on = await ask("POST", path, { action: "apply", guardMinutes: 5 })
        assert.deepInclude(on.body, { ok: true, applied: true, port, platform: "gnome" })
        assert.isAbove(Date.parse(on.body.guardUntil), 0)
        assert.include(gnome?.read() ?? "", `org.gnome.system.proxy.https port ${port}`)
        for (const guardMinutes of [0, 1.5, 10_081, "5"]) {
          assert.strictEqual((await ask("POST", path, { action: "apply", guardMinutes })).status, 400)
        }
        const off = await ask("POST", path, { action: "revert" })
        assert.deepInclude(off.body, { applied: false, port: null, guardUntil: null })
        assert.strictEqual(gnome?.read(), before)
        await ask("POST", path, { action: "apply" })
        // A desktop is not left with a proxy that is gone.
        await ask("POST", `${I}/capture-modes/http-proxy`, { action: "stop" })
        assert.strictEqual(gnome?.read(), before)
      })
    })
  )

  it.scopedLive("that cannot be set has lines for a terminal", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp({ desktop: false })
      yield* Effect.promise(async () => {
        const { port } = (await ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body
        const { body, status } = await ask("POST", `${I}/capture-modes/system-proxy`, { action: "apply" })
        assert.strictEqual(status, 409)
        assert.strictEqual(body.error.code, "system_proxy_unsupported")
        assert.include(body.error.hint, `HTTPS_PROXY=http://127.0.0.1:${port}`)
      })
    })
  )
})

describe("the decrypting server", () => {
  it.scopedLive("starts and stops, and its authority is made, shown and made anew", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp()
      yield* Effect.promise(async () => {
        const none = (await ask("GET", `${A}/state`)).body
        assert.deepInclude(none, { server: { running: false, port: null, startedAt: null }, cert: null })
        const started = await ask("POST", `${A}/server`, { action: "start" })
        assert.isTrue(started.body.server.running)
        const { cert } = (await ask("GET", `${A}/cert`)).body
        assert.isFalse(cert.trusted)
        assert.include(cert.subject, "Gateway traffic inspector")
        assert.match(String((await ask("GET", `${A}/cert/download`)).body), /^-----BEGIN CERTIFICATE-----/)
        const again = (await ask("POST", `${A}/cert/regenerate`)).body.cert
        assert.notStrictEqual(again.sha256, cert.sha256)
        assert.isFalse((await ask("POST", `${A}/server`, { action: "stop" })).body.server.running)
      })
    })
  )

  it.scopedLive("has settings that are judged before they are kept", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp({ environment: { MITM_IDLE_TIMEOUT_MS: "45000" } })
      yield* Effect.promise(async () => {
        assert.deepStrictEqual((await ask("GET", `${A}/config`)).body, {
          config: { recordPassthrough: true, idleTimeoutMs: 45_000 }
        })
        const set = await ask("PUT", `${A}/config`, { config: { idleTimeoutMs: 60_000 } })
        assert.deepStrictEqual(set.body.config, { recordPassthrough: true, idleTimeoutMs: 60_000 })
        assert.deepInclude((await ask("PUT", `${A}/config`, { recordPassthrough: false })).body.config, {
          recordPassthrough: false
        })
        for (const bad of [{ idleTimeoutMs: 1 }, { idleTimeoutMs: "x" }, { recordPassthrough: 1 }]) {
          assert.strictEqual((await ask("PUT", `${A}/config`, bad)).status, 400)
        }
        assert.strictEqual((await ask("PUT", `${A}/upstream-ca`, { pem: "/etc/passwd" })).status, 400)
        assert.deepStrictEqual((await ask("GET", `${A}/upstream-ca`)).body, { pem: null })
        assert.strictEqual((await ask("DELETE", `${A}/upstream-ca`)).status, 204)
        for (const pattern of ["", "a b", "*".repeat(9), "a/b"]) {
          assert.strictEqual((await ask("PUT", `${A}/bypass`, { patterns: [pattern] })).status, 400, pattern)
        }
        assert.isTrue(
          (await ask("GET", `${A}/bypass`)).body.patterns.every(
            ({ source }: { source: string }) => source === "default"
          )
        )
      })
    })
  )
})

describe("the transparent mode", () => {
  it.scopedLive("says whether it can run, and judges all values before anything is done", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp()
      yield* Effect.promise(async () => {
        const { body } = await ask("GET", `${A}/tproxy`)
        assert.deepInclude(body, { running: false, startedAt: null, interceptCount: 0, onPort: null })
        assert.strictEqual(body.available, body.reason === null)
        const cases: ReadonlyArray<readonly [object, string]> = [
          [{ mark: 7, bypassMark: 7 }, "bypassMark"],
          [{ dport: 0 }, "dport"],
          [{ onPort: 65_536 }, "onPort"],
          [{ routeTable: -1 }, "routeTable"],
          [{ routeTable: 254 }, "routeTable"],
          [{ mark: 1.5 }, "mark"],
          [{ dport: "443" }, "dport"],
          [{ sudoPassword: "a\nb" }, "sudoPassword"]
        ]
        for (const [given, field] of cases) {
          const refused = await ask("POST", `${A}/tproxy`, given)
          assert.strictEqual(refused.status, 400, JSON.stringify(given))
          assert.include(
            refused.body.error.details.map((detail: { field: string }) => detail.field),
            field
          )
        }
        const stopped = await ask("DELETE", `${A}/tproxy`)
        assert.strictEqual(stopped.status, 200)
        assert.deepStrictEqual(stopped.body, { running: false, brokenConnections: 0 })
      })
    })
  )
})

describe("all of it", () => {
  const mine = managementRoutes.filter(({ key }) => key.startsWith("capture.") || key.startsWith("agentBridge."))

  it.scopedLive("answers 403 before 401 where a request came by another machine, and 401 without a key", () =>
    Effect.gen(function* () {
      const { url } = yield* setUp()
      assert.isAbove(mine.length, 20)
      yield* Effect.promise(async () => {
        for (const { method, path } of mine) {
          const at = path.replaceAll(/:\w+/g, "a.test")
          const body = method === "GET" || method === "DELETE" ? "" : "{}"
          const ask = (headers: Readonly<Record<string, string>>) =>
            RawRequest.ask(url, { method, path: at, headers: { "content-type": "application/json", ...headers }, body })
          for (const headers of [{ "x-forwarded-for": "203.0.113.7" }, { ...admin, forwarded: "for=203.0.113.7" }]) {
            const answer = await ask(headers)
            assert.strictEqual(answer.status, 403, `${method} ${path} ${answer.body}`)
            assert.strictEqual(JSON.parse(answer.body).error.code, "loopback_only")
          }
          assert.strictEqual(
            (await ask({ authorization: "Bearer wrong-key-0123456789" })).status,
            401,
            `${method} ${path}`
          )
        }
      })
    })
  )

  it.scopedLive("is not there in a gateway that captures nothing", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const { door } = yield* setUp({ dataDir })
      assert.isNull(door.current())
      assert.isFalse(existsSync(join(dataDir, "capture")))
    })
  )
})

describe("agents", () => {
  it.scopedLive("are nine, have models that are judged, and are captured by their hosts", () =>
    Effect.gen(function* () {
      const { ask, folder, hosts } = yield* setUp()
      writeFileSync(join(folder, "bin", "claude"), "#!/bin/sh\necho '2.1.7 (Claude Code)'\n", { mode: 0o755 })
      yield* Effect.promise(async () => {
        const { agents } = (await ask("GET", `${A}/agents`)).body
        assert.deepStrictEqual(
          agents.map(({ id }: { id: string }) => id).toSorted(),
          "antigravity claude-code codex copilot cursor kiro open-code trae zed".split(" ")
        )
        assert.strictEqual((await ask("GET", `${A}/agents/nobody`)).status, 404)
        assert.deepStrictEqual((await ask("GET", `${A}/agents/claude-code/detect`)).body, {
          installed: true,
          version: "2.1.7"
        })
        const mappings = [{ sourceModel: "claude-*", targetModel: "openai/gpt-5" }]
        assert.deepStrictEqual((await ask("PUT", `${A}/agents/claude-code/mappings`, { mappings })).body, { mappings })
        assert.deepStrictEqual((await ask("GET", `${A}/agents/claude-code/mappings`)).body, { mappings })
        const twice = await ask("PUT", `${A}/agents/claude-code/mappings`, { mappings: [...mappings, ...mappings] })
        assert.strictEqual(twice.status, 400)

        const on = await ask("POST", `${A}/agents/claude-code/dns`, { enabled: true })
        assert.isTrue(on.body.agent.dnsEnabled)
        assert.isNull(on.body.agent.lastError)
        assert.include(hosts(), "127.0.0.1 api.anthropic.com")
        assert.isTrue((await ask("GET", `${A}/state`)).body.server.running)
        await ask("POST", `${A}/agents/claude-code/dns`, { enabled: false })
        assert.strictEqual(hosts(), usualHosts)
      })
    })
  )
})

describe("what capture does", () => {
  const password = "s3cret-of-the-operator"

  it.scopedLive("is told to the hub and the audit log, once for each change and without a password", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const { ask, changes } = yield* setUp({ dataDir })
      yield* Effect.promise(async () => {
        const proxy = (action: string) => ask("POST", `${I}/capture-modes/http-proxy`, { action })
        const desktop = (action: string) => ask("POST", `${I}/capture-modes/system-proxy`, { action })
        await proxy("start")
        await proxy("start")
        await desktop("apply")
        await desktop("revert")
        await desktop("revert")
        await desktop("apply")
        await proxy("stop")
        await proxy("stop")
        await ask("POST", `${A}/server`, { action: "start", sudoPassword: password })
        await ask("POST", `${A}/server`, { action: "stop" })
        assert.deepStrictEqual(changes, [
          "started http-proxy",
          "started system-proxy",
          "stopped system-proxy",
          "started system-proxy",
          "stopped system-proxy",
          "stopped http-proxy",
          "started server",
          "stopped server"
        ])
        // Refused, and so without an event; the row says so.
        await ask("POST", `${A}/tproxy`, { dport: 0, sudoPassword: password })
        assert.lengthOf(changes, 8)
        const { body } = await ask("GET", "/api/compliance/audit-log?limit=100")
        const rows: ReadonlyArray<{ readonly action: string; readonly status: string }> = body
        const found = (action: string, status: string): number =>
          rows.filter((row) => row.action === action && row.status === status).length
        assert.strictEqual(found("capture.httpProxy", "success"), 4)
        assert.strictEqual(found("capture.systemProxy", "success"), 4)
        assert.strictEqual(found("agentBridge.server", "success"), 2)
        assert.strictEqual(found("agentBridge.startTproxy", "failure"), 1)
        assert.notInclude(JSON.stringify(body), password)
      })
      for (const name of readdirSync(dataDir, { recursive: true, encoding: "utf8" })) {
        const path = join(dataDir, name)
        if (statSync(path).isFile()) assert.isFalse(readFileSync(path).includes(password), path)
      }
    })
  )

  it.scopedLive("by itself at a start has a row too: what a gateway that ended has left is taken back", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const folder = join(dataDir, "capture", "journal")
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const left = join(dataDir, "left-behind")
      writeFileSync(left, "ours")
      const sha256 = createHash("sha256").update("ours").digest("hex")
      const id = "000000000000001-000001-hosts-deadbeef"
      const owner = { pid: 2 ** 22 - 1, startTime: "1", bootId: "of another start" }
      const entry = { version: 1, id, kind: "hosts", what: "a file", createdAtMs: 1, owner, session: "another" }
      writeFileSync(
        join(folder, `${id}.json`),
        JSON.stringify({ ...entry, environment: {}, steps: [{ do: "removeFile", path: left, sha256 }], facts: {} }),
        { mode: 0o600 }
      )
      const { ask } = yield* setUp({ dataDir })
      yield* Effect.promise(async () => {
        await eventually(
          "the file gone",
          () => existsSync(left),
          (found) => !found
        )
        await eventually(
          "the row",
          async () => JSON.stringify((await ask("GET", "/api/compliance/audit-log?limit=100")).body),
          (text) => text.includes('"capture.restored"') && text.includes('"gateway"')
        )
      })
    })
  )
})
