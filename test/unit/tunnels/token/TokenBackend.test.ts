/** The real SDK, against an edge on loopback that speaks its protocol. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { readFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { PassThrough } from "node:stream"
import type { TunnelFailed, TunnelNeedsAuth } from "../../../../src/net/tunnels/Backend.ts"
import type { Entrance } from "../../../../src/net/tunnels/TunnelEntrance.ts"
import { loadSdk, SdkMissing } from "../../../../src/net/tunnels/token/Agent.ts"
import { makeBackend, type TokenLimits, tokenLimits } from "../../../../src/net/tunnels/token/TokenBackend.ts"
import { eventually } from "../../../support/eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { type EdgeOptions, type NgrokEdge, startEdge } from "../../../support/tunnels/NgrokEdge.ts"

const goodToken = "2goodTOKEN_forTestsOnly0123456789"
const refusalOf = (token: string): string | null =>
  token === goodToken
    ? null
    : `The authtoken you specified is properly formed, but it is invalid.\nYour authtoken: ${token}\n\r\n\r\nERR_NGROK_107\r\n`

const edgeOf = (options: Partial<EdgeOptions> = {}) =>
  Effect.flatMap(temporaryFolder, (folder) =>
    Effect.acquireRelease(
      Effect.promise(() => startEdge(folder, { refusal: refusalOf, ...options })),
      (edge) => Effect.promise(edge.close)
    )
  )

const quick: TokenLimits = { ...tokenLimits, heartbeatSeconds: 1, toleranceSeconds: 1 }

const backendAt = (edge: NgrokEdge, limits: TokenLimits = quick) =>
  makeBackend(
    new Map([
      ["TOKEN_TUNNEL_SERVER", edge.address],
      ["TOKEN_TUNNEL_CA", edge.caFile]
    ]),
    loadSdk,
    limits
  )

const nowhere: Entrance = { host: "127.0.0.1", port: 9 }
const token = (text: string) => ({ authToken: Redacted.make(text) })
const dropAddress = () => Effect.void

/** Starts a run and gives its first address; the run is stopped by `stop`. */
const opening = (edge: NgrokEdge, entrance: Entrance = nowhere, limits: TokenLimits = quick) =>
  Effect.gen(function* () {
    const address = yield* Deferred.make<string, TunnelFailed | TunnelNeedsAuth>()
    const fiber = yield* Effect.forkDaemon(
      Effect.scoped(
        backendAt(edge, limits).run(token(goodToken), entrance, ({ publicUrl }) => Deferred.succeed(address, publicUrl))
      ).pipe(Effect.tapError((error) => Deferred.fail(address, error)))
    )
    return { publicUrl: yield* Deferred.await(address), fiber, stop: Fiber.interrupt(fiber) }
  })

const failureOfRun = <A, E>(exit: Exit.Exit<A, E>): E => {
  if (Exit.isSuccess(exit)) throw new Error("It did not fail.")
  return Option.getOrThrow(Cause.failureOption(exit.cause))
}

const origin = (answer: (url: string, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer((request, response) => answer(request.url ?? "", response))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const entranceOf = (server: Server): Entrance => ({ host: "127.0.0.1", port: (server.address() as AddressInfo).port })

const head = "Host: gateway-test.ngrok-free.app\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n"

/** What has come so far. */
const collect = (stream: PassThrough): (() => string) => {
  let text = ""
  stream.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")))
  return () => text
}

/** Sockets of the SDK to the edge, also those whose other end is gone: `TIME_WAIT` (06) belongs to no process any more. */
const socketsTo = ({ address }: NgrokEdge): number => {
  const remote = `0100007F:${Number(address.split(":")[1]).toString(16).toUpperCase().padStart(4, "0")}`
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1)
  return rows.map((row) => row.trim().split(/\s+/u)).filter(([, , to, state]) => to === remote && state !== "06").length
}

describe("the token tunnel", () => {
  it("says before any try whether a token is missing", () => {
    const load = Effect.dieMessage("It was loaded.")
    assert.match(makeBackend(new Map(), load).lacks?.({ authToken: null })?.reason ?? "", /No authtoken of ngrok/)
    const known = new Map([["TOKEN_TUNNEL_AUTHTOKEN", goodToken]])
    assert.isNull(makeBackend(known, load).lacks?.({ authToken: null }))
    assert.isNull(makeBackend(new Map(), load).lacks?.(token(goodToken)))
  })

  it.effect("needs a token when none is known, and does not load the SDK for that", () =>
    Effect.gen(function* () {
      const load = Effect.dieMessage("It was loaded.")
      const run = makeBackend(new Map(), load).run({ authToken: null }, nowhere, dropAddress)
      const failure = failureOfRun(yield* Effect.exit(Effect.scoped(run)))
      assert.strictEqual(failure._tag, "TunnelNeedsAuth")
      assert.include(failure.reason, "TOKEN_TUNNEL_AUTHTOKEN")
    })
  )

  it.effect("refuses a token with control characters before the SDK sees it, and does not repeat it", () =>
    Effect.gen(function* () {
      const load = Effect.dieMessage("It was loaded.")
      for (const text of ["secret\u0000token", "secret\ntoken", "secret\u001b[2Jtoken", `secret${"x".repeat(600)}`]) {
        const run = makeBackend(new Map(), load).run(token(text), nowhere, dropAddress)
        const failure = failureOfRun(yield* Effect.exit(Effect.scoped(run)))
        assert.strictEqual(failure._tag, "TunnelNeedsAuth")
        assert.notInclude(failure.reason, "secret")
      }
    })
  )

  it.effect("says what to do when the package is missing, and does not try again", () =>
    Effect.gen(function* () {
      const load = Effect.fail(new SdkMissing({ cause: new Error("Cannot find module '@ngrok/ngrok'") }))
      const run = makeBackend(new Map(), load).run(token(goodToken), nowhere, dropAddress)
      const failure = failureOfRun(yield* Effect.exit(Effect.scoped(run)))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "optional dependencies")
    })
  )

  it.live("takes the token of the environment", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const environment = new Map([
        ["TOKEN_TUNNEL_SERVER", edge.address],
        ["TOKEN_TUNNEL_CA", edge.caFile],
        ["TOKEN_TUNNEL_AUTHTOKEN", ` ${goodToken} `]
      ])
      const opened = yield* Deferred.make<string>()
      yield* Effect.forkScoped(
        makeBackend(environment, loadSdk, quick).run({ authToken: null }, nowhere, ({ publicUrl }) =>
          Deferred.succeed(opened, publicUrl)
        )
      )
      assert.strictEqual(yield* Deferred.await(opened), "https://gateway-test.ngrok-free.app")
      assert.deepStrictEqual(edge.tokens, [goodToken])
    }).pipe(Effect.scoped)
  )

  it.live("needs another token when ngrok refuses it, and does not show it", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const bad = "2badTOKEN_secretSecretSecret987654"
      const exit = yield* Effect.exit(Effect.scoped(backendAt(edge).run(token(bad), nowhere, dropAddress)))
      const failure = failureOfRun(exit)
      assert.strictEqual(failure._tag, "TunnelNeedsAuth")
      assert.include(failure.reason, "ERR_NGROK_107")
      assert.notInclude(JSON.stringify(failure) + Cause.pretty(Exit.isFailure(exit) ? exit.cause : Cause.empty), bad)
      assert.deepStrictEqual(edge.tokens, [bad])
    }).pipe(Effect.scoped)
  )

  it.live("shows that ngrok cannot be reached, and lets it be tried again", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      yield* Effect.promise(edge.close)
      const failure = failureOfRun(
        yield* Effect.exit(Effect.scoped(backendAt(edge).run(token(goodToken), nowhere, dropAddress)))
      )
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.include(failure.reason, "cannot be reached")
    }).pipe(Effect.scoped)
  )

  it.live("carries a request and its headers to the listener of this machine", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const server = yield* origin((url, response) => response.end(`asked for ${url}`))
      const { publicUrl, stop } = yield* opening(edge, entranceOf(server))
      assert.strictEqual(publicUrl, "https://gateway-test.ngrok-free.app")
      const text = collect(edge.request(`GET /v1/models?x=1 HTTP/1.1\r\n${head}`))
      yield* Effect.promise(() => eventually("the answer", text, (all) => all.includes("asked for /v1/models?x=1")))
      assert.match(text(), /^HTTP\/1\.1 200 OK\r\n/u)
      yield* stop
    }).pipe(Effect.scoped)
  )

  it.live("carries server-sent events one by one, and what is larger than a window", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      let send: (event: string) => void = () => {}
      const server = yield* origin((url, response) => {
        if (url === "/large") return response.end("z".repeat(1_000_000))
        response.setHeader("content-type", "text/event-stream")
        response.flushHeaders()
        send = (event) => void response.write(`data: ${event}\n\n`)
      })
      const { stop } = yield* opening(edge, entranceOf(server))
      const text = collect(edge.request(`GET /stream HTTP/1.1\r\n${head}`))
      yield* Effect.promise(() => eventually("the head", text, (all) => all.includes("text/event-stream")))
      // The next is sent when the last one is there: none waits for another.
      for (const event of ["one", "two", "three"]) {
        send(event)
        yield* Effect.promise(() => eventually(event, text, (all) => all.includes(`data: ${event}\n\n`)))
      }
      const large = collect(edge.request(`GET /large HTTP/1.1\r\n${head}`))
      yield* Effect.promise(() => eventually("all of it", large, (all) => all.length >= 1_000_000))
      yield* stop
    }).pipe(Effect.scoped)
  )

  it.live("goes on when the session comes back", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const server = yield* origin((_, response) => response.end("still here"))
      const addresses: Array<string> = []
      const fiber = yield* Effect.fork(
        Effect.scoped(
          backendAt(edge, { ...quick, calmMs: 300 }).run(token(goodToken), entranceOf(server), ({ publicUrl }) =>
            Effect.sync(() => void addresses.push(publicUrl))
          )
        )
      )
      yield* Effect.promise(() =>
        eventually(
          "an address",
          () => addresses.length,
          (count) => count === 1
        )
      )
      edge.dropSessions()
      yield* Effect.promise(() =>
        eventually(
          "it again",
          () => addresses.length,
          (count) => count === 2
        )
      )
      const text = collect(edge.request(`GET / HTTP/1.1\r\n${head}`))
      yield* Effect.promise(() => eventually("the answer", text, (all) => all.includes("still here")))
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.scoped)
  )

  it.live("fails when the session stays away, and the next run says why", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const { fiber } = yield* opening(edge, nowhere, { ...quick, graceMs: 600 })
      edge.refuseFromNow(refusalOf("revoked"))
      edge.dropSessions()
      const failure = failureOfRun(yield* Fiber.await(fiber))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.include(failure.reason, "was lost")
      const again = failureOfRun(
        yield* Effect.exit(Effect.scoped(backendAt(edge).run(token(goodToken), nowhere, dropAddress)))
      )
      assert.strictEqual(again._tag, "TunnelNeedsAuth")
    }).pipe(Effect.scoped)
  )

  it.live("ends in bounded time with an edge that does not answer, and is not opened again later", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf({ ignoresUnbind: true })
      const { fiber, stop } = yield* opening(edge, nowhere, { ...quick, closeMs: 200 })
      yield* stop
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
      edge.dropSessions()
      yield* Effect.promise(() => eventually("the end of the session", edge.connections, (open) => open === 0))
      // The SDK's first try would come after 50 ms.
      yield* Effect.sleep(400)
      assert.strictEqual(edge.connections(), 0)
      assert.lengthOf(edge.tokens, 1)
    }).pipe(Effect.scoped)
  )

  it.live("can be stopped while ngrok has not answered yet", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf({ refusal: null })
      const run = backendAt(edge, { ...quick, closeMs: 200 }).run(token(goodToken), nowhere, dropAddress)
      const fiber = yield* Effect.fork(Effect.scoped(run))
      yield* Effect.promise(() =>
        eventually(
          "the login",
          () => edge.tokens.length,
          (count) => count === 1
        )
      )
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.scoped)
  )

  it.live("gives up when ngrok gives no address in time", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf({ refusal: null })
      const run = backendAt(edge, { ...quick, openMs: 300, closeMs: 200 }).run(token(goodToken), nowhere, dropAddress)
      const failure = failureOfRun(yield* Effect.exit(Effect.scoped(run)))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.include(failure.reason, "no address")
    }).pipe(Effect.scoped)
  )

  it.live("leaves nothing behind after being opened and closed twenty times", () =>
    Effect.gen(function* () {
      const edge = yield* edgeOf()
      const once = Effect.flatMap(opening(edge), ({ stop }) => stop)
      for (let times = 0; times < 20; times += 1) yield* once
      assert.lengthOf(edge.tokens, 20)
      assert.isAbove(socketsTo(edge), 0)
      yield* Effect.promise(() => eventually("no session", edge.connections, (open) => open === 0))
      yield* Effect.promise(() =>
        eventually(
          "no socket",
          () => socketsTo(edge),
          (open) => open === 0
        )
      )
    }).pipe(Effect.scoped)
  )
})
