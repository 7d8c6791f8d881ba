/** The inspector's feed over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { connect } from "node:net"
import { eventually } from "../../support/eventually.ts"
import { type Client, open } from "../ws/support.ts"
import { aRecord, type Answer, base, bearer, start } from "./support.ts"

const path = `${base}/ws`

const until = async (client: Client, wanted: (frame: Answer) => boolean): Promise<Answer> => {
  for (;;) {
    const frame = await client.next()
    if (wanted(frame)) return frame
  }
}

describe("the inspector's feed", () => {
  it.scopedLive("begins with a snapshot and tells what is new, changed and cleared", () =>
    Effect.gen(function* () {
      const { captured, gateway, handIn, json } = yield* start()
      yield* Effect.promise(() => captured({ id: "early" }))
      const client = yield* open(gateway, path, bearer)
      yield* Effect.promise(async () => {
        const snapshot = await client.next()
        assert.strictEqual(snapshot.type, "snapshot")
        assert.deepStrictEqual(
          snapshot.data.map(({ id }: Answer) => id),
          ["early"]
        )
        assert.notProperty(snapshot.data[0], "requestBody")
        await handIn(aRecord({ id: "late", status: "in-flight", responseBody: null }))
        const fresh = await client.next()
        assert.deepInclude(fresh.data, { id: "late", status: "in-flight" })
        assert.strictEqual(fresh.type, "new")
        await handIn(aRecord({ id: "late" }))
        const changed = await until(client, ({ data }) => data.status === 200)
        assert.deepInclude(changed, { type: "update" })
        assert.isAbove(changed.seq, fresh.seq)
        await json("PUT", "/requests/late/annotation", { annotation: "seen" })
        assert.strictEqual((await until(client, ({ data }) => data.annotation !== null)).data.annotation, "seen")
        await json("DELETE", "/requests")
        assert.deepInclude(await client.next(), { type: "clear", data: null })
        assert.strictEqual((await json("GET", "/ws")).clients, 1)
        client.socket.close()
        await eventually(
          "the client is gone",
          async () => (await json("GET", "/ws")).clients,
          (count) => count === 0
        )
      })
    })
  )

  it.scopedLive("lets a client that never reads wait for nobody", () =>
    Effect.gen(function* () {
      const { captured, gateway, handIn, json } = yield* start()
      const { hostname, port } = new URL(gateway.url)
      const stuck = yield* Effect.acquireRelease(
        Effect.sync(() => connect({ host: hostname, port: Number(port) })),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const client = yield* open(gateway, path, bearer)
      yield* Effect.promise(async () => {
        stuck.pause()
        stuck.write(
          [
            `GET ${path} HTTP/1.1`,
            `Host: ${hostname}:${port}`,
            `Authorization: ${bearer.authorization}`,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "\r\n"
          ].join("\r\n")
        )
        await eventually(
          "both clients are there",
          async () => (await json("GET", "/ws")).clients,
          (count) => count === 2
        )
        const long = `/v1/chat/completions?${"x".repeat(40_000)}`
        for (let at = 0; at < 300; at += 1) {
          const answer = await handIn(aRecord({ id: `r${at}`, path: long, requestBody: null, responseBody: null }))
          assert.strictEqual(answer.status, 200)
          await answer.arrayBuffer()
        }
        await captured({ id: "last" })
        await until(client, ({ data, type }) => type !== "snapshot" && data?.id === "last")
        assert.strictEqual((await json("GET", "/requests?limit=1")).requests[0].id, "last")
      })
    })
  )

  it.live("is closed when the gateway stops", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const gatewayScope = yield* Scope.make()
        const { gateway } = yield* Scope.extend(start({ drainMs: 100 }), gatewayScope)
        const client = yield* open(gateway, path, bearer)
        yield* Effect.promise(() => client.next())
        yield* Scope.close(gatewayScope, Exit.void)
        assert.strictEqual((yield* Effect.promise(() => client.closed)).code, 1001)
      })
    )
  )
})
