/** `/api/v1/management/proxies` and `/api/settings/proxy`: what is stored, what is shown of it, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, TestApp } from "./TestApp.ts"

const path = "/api/v1/management/proxies"
const assignments = `${path}/assignments`

const socks = { name: "berlin", type: "socks5", host: "203.0.113.7", port: 1080 }
// Addresses of documentation belong to nobody and are refused.
const berlin = { ...socks, host: "proxy.example.com" }

const make = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>> = {}) {
  const { admin } = yield* TestApp
  const made = yield* admin(path, { method: "POST", body: { ...berlin, ...more } })
  assert.strictEqual(made.status, 201, made.text)
  return String(made.at("proxy.id"))
})

it.layer(layerOf())("proxies", (test) => {
  test.scoped("are shown without their password, changed in part, and removed", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const body = { ...berlin, name: "a", username: "al:ice", password: "a-long-password-1234", family: "ipv4" }
      const made = yield* admin(path, { method: "POST", body })
      assert.strictEqual(made.status, 201, made.text)
      assert.notInclude(made.text, "a-long-password")
      assert.strictEqual(made.at("proxy.password"), "…1234")
      assert.deepStrictEqual(
        ["username", "family", "isActive", "source", "usable", "health.state"].map((name) => made.at(`proxy.${name}`)),
        ["al:ice", "ipv4", true, "manual", true, "unknown"]
      )
      const id = String(made.at("proxy.id"))
      // What was shown may be sent back as it is: the masked password is not a new one.
      const same = yield* admin(path, { method: "PATCH", body: JSON.parse(made.text).proxy })
      assert.strictEqual(same.status, 200, same.text)
      assert.strictEqual(same.at("proxy.password"), "…1234")
      const changed = yield* admin(path, { method: "PATCH", body: { id, name: "b", isActive: false } })
      assert.deepStrictEqual(
        ["name", "isActive", "usable", "family", "password"].map((name) => changed.at(`proxy.${name}`)),
        ["b", false, false, "ipv4", "…1234"]
      )
      const cleared = yield* admin(path, { method: "PATCH", body: { id, username: null, password: null } })
      assert.deepStrictEqual([cleared.at("proxy.username"), cleared.at("proxy.password")], [null, null])
      assert.strictEqual((yield* admin(`${path}?id=${id}`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* admin(`${path}?id=${id}`, { method: "DELETE" })).status, 404)
      assert.strictEqual((yield* admin(path, { method: "PATCH", body: { id } })).status, 404)
      assert.strictEqual((yield* admin(path, { method: "DELETE" })).status, 400)
    })
  )

  test.scoped("need their password again when they move", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const id = yield* make({ name: "moved", username: "alice", password: "a-long-password-1234" })
      for (const more of [{ host: "other.example.com" }, { port: 1 }, { type: "http" }]) {
        const refused = yield* admin(path, { method: "PATCH", body: { id, ...more } })
        assert.strictEqual(refused.status, 400, refused.text)
        assert.strictEqual(refused.at("error.param"), "password")
        const given = yield* admin(path, { method: "PATCH", body: { id, ...more, password: "another-password" } })
        assert.strictEqual(given.status, 200, given.text)
      }
    })
  )

  test.scoped("have names of their own", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      yield* make({ name: "one" })
      const id = yield* make({ name: "two" })
      assert.strictEqual((yield* admin(path, { method: "POST", body: { ...berlin, name: "one" } })).status, 409)
      const refused = yield* admin(path, { method: "PATCH", body: { id, name: "one" } })
      assert.strictEqual(refused.status, 409)
      assert.strictEqual(refused.at("error.param"), "name")
    })
  )

  describe("refuse", () => {
    const long = "x".repeat(256)
    for (const [what, more, field] of [
      ["a metadata address", { host: "169.254.169.254" }, "host"],
      ["a metadata name", { host: "metadata.google.internal" }, "host"],
      ["an address of documentation", { host: socks.host }, "host"],
      ["a scheme in the host", { host: "http://proxy.example.com" }, "host"],
      ["a blank in the host", { host: "proxy example" }, "host"],
      ["a port in the host", { host: "proxy.example.com:8080" }, "host"],
      ["a port behind an IPv4 address", { host: "10.0.0.1:8080" }, "host"],
      ["a port behind an IPv6 address", { host: "[2606:4700::1]:8080" }, "host"],
      ["a port behind a name of hexadecimal digits", { host: "cafe.beef:80" }, "host"],
      ["colons that are no address", { host: "::::" }, "host"],
      ["one bracket", { host: "[2606:4700::1" }, "host"],
      ["port 0", { port: 0 }, "port"],
      ["port 65536", { port: 65_536 }, "port"],
      ["an unknown type", { type: "socks4" }, "type"],
      ["an unknown family", { family: "ipv5" }, "family"],
      ["a literal of the other family", { host: "10.0.0.1", family: "ipv6" }, "family"],
      ["a password without a user", { password: "pw" }, "username"],
      ["a colon in the user of an HTTP proxy", { type: "http", username: "a:b" }, "username"],
      ["a line end in the user", { username: "a\r\nb" }, "username"],
      ["a password that SOCKS5 cannot carry", { username: "a", password: long }, "password"],
      ["a field that is not known", { hostname: "x" }, "hostname"],
      ["no name", { name: "" }, "name"]
    ] as const) {
      test.scoped(what, () =>
        Effect.gen(function* () {
          const { admin } = yield* TestApp
          const before = (yield* admin(path)).text
          const refused = yield* admin(path, { method: "POST", body: { ...berlin, name: "refused", ...more } })
          assert.strictEqual(refused.status, 400, refused.text)
          assert.strictEqual(refused.at("error.param"), field, refused.text)
          assert.notInclude(refused.text, long)
          assert.strictEqual((yield* admin(path)).text, before)
        })
      )
    }
  })

  test.scoped("are assigned and taken back, and stay assigned when they are removed", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const id = yield* make({ name: "assigned" })
      const put = (body: unknown) => admin(assignments, { method: "PUT", body })
      const made = yield* put({ scope: "provider", scopeId: "openai", proxyId: id })
      assert.strictEqual(made.status, 200, made.text)
      assert.deepStrictEqual(made.at("assignment"), {
        scope: "provider",
        scopeId: "openai",
        proxyId: id,
        proxyName: "assigned"
      })
      for (const [body, status] of [
        [{ scope: "provider", scopeId: "nobody", proxyId: id }, 400],
        [{ scope: "connection", scopeId: "nobody", proxyId: id }, 404],
        [{ scope: "key", scopeId: "nobody", proxyId: id }, 404],
        [{ scope: "provider", proxyId: id }, 400],
        [{ scope: "global", scopeId: "x", proxyId: id }, 400],
        [{ scope: "global", proxyId: "nobody" }, 404],
        [{ scope: "moon", proxyId: id }, 400]
      ] as const) {
        assert.strictEqual((yield* put(body)).status, status, JSON.stringify(body))
      }
      yield* admin(`${path}?id=${id}`, { method: "DELETE" })
      assert.strictEqual((yield* admin(assignments)).at("assignments.0.proxyName"), null)
      const back = yield* put({ scope: "provider", scopeId: "openai", proxyId: null })
      assert.strictEqual(back.at("assignment"), null)
      assert.deepStrictEqual((yield* admin(assignments)).at("assignments"), [])
    })
  )

  test.scoped("have one switch, and one proxy for all", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const settings = "/api/settings/proxy"
      assert.deepStrictEqual(JSON.parse((yield* admin(settings)).text), { enabled: true, proxyId: null })
      const id = yield* make({ name: "all" })
      const put = yield* admin(settings, { method: "PUT", body: { enabled: false, proxyId: id } })
      assert.deepStrictEqual(JSON.parse(put.text), { enabled: false, proxyId: id })
      assert.strictEqual((yield* admin("/api/settings")).at("proxies.enabled"), false)
      assert.strictEqual((yield* admin(settings, { method: "PUT", body: { proxyId: "nobody" } })).status, 404)
      const back = yield* admin(settings, { method: "PUT", body: { enabled: true, proxyId: null } })
      assert.deepStrictEqual(JSON.parse(back.text), { enabled: true, proxyId: null })
    })
  )

  test.scoped("are assigned to a connection that is off, and named when one is made or changed", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const id = yield* make({ name: "named" })
      const post = (body: unknown) => admin("/api/providers", { method: "POST", body })
      const key = { provider: "openai", apiKey: "sk-1234567890abcdef" }
      const off = yield* post({ ...key, isActive: false })
      assert.deepStrictEqual([off.status, off.at("connection.proxyId")], [201, null], off.text)
      const scopeId = String(off.at("connection.id"))
      const put = yield* admin(assignments, { method: "PUT", body: { scope: "connection", scopeId, proxyId: id } })
      assert.strictEqual(put.status, 200, put.text)
      assert.strictEqual((yield* admin(`/api/providers/${scopeId}`)).at("connection.proxyId"), id)

      const made = yield* post({ ...key, proxyId: id })
      assert.deepStrictEqual([made.status, made.at("connection.proxyId")], [201, id], made.text)
      const path = `/api/providers/${made.at("connection.id")}`
      const kept = yield* admin(path, { method: "PUT", body: { name: "renamed" } })
      assert.strictEqual(kept.at("connection.proxyId"), id)
      const cleared = yield* admin(path, { method: "PUT", body: { proxyId: null } })
      assert.strictEqual(cleared.at("connection.proxyId"), null)
      assert.strictEqual((yield* admin(path, { method: "PUT", body: { proxyId: id } })).at("connection.proxyId"), id)

      const before = (yield* admin("/api/providers")).text
      for (const [method, where, body] of [
        ["POST", "/api/providers", { ...key, proxyId: "nobody" }],
        ["PUT", path, { proxyId: "nobody" }],
        ["POST", "/api/providers/validate", { ...key, proxyId: "nobody" }],
        ["POST", "/api/oauth/codex/authorize", { clientId: "c", proxyId: "nobody" }]
      ] as const) {
        const refused = yield* admin(where, { method, body })
        assert.deepStrictEqual([refused.status, refused.at("error.param")], [404, "proxyId"], refused.text)
      }
      assert.strictEqual((yield* admin("/api/providers")).text, before)

      // A connection takes its assignment along when it goes.
      for (const each of [path, `/api/providers/${scopeId}`]) yield* admin(each, { method: "DELETE" })
      assert.deepStrictEqual((yield* admin(assignments)).at("assignments"), [])
      yield* admin(`/api/v1/management/proxies?id=${id}`, { method: "DELETE" })
    })
  )

  test.scoped("say what a test needs", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const ask = (body: unknown) => admin("/api/settings/proxy/test", { method: "POST", body })
      const id = yield* make({ name: "tested" })
      const { name: _name, ...unnamed } = berlin
      for (const [body, status, field] of [
        [{}, 400, "proxyId"],
        [{ proxyId: id, proxy: unnamed }, 400, "proxyId"],
        [{ proxyId: "nobody" }, 404, "proxyId"],
        [{ proxyId: id, url: "http://169.254.169.254/" }, 400, "url"],
        [{ proxyId: id, url: "file:///etc/passwd" }, 400, "url"],
        [{ proxy: { ...unnamed, host: "169.254.169.254" } }, 400, "host"],
        [{ proxy: { ...unnamed, host: "10.0.0.1:80" } }, 400, "proxy.host"],
        [{ proxy: { type: "http", port: 80 } }, 400, "proxy.host"],
        [{ proxy: { id: "nobody" } }, 404, "proxy.id"],
        [{ proxy: { ...unnamed, hostname: "x" } }, 400, "proxy.hostname"]
      ] as const) {
        const refused = yield* ask(body)
        assert.strictEqual(refused.status, status, refused.text)
        assert.strictEqual(refused.at("error.param"), field, refused.text)
      }
    })
  )

  test.scoped("of lists are looked for only when lists are named", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const refused = yield* admin(`${path}/free`, { method: "POST" })
      assert.strictEqual(refused.status, 409, refused.text)
      assert.strictEqual(refused.at("error.code"), "free_proxies_off")
    })
  )
})
