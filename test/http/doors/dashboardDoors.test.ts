/**
 * The doors of the dashboard: every route of the management API and both sockets against each reason for which a page, or who pretends to be one,
 * has to stay outside. Nothing but the refusal is looked for: each comes before the body is read.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import type { Tier } from "../../../src/contract/tiers/Tier.ts"
import { path as livePath } from "../../../src/entry/live/LiveFeed.ts"
import { path as inspectorPath } from "../../../src/entry/live/InspectorFeed.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

const password = "correct horse battery staple"

type Headers = Readonly<Record<string, string>>

/** A dashboard as the build makes it. */
const folderOf = (build: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-dashboard-"))
  mkdirSync(join(folder, "assets"))
  writeFileSync(join(folder, "index.html"), `<html data-build="${build}"><script src="%root%assets/main.js"></script>`)
  writeFileSync(join(folder, "assets/main.js"), "0")
  const files = { "main.js": { type: "text/javascript; charset=utf-8", codings: ["identity"] } }
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build, shell: "index.html", files }))
  return folder
}

interface Session {
  readonly cookie: Headers
  readonly csrf: Headers
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start(
    {
      adminPassword: Redacted.make(password),
      dashboardFolder: folderOf("b1"),
      environment: new Map([["REQUIRE_API_KEY", "true"]])
    },
    FakeTunnels.make()
  )
  return yield* Effect.promise(async () => {
    const logIn = async (): Promise<Session> => {
      const login = await gateway.post("/api/auth/login", { password })
      const { csrfToken } = (await login.json()) as { readonly csrfToken: string }
      const cookie = (login.headers.getSetCookie()[0] ?? "").split(";")[0] ?? ""
      return { cookie: { cookie }, csrf: { "x-csrf-token": csrfToken } }
    }
    const [own, other, over] = [await logIn(), await logIn(), await logIn()]
    await RawRequest.ask(gateway.url, {
      method: "POST",
      path: "/api/auth/logout",
      headers: { ...over.cookie, ...over.csrf }
    })
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "of a person", scopes: ["self:usage"] })
    const { targetUrl } = await gateway.manage("POST", "/api/tunnels/quick", { action: "enable" })
    return { gateway, own, other, over, self: { authorization: `Bearer ${secret}` }, outside: String(targetUrl) }
  })
})

type World = Effect.Effect.Success<typeof setUp>

/** Tiers that only an administrator passes. */
const administered: ReadonlyArray<Tier> = ["manage", "session", "loopback", "owner", "self"]
const here: ReadonlyArray<Tier> = ["loopback", "local"]
const page: Headers = { "sec-fetch-site": "same-origin" }

interface Door {
  readonly name: string
  readonly of: ReadonlyArray<Tier>
  /** Safe methods are refused, too. */
  readonly reads: boolean
  readonly headers: (world: World) => Headers
  readonly byTunnel?: true
  /** Status and code of the refusal, by tier. */
  readonly refusal: (tier: Tier) => readonly [status: number, code: string | ReadonlyArray<string>]
}

const doors: ReadonlyArray<Door> = [
  {
    name: "no session",
    of: administered,
    reads: true,
    headers: () => page,
    refusal: (tier) => [401, tier === "session" ? "session_required" : "missing_api_key"]
  },
  {
    name: "a session that has ended",
    of: administered,
    reads: true,
    headers: ({ over }) => ({ ...page, ...over.cookie, ...over.csrf }),
    refusal: (tier) => [401, tier === "session" ? "session_required" : "missing_api_key"]
  },
  {
    name: "a foreign origin",
    of: administered,
    reads: false,
    headers: ({ own }) => ({
      ...own.cookie,
      ...own.csrf,
      origin: "https://evil.example",
      "sec-fetch-site": "cross-site"
    }),
    refusal: () => [403, "cross_site_request"]
  },
  {
    name: "another port of this machine",
    of: administered,
    reads: false,
    headers: ({ own }) => ({ ...own.cookie, ...own.csrf, origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" }),
    refusal: () => [403, "cross_site_request"]
  },
  {
    name: "no token",
    of: administered,
    reads: false,
    headers: ({ own }) => ({ ...page, ...own.cookie }),
    refusal: () => [403, "csrf_token_invalid"]
  },
  {
    name: "the token of another session",
    of: administered,
    reads: false,
    headers: ({ other, own }) => ({ ...page, ...own.cookie, ...other.csrf }),
    refusal: () => [403, "csrf_token_invalid"]
  },
  {
    name: "a key of scope self:usage",
    of: ["manage", "session", "loopback", "owner"],
    reads: true,
    headers: ({ self }) => self,
    refusal: (tier) => (tier === "session" ? [401, "session_required"] : [403, "key_scope"])
  },
  {
    name: "a session through a tunnel",
    of: here,
    reads: true,
    headers: ({ own }) => ({ ...page, ...own.cookie, ...own.csrf, host: FakeTunnels.publicHost }),
    byTunnel: true,
    refusal: () => [403, "loopback_only"]
  },
  {
    name: "a session with a header of a proxy",
    of: here,
    reads: true,
    headers: ({ own }) => ({ ...page, ...own.cookie, ...own.csrf, "x-forwarded-for": "127.0.0.1" }),
    refusal: () => [403, "loopback_only"]
  }
]

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD"

/** The owner's routes let a session in and then say that it is not the owner: the token comes first there, too. */
const tried = ({ of, reads }: Door) =>
  managementRoutes.filter(({ method, tier }) => of.includes(tier) && (reads || !isSafe(method)))

describe("the doors of the dashboard", () => {
  for (const door of doors) {
    it.scopedLive(`are shut to ${door.name}`, () =>
      Effect.gen(function* () {
        const world = yield* setUp
        const routes = tried(door)
        assert.isAbove(routes.length, door.of === here ? 40 : 150)
        yield* Effect.promise(async () => {
          for (const { method, path, tier } of routes) {
            const answer = await RawRequest.ask(door.byTunnel === true ? world.outside : world.gateway.url, {
              method,
              path: path.replaceAll(/:\w+/g, "none"),
              headers: { "content-type": "application/json", ...door.headers(world) },
              body: isSafe(method) || method === "DELETE" ? "" : "{}"
            })
            const [status, code] = door.refusal(tier)
            const why = `${method} ${path} (${tier}): ${answer.status} ${answer.body.slice(0, 200)}`
            assert.strictEqual(answer.status, status, why)
            assert.strictEqual(JSON.parse(answer.body).error.code, code, why)
            assert.isUndefined(answer.headers["set-cookie"], why)
          }
        })
      })
    )
  }

  it.scopedLive("of the sockets are shut to the same", () =>
    Effect.gen(function* () {
      const world = yield* setUp
      const { gateway, other, outside, over, own, self } = world
      const refusals: ReadonlyArray<readonly [name: string, headers: Headers, paths: ReadonlyArray<string>, number]> = [
        ["no session", page, [livePath, inspectorPath], 401],
        ["an ended session", { ...page, ...over.cookie }, [livePath, inspectorPath], 401],
        ["a cookie made up", { ...page, cookie: `gateway_session=${"A".repeat(43)}` }, [livePath, inspectorPath], 401],
        ["a foreign page", { ...own.cookie, origin: "https://evil.example" }, [livePath, inspectorPath], 403],
        ["another port", { ...own.cookie, origin: "http://127.0.0.1:1" }, [livePath, inspectorPath], 403],
        ["a sandboxed page", { ...own.cookie, origin: "null" }, [livePath, inspectorPath], 403],
        ["a self key", self, [livePath, inspectorPath], 403],
        ["a proxy", { ...page, ...own.cookie, via: "1.1 proxy" }, [inspectorPath], 403]
      ]
      yield* Effect.promise(async () => {
        for (const [name, headers, paths, status] of refusals) {
          for (const path of paths) {
            const answer = await Ws.refused(gateway, path, headers)
            assert.strictEqual(answer.status, status, `${name} at ${path}`)
          }
        }
        const byTunnel = await Ws.refused({ url: outside }, inspectorPath, {
          ...other.cookie,
          host: FakeTunnels.publicHost
        })
        assert.strictEqual(byTunnel.status, 403)
      })
    })
  )
})

describe("the pages", () => {
  const browser = { accept: "text/html,*/*;q=0.8" }
  const paths = ["/dashboard", "/dashboard/", "/dashboard/requests/a", "/dashboard/assets/main.js", "/DASHBOARD//me"]

  it.scopedLive(
    "are not answered through a tunnel, unless dashboard.overTunnels says so, whatever the headers say",
    () =>
      Effect.gen(function* () {
        const { gateway, outside, own } = yield* setUp
        const get = (url: string, path: string, headers: Headers = {}) =>
          RawRequest.ask(url, { method: "GET", path, headers: { ...browser, ...headers } })
        yield* Effect.promise(async () => {
          const byName = { host: FakeTunnels.publicHost, "x-forwarded-proto": "https" }
          const disguises: ReadonlyArray<Headers> = [
            {},
            byName,
            { host: "localhost" },
            { host: "127.0.0.1", via: "1.1 x" }
          ]
          const shut = async (): Promise<void> => {
            for (const path of paths) {
              for (const headers of disguises) {
                const answer = await get(outside, path, { ...headers, ...own.cookie })
                assert.strictEqual(answer.status, 403, path)
                const { code, message } = JSON.parse(answer.body).error
                assert.strictEqual(code, "dashboard_local_only")
                assert.include(message, "dashboard.overTunnels")
              }
            }
            // Nobody is led there either.
            const root = await get(outside, "/", byName)
            assert.deepStrictEqual([root.status, root.headers["location"]], [200, undefined])
          }
          await shut()
          for (const path of paths) assert.include([200, 302], (await get(gateway.url, path)).status, path)
          const set = (overTunnels: boolean | null) =>
            gateway.manage("PATCH", "/api/settings", { dashboard: { overTunnels } })
          assert.deepInclude((await set(true)).dashboard, { overTunnels: true })
          for (const path of paths) assert.include([200, 302], (await get(outside, path, byName)).status, path)
          assert.strictEqual((await get(outside, "/", byName)).headers["location"], "dashboard/")
          assert.deepInclude((await set(null)).dashboard, { overTunnels: true })
          await set(false)
          await shut()
        })
      })
  )

  it.scopedLive("say which build they are, so that an open page learns of another", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const answer = yield* Effect.promise(() => RawRequest.ask(gateway.url, { method: "GET", path: "/dashboard/" }))
      assert.strictEqual(answer.headers["x-gateway-dashboard-build"], "b1")
      assert.include(answer.body, 'data-build="b1"')
    })
  )
})

describe("publicUrl", () => {
  const cookieAfter = async (gateway: { readonly url: string }, headers: Headers = {}): Promise<string> => {
    const login = await fetch(`${gateway.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ password })
    })
    assert.strictEqual(login.status, 200)
    return login.headers.getSetCookie()[0] ?? ""
  }

  it.scopedLive("as a setting holds at once and wins over the variable; with https the session is for TLS only", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start({
        adminPassword: Redacted.make(password),
        publicUrl: "http://plain.example/old"
      })
      const set = (publicUrl: string | null) => gateway.manage("PATCH", "/api/settings", { publicUrl })
      yield* Effect.promise(async () => {
        assert.match(await cookieAfter(gateway), /^gateway_session=[^;]+; (?!.*Secure).*Path=\/old/)
        assert.strictEqual((await set("https://gw.example/")).publicUrl, "https://gw.example/")
        const cookie = await cookieAfter(gateway)
        assert.match(cookie, /^__Host-gateway_session=[\w-]{43};/)
        for (const attribute of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"]) assert.include(cookie, attribute)
        assert.notMatch(cookie, /Domain|Path=\/\w/)
        const value = cookie.split(";")[0] ?? ""
        const state = await fetch(`${gateway.url}/api/auth/session`, { headers: { cookie: value } })
        assert.strictEqual(state.status, 200)
        // On this machine without TLS a browser would not keep it.
        assert.match(await cookieAfter(gateway, { origin: gateway.url }), /^gateway_session=(?!.*Secure)/)
        await set("https://gw.example/llm")
        assert.match(await cookieAfter(gateway), /^__Secure-gateway_session=.*Path=\/llm(?=;|$)/)
        const root = await fetch(gateway.url)
        assert.include(await root.text(), "/llm/")
        await set(null)
        assert.match(await cookieAfter(gateway), /^gateway_session=.*Path=\/old/)
      })
    })
  )

  it.scopedLive("is refused where it is no address", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start({})
      yield* Effect.promise(async () => {
        for (const publicUrl of [
          "gw.example",
          "ftp://gw.example",
          "https://a:b@gw.example",
          "https://gw.example/?a=b",
          "https://gw.example/#x",
          "javascript:alert(1)",
          `https://gw.example/${"a".repeat(2_048)}`,
          7
        ]) {
          const answer = await RawRequest.ask(gateway.url, {
            method: "PATCH",
            path: "/api/settings",
            headers: { "content-type": "application/json", authorization: `Bearer ${TestGateway.adminKey}` },
            body: JSON.stringify({ publicUrl })
          })
          assert.strictEqual(answer.status, 400, String(publicUrl))
          assert.strictEqual(JSON.parse(answer.body).error.param, "publicUrl")
        }
      })
    })
  )
})
