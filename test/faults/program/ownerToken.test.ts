/** The owner's token, over real sockets against the real program: who may use it, and that nothing else opens a door with it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, statSync } from "node:fs"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { WebSocket } from "ws"
import * as Program from "../../support/Program.ts"
import * as RawRequest from "../../support/RawRequest.ts"

const fileOf = (dataDir: string): string => join(dataDir, "owner-token.json")

interface Running {
  readonly url: string
  readonly pid: number
  readonly token: string
}

const running = (dataDir: string): Running => JSON.parse(readFileSync(fileOf(dataDir), "utf8"))

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A well-formed key that no gateway knows. */
const wrongKey = "gw_0000000000000000000000000000000000000000000000000000"

const chat = JSON.stringify({ model: "nowhere/m", messages: [{ role: "user", content: "Hi" }] })
const json = { "content-type": "application/json", "content-length": String(chat.length) }

const notDirect: ReadonlyArray<Readonly<Record<string, string>>> = [
  { origin: "http://127.0.0.1" },
  { origin: "null" },
  { "sec-fetch-mode": "cors" },
  { "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
  { cookie: "a=b" },
  { referer: "http://127.0.0.1/" },
  { forwarded: "for=127.0.0.1" },
  { via: "1.1 tunnel" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-host": "127.0.0.1" },
  { "x-forwarded-proto": "https" },
  { "x-real-ip": "127.0.0.1" },
  { "cf-connecting-ip": "127.0.0.1" },
  { "x-original-forwarded-for": "127.0.0.1" },
  { "ngrok-trace-id": "1" },
  { "a-header-of-tomorrow": "1" },
  { host: "gateway.example" },
  { host: "localhost.evil.example" }
]

const answerOf = ({ body, status }: RawRequest.RawAnswer) => {
  const { code, message, type } = JSON.parse(body).error
  return { status, code, message, type }
}

describe("the owner's token", () => {
  it.scopedLive(
    "is in a file that only the owner can read, for as long as the gateway runs, and new at every start",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* Program.dataFolder
        const first = yield* Program.start({}, dataDir)
        const before = running(dataDir)
        assert.strictEqual(statSync(fileOf(dataDir)).mode & 0o777, 0o600)
        assert.deepStrictEqual([before.url, before.pid], [first.url, first.pid])
        yield* first.stop
        assert.isFalse(existsSync(fileOf(dataDir)))

        const second = yield* Program.start({}, dataDir)
        const after = running(dataDir)
        assert.notStrictEqual(after.token, before.token)
        const ask = (token: string) =>
          Effect.promise(() =>
            RawRequest.ask(second.url, { method: "GET", path: "/api/providers", headers: bearer(token) })
          )
        assert.strictEqual((yield* ask(after.token)).status, 200)
        assert.strictEqual((yield* ask(before.token)).status, 401)
        for (const text of [first.stderr(), second.stderr(), first.stdout(), second.stdout()]) {
          assert.notInclude(text, before.token)
          assert.notInclude(text, after.token)
        }
      })
  )

  it.scopedLive(
    "opens management and inference on a direct connection, and is a wrong key in every other request",
    () =>
      Effect.gen(function* () {
        const program = yield* Program.start({ REQUIRE_API_KEY: "true", GATEWAY_ADMIN_KEY: "admin-key-of-this-test" })
        const { token } = running(program.dataDir)
        const get = (path: string, headers: Readonly<Record<string, string>>) =>
          Effect.promise(() => RawRequest.ask(program.url, { method: "GET", path, headers }))
        const post = (path: string, headers: Readonly<Record<string, string>>) =>
          Effect.promise(() =>
            RawRequest.ask(program.url, { method: "POST", path, headers: { ...json, ...headers }, body: chat })
          )

        assert.strictEqual((yield* get("/api/providers", bearer(token))).status, 200)
        assert.strictEqual((yield* get("/v1/models", bearer(token))).status, 200)
        // Let in; there is only no such model.
        assert.strictEqual((yield* post("/v1/chat/completions", bearer(token))).status, 404)

        for (const headers of notDirect) {
          const why = JSON.stringify(headers)
          for (const ask of [
            (key: string) => get("/api/providers", { ...headers, ...bearer(key) }),
            (key: string) => post("/v1/chat/completions", { ...headers, ...bearer(key) })
          ]) {
            const refused = answerOf(yield* ask(token))
            assert.strictEqual(refused.status, 401, why)
            assert.deepStrictEqual(refused, answerOf(yield* ask(wrongKey)), why)
          }
        }
        for (const [path, headers] of [
          ["/v1/chat/completions", { "x-api-key": token }],
          ["/v1/chat/completions", { "x-goog-api-key": token }],
          ["/v1/chat/completions", { "api-key": token }],
          [`/v1/chat/completions?key=${token}`, {}],
          [`/v1/chat/completions?token=${token}`, {}],
          [`/v1/chat/completions?api_key=${token}`, {}],
          [`/api/v1/editor/${token}/chat/completions`, {}],
          ["/v1/chat/completions", bearer(`${token}0`)],
          ["/v1/chat/completions", bearer(token.slice(0, -1))]
        ] as const) {
          assert.strictEqual((yield* post(path, headers)).status, 401, `${path} ${JSON.stringify(headers)}`)
        }
        const opened = yield* Effect.promise(
          () =>
            new Promise<string>((resolve) => {
              const socket = new WebSocket(`${program.url.replace("http", "ws")}/v1/responses`, {
                headers: bearer(token)
              })
              socket.on("open", () => resolve("open"))
              socket.on("error", (error) => resolve(error.message))
            })
        )
        // The feed of 'gateway inspect tail' is one; what browsers and proxies open has headers of theirs.
        assert.strictEqual(opened, "open")

        yield* program.stop
        assert.lengthOf(program.stderr().match(/The owner's token of this run came with/g) ?? [], 1)
        assert.notInclude(program.stderr(), token)
      })
  )

  it.scopedLive("is a wrong key while no key is required, too, and from another address of this machine", () =>
    Effect.gen(function* () {
      const program = yield* Program.start({}, undefined, ["--host", "0.0.0.0", "--allow-keyless"])
      const { token, url } = running(program.dataDir)
      assert.strictEqual(url, program.url.replace("0.0.0.0", "127.0.0.1"))
      const forwarded = { ...json, "x-forwarded-for": "10.0.0.1", ...bearer(token) }
      const refused = yield* Effect.promise(() =>
        RawRequest.ask(program.url, { method: "POST", path: "/v1/chat/completions", headers: forwarded, body: chat })
      )
      assert.strictEqual(refused.status, 401)
      const others = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
      for (const { address } of others.filter(({ family, internal }) => family === "IPv4" && !internal)) {
        const answer = yield* Effect.promise(() =>
          fetch(`http://${address}:${new URL(program.url).port}/api/providers`, { headers: bearer(token) })
        )
        assert.strictEqual(answer.status, 401, address)
      }
    })
  )

  it.scopedLive("alone may set the admin password without the one before, and that ends every session", () =>
    Effect.gen(function* () {
      const program = yield* Program.start({
        GATEWAY_ADMIN_KEY: "admin-key-of-this-test",
        GATEWAY_ADMIN_PASSWORD: "the first password"
      })
      const { token } = running(program.dataDir)
      const send = (method: string, path: string, headers: Readonly<Record<string, string>>, value?: unknown) =>
        Effect.promise(() => {
          const body = value === undefined ? "" : JSON.stringify(value)
          const length = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }
          return RawRequest.ask(program.url, {
            method,
            path,
            headers: value === undefined ? headers : { ...length, ...headers },
            body
          })
        })
      const logIn = (password: string) => send("POST", "/api/auth/login", {}, { password })
      const setPassword = (headers: Readonly<Record<string, string>>, password = "the second password") =>
        send("PUT", "/api/auth/password", headers, { password })

      const entered = yield* logIn("the first password")
      const cookie = { cookie: entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "" }
      const csrf = { "x-csrf-token": JSON.parse(entered.body).csrfToken }
      assert.strictEqual((yield* setPassword({})).status, 401)
      assert.strictEqual((yield* setPassword(bearer("admin-key-of-this-test"))).status, 403)
      assert.strictEqual((yield* setPassword({ ...cookie, ...csrf })).status, 403)
      assert.strictEqual((yield* setPassword(bearer(token), "short")).status, 400)
      assert.strictEqual((yield* send("GET", "/api/providers", cookie)).status, 200)

      assert.strictEqual((yield* setPassword(bearer(token))).status, 204)
      assert.strictEqual((yield* send("GET", "/api/providers", cookie)).status, 401)
      assert.strictEqual((yield* logIn("the first password")).status, 401)
      assert.strictEqual((yield* logIn("the second password")).status, 200)
    })
  )
})
