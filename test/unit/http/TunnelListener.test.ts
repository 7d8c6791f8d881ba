/** The listener of tunnels beside the main one: the same handlers, also over a restart. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Socket } from "node:net"
import { enteredByTunnel, peerAddressOf, shownAddressOf } from "../../../src/subjects/auth/PeerAddress.ts"
import * as Listener from "../../../src/entry/listening/Listener.ts"
import * as TunnelListener from "../../../src/entry/listening/TunnelListener.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { TunnelEntrance } from "../../../src/net/tunnels/TunnelEntrance.ts"
import { eventually } from "../../support/eventually.ts"

const services = TunnelListener.layer.pipe(
  Layer.provideMerge(Listener.layer),
  Layer.provide(AppConfig.layerOf({ dataDir: "/nonexistent", drainMs: 0 }))
)

/** Answers with who the caller is taken for. */
const handlers = (name: string): Listener.Handlers => ({
  request: ({ socket }, response) =>
    void response.end(`${name} ${enteredByTunnel(socket)} ${peerAddressOf(socket)} ${shownAddressOf(socket)}`),
  upgrade: () => {}
})

const ask = (port: number): Promise<string> => fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text())

describe("the listener of tunnels", () => {
  it.scopedLive("marks its connections, and not those of the main address", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.Listener
      const main = yield* listener.serve("127.0.0.1", 0, handlers("a"))
      const entrance = yield* (yield* TunnelEntrance).open
      assert.strictEqual(entrance.host, "127.0.0.1")
      yield* Effect.promise(async () => {
        assert.strictEqual(await ask(entrance.port), "a true null tunnel")
        assert.strictEqual(await ask(main.port), "a false 127.0.0.1 127.0.0.1")
      })
    }).pipe(Effect.provide(services))
  )

  it.scopedLive("is one for all that open it, and is closed with the last of them", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.Listener
      const { open } = yield* TunnelEntrance
      yield* listener.serve("127.0.0.1", 0, handlers("a"))
      const [one, two] = [yield* Scope.make(), yield* Scope.make()]
      const [first, second] = yield* Effect.all([Scope.extend(open, one), Scope.extend(open, two)], { concurrency: 2 })
      assert.strictEqual(first.port, second.port)
      const isOpen = Effect.either(Effect.tryPromise(() => ask(first.port)))
      yield* Scope.close(one, Exit.void)
      assert.isTrue(Either.isRight(yield* isOpen))
      yield* Scope.close(two, Exit.void)
      assert.isTrue(Either.isLeft(yield* isOpen))
    }).pipe(Effect.provide(services))
  )

  it.scopedLive("holds requests while the service restarts, as the main address does", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.Listener
      const main = yield* listener.serve("127.0.0.1", 0, handlers("first"))
      const { port } = yield* (yield* TunnelEntrance).open
      yield* listener.hold
      yield* Effect.promise(async () => {
        const answers: Array<string> = []
        const asked = [port, main.port].map((at) => ask(at).then((answer) => answers.push(answer)))
        await Promise.race([...asked, new Promise((later) => setImmediate(later))])
        assert.deepStrictEqual(answers, [])
        await Effect.runPromise(listener.serve("127.0.0.1", 0, handlers("second")))
        await Promise.all(asked)
        assert.sameMembers(answers, ["second true null tunnel", "second false 127.0.0.1 127.0.0.1"])
      })
    }).pipe(Effect.provide(services))
  )

  it.scopedLive("takes no further connection when the service stops", () =>
    Effect.gen(function* () {
      const listener = yield* Listener.Listener
      yield* listener.serve("127.0.0.1", 0, handlers("a"))
      const { port } = yield* (yield* TunnelEntrance).open
      yield* Effect.promise(() => ask(port))
      yield* listener.close
      yield* Effect.promise(() =>
        eventually(
          "the port to be closed",
          () =>
            ask(port).then(
              () => "open",
              () => "closed"
            ),
          (state) => state === "closed"
        )
      )
    }).pipe(Effect.provide(services))
  )

  it("says 'tunnel' for an address that is not known, and nothing for a socket that is gone", () => {
    const gone = {} as Socket
    assert.deepStrictEqual([peerAddressOf(gone), shownAddressOf(gone)], [null, ""])
  })
})
